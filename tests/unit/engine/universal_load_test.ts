import assert from "node:assert/strict";
import { ConnectorError } from "../../../src/connectors/mod.ts";
import type { RunServices } from "../../../src/engine/mod.ts";
import type { NodeProgress } from "../../../src/events/mod.ts";
import { openStaging } from "../../../src/staging/mod.ts";
import { Field, Int32, makeData, RecordBatch, Schema, Struct, Utf8 } from "../../../src/util/arrow.ts";
import type { DatasetSpec } from "../../../src/connectors/mod.ts";
import { Bench, connection, pipeline, source } from "./fixture.ts";
import { fakeSession } from "./session_support.ts";

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
        return fakeSession({
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
        });
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
  const partitions = { total: 3, completed: 3, reused: 0, resumed: 0 };
  assert.deepEqual(node?.partitions, partitions);
  const ends = events.filter((event) => event.event === "node_completed");
  assert.deepEqual(ends.map((event) => event.partitions), [partitions, partitions, undefined]);
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

Deno.test("an ingest that fails before it reads anything is told as it failed, not as what it stopped", async () => {
  await using bench = await Bench.create();
  const hanging: Part = async function* (signal) {
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
    yield batch(1);
  };
  const { openSession } = new FakeConnector([hanging]).services;
  const services: RunServices = {
    openSession,
    openStaging: async (options) => {
      const staging = await openStaging(options);
      const own = await staging.connect();
      await own.run("CREATE VIEW staging.one AS SELECT 1 AS n");
      await own.close();
      return staging;
    },
  };
  const { receipt } = await bench.run([load("one")], { services });
  assert.match(receipt.nodes[0]?.error?.message ?? "", /Existing object one is of type View/);
  assert.equal(receipt.nodes[0]?.error?.cause, "write");
});

