import assert from "node:assert/strict";
import { listFiles, writeFiles } from "../../../harness/temp_dir.ts";
import { Bench, texts } from "../bench.ts";

const ROWS = "(SELECT * FROM (VALUES (1, 'x y', 2024), (2, 'x y', 2024), (3, NULL, 2025)) t(n, kind, year))";

Deno.test("partition_by writes a folder for each value, and a replace swaps the whole of it", async () => {
  await using bench = await Bench.open();
  const copy = bench.copy("out", { format: "csv", partition_by: ["year", "kind"] });
  await bench.write(copy, ROWS);
  assert.deepEqual(await listFiles(bench.dir.join("out")), [
    "year=2024/kind=x%20y/out-0.csv",
    "year=2025/kind=__HIVE_DEFAULT_PARTITION__/out-0.csv",
  ]);
  assert.deepEqual(copy.moves.map(({ to }) => to), [bench.dir.join("out")]);
  assert.deepEqual([...Deno.readDirSync(bench.dir.path)].map(({ name }) => name), ["out"]);
});

Deno.test("an append with partition_by adds a folder of its own for node and run", async () => {
  await using bench = await Bench.open();
  const options = { partition_by: "year" };
  for (const run of ["run1", "run2"]) {
    const attempt = { node: "0123456789abcdef", run, ordinal: 1 };
    await bench.write(bench.copy("out", options, { mode: "append", attempt }), "(SELECT 1 AS n, 2024 AS year)");
  }
  assert.deepEqual(await listFiles(bench.dir.join("out")), [
    "out-01234567-run1/year=2024/out-0.parquet",
    "out-01234567-run2/year=2024/out-0.parquet",
  ]);
  const scan = bench.scan("out", { format: "parquet", path: "out/**/*.parquet" });
  assert.deepEqual(await bench.read(scan), [["1", "2024"], ["1", "2024"]]);
});

Deno.test("an empty output with partition_by is an empty folder", async () => {
  await using bench = await Bench.open();
  await bench.write(bench.copy("out", { partition_by: "k" }), "(SELECT 1 AS n, 2 AS k WHERE false)");
  assert.deepEqual(await listFiles(bench.dir.join("out")), []);
});

for (const format of ["csv", "parquet"]) {
  Deno.test(`the values in the folders' names come back as columns of ${format} files`, async () => {
    await using bench = await Bench.open();
    await bench.write(bench.copy("out", { format, partition_by: ["year", "kind"] }), ROWS);
    const scan = bench.scan("out", { format, path: `out/**/*.${format}` });
    const read = scan.infer === undefined ? scan : await scan.infer((sql) => bench.connection.rows(sql));
    const rows = await bench.connection.rows(`SELECT n, kind, year FROM ${read.fragment} ORDER BY n`);
    assert.deepEqual(rows, [["1", "x y", "2024"], ["2", "x y", "2024"], ["3", null, "2025"]]);
  });
}

Deno.test("a declared column is bound to the folders' names where the header lacks it", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, { "d/year=2024/a.csv": "n\n1\n", "d/year=2025/a.csv": "n\n2\n" });
  const scan = bench.scan("x", { path: "d/*/*.csv" }, { n: "int", year: "int" });
  assert.deepEqual(await bench.read(scan), [["1", "2024"], ["2", "2025"]]);
});

Deno.test("a text that names the folder of NULL is refused, where one would replace the other", async () => {
  await using bench = await Bench.open();
  const copy = bench.copy("out", { format: "csv", partition_by: "K" });
  await bench.connection.run(
    "CREATE TABLE t AS SELECT * FROM (VALUES (1, NULL), (2, '__HIVE_DEFAULT_PARTITION__')) t(n, k)",
  );
  await assert.rejects(bench.write(copy, "t"), {
    message: /Column "k" of "partition_by" holds "__HIVE_DEFAULT_PARTITION__", which stands for NULL/,
  });
});

Deno.test("a partition_by that is no column name, or that would replace the root, is refused", async () => {
  await using bench = await Bench.open();
  assert.deepEqual(texts(bench.tryCopy("out", { partition_by: [1, "a"] })), [
    'PZ0301 Option "partition_by" is a list: expected a column name or a list of different ones',
  ]);
  assert.deepEqual(texts(bench.tryCopy("out", { format: "json", layout: "array", partition_by: "a" })), [
    `PZ0361 Layout "array" can't be written with "partition_by"`,
  ]);
  assert.deepEqual(texts(bench.tryCopy("out", { partition_by: "a", path: "." })), [
    `PZ0353 Cannot write partitions into "${bench.dir.path}": the whole folder would be replaced ` +
    "(give the output a path of its own below the root)",
  ]);
});
