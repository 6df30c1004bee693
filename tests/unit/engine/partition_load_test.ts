import assert from "node:assert/strict";
import { ConnectorError } from "../../../src/connectors/mod.ts";
import { Field, Int32, makeData, RecordBatch, Schema, Struct } from "../../../src/util/arrow.ts";
import { Bench, pipeline } from "./fixture.ts";
import { batch, ids, PART_ROWS, Parts, partsRun, SCHEMA, transient } from "./parts_support.ts";

Deno.test("of twenty partitions of which one is flaky exactly one is read again", async () => {
  await using bench = await Bench.create();
  let isFlaky = true;
  const parts = new Parts({
    ids: ids(20),
    before: (id, index) => {
      if (id !== "part 7" || index !== 2 || !isFlaky) return;
      isFlaky = false;
      throw transient();
    },
  });
  const { receipt, events } = await bench.run(partsRun(), { services: parts.services });
  assert.deepEqual(receipt.nodes.map(({ error, rows }) => [error, rows]), [[null, 120], [null, 120], [null, 120]]);
  assert.deepEqual(parts.repeated, { "part 7": 2 });
  assert.equal(receipt.nodes[0]?.attempts, 2);
  assert.deepEqual(receipt.nodes[0]?.partitions, { total: 20, completed: 20, reused: 19, resumed: 0 });
  const retry = events.find((event) => event.event === "retry_scheduled");
  assert.equal(retry?.reason, "1 of 20 partitions failed; first: the line broke");
  // The second plan is asked to divide as the first did.
  assert.equal(parts.plans[0]?.priorPartitions, undefined);
  assert.deepEqual(
    parts.plans[1]?.priorPartitions,
    ids(20).map((id) => ({ id, isDone: id !== "part 7" })),
  );
});

Deno.test("what a later run finds in its staging it does not read again, nor a plan of which all is there", async () => {
  await using bench = await Bench.create();
  let isBroken = true;
  const parts = new Parts({
    ids: ids(5),
    before: (id) => {
      if (id === "part 2" && isBroken) throw new ConnectorError("no such thing", { transient: false, hint: "look" });
    },
  });
  const first = await bench.run(partsRun(), { services: parts.services });
  assert.deepEqual(first.receipt.nodes[0]?.error, {
    code: "PZ0501",
    message: "1 of 5 partitions failed; first: no such thing\nhint: look",
    cause: "read",
  });
  isBroken = false;
  const second = await bench.run(partsRun(), { services: parts.services });
  assert.deepEqual(second.receipt.nodes.map(({ rows }) => rows), [30, 30, 30]);
  assert.deepEqual(second.receipt.nodes[0]?.partitions, { total: 5, completed: 5, reused: 4, resumed: 0 });
  assert.deepEqual(parts.repeated, { "part 2": 2 });
  const third = await bench.run(partsRun(), { services: parts.services });
  assert.deepEqual(third.receipt.nodes[0]?.partitions, { total: 5, completed: 5, reused: 5, resumed: 0 });
  assert.equal(parts.reads.length, 6);
  assert.equal(parts.plans.length, 2);
});

Deno.test("one partition alone keeps its error's words, and its account", async () => {
  await using bench = await Bench.create();
  let failures = 1;
  const parts = new Parts({
    ids: ["all"],
    before: () => {
      if (failures-- > 0) throw transient("once");
    },
  });
  const { receipt, events } = await bench.run(partsRun(), { services: parts.services });
  assert.equal(events.find((event) => event.event === "retry_scheduled")?.reason, "once");
  assert.deepEqual([receipt.nodes[0]?.rows, receipt.nodes[0]?.partitions], [PART_ROWS, undefined]);
  const again = await bench.run(partsRun(), { services: parts.services });
  assert.deepEqual([again.receipt.nodes[0]?.rows, parts.reads.length], [PART_ROWS, 2]);
});

