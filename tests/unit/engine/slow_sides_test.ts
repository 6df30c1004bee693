import assert from "node:assert/strict";
import type { RunServices } from "../../../src/engine/mod.ts";
import { openStaging } from "../../../src/staging/mod.ts";
import { Field, Int32, makeData, RecordBatch, Schema, Struct } from "../../../src/util/arrow.ts";
import { FakeSink, universalSink } from "./fake_sink.ts";
import { Bench, connection, pipeline, source } from "./fixture.ts";
import { fakeSession } from "./session_support.ts";

/** More than statements can run at once, so that one that waits in a statement would hold up all others. */
const MANY = 12;

Deno.test("sinks that do not take their rows hold up no other node", async () => {
  await using bench = await Bench.create();
  const waiting = Promise.withResolvers<void>();
  let writing = 0;
  const allWrite = Promise.withResolvers<void>();
  const sink = new FakeSink({
    before: async (step) => {
      if (step !== "write") return;
      if (++writing === MANY) allWrite.resolve();
      await waiting.promise;
    },
  });
  const sinks = Array.from({ length: MANY }, (_, index) => {
    const [node, plan] = universalSink("t", { plan: { batchBytes: 20_000 } });
    return [{ ...node, id: `${node.id}${index}` }, { ...plan, id: `${node.id}${index}` }] as const;
  });
  const gate = { fragment: "(SELECT 1 AS one)", setup: [], mechanism: "query", schemaInferred: false };
  const { receipt } = await bench.run([
    pipeline("t", "SELECT range AS n, 'some text ' || range AS s FROM range(50000)"),
    ...sinks,
    source("late", { scan: { ...gate, infer: async () => (await allWrite.promise, gate) } }),
    pipeline("other", "SELECT sum(range) FROM range(100000)", ["late"]),
  ], {
    services: sink.services,
    engine: { threads: MANY + 2 },
    onEvent: (event) => {
      if (event.event === "node_completed" && event.name === "other") waiting.resolve();
    },
  });
  assert.deepEqual([...new Set(receipt.nodes.map(({ error }) => error))], [null]);
  assert.equal(receipt.nodes.find(({ name }) => name === "other")?.status, "success");
  const order = receipt.nodes.map(({ name }) => name);
  assert.equal(order.length, MANY + 3);
});

Deno.test("sources whose rows do not come hold up no other node", async () => {
  await using bench = await Bench.create();
  const schema = new Schema([new Field("n", new Int32(), true)]);
  const column = makeData({ type: new Int32(), length: 1, nullCount: 0, data: Int32Array.of(1) });
  const batch = new RecordBatch(
    schema,
    makeData({ type: new Struct(schema.fields), length: 1, nullCount: 0, children: [column] }),
  );
  const waiting = Promise.withResolvers<void>();
  const allRead = Promise.withResolvers<void>();
  let reading = 0;
  const services: RunServices = {
    openStaging,
    openSession: () =>
      fakeSession({
        getSchema: () => Promise.resolve(schema),
        planRead: () => Promise.resolve([{ id: "0" }]),
        read: async function* () {
          yield batch;
          if (++reading === MANY) allRead.resolve();
          await waiting.promise;
          yield batch;
        },
      }),
  };
  const gate = { fragment: "(SELECT 1 AS one)", setup: [], mechanism: "query", schemaInferred: false };
  const { receipt } = await bench.run([
    ...Array.from(
      { length: MANY },
      (_, index) => source(`s${index}`, { strategy: "arrow_stream" }, { connection: connection("raw") }),
    ),
    source("late", { scan: { ...gate, infer: async () => (await allRead.promise, gate) } }),
    pipeline("other", "SELECT sum(range) FROM range(100000)", ["late"]),
  ], {
    services,
    engine: { threads: MANY + 2 },
    onEvent: (event) => {
      if (event.event === "node_completed" && event.name === "other") waiting.resolve();
    },
  });
  assert.deepEqual([...new Set(receipt.nodes.map(({ error }) => error))], [null]);
  assert.equal(receipt.nodes.filter(({ rows }) => rows === 2).length, MANY);
});

Deno.test("a sink that is slow leaves room in flight for a load beside it", async () => {
  await using bench = await Bench.create();
  const waiting = Promise.withResolvers<void>();
  const writing = Promise.withResolvers<void>();
  const sink = new FakeSink({
    before: async (step) => {
      if (step !== "write") return;
      writing.resolve();
      await waiting.promise;
    },
  });
  const schema = new Schema([new Field("n", new Int32(), true)]);
  const column = makeData({ type: new Int32(), length: 20_000, nullCount: 0, data: new Int32Array(20_000) });
  const batch = new RecordBatch(
    schema,
    makeData({ type: new Struct(schema.fields), length: 20_000, nullCount: 0, children: [column] }),
  );
  const services: RunServices = {
    ...sink.services,
    openSession: (opened, ...more) =>
      opened.name === "lake" ? sink.services.openSession(opened, ...more) : fakeSession({
        getSchema: () => Promise.resolve(schema),
        planRead: () => Promise.resolve([{ id: "0" }]),
        read: async function* () {
          await writing.promise;
          for (let count = 0; count < 50; count++) yield batch;
          waiting.resolve();
        },
      }),
  };
  // The run's budget is 1 MiB: without shares, two batches that wait for the sink would be most of it.
  const { receipt } = await bench.run([
    source("late", { strategy: "arrow_stream" }, { connection: connection("raw") }),
    pipeline("t", "SELECT range AS n, 'some text ' || range AS s FROM range(200000)"),
    universalSink("t", { plan: { batchBytes: 480_000 } }),
  ], { services, engine: { threads: 2 } });
  assert.deepEqual(receipt.nodes.map(({ error }) => error), [null, null, null]);
});
