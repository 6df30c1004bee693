import assert from "node:assert/strict";
import { writeFiles } from "../../../harness/temp_dir.ts";
import { Bench } from "../bench.ts";

const READ = { format: "json" };

for (
  const [type, number] of [
    ["decimal(18,2)", "1234567890123456.78"],
    ["decimal(18,2)", "9007199254740993.01"],
    ["decimal(18,3)", "123456789012345.678"],
    ["decimal(38,20)", "0.12345678901234567"],
    ["decimal(38,20)", "1.23456789012345678"],
    ["bigint", "9007199254740993.0"],
  ] as const
) {
  Deno.test(`a JSON number of more digits than a double holds is refused as ${type}: ${number}`, async () => {
    await using bench = await Bench.open();
    await writeFiles(bench.dir.path, { "x.json": `{"a":1}\n{"a":${number}}\n` });
    const scan = bench.scan("x", READ, { a: type });
    await assert.rejects(bench.read(scan), { message: /^Column "a".*holds? '.*too many digits/ });
    const found = await scan.diagnose?.((sql) => bench.connection.rows(sql));
    assert.equal(found?.line, 2);
    assert.match(found?.message ?? "", /too many digits for a JSON number: quote it/);
  });
}

Deno.test("JSON numbers that a double holds, whole ones of any length and numbers in strings stay exact", async () => {
  await using bench = await Bench.open();
  const text = '{"a":1234567890123.45,"b":9223372036854775807,"c":"9007199254740993.01","d":"1.10"}\n';
  await writeFiles(bench.dir.path, { "x.json": text });
  const scan = bench.scan("x", READ, { a: "decimal(18,2)", b: "bigint", c: "decimal(18,2)", d: "varchar" });
  assert.deepEqual(await bench.read(scan), [[
    "1234567890123.45",
    "9223372036854775807",
    "9007199254740993.01",
    "1.10",
  ]]);
  await writeFiles(bench.dir.path, {
    "y.json": '{"a":123456789012345.0,"b":12345678901234567890123456789012345678}\n',
  });
  assert.deepEqual(await bench.read(bench.scan("y", READ, { a: "bigint", b: "decimal(38,0)" })), [[
    "123456789012345",
    "12345678901234567890123456789012345678",
  ]]);
});

Deno.test("lossy: allow reads a JSON number as the double that it becomes", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, { "x.json": '{"a":9007199254740993.01}\n' });
  assert.deepEqual(await bench.read(bench.scan("x", { ...READ, lossy: "allow" }, { a: "decimal(18,2)" })), [[
    "9007199254740994.00",
  ]]);
});

for (const number of ["1.10", "1e5", "-0.0", "9007199254740993.01"]) {
  Deno.test(`a JSON number whose text DuckDB does not keep is refused as varchar: ${number}`, async () => {
    await using bench = await Bench.open();
    await writeFiles(bench.dir.path, { "x.json": `{"a":"1.10"}\n{"a":${number}}\n` });
    const scan = bench.scan("x", READ, { a: "varchar" });
    await assert.rejects(bench.read(scan), { message: /^Column "a" can't hold '.* of which only the value is known/ });
    const found = await scan.diagnose?.((sql) => bench.connection.rows(sql));
    assert.equal(found?.line, 2);
    assert.match(
      found?.message ?? "",
      /^Column "a" holds the number -?[0-9.e+]+, whose text in the file may be another/,
    );
    const allowed = bench.scan("x", { ...READ, lossy: { a: "allow" } }, { a: "varchar" });
    assert.equal((await bench.read(allowed)).length, 2);
  });
}

Deno.test("whole JSON numbers, true, false and null keep their text as varchar", async () => {
  await using bench = await Bench.open();
  const values = ["12345678901234567890123", "-7", "true", "null", '"x\\"y"', '""'];
  await writeFiles(bench.dir.path, { "x.json": values.map((value) => `{"a":${value}}\n`).join("") });
  const rows = await bench.read(bench.scan("x", READ, { a: "varchar" }));
  assert.deepEqual(
    new Set(rows.map(([text]) => text)),
    new Set(["12345678901234567890123", "-7", "true", null, 'x"y', ""]),
  );
});
