import assert from "node:assert/strict";
import { writeFiles } from "../../../harness/temp_dir.ts";
import { Bench, texts } from "../bench.ts";

Deno.test("declared columns are bound by the header's names, and only they are read", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, { "x.csv": "name,ID,extra\nAda,1,z\n" });
  const scan = bench.scan("x", {}, { id: "bigint", name: "varchar" });
  assert.deepEqual(await bench.types(scan), ["id BIGINT", "name VARCHAR"]);
  assert.deepEqual(await bench.read(scan), [["1", "Ada"]]);
});

Deno.test("a declared column that the header lacks is a problem with the nearest name", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, { "x.csv": "order_id,name\n1,Ada\n" });
  assert.deepEqual(texts(bench.tryScan("x", {}, { ordr_id: "int" })), [
    `PZ0353 Column "ordr_id" is not in the header of "${bench.dir.join("x.csv")}": it has "order_id", "name" ` +
    `(did you mean "order_id"?)`,
  ]);
});

Deno.test("a quoted empty text stays empty and an unquoted one is NULL", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, { "x.csv": 'id,name,n\n1,"",7\n2,,\n' });
  const scan = bench.scan("x", {}, { id: "int", name: "varchar", n: "int" });
  assert.deepEqual(await bench.read(scan), [["1", "", "7"], ["2", null, null]]);
  await writeFiles(bench.dir.path, { "y.csv": 'id,name\n1,""\n2,\n' });
  assert.deepEqual(await bench.read(bench.scan("y")), [["1", ""], ["2", null]]);
});

for (
  const [what, content] of [
    ["CRLF ends and a quoted line break", 'a,b\r\n1,"x\r\ny"\r\n2,z\r\n'],
    ["CR ends", 'a,b\r1,"x\r\ny"\r2,z\r'],
    ["a byte-order mark and no last line break", '\ufeffa,b\n1,"x\r\ny"\n2,z'],
    ["quoted names and blanks around names", '"a", b \n1,"x\r\ny"\n2,z\n'],
  ] as const
) {
  Deno.test(`a CSV file with ${what} is read`, async () => {
    await using bench = await Bench.open();
    await writeFiles(bench.dir.path, { "x.csv": content });
    const scan = bench.scan("x", {}, { a: "int", b: "varchar" });
    assert.deepEqual(await bench.read(scan), [["1", "x\r\ny"], ["2", "z"]]);
  });
}

Deno.test("files with other headers are read together, a column that one lacks being NULL", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, { "d/1.csv": "a,b\n1,x\n", "d/2.csv": "b,a\ny,2\n", "d/3.csv": "a\n3\n" });
  const scan = bench.scan("x", { path: "d/*.csv" }, { a: "int", b: "varchar" });
  assert.deepEqual(await bench.read(scan), [["1", "x"], ["2", "y"], ["3", null]]);
});

Deno.test("a header that is not plain is left to DuckDB", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, { "x.csv": "a,a,b\n1,2,3\n" });
  assert.deepEqual(await bench.read(bench.scan("x", {}, { b: "int" })), [["3"]]);
});

const EXACT: { readonly [type: string]: { readonly kept: [string, string][]; readonly refused: string[] } } = {
  bigint: {
    kept: [["1", "1"], ["-5", "-5"], ["1.0", "1"], ["1e3", "1000"], ["1.5e1", "15"], ["007", "7"], [" 4 ", "4"]],
    refused: [
      "1_000",
      "999_9",
      "-999_9",
      "999999999999999999_9",
      "1_0",
      "0x10",
      "0XFFFFFFFF",
      " 0b11",
      "0B1",
      "1.5",
      "9.5",
      "99.5",
      "95e-1",
      "1.23456789e5",
      "123456789.5",
      "12345678901234567.5",
      "99999999999999999e-1",
      "-.5",
      "15e-1",
      "1e-07",
      "abc",
      "9223372036854775808",
      "1,5",
    ],
  },
  "decimal(10,2)": {
    kept: [["1", "1.00"], ["1.250", "1.25"], ["5e-1", "0.50"], ["1.255e1", "12.55"], ["1e3", "1000.00"], [
      "12e-1",
      "1.20",
    ], ["-5e-1", "-0.50"]],
    refused: ["1.5e-2", "12e-3", "1.255", "-1.999", "5e-3", "1e-07", "1.2555e1", "123456789", "x"],
  },
  decimal: {
    kept: [["1e-9", "0.000000001"]],
    refused: ["1.5e-9", "15e-10", "0.1234567891"],
  },
  double: {
    kept: [["1.5", "1.5"], ["-Infinity", "-inf"], ["1e308", "1e+308"]],
    refused: ["1e400", "-1e400", "x"],
  },
  float: { kept: [["1.5", "1.5"]], refused: ["1e39"] },
  boolean: { kept: [["true", "true"], ["F", "false"]], refused: ["2", "maybe"] },
  date: {
    kept: [
      ["2024-01-02", "2024-01-02"],
      ["2024-1-2", "2024-01-02"],
      ["2024-01-02 00:00:00", "2024-01-02"],
      ["2024-01-02T00:00:00Z", "2024-01-02"],
      ["infinity", "infinity"],
    ],
    refused: [
      "2024-01-02 10:00:00",
      "2024-01-02 00:00:00+05",
      "2024-01-02 x",
      "2024-1-2 1",
      "1-1-1 garb",
      "01/02/2024",
      "2024-01-1x",
      "2024-01-1T",
    ],
  },
  timestamp: {
    kept: [
      ["2024-01-02", "2024-01-02 00:00:00"],
      ["2024-01-02T10:00:00Z", "2024-01-02 10:00:00"],
      ["2024-01-02 10:00:00+00", "2024-01-02 10:00:00"],
      ["2024-01-02 10:00:00.1234560", "2024-01-02 10:00:00.123456"],
    ],
    refused: [
      "2024-01-02 10:00:00+02",
      "2024-01-02 10:00:00-05:30",
      "2024-1-2 1:00:00-08",
      "2024-01-02 10:00:00.1234567",
      "2024-1-2 1:0:0.1234567",
      "x",
    ],
  },
  timestamptz: {
    kept: [
      ["2024-01-02 10:00:00", "2024-01-02 10:00:00+00"],
      ["2024-01-02T10:00:00.123456+02:00", "2024-01-02 08:00:00.123456+00"],
    ],
    refused: ["2024-01-02 10:00:00 +00", "2024-01-02 10:00:00.1234567+02", "x"],
  },
  time: {
    kept: [["10:00:00", "10:00:00"], ["1:00:00", "01:00:00"], ["10:00:00.123456Z", "10:00:00.123456"]],
    refused: ["10:00:0x", "10:0x:00", "10:00:00+02", "1:0:0+02", "10:00:00.1234567", "25:00:00"],
  },
};

