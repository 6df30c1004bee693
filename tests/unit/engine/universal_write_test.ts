import assert from "node:assert/strict";
import type { NodeProgress } from "../../../src/events/mod.ts";
import { drainArrow } from "../../../src/staging/mod.ts";
import { FakeSink, MANY, SMALL, universalSink } from "./fake_sink.ts";
import { Bench, pipeline, RUN_ID } from "./fixture.ts";

Deno.test("a relation is written in batches with its columns, its count and one commit", async () => {
  await using bench = await Bench.create();
  const sink = new FakeSink();
  const run = await bench.run([MANY, universalSink("t", { plan: SMALL, write: { options: { table: "x" } } })], {
    services: sink.services,
  });
  const node = run.receipt.nodes[1];
  assert.deepEqual([node?.error, node?.rows, node?.strategy], [null, 10_000, "arrow_stream"]);
  assert.deepEqual(sink.schemas[0]?.fields.map(({ name, type }) => `${name} ${type}`), ["n Int32", "s Utf8"]);
  const numbers = sink.values("n").map(Number).sort((a, b) => a - b);
  assert.deepEqual([numbers.length, numbers[0], numbers.at(-1), new Set(numbers).size], [10_000, 0, 9999, 10_000]);
  assert.ok(sink.steps.write > 10);
  assert.deepEqual({ ...sink.steps, write: 0 }, { begin: 1, write: 0, commit: 1, abort: 0 });
  assert.equal(sink.log.at(-1), "commit 0");
  assert.deepEqual(sink.specs.map(({ entity, mode, options, attempt }) => [entity, mode, options, attempt]), [
    ["lake.t", "replace", { table: "x" }, { node: "id-lake.t", run: RUN_ID, ordinal: 1 }],
  ]);
  assert.deepEqual(Object.keys(node?.timings ?? {}), ["producerStallMs", "consumerStallMs"]);
  assert.deepEqual(Object.keys(node?.stages ?? {}), ["egressMs", "writeMs"]);
});

Deno.test("progress is told every ten batches, with running totals", async () => {
  await using bench = await Bench.create();
  const sink = new FakeSink();
  const { events } = await bench.run([MANY, universalSink("t", { plan: SMALL })], { services: sink.services });
  const progress = events.filter((event): event is NodeProgress => event.event === "node_progress");
  assert.deepEqual(progress.map(({ batches }) => batches), progress.map((_, index) => (index + 1) * 10));
  assert.ok(progress.length >= 2);
  const sent = (sink.written[0] ?? []).slice(0, 20);
  assert.equal(progress[1]?.rows, sent.reduce((sum, { numRows }) => sum + numRows, 0));
});

Deno.test("a slow sink shows as the time of its writes, slow rows as the time that they are waited for", async () => {
  await using bench = await Bench.create();
  const turns = async (count: number) => {
    while (count-- > 0) await new Promise((resolve) => setTimeout(resolve, 0));
  };
  const stalls = async (init: ConstructorParameters<typeof FakeSink>[0]) => {
    const { receipt } = await bench.run([MANY, universalSink("t", { plan: SMALL })], {
      services: new FakeSink(init).services,
    });
    return receipt.nodes[1]?.timings ?? assert.fail("no timings");
  };
  const slowSink = await stalls({ before: (step) => step === "write" ? turns(10) : undefined });
  assert.ok(slowSink.consumerStallMs > 2 * slowSink.producerStallMs, JSON.stringify(slowSink));
  const slowRows = await stalls({
    drain: async (connection, table, options) => {
      const { schema, batches } = await drainArrow(connection, table, options);
      return {
        schema,
        batches: (async function* () {
          for await (const batch of batches) {
            await turns(10);
            yield batch;
          }
        })(),
      };
    },
  });
  assert.ok(slowRows.producerStallMs > 2 * slowRows.consumerStallMs, JSON.stringify(slowRows));
});

Deno.test("a connector that says that it committed another number of rows is told of", async () => {
  await using bench = await Bench.create();
  const lines = async (commits: bigint, strategy: "append" | "merge" = "append") => {
    const keys = strategy === "merge" ? ["n"] : [];
    const { events } = await bench.run([MANY, universalSink("t", { write: { strategy, keys } })], {
      services: new FakeSink({ commits }).services,
    });
    return events.flatMap((event) => event.event === "connector_log" ? [`${event.level} ${event.message}`] : []);
  };
  assert.deepEqual(await lines(9999n), [
    "warn 'lake.t' got 10000 row(s), and its connector says that it committed 9999",
  ]);
  assert.deepEqual([await lines(10_000n), await lines(7n, "merge")], [[], []]);
});

