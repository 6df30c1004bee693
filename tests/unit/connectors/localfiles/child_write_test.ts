import { testHost } from "../../../harness/connector_host.ts";
import assert from "node:assert/strict";
import { connector } from "../../../../src/connectors/builtin/localfiles/child/connector.ts";
import type { ConfigMap, OutputSpec } from "../../../../src/connectors/mod.ts";
import { arrowSchema, BatchBuilder, type CellValue, type WriteSession } from "../../../../src/connectors/sdk/mod.ts";
import type { RecordBatch } from "../../../../src/util/arrow.ts";
import { listFiles, TempDir, writeFiles } from "../../../harness/temp_dir.ts";

const NEVER = new AbortController().signal;

type Columns = { readonly [name: string]: string };

function batchOf(columns: Columns, rows: readonly (readonly CellValue[])[]): RecordBatch {
  const builder = new BatchBuilder(schemaOf(columns));
  for (const row of rows) builder.append(row);
  return builder.finish();
}

function schemaOf(columns: Columns) {
  return arrowSchema(Object.entries(columns).map(([name, type]) => ({ name, type })));
}

async function begin(columns: Columns, options: ConfigMap, notices: string[] = []): Promise<WriteSession> {
  const { sink } = connector.open({}, testHost({ notice: (text) => notices.push(text) }));
  assert.ok(sink !== undefined);
  const spec: OutputSpec = {
    connection: "lake",
    entity: "o",
    config: {},
    options,
    mode: "replace",
    schemaPolicy: "fail_on_change",
    keys: [],
    attempt: { node: "n", run: "r", ordinal: 1 },
  };
  return await sink.begin(spec, schemaOf(columns), NEVER);
}

/** Options as a plan makes them. */
function options(dir: TempDir, final: string, more: ConfigMap = {}): ConfigMap {
  const path = dir.join(final);
  return { format: "csv", delimiter: ",", final: path, aside: path.replace(/([^/]+)$/, ".$1.n-r-1.tmp"), ...more };
}

Deno.test("a file has its final name when all of it is there, and replaces the former one", async () => {
  await using dir = await TempDir.create();
  await writeFiles(dir.path, { "d/o.csv": "old" });
  const write = await begin({ a: "int", b: "varchar" }, options(dir, "d/o.csv"));
  await write.write(batchOf({ a: "int", b: "varchar" }, [[1, "x"], [null, ""]]), NEVER);
  assert.deepEqual(await listFiles(dir.path), ["d/.o.csv.n-r-1.tmp", "d/o.csv"]);
  assert.equal(await Deno.readTextFile(dir.join("d/o.csv")), "old");
  await write.write(batchOf({ a: "int", b: "varchar" }, [[3, null]]), NEVER);
  assert.deepEqual(await write.commit(), { rows: 3n, batches: 2 });
  assert.deepEqual(await listFiles(dir.path), ["d/o.csv"]);
  assert.equal(await Deno.readTextFile(dir.join("d/o.csv")), 'a,b\n1,x\n,""\n3,\n');
});

Deno.test("an aborted write takes its file and the folders made for it away", async () => {
  await using dir = await TempDir.create();
  await writeFiles(dir.path, { "kept/x": "" });
  for (const more of [{}, { partition_by: ["b"], file: "o-0.csv" }]) {
    const write = await begin({ a: "int", b: "int" }, options(dir, "kept/made/deep/o", more));
    await write.write(batchOf({ a: "int", b: "int" }, [[1, 2]]), NEVER);
    await write.abort();
    assert.deepEqual(await Array.fromAsync(Deno.readDir(dir.join("kept")), ({ name }) => name), ["x"]);
  }
});

Deno.test("a commit that fails before the final name says that nothing landed", async () => {
  await using dir = await TempDir.create();
  const write = await begin({ a: "int" }, options(dir, "o.csv"));
  await writeFiles(dir.path, { "o.csv/in/the/way": "" });
  await Deno.remove(dir.join("o.csv"), { recursive: true });
  await Deno.rename(dir.join(".o.csv.n-r-1.tmp"), dir.join("kept"));
  await Deno.mkdir(dir.join(".o.csv.n-r-1.tmp"));
  await writeFiles(dir.path, { "o.csv": "a file, which no folder replaces" });
  await assert.rejects(write.commit(), { name: "ConnectorError", outcomeUnknown: false, transient: false });
  assert.deepEqual(await listFiles(dir.path), ["kept", "o.csv"]);
});