Deno.test("a failure is worth another try only where that of every partition is, after the longest wait asked for", async () => {
  const run = async (errors: { readonly [id: string]: unknown }) => {
    await using bench = await Bench.create();
    const parts = new Parts({
      ids: ids(4),
      before: (id) => {
        if (errors[id] !== undefined) throw errors[id];
      },
    });
    const { receipt, events } = await bench.run(partsRun({ attempts: 2 }), { services: parts.services });
    return { node: receipt.nodes[0], events };
  };
  const wait = (retryAfterMs: number) => new ConnectorError(`wait ${retryAfterMs}`, { transient: true, retryAfterMs });
  const both = await run({ "part 0": wait(3), "part 2": wait(7) });
  assert.equal(both.node?.attempts, 2);
  const delays = both.events.flatMap((event) => event.event === "retry_scheduled" ? [event.delayMs] : []);
  assert.deepEqual(delays, [7]);
  assert.match(both.node?.error?.message ?? "", /^2 of 4 partitions failed; first: wait [37]/);
  const mixed = await run({ "part 0": wait(3), "part 2": new ConnectorError("gone", { transient: false }) });
  assert.equal(mixed.node?.attempts, 1);
  const foreign = await run({ "part 1": new TypeError("a bug") });
  assert.deepEqual([foreign.node?.attempts, foreign.node?.error?.cause], [1, "read"]);
});

Deno.test("where one partition after the other fails no more are begun", async () => {
  await using bench = await Bench.create();
  const parts = new Parts({
    ids: ids(100),
    before: () => {
      throw new ConnectorError("down", { transient: false });
    },
  });
  const { receipt } = await bench.run(partsRun(), { services: parts.services });
  assert.match(receipt.nodes[0]?.error?.message ?? "", /^[34] of 100 partitions failed; first: down$/);
  assert.ok(parts.reads.length <= 4, `${parts.reads.length} were read`);
});

Deno.test("what staging can't take stops the other readers, and is told as a write", async () => {
  await using bench = await Bench.create();
  const wide = new Schema([new Field("n", new Int32(), true), new Field("m", new Int32(), true)]);
  const column = makeData({ type: new Int32(), length: 1, nullCount: 0, data: new Int32Array(1) });
  const data = makeData({ type: new Struct(wide.fields), length: 1, nullCount: 0, children: [column, column] });
  let stopped = 0;
  const parts = new Parts({
    ids: ids(2),
    before: async (id, _, signal) => {
      if (id !== "part 0") return;
      await new Promise((_, reject) => {
        if (signal.aborted) reject(signal.reason);
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      }).finally(() => stopped++);
    },
    batch: () => new RecordBatch(wide, data),
  });
  const { receipt } = await bench.run(partsRun(), { services: parts.services });
  assert.deepEqual([receipt.nodes[0]?.error?.cause, receipt.nodes[0]?.attempts, stopped], ["write", 1, 1]);
  assert.match(receipt.nodes[0]?.error?.message ?? "", /2 columns, its schema 1/);
});

