import assert from "node:assert/strict";
import type { NativeScan } from "../../../../src/connectors/mod.ts";
import { writeFiles } from "../../../harness/temp_dir.ts";
import { Bench } from "../bench.ts";

async function inferred(bench: Bench, scan: NativeScan): Promise<NativeScan> {
  assert.ok(scan.infer !== undefined);
  assert.ok(scan.schemaInferred);
  return await scan.infer((sql) => bench.connection.rows(sql));
}

/** Enough whole numbers that DuckDB's sample holds nothing else. */
const MANY_WHOLE = Array.from({ length: 30_000 }, (_, index) => `${index}\n`).join("");

Deno.test("guessed types are those that DuckDB finds", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, { "x.csv": "i,f,b,d,t,s\n1,1.5,true,2024-01-02,2024-01-02 10:00:00,x\n" });
  const scan = await inferred(bench, bench.scan("x"));
  assert.deepEqual(await bench.types(scan), [
    "i BIGINT",
    "f DOUBLE",
    "b BOOLEAN",
    "d DATE",
    "t TIMESTAMP",
    "s VARCHAR",
  ]);
  assert.deepEqual(await bench.read(scan), [["1", "1.5", "true", "2024-01-02", "2024-01-02 10:00:00", "x"]]);
});

Deno.test("a fraction behind the sample of a guessed whole column is refused with its line, not rounded", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, { "x.csv": `n\n${MANY_WHOLE}1.5\n` });
  const scan = await inferred(bench, bench.scan("x"));
  await assert.rejects(bench.read(scan), /Column "n" can't hold '1.5' as BIGINT/);
  const found = await scan.diagnose?.((sql) => bench.connection.rows(sql));
  assert.equal(found?.line, 30_002);
  assert.equal(found?.file, bench.dir.join("x.csv"));
});

Deno.test("days in another form than ISO 8601 are read by the form that DuckDB found", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, { "x.csv": "n,d\n1,31/12/2024\n2,01/02/2024\n" });
  const scan = await inferred(bench, bench.scan("x"));
  assert.deepEqual(await bench.types(scan), ["n BIGINT", "d DATE"]);
  assert.deepEqual(await bench.read(scan), [["1", "2024-12-31"], ["2", "2024-02-01"]]);
});

Deno.test("many files of one header are read together, and files with other columns by name", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, {
    "a/1.csv": "n\n1\n",
    "a/2.csv": "n\n2\n",
    "b/1.csv": "n\n1\n",
    "b/2.csv": "m,n\nx,2\n",
  });
  assert.deepEqual(await bench.read(await inferred(bench, bench.scan("x", { path: "a/*.csv" }))), [["1"], ["2"]]);
  const mixed = await inferred(bench, bench.scan("x", { path: "b/*.csv" }));
  assert.deepEqual(await bench.read(mixed), [["1", null], ["2", "x"]]);
});

Deno.test("a header alone gives no rows, and an odd header is left to DuckDB", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, { "x.csv": "a,b\n", "y.csv": "a,a\n1,2\n" });
  assert.deepEqual(await bench.read(await inferred(bench, bench.scan("x"))), []);
  const odd = await inferred(bench, bench.scan("y"));
  assert.deepEqual(await bench.types(odd), ["a BIGINT", "a_1 BIGINT"]);
});

Deno.test("guessed JSON takes its columns from the keys", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, { "x.json": '{"a":1}\n{"a":2,"b":"x"}\n' });
  assert.deepEqual(await bench.read(bench.scan("x", { format: "json" })), [["1", null], ["2", "x"]]);
});
