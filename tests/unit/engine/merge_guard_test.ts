import assert from "node:assert/strict";
import { join } from "node:path";
import { findConnector } from "../../../src/connectors/mod.ts";
import { Duck } from "../../harness/duck.ts";
import { Bench, connection, pipeline, sink } from "./fixture.ts";

/** A merge into a table of a DuckDB file, as the real connector plans it. */
function mergeSink(bench: Bench, of: string, keys: readonly string[], strategy: "merge" | "replace" = "merge") {
  const connector = findConnector("duckdb");
  if (connector === undefined || connector === "planned") assert.fail("there is no duckdb");
  const config = { path: "out.duckdb" };
  const attempt = { node: "id-lake.t", run: "20270302T061500001Z-9f3c", ordinal: 1 };
  const schemaPolicy = "fail_on_change";
  const copy = connector.nativeCopy(
    { connection: "lake", entity: "t", config, options: {}, mode: strategy, schemaPolicy, keys, attempt },
    { projectRoot: bench.root },
  );
  if (copy?.ok !== true) assert.fail(JSON.stringify(copy));
  return sink("lake.t", of, copy.value, {
    connection: connection("lake", { connector: "duckdb", config }),
    entity: "t",
    write: { strategy, keys, acceptDuplicates: false, schemaPolicy, options: {} },
  });
}

async function stored(bench: Bench): Promise<(string | null)[][]> {
  using duck = await Duck.open();
  await duck.run(`ATTACH '${join(bench.root, "out.duckdb")}' AS out (READ_ONLY)`);
  return await duck.rows("SELECT * FROM out.t ORDER BY ALL");
}

Deno.test("a NULL in any key fails a merge before anything is written", async () => {
  await using bench = await Bench.create();
  const { receipt, events } = await bench.run([
    pipeline("t", `SELECT * FROM (VALUES (1, 'a'), (NULL, 'b'), (2, NULL), (NULL, NULL)) v(id, "part no")`),
    mergeSink(bench, "t", ["id", "part no"]),
  ]);
  assert.deepEqual(receipt.nodes[1]?.error, {
    code: "PZ0521",
    message: `Output 't' can't be merged: 3 rows have NULL in a key column ("id": 2, "part no": 2)\n` +
      "hint: filter these rows out in the pipeline or give them a key",
  });
  assert.deepEqual(events.filter(({ event }) => event === "merge_key_duplicates_detected"), []);
  assert.throws(() => Deno.statSync(join(bench.root, "out.duckdb")), Deno.errors.NotFound);
});

Deno.test("duplicate keys are told with counts and the merge goes on", async () => {
  await using bench = await Bench.create();
  const { receipt, events } = await bench.run([
    pipeline("t", "SELECT * FROM (VALUES (1, 5), (1, 5), (1, 5), (2, 6), (3, 7), (3, 7)) v(id, x)"),
    mergeSink(bench, "t", ["id"]),
  ]);
  assert.deepEqual(receipt.nodes.map(({ rows, error }) => [rows, error]), [[6, null], [3, null]]);
  const names = events.map(({ event }) => event);
  const at = names.indexOf("merge_key_duplicates_detected");
  assert.deepEqual(events[at], {
    event: "merge_key_duplicates_detected",
    nodeId: "id-lake.t",
    connection: "lake",
    output: "t",
    keys: ["id"],
    duplicateGroups: 2,
    extraRows: 3,
  });
  assert.equal(names[at + 1], "node_completed");
  assert.deepEqual(await stored(bench), [["1", "5"], ["2", "6"], ["3", "7"]]);
});

Deno.test("a merge with whole and unique keys says nothing", async () => {
  await using bench = await Bench.create();
  const { receipt, events } = await bench.run([
    pipeline("t", "SELECT 1 AS id, 2 AS part UNION ALL SELECT 1, 3"),
    mergeSink(bench, "t", ["id", "part"]),
  ]);
  assert.deepEqual(receipt.nodes[1]?.error, null);
  assert.deepEqual(events.filter(({ event }) => event === "merge_key_duplicates_detected"), []);
});

Deno.test("keys of another strategy are not looked at", async () => {
  await using bench = await Bench.create();
  const { receipt, events } = await bench.run([
    pipeline("t", "SELECT NULL::INTEGER AS id UNION ALL SELECT NULL"),
    mergeSink(bench, "t", ["id"], "replace"),
  ]);
  assert.deepEqual(receipt.nodes[1]?.error, null);
  assert.deepEqual(events.filter(({ event }) => event === "merge_key_duplicates_detected"), []);
});

Deno.test("keys that the rows turn out not to have are told with the columns that there are", async () => {
  await using bench = await Bench.create();
  const { receipt } = await bench.run([pipeline("t", "SELECT 1 AS id, 2 AS part"), mergeSink(bench, "t", ["nope"])]);
  const { code, message = "" } = receipt.nodes[1]?.error ?? {};
  assert.equal(code, "PZ0401");
  assert.match(
    message,
    /^'keys' of output 't' names the column 'nope', which its rows do not have .*\n?hint: their columns are id, part$/s,
  );
});
