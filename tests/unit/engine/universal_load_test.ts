import assert from "node:assert/strict";
import { ConnectorError } from "../../../src/connectors/mod.ts";
import type { RunServices } from "../../../src/engine/mod.ts";
import type { NodeProgress } from "../../../src/events/mod.ts";
import { openStaging } from "../../../src/staging/mod.ts";
import { Field, Int32, makeData, RecordBatch, Schema, Struct } from "../../../src/util/arrow.ts";
import { Bench, connection, pipeline, source } from "./fixture.ts";

const SCHEMA = new Schema([new Field("n", new Int32(), true)]);

function batch(...values: readonly number[]): RecordBatch {
  const column = makeData({ type: new Int32(), length: values.length, nullCount: 0, data: Int32Array.from(values) });
  const data = makeData({ type: new Struct(SCHEMA.fields), length: values.length, nullCount: 0, children: [column] });
  return new RecordBatch(SCHEMA, data);
}

type Part = (signal: AbortSignal) => AsyncIterable<RecordBatch>;

/** A connector made of the parts that it would read. */
class FakeConnector {
  readonly log: string[] = [];
  readonly services: RunServices;

  constructor(parts: readonly Part[], more: { planRead?: () => Promise<never> } = {}) {
    this.services = {
      openStaging,
      openSession: ({ name }) => {
        this.log.push(`open ${name}`);
        return {
          getSchema: () => Promise.resolve(SCHEMA),
          planRead: more.planRead ?? (() => Promise.resolve(parts.map((_, index) => ({ id: `${index}` })))),
          read: (_spec, { id }, { signal }) => {
            this.log.push(`read ${id}`);
            return parts[Number(id)]?.(signal) ?? assert.fail("no such part");
          },
          [Symbol.asyncDispose]: () => {
            this.log.push(`close ${name}`);
            return Promise.resolve();
          },
        };
      },
    };
  }
}

const RAW = { connection: connection("raw", { connector: "fake" }) };

function load(name: string): ReturnType<typeof source> {
  return source(name, { strategy: "arrow_stream" }, RAW);
}

Deno.test("all partitions land in one table, with progress, stalls and one session for the connection", async () => {
  await using bench = await Bench.create();
  const part = (from: number): Part =>
    async function* () {
      for (let index = 0; index < 15; index++) yield await Promise.resolve(batch(from + index, from + index));
    };
  const fake = new FakeConnector([part(0), part(100), part(200)]);
  const { outcome, receipt, events } = await bench.run([
    load("one"),
    load("two"),
    pipeline("sum", "SELECT DISTINCT n FROM staging.one", ["one"]),
  ], { engine: { threads: 1 }, services: fake.services });
  assert.equal(outcome.status, "success", receipt.nodes[0]?.error?.message);
  assert.deepEqual(receipt.nodes.map(({ name, rows }) => [name, rows]), [["one", 90], ["two", 90], ["sum", 45]]);
  assert.deepEqual(fake.log.filter((line) => !line.startsWith("read")), ["open raw", "close raw"]);
  const progress = events.filter((event): event is NodeProgress => event.event === "node_progress");
  assert.deepEqual(progress.map(({ name, rows, batches }) => [name, rows, batches]), [
    ...[10, 20, 30, 40].map((batches) => ["one", batches * 2, batches]),
    ...[10, 20, 30, 40].map((batches) => ["two", batches * 2, batches]),
  ]);
  const [node] = receipt.nodes;
  assert.deepEqual(Object.keys(node?.timings ?? {}), ["producerStallMs", "consumerStallMs"]);
  assert.deepEqual(Object.keys(node?.stages ?? {}), ["extractMs", "ingestMs"]);
  assert.equal(node?.strategy, "arrow_stream");
});

Deno.test("a source without rows leaves an empty table with its columns", async () => {
  await using bench = await Bench.create();
  const fake = new FakeConnector([]);
  const { receipt } = await bench.run([load("one"), pipeline("p", "SELECT count(n) AS c FROM staging.one", ["one"])], {
    services: fake.services,
  });
  assert.deepEqual(receipt.nodes.map(({ rows, error }) => [rows, error]), [[0, null], [1, null]]);
});