for (const [type, { kept, refused }] of Object.entries(EXACT)) {
  Deno.test(`${type} keeps what it can hold exactly and refuses the rest`, async () => {
    await using bench = await Bench.open();
    for (const [text, value] of kept) {
      await writeFiles(bench.dir.path, { "x.csv": `v\n"${text}"\n` });
      assert.deepEqual(await bench.read(bench.scan("x", {}, { v: type })), [[value]], text);
    }
    for (const text of refused) {
      await writeFiles(bench.dir.path, { "x.csv": `v\n"${text}"\n` });
      await assert.rejects(bench.read(bench.scan("x", {}, { v: type })), /Column "v" can't hold/, text);
    }
  });
}

Deno.test("lossy: allow takes what DuckDB makes of a value, for all columns or for some", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, { "x.csv": "a,b\n1.5,2\n" });
  const columns = { a: "int", b: "int" };
  assert.deepEqual(await bench.read(bench.scan("x", { lossy: "allow" }, columns)), [["2", "2"]]);
  assert.deepEqual(await bench.read(bench.scan("x", { lossy: { a: "allow" } }, columns)), [["2", "2"]]);
  await assert.rejects(bench.read(bench.scan("x", { lossy: { b: "allow" } }, columns)), /Column "a" can't hold/);
  assert.deepEqual(texts(bench.tryScan("x", { lossy: { c: "allow" } }, columns)), [
    'PZ0301 Option "lossy" names "c", which is no declared column',
  ]);
});

Deno.test("a refused value is found with its file, line and column", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, {
    "d/1.csv": "id,note,amount\n1,x,1.5\n",
    "d/2.csv": 'id,note,amount\r\n1,"two\r\nlines",1.5\r\n\r\n2,y,1.999\r\n3,z,oops\r\n',
  });
  const scan = bench.scan("x", { path: "d/*.csv" }, { id: "int", amount: "decimal(5,2)" });
  await assert.rejects(bench.read(scan));
  assert.deepEqual(await scan.diagnose?.((sql) => bench.connection.rows(sql)), {
    message: `Column "amount" holds "1.999", which can't become DECIMAL(5,2) without a change`,
    file: bench.dir.join("d/2.csv"),
    line: 5,
    column: "amount",
    hint: "correct the file, declare another type, or allow the change with the option lossy: {amount: allow}",
  });
});

Deno.test("a text that is no value of its type is told apart from one that would change", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, { "x.csv": "a\n1\nx\n" });
  const found = await bench.scan("x", {}, { a: "int" }).diagnose?.((sql) => bench.connection.rows(sql));
  assert.equal(found?.message, 'Column "a" holds "x", which is no INTEGER');
  assert.equal(found?.hint, "correct the file or declare another type");
  assert.equal(found?.line, 3);
});

Deno.test("a refused JSON value is found with its line, or with its file alone inside an array", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, { "x.json": '{"a/b":1}\n\n{"a/b":"1.5"}\n', "y.json": '[{"a/b":1},{"a/b":[2]}]' });
  const columns = { "a/b": "int" };
  const lines = bench.scan("x", { format: "json" }, columns);
  assert.equal((await lines.diagnose?.((sql) => bench.connection.rows(sql)))?.line, 3);
  const array = bench.scan("y", { format: "json", layout: "array" }, columns);
  const found = await array.diagnose?.((sql) => bench.connection.rows(sql));
  assert.equal(found?.message, 'Column "a/b" holds "[2]", which is no INTEGER');
  assert.deepEqual([found?.line, found?.file], [undefined, bench.dir.join("y.json")]);
});