Deno.test("columns whose names differ in case alone are refused with both names", async () => {
  await using bench = await Bench.create();
  const { receipt } = await bench.run([load("one")], { services: tabular({ Ab: [1], x: [2], aB: [3] }) });
  assert.deepEqual(receipt.nodes[0]?.error, {
    code: "PZ0501",
    message: `Source 'raw.one' has the columns "Ab" and "aB", one name to DuckDB (pipelines/x.sql:1:1)\n` +
      "hint: give one of them another name where they come from, or read a query that does",
    cause: "read",
  });
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

/** A connector of one partition with these columns of texts or 32-bit integers. */
function tabular(
  columns: { readonly [name: string]: readonly (string | number)[] },
  seen: DatasetSpec[] = [],
): RunServices {
  const fields = Object.entries(columns).map(([name, values]) =>
    new Field(name, typeof values[0] === "string" ? new Utf8() : new Int32(), true)
  );
  const schema = new Schema(fields);
  const children = fields.map(({ name, type }) => {
    const values = columns[name] ?? [];
    const shape = { length: values.length, nullCount: 0 };
    if (type instanceof Int32) return makeData({ ...shape, type, data: Int32Array.from(values, Number) });
    const offsets = Int32Array.from([0, ...values.map((_, row) => values.slice(0, row + 1).join("").length)]);
    return makeData({
      ...shape,
      type: new Utf8(),
      valueOffsets: offsets,
      data: new TextEncoder().encode(values.join("")),
    });
  });
  const rows = children[0]?.length ?? 0;
  const whole = new RecordBatch(schema, makeData({ type: new Struct(fields), length: rows, nullCount: 0, children }));
  return {
    openStaging,
    openSession: () =>
      fakeSession({
        getSchema: (spec) => {
          seen.push(spec);
          return Promise.resolve(schema);
        },
        planRead: () => Promise.resolve([{ id: "0" }]),
        read: async function* () {
          yield await Promise.resolve(whole);
        },
      }),
  };
}

function declared(...columns: readonly (readonly [string, string, ("allow")?])[]): ReturnType<typeof source> {
  return source("one", { strategy: "arrow_stream" }, {
    ...RAW,
    columns: columns.map(([name, type, lossy]) => ({ name, type, ...(lossy === undefined ? {} : { lossy }) })),
  });
}

const SHAPE = "SELECT column_name || ' ' || data_type AS c FROM duckdb_columns() WHERE table_name = 'one'";

Deno.test("a contract gives the columns that it names, in its order and types, and leaves out the others", async () => {
  await using bench = await Bench.create();
  const services = tabular({ a: ["1", "22"], b: [1, 2], C: [3, 4] });
  const { receipt } = await bench.run([
    declared(["c", "bigint"], ["a", "decimal(5,1)"]),
    pipeline("shape", `${SHAPE} AND c NOT IN ('c BIGINT', 'a DECIMAL(5,1)')`, ["one"]),
    pipeline("values", "SELECT * FROM staging.one WHERE (c, a) IN ((3, 1.0), (4, 22.0))", ["one"]),
  ], { services, engine: { threads: 1 } });
  assert.deepEqual(receipt.nodes.map(({ error, rows }) => [error, rows]), [[null, 2], [null, 0], [null, 2]]);
});

Deno.test("a contract that is what comes changes nothing", async () => {
  await using bench = await Bench.create();
  const { receipt } = await bench.run([
    declared(["a", "varchar"], ["b", "int"]),
    pipeline("shape", `${SHAPE} AND c NOT IN ('a VARCHAR', 'b INTEGER')`, ["one"]),
  ], { services: tabular({ a: ["x"], b: [1] }) });
  assert.deepEqual(receipt.nodes.map(({ error, rows }) => [error, rows]), [[null, 1], [null, 0]]);
});

for (
  const [title, columns, contract] of [
    ["a text that is no number", { a: ["1", "x"] }, ["a", "int"]],
    ["a number with a fraction", { a: ["1", "1.5"] }, ["a", "int"]],
    ["an integer out of range", { a: [1, 300] }, ["a", "tinyint"]],
  ] as const
) {
  Deno.test(`a value that its declared type can't hold fails the load: ${title}`, async () => {
    await using bench = await Bench.create();
    const { receipt } = await bench.run([
      declared([contract[0], contract[1]]),
      pipeline("probe", "SELECT table_name FROM duckdb_tables() WHERE table_name = 'one'"),
    ], { services: tabular(columns), engine: { threads: 1 } });
    const { code, cause, message } = receipt.nodes[0]?.error ?? {};
    assert.deepEqual([code, cause], ["PZ0501", "read"]);
    assert.match(message ?? "", /a/);
    assert.equal(receipt.nodes[1]?.rows, 0);
  });
}

Deno.test("a value may be changed where the contract allows it", async () => {
  await using bench = await Bench.create();
  const { receipt } = await bench.run([
    declared(["a", "decimal(5,1)", "allow"]),
    pipeline("rows", "SELECT * FROM staging.one WHERE a = 1.3", ["one"]),
  ], { services: tabular({ a: ["1.26"] }) });
  assert.deepEqual(receipt.nodes.map(({ rows }) => rows), [1, 1]);
});

Deno.test("a declared column that the source does not have is told before anything is read", async () => {
  await using bench = await Bench.create();
  const { receipt } = await bench.run([declared(["a", "int"], ["gone", "int"])], { services: tabular({ a: [1] }) });
  assert.deepEqual(receipt.nodes[0]?.error, {
    code: "PZ0331",
    message: "Source 'raw.one' has no column \"gone\", which its contract declares (pipelines/x.sql:1:1)\n" +
      'hint: it has "a"',
  });
});

Deno.test("the connector is asked for what was planned, and only the columns that were hinted must be there", async () => {
  await using bench = await Bench.create();
  const seen: DatasetSpec[] = [];
  const [node, plan] = declared(["a", "int"], ["b", "int"]);
  const dataset = { connection: "raw", entity: "one", config: {}, options: {}, hints: { columns: ["A"] } };
  const { receipt } = await bench.run([[node, { ...plan, dataset }]], { services: tabular({ a: [1] }, seen) });
  assert.deepEqual([receipt.nodes[0]?.error, seen], [null, [dataset]]);
});

Deno.test("partitions that are named one by one are read while others are looked for, a few at a time", async () => {
  await using bench = await Bench.create();
  let open = 0;
  let most = 0;
  let named = 0;
  let namedAtFirstRead = 0;
  const services: RunServices = {
    openStaging,
    openSession: () =>
      fakeSession({
        getSchema: () => Promise.resolve(SCHEMA),
        planReadStreaming: async function* () {
          for (; named < 500; named++) yield await Promise.resolve({ id: `${named}` });
        },
        read: async function* () {
          namedAtFirstRead ||= named;
          most = Math.max(most, ++open);
          yield await Promise.resolve(batch(1));
          open--;
        },
      }),
  };
  const node = source("one", { strategy: "arrow_stream", streamsPartitions: true }, RAW);
  const { receipt } = await bench.run([node], { services });
  assert.deepEqual([receipt.nodes[0]?.error, receipt.nodes[0]?.rows], [null, 500]);
  assert.deepEqual(receipt.nodes[0]?.partitions, { total: 500, completed: 500, reused: 0, resumed: 0 });
  assert.equal(most, 2);
  assert.ok(namedAtFirstRead < 5);
});

Deno.test("a plan that fails on its way stops the reads that have begun", async () => {
  await using bench = await Bench.create();
  let stopped = 0;
  const begun = Promise.withResolvers<void>();
  const services: RunServices = {
    openStaging,
    openSession: () =>
      fakeSession({
        getSchema: () => Promise.resolve(SCHEMA),
        planReadStreaming: async function* () {
          yield { id: "0" };
          await begun.promise;
          throw new ConnectorError("listing was cut off", { transient: false });
        },
        read: async function* (_spec, _partition, { signal }) {
          yield batch(1);
          begun.resolve();
          await new Promise((_, reject) =>
            signal.addEventListener("abort", () => {
              stopped++;
              reject(signal.reason);
            }, { once: true })
          );
        },
      }),
  };
  const node = source("one", { strategy: "arrow_stream", streamsPartitions: true }, RAW);
  const { receipt } = await bench.run([node], { services });
  assert.deepEqual([receipt.nodes[0]?.error?.message, receipt.nodes[0]?.error?.cause], ["listing was cut off", "read"]);
  assert.equal(stopped, 1);
});