Deno.test("the first fault stops the other readers, is the one that is told, and leaves no table", async () => {
  await using bench = await Bench.create();
  let stopped = 0;
  const endless: Part = async function* (signal) {
    yield batch(1);
    await new Promise((_, reject) =>
      signal.addEventListener("abort", () => {
        stopped++;
        reject(new ConnectorError("read was cancelled", { transient: true }));
      }, { once: true })
    );
  };
  const failing: Part = async function* () {
    yield batch(1);
    await Promise.resolve();
    throw new ConnectorError("server closed the connection", { transient: false, hint: "ask the server" });
  };
  const fake = new FakeConnector([endless, failing]);
  const { receipt } = await bench.run([
    load("one"),
    pipeline("probe", "SELECT table_name FROM duckdb_tables() WHERE table_name = 'one'"),
  ], { engine: { threads: 1 }, services: fake.services });
  assert.equal(stopped, 1);
  assert.deepEqual(receipt.nodes[0]?.error, {
    code: "PZ0501",
    message: "server closed the connection\nhint: ask the server",
    cause: "read",
  });
  assert.equal(receipt.nodes[1]?.rows, 0);
  assert.deepEqual(fake.log.at(-1), "close raw");
});

Deno.test("an ingest that fails stops the readers and is told as a write", async () => {
  await using bench = await Bench.create();
  const wrong = new Schema([new Field("n", new Int32(), true), new Field("m", new Int32(), true)]);
  const part: Part = async function* (signal) {
    const column = makeData({ type: new Int32(), length: 0, nullCount: 0, data: new Int32Array(0) });
    const data = makeData({ type: new Struct(wrong.fields), length: 0, nullCount: 0, children: [column, column] });
    yield await Promise.resolve(new RecordBatch(wrong, data));
    while (!signal.aborted) yield batch(1);
    signal.throwIfAborted();
  };
  const fake = new FakeConnector([part]);
  const { receipt } = await bench.run([load("one")], { services: fake.services });
  assert.deepEqual([receipt.nodes[0]?.error?.code, receipt.nodes[0]?.error?.cause], ["PZ0501", "write"]);
});

Deno.test("a denied permission fails the node with connector, connection and permission", async () => {
  await using bench = await Bench.create();
  const denied = { permission: "read", target: "/etc/passwd" };
  const planRead = () => Promise.reject(new ConnectorError("no", { transient: false, denied }));
  const fake = new FakeConnector([], { planRead });
  const { receipt } = await bench.run([load("one")], { services: fake.services });
  assert.equal(receipt.nodes[0]?.error?.code, "PZ0740");
  assert.equal(receipt.nodes[0]?.error?.cause, "denied");
  assert.match(
    receipt.nodes[0]?.error?.message ?? "",
    /^Connector 'fake' of connection 'raw' was denied read access to '\/etc\/passwd'/,
  );
});

Deno.test("a stop ends a load that waits for its connector", async () => {
  await using bench = await Bench.create();
  const controller = new AbortController();
  const hanging: Part = async function* (signal) {
    yield batch(1);
    controller.abort(new Error("stop"));
    await new Promise((_, reject) => {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  };
  const fake = new FakeConnector([hanging]);
  const { outcome } = await bench.run([load("one")], {
    services: fake.services,
    options: { signal: controller.signal },
  });
  assert.deepEqual([outcome.status, outcome.skipped], ["fatal", 1]);
  assert.deepEqual(fake.log.at(-1), "close raw");
});

Deno.test("secrets of a connection are masked in what its connector says", async () => {
  await using bench = await Bench.create();
  const config = { host: "db.example", password: "hunter22", nested: { api_key: "k-12345" } };
  const node = source("one", { strategy: "arrow_stream" }, { connection: connection("raw", { config }) });
  const planRead = () =>
    Promise.reject(new ConnectorError("db.example refused hunter22 and k-12345", { transient: false }));
  const fake = new FakeConnector([], { planRead });
  const connections = { raw: connection("raw", { config }) };
  const { receipt } = await bench.run([node], { services: fake.services, project: { connections } });
  assert.equal(receipt.nodes[0]?.error?.message, "db.example refused *** and ***");
});