Deno.test("an empty relation is written too: begun and committed without a batch", async () => {
  await using bench = await Bench.create();
  const sink = new FakeSink();
  const { receipt } = await bench.run([pipeline("t", "SELECT 1 AS n WHERE false"), universalSink("t")], {
    services: sink.services,
  });
  assert.deepEqual([receipt.nodes[1]?.error, receipt.nodes[1]?.rows], [null, 0]);
  assert.deepEqual(sink.log, ["begin 0", "commit 0"]);
});

Deno.test("a view is written with the rows that it has, and nothing of it is left in staging", async () => {
  await using bench = await Bench.create();
  const sink = new FakeSink();
  const { receipt } = await bench.run([
    pipeline("t", "SELECT range AS n FROM range(5) ORDER BY n DESC", [], { materialization: "view" }),
    universalSink("t"),
    pipeline("probe", "SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'pz_out%'", ["lake.t"]),
  ], { services: sink.services });
  assert.deepEqual(receipt.nodes.map(({ error, rows }) => [error, rows]), [[null, 0], [null, 5], [null, 0]]);
  assert.deepEqual(sink.values("n"), [4n, 3n, 2n, 1n, 0n]);
});

Deno.test("an ORDER BY that ends a pipeline orders the rows that are written, through one writer", async () => {
  await using bench = await Bench.create();
  const sink = new FakeSink();
  const { receipt } = await bench.run([
    pipeline("t", "SELECT hash(range) AS k FROM range(300000) ORDER BY k"),
    universalSink("t", { plan: { batchBytes: 100_000, writers: 4 }, write: { strategy: "append" } }),
  ], { services: sink.services });
  assert.equal(receipt.nodes[1]?.error, null);
  const keys = sink.values("k").map((value) => BigInt(String(value)));
  assert.equal(keys.length, 300_000);
  assert.equal(keys.filter((key, index) => key < (keys[index - 1] ?? 0n)).length, 0);
  assert.equal(sink.steps.begin, 1);
});

Deno.test("several writers share the rows of one drain and are committed when all are written", async () => {
  await using bench = await Bench.create();
  const sink = new FakeSink();
  const { receipt } = await bench.run([
    MANY,
    universalSink("t", { plan: { ...SMALL, writers: 3 }, write: { strategy: "append" } }),
  ], { services: sink.services });
  assert.deepEqual([receipt.nodes[1]?.error, receipt.nodes[1]?.rows], [null, 10_000]);
  assert.deepEqual(sink.log.slice(-3), ["commit 0", "commit 1", "commit 2"]);
  assert.equal(new Set(sink.values("n")).size, 10_000);
  assert.ok(sink.written.every((batches) => batches.length > 0));
});

const MERGE = { strategy: "merge", keys: ["n"] } as const;

Deno.test("a merge with a NULL key is refused before its connector hears of it; duplicates are told", async () => {
  await using bench = await Bench.create();
  const sink = new FakeSink();
  const nulls = await bench.run([
    pipeline("t", "SELECT NULL::INTEGER AS n"),
    universalSink("t", { write: MERGE }),
  ], { services: sink.services });
  assert.equal(nulls.receipt.nodes[1]?.error?.code, "PZ0521");
  assert.deepEqual(sink.log, []);
  const twice = await bench.run([
    pipeline("t", "SELECT unnest([1, 1, 2]) AS n"),
    universalSink("t", { write: MERGE }),
  ], { services: sink.services });
  assert.equal(twice.receipt.nodes[1]?.rows, 2);
  assert.ok(twice.events.some(({ event }) => event === "merge_key_duplicates_detected"));
});

Deno.test("a merge that is told which duplicate to keep sends only that one", async () => {
  await using bench = await Bench.create();
  const sink = new FakeSink();
  const { receipt } = await bench.run([
    pipeline("t", "SELECT * FROM (VALUES (1, 'a'), (1, 'c'), (1, 'b'), (2, 'z')) t(n, s)"),
    universalSink("t", { write: { ...MERGE, orderBy: ["s desc"] } }),
  ], { services: sink.services });
  assert.deepEqual([receipt.nodes[1]?.error, receipt.nodes[1]?.rows], [null, 2]);
  assert.deepEqual(sink.values("s").sort(), ["c", "z"]);
});