Deno.test("nothing is diagnosed where every value is sound", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, { "x.csv": "a\n1\n" });
  assert.equal(await bench.scan("x", {}, { a: "int" }).diagnose?.((sql) => bench.connection.rows(sql)), undefined);
});

Deno.test("declared JSON keys are read with the same checks, absent ones and null being NULL", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, {
    "x.json": '{"a":1,"t":"2024-01-02T10:00:00Z","s":"x","o":{"k":1},"more":1}\n{"a":null}\n',
    "y.json": '[{"a":1.5}]',
  });
  const scan = bench.scan("x", { format: "json" }, { a: "int", t: "timestamp", s: "varchar", o: "json" });
  assert.deepEqual(await bench.read(scan), [
    ["1", "2024-01-02 10:00:00", "x", '{"k":1}'],
    [null, null, null, null],
  ]);
  const array = bench.scan("y", { format: "json", layout: "array" }, { a: "int" });
  await assert.rejects(bench.read(array), /Column "a" can't hold '1.5' as INTEGER/);
});

Deno.test("a declared type of a Parquet column must hold its values exactly", async () => {
  await using bench = await Bench.open();
  await bench.write(bench.copy("p", {}), "(SELECT 1.5::DOUBLE AS a, 2::BIGINT AS b)");
  const options = { format: "parquet", path: "p/p.parquet" };
  assert.deepEqual(await bench.read(bench.scan("p", options, { b: "int" })), [["2"]]);
  await assert.rejects(bench.read(bench.scan("p", options, { a: "int" })), /Column "a" holds a value/);
});

Deno.test("texts of a Parquet column get the checks of text files", async () => {
  await using bench = await Bench.open();
  const options = { format: "parquet", path: "p/p.parquet" };
  const cases = [
    ["1.5", "int"],
    ["1.999", "decimal(5,2)"],
    ["2024-01-02 10:00:00+02", "timestamp"],
    ["2024-01-02 10:00:00", "date"],
    ["", "int"],
    ["x", "int"],
  ] as const;
  for (const [text, type] of cases) {
    await bench.write(bench.copy("p", {}), `(SELECT '${text}' AS a)`);
    await assert.rejects(bench.read(bench.scan("p", options, { a: type })), /Column "a" can't hold/, text);
  }
  await bench.write(bench.copy("p", {}), "(SELECT unnest(['12', ' 7', NULL]) AS a)");
  assert.deepEqual(await bench.read(bench.scan("p", options, { a: "int" })), [["7"], ["12"], [null]]);
  await bench.write(bench.copy("p", {}), "(SELECT '1.5' AS a)");
  assert.deepEqual(await bench.read(bench.scan("p", { ...options, lossy: "allow" }, { a: "int" })), [["2"]]);
  await bench.write(bench.copy("p", {}), "(SELECT DATE '2024-01-02' AS a, true AS b, 5::UTINYINT AS c)");
  const typed = bench.scan("p", options, { a: "timestamp", b: "boolean", c: "decimal(3,1)" });
  assert.deepEqual(await bench.read(typed), [["2024-01-02 00:00:00", "true", "5.0"]]);
});

Deno.test("names and values with quotes and other scripts pass unharmed", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, { "it's.csv": `"a ""b""",'; DROP TABLE x; --,日本\n1,2,3\n` });
  const scan = bench.scan("it's", {}, { 'a "b"': "int", "'; DROP TABLE x; --": "int", "日本": "varchar" });
  assert.deepEqual(await bench.read(scan), [["1", "2", "3"]]);
});

for (const type of ["int", "decimal(9,2)", "double", "boolean", "date", "timestamp", "uuid"]) {
  Deno.test(`a quoted empty text is no ${type}, unless the change to NULL is allowed`, async () => {
    await using bench = await Bench.open();
    await writeFiles(bench.dir.path, { "x.csv": 'id,n\n1,\n2,""\n', "x.json": '{"id":1,"n":null}\n{"id":2,"n":""}\n' });
    for (const format of ["csv", "json"]) {
      const scan = bench.scan("x", { format }, { id: "int", n: type });
      await assert.rejects(bench.read(scan), { message: /^Column "n" can't hold '' as / });
      const found = await scan.diagnose?.((sql) => bench.connection.rows(sql));
      assert.equal(found?.line, format === "csv" ? 3 : 2);
      assert.match(found?.message ?? "", /^Column "n" holds an empty text, which is no /);
      assert.match(found?.hint ?? "", /lossy: \{n: allow\}/);
      const allowed = bench.scan("x", { format, lossy: { n: "allow" } }, { id: "int", n: type });
      assert.deepEqual(await bench.read(allowed), [["1", null], ["2", null]]);
    }
  });
}