Deno.test("folders of partitions replace the whole former folder", async () => {
  await using dir = await TempDir.create();
  await writeFiles(dir.path, { "o/stale.csv": "x", "o/k=1/o-0.csv": "old" });
  const columns = { k: "varchar", n: "bigint", day: "date" };
  const write = await begin(columns, options(dir, "o", { partition_by: ["DAY", "k"], file: "o-0.csv" }));
  await write.write(batchOf(columns, [["a/b", 1n, 0], [null, 2n, 0], ["a/b", 9007199254740993n, 0]]), NEVER);
  await write.commit();
  assert.deepEqual(await listFiles(dir.path), [
    "o/day=1970-01-01/k=__HIVE_DEFAULT_PARTITION__/o-0.csv",
    "o/day=1970-01-01/k=a%2Fb/o-0.csv",
  ]);
  assert.equal(await Deno.readTextFile(dir.join("o/day=1970-01-01/k=a%2Fb/o-0.csv")), "n\n1\n9007199254740993\n");
});

Deno.test("partitions that can't be told apart or leave no column are refused, and nothing stays", async () => {
  await using dir = await TempDir.create();
  const columns = { k: "varchar", n: "int" };
  const partitioned = (...partition_by: string[]) =>
    begin(columns, options(dir, "o", { partition_by, file: "o-0.csv" }));
  await assert.rejects(partitioned("x"), { message: /"partition_by" names "x", which is no column/ });
  await assert.rejects(partitioned("k", "n"), { message: /names all columns/ });
  const write = await partitioned("k");
  const clash = batchOf(columns, [["__HIVE_DEFAULT_PARTITION__", 1]]);
  await assert.rejects(write.write(clash, NEVER), { message: /stands for NULL/ });
  await write.abort();
  assert.deepEqual(await listFiles(dir.path), []);
});

Deno.test("more text than may wait goes to the files in between, each with one header", async () => {
  await using dir = await TempDir.create();
  const columns = { k: "int", t: "varchar" };
  const write = await begin(columns, options(dir, "o", { partition_by: ["k"], file: "o-0.csv" }));
  const text = "x".repeat(1 << 20);
  for (let n = 0; n < 20; n++) await write.write(batchOf(columns, [[n % 2, text]]), NEVER);
  await write.commit();
  for (const k of [0, 1]) {
    assert.equal(await Deno.readTextFile(dir.join(`o/k=${k}/o-0.csv`)), `t\n${`${text}\n`.repeat(10)}`);
  }
});

Deno.test("texts are quoted for the delimiter in use, numbers too where it may stand in them", async () => {
  await using dir = await TempDir.create();
  const columns = { "a.b": "decimal(9,2)", t: "varchar" };
  const write = await begin(columns, options(dir, "o.csv", { delimiter: "." }));
  await write.write(batchOf(columns, [[150n, "a,b"], [null, "c]d"]]), NEVER);
  await write.commit();
  assert.equal(await Deno.readTextFile(dir.join("o.csv")), '"a.b".t\n"1.50".a,b\n.c]d\n');
  const other = await begin({ t: "varchar" }, options(dir, "o.csv", { delimiter: "]" }));
  await other.write(batchOf({ t: "varchar" }, [["c]d"], ["#1"], ["a\\b"]]), NEVER);
  await other.commit();
  assert.equal(await Deno.readTextFile(dir.join("o.csv")), 't\n"c]d"\n"#1"\na\\b\n');
});

Deno.test("JSON has null for a number that is not finite, with a notice, and one line for each object", async () => {
  await using dir = await TempDir.create();
  const notices: string[] = [];
  const columns = { d: "double", j: "json", m: "bigint" };
  const write = await begin(columns, options(dir, "o.json", { format: "json" }), notices);
  await write.write(
    batchOf(columns, [[NaN, '{"a":\n "nan"}', 9007199254740993n], [-1.5, null, null], [Infinity, "1", 0n]]),
    NEVER,
  );
  await write.commit();
  assert.deepEqual((await Deno.readTextFile(dir.join("o.json"))).split("\n"), [
    '{"d":null,"j":{"a":  "nan"},"m":9007199254740993}',
    '{"d":-1.5,"j":null,"m":null}',
    '{"d":null,"j":1,"m":0}',
    "",
  ]);
  assert.deepEqual([...new Set(notices)], [
    'Column "d" holds numbers that JSON has none for, NaN or infinite: they are null in the file',
  ]);
  const bad = await begin({ j: "json" }, options(dir, "p.json", { format: "json" }));
  await assert.rejects(bad.write(batchOf({ j: "json" }, [["[NaN]"]]), NEVER), { message: /JSON has no such number/ });
  await bad.abort();
});

Deno.test("what no plan asks is refused", async () => {
  await using dir = await TempDir.create();
  for (const bad of [{ format: "parquet" }, { final: 1 }, { partition_by: ["a"] }, { partition_by: "a", file: "x" }]) {
    await assert.rejects(begin({ a: "int" }, { ...options(dir, "o.csv"), ...bad }), { code: "PZ0301" });
  }
});
