import assert from "node:assert/strict";
import type { NativeDiagnosis, NativeScan } from "../../../../src/connectors/mod.ts";
import { writeFiles } from "../../../harness/temp_dir.ts";
import { Bench } from "../bench.ts";

/** What is said of a scan that fails. */
async function trouble(bench: Bench, scan: NativeScan): Promise<NativeDiagnosis | undefined> {
  const query = (sql: string) => bench.connection.rows(sql);
  try {
    await bench.read(await scan.infer?.(query) ?? scan);
  } catch (error) {
    return await scan.diagnose?.(query, error instanceof Error ? error.message : "");
  }
  assert.fail("the scan succeeded");
}

Deno.test("JSON files are read whatever their layout, when none is named", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, {
    "lines.json": '\n{"a":1}\n{"a":2}\n',
    "one.json": '{"a":1}',
    "pretty.json": '{\n  "a": 1\n}\n{\n  "a": 2\n}\n',
    "array.json": ' [\n{"a":1},{"a":2}]',
    "m/1.json": '{"a":1}\n',
    "m/2.json": '[{"a":2}]',
  });
  for (const [path, rows] of [["lines", 2], ["one", 1], ["pretty", 2], ["array", 2], ["m/*", 2]] as const) {
    const expected = [["1"], ["2"]].slice(0, rows);
    const options = { format: "json", path: `${path}.json` };
    assert.deepEqual(await bench.read(bench.scan("x", options)), expected, path);
    assert.deepEqual(await bench.read(bench.scan("x", options, { a: "int" })), expected, path);
  }
});

Deno.test("a refused value in JSON over several lines is named without a line", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, { "x.json": '{\n "a": 1.5\n}\n' });
  const found = await trouble(bench, bench.scan("x", { format: "json" }, { a: "int" }));
  assert.match(found?.message ?? "", /^Column "a" holds "1.5"/);
  assert.equal(found?.line, undefined);
});

Deno.test("a declared column that a Parquet file lacks is named with the nearest one", async () => {
  await using bench = await Bench.open();
  await bench.write(bench.copy("p", {}), "(SELECT 1 AS amount, 2 AS b)");
  const found = await trouble(bench, bench.scan("p", { format: "parquet", path: "p/p.parquet" }, { amont: "int" }));
  assert.deepEqual([found?.message, found?.file, found?.hint], [
    'Column "amont" is not in the file: it has "amount", "b"',
    bench.dir.join("p/p.parquet"),
    'did you mean "amount"?',
  ]);
});

Deno.test("a file that is not what its format says gets a short message with its place", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, {
    "binary.csv": new Uint8Array([97, 44, 98, 10, 0xff, 0xfe, 0, 1, 44, 2, 10]),
    "ragged.csv": "a,b\n1,2\n3,4,5\n",
    "quote.csv": 'a,b\n1,"x\n2,y\n',
    "broken.json": '{"a":1}\n{"a":\n',
    "p.parquet": "x",
  });
  const cases: readonly [string, string, { [name: string]: string } | undefined, string, number | undefined][] = [
    ["csv", "binary.csv", undefined, "This is no CSV file in UTF-8", 2],
    ["csv", "binary.csv", { a: "varchar" }, "This is no CSV file in UTF-8", 2],
    ["csv", "ragged.csv", undefined, "A record has 3 fields where the first line has 2", 3],
    ["csv", "ragged.csv", { a: "int" }, "A record has 3 fields where the first line has 2", 3],
    ["csv", "quote.csv", { a: "int" }, "A quoted text has no end", 2],
    ["json", "broken.json", { a: "int" }, "This is no JSON: unexpected end of data", 3],
    ["parquet", "p.parquet", undefined, "This is no Parquet file", undefined],
  ];
  for (const [format, path, columns, message, line] of cases) {
    const found = await trouble(bench, bench.scan("x", { format, path }, columns));
    assert.deepEqual([found?.message, found?.file, found?.line], [message, bench.dir.join(path), line], path);
    assert.doesNotMatch(found?.hint ?? "", /strict_mode|ignore_errors|null_padding|encoding|=/);
  }
});