Deno.test("a stop ends a load whose readers wait, and what was done stays done", async () => {
  await using bench = await Bench.create();
  const controller = new AbortController();
  const parts = new Parts({
    ids: ids(3),
    before: async (id, _, signal) => {
      if (id !== "part 2" || controller.signal.aborted) return;
      controller.abort(new Error("stop"));
      await new Promise((_, reject) => {
        if (signal.aborted) reject(signal.reason);
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
    },
  });
  const options = { signal: controller.signal };
  const stopped = await bench.run(partsRun(), { services: parts.services, options, engine: { threads: 1 } });
  assert.deepEqual([stopped.outcome.status, stopped.outcome.skipped], ["fatal", 3]);
  const { receipt } = await bench.run(partsRun(), { services: parts.services });
  assert.deepEqual(receipt.nodes.map(({ rows }) => rows), [18, 18, 18]);
  const { reused = 0 } = receipt.nodes[0]?.partitions ?? {};
  assert.ok(reused >= 1, "nothing was kept");
  assert.equal(parts.reads.length, 3 + 3 - reused);
});

Deno.test("partitions that are named while others are read are skipped where they are done", async () => {
  await using bench = await Bench.create();
  let isFlaky = true;
  const parts = new Parts({
    ids: ids(8),
    before: (id) => {
      if (id !== "part 5" || !isFlaky) return;
      isFlaky = false;
      throw transient();
    },
  });
  const { receipt } = await bench.run(partsRun({ streams: true }), { services: parts.services });
  assert.deepEqual(receipt.nodes.map(({ error, rows }) => [error, rows]), [[null, 48], [null, 48], [null, 48]]);
  assert.deepEqual([parts.repeated, receipt.nodes[0]?.partitions?.reused], [{ "part 5": 2 }, 7]);
});

for (const streams of [false, true]) {
  const how = streams ? "named one by one" : "planned";
  Deno.test(`partitions that are gone by another attempt take their rows along: ${how}`, async () => {
    await using bench = await Bench.create();
    let isFlaky = true;
    const parts = new Parts({
      ids: ids(4),
      before: (id) => {
        if (id !== "part 3" || !isFlaky) return;
        isFlaky = false;
        parts.ids = ["part 3", "part 9"];
        throw transient();
      },
    });
    const { receipt } = await bench.run(partsRun({ streams }), { services: parts.services });
    assert.deepEqual(receipt.nodes.map(({ error, rows }) => [error, rows]), [[null, 12], [null, 12], [null, 12]]);
  });
}

Deno.test("a source whose columns changed since the first attempt is read anew as a whole", async () => {
  await using bench = await Bench.create();
  const renamed = new Schema([new Field("n", new Int32(), true), new Field("more", new Int32(), true)]);
  const column = makeData({ type: new Int32(), length: 1, nullCount: 0, data: new Int32Array(1) });
  const wide = makeData({ type: new Struct(renamed.fields), length: 1, nullCount: 0, children: [column, column] });
  const parts: Parts = new Parts({
    ids: ids(3),
    schema: () => parts.plans.length === 0 ? SCHEMA : renamed,
    before: (id) => {
      if (id === "part 1" && parts.plans.length === 1) throw transient();
    },
    batch: (_, index) => parts.plans.length === 1 ? batch(index, 2) : new RecordBatch(renamed, wide),
  });
  const { receipt } = await bench.run([
    ...partsRun().slice(0, 1),
    pipeline("more", "SELECT more FROM staging.one", ["one"]),
  ], { services: parts.services });
  assert.deepEqual(receipt.nodes.map(({ error, rows }) => [error, rows]), [[null, 9], [null, 9]]);
  assert.equal(receipt.nodes[0]?.partitions?.reused, 0);
});

Deno.test("rows that do not fit the contract are read again, once they were put right", async () => {
  await using bench = await Bench.create();
  let from = 1000;
  const parts = new Parts({ ids: ids(2), batch: (_, index) => batch(from + index, 1) });
  const nodes = partsRun({ attempts: 1, more: { columns: [{ name: "n", type: "tinyint" }] } });
  const first = await bench.run(nodes, { services: parts.services });
  assert.match(first.receipt.nodes[0]?.error?.message ?? "", /1000/);
  from = 10;
  const second = await bench.run(nodes, { services: parts.services });
  assert.deepEqual(second.receipt.nodes.map(({ error, rows }) => [error, rows]), [[null, 6], [null, 6], [null, 3]]);
  // And with the contract's types in the table nothing is read a third time.
  const third = await bench.run(nodes, { services: parts.services });
  assert.deepEqual([third.receipt.nodes[0]?.rows, parts.reads.length], [6, 4]);
});

Deno.test("a plan that fails is told as a read that failed", async () => {
  for (const streams of [false, true]) {
    await using bench = await Bench.create();
    const parts = new Parts({ ids: ids(2) });
    const error = new ConnectorError("Partition 2 of the plan has no id", { transient: false, code: "PZ0319" });
    Object.defineProperty(parts, "ids", {
      get: () => {
        throw error;
      },
    });
    const { receipt } = await bench.run(partsRun({ streams }), { services: parts.services });
    assert.deepEqual(receipt.nodes[0]?.error?.code, "PZ0319");
    assert.match(receipt.nodes[0]?.error?.message ?? "", /^Partition 2 of the plan has no id/);
  }
});
