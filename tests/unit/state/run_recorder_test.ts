import assert from "node:assert/strict";
import { join } from "node:path";
import { type NodeRecord, RunRecorder, type RunRecorderOptions } from "../../../src/state/mod.ts";
import { TempDir } from "../../harness/temp_dir.ts";

const RUN_ID = "20270302T061500001Z-9f3c";
const STARTED = "2027-03-02T06:15:00.004Z";

function record(id: string, more: Partial<NodeRecord> = {}): NodeRecord {
  return { id, kind: "Pipeline", name: `node ${id}`, status: "success", rows: 3, durationMs: 5, error: null, ...more };
}

function options(folder: string, more: Partial<RunRecorderOptions> = {}): RunRecorderOptions {
  return {
    runId: RUN_ID,
    results: join(folder, "run_results.json"),
    journal: join(folder, "journal.ndjson"),
    startedAt: STARTED,
    nodeCount: 2,
    now: () => 0,
    onWarning: (message) => assert.fail(message),
    ...more,
  };
}

function read(folder: string, name: string): string {
  return Deno.readTextFileSync(join(folder, name));
}

Deno.test("a snapshot before the first node says running and has no finishedAt", async () => {
  await using folder = await TempDir.create();
  using recorder = new RunRecorder(options(folder.path));
  recorder.snapshot();
  assert.equal(
    read(folder.path, "run_results.json"),
    `{"version":1,"runId":"${RUN_ID}","status":"running","startedAt":"${STARTED}","nodes":[]}\n`,
  );
});

Deno.test("every completed node is in journal and receipt at once, with its fields in their fixed order", async () => {
  await using folder = await TempDir.create();
  using recorder = new RunRecorder(options(folder.path));
  const load: NodeRecord = {
    stages: { ingestMs: 4, extractMs: 3 },
    attempts: 2,
    strategy: "arrow_stream",
    connection: "raw",
    connector: "generate",
    partitions: { resumed: 0, reused: 0, completed: 3, total: 4 },
    timings: { consumerStallMs: 1, producerStallMs: 2 },
    ops: { throttleWaitMs: 3, retried: 4, executed: 5 },
    error: { code: "PZ0501", message: "two\nlines", cause: "read" },
    durationMs: 7,
    rows: 0,
    status: "failed",
    name: "src_raw__x",
    kind: "SourceLoad",
    id: "aa",
  };
  const line = `{"id":"aa","kind":"SourceLoad","name":"src_raw__x","status":"failed","rows":0,"durationMs":7,` +
    `"error":{"code":"PZ0501","message":"two\\nlines","cause":"read"},` +
    `"timings":{"producerStallMs":2,"consumerStallMs":1},` +
    `"ops":{"executed":5,"retried":4,"throttle_wait_ms":3},` +
    `"partitions":{"total":4,"completed":3,"reused":0,"resumed":0},"connector":"generate","connection":"raw",` +
    `"strategy":"arrow_stream","attempts":2,"stages":{"extractMs":3,"ingestMs":4}}`;
  recorder.complete(load, { durable: false });
  assert.equal(read(folder.path, "journal.ndjson"), `${line}\n`);
  assert.deepEqual(JSON.parse(read(folder.path, "run_results.json")).nodes, [JSON.parse(line)]);

  recorder.complete(record("bb", { provenance: "reused" }), { durable: true });
  assert.equal(
    read(folder.path, "journal.ndjson").split("\n")[1],
    `{"id":"bb","kind":"Pipeline","name":"node bb","status":"success","provenance":"reused","rows":3,"durationMs":5,` +
      `"error":null}`,
  );
  const receipt = JSON.parse(read(folder.path, "run_results.json"));
  assert.deepEqual(receipt.nodes.map(({ id }: NodeRecord) => id), ["aa", "bb"]);
  assert.equal(receipt.status, "running");
});

Deno.test("nodes that end together are in journal and receipt together, each with a line of its own", async () => {
  await using folder = await TempDir.create();
  let snapshots = 0;
  using recorder = new RunRecorder(options(folder.path, { now: () => snapshots++ }));
  recorder.complete([record("a"), record("b"), record("c")], { durable: true });
  assert.equal(snapshots, 1);
  const ids = read(folder.path, "journal.ndjson").trimEnd().split("\n").map((line) => JSON.parse(line).id);
  assert.deepEqual(ids, ["a", "b", "c"]);
  const receipt: { nodes: { id: string }[] } = JSON.parse(read(folder.path, "run_results.json"));
  assert.deepEqual(receipt.nodes.map(({ id }) => id), ids);
});

Deno.test("the last write adds finishedAt, phases and, only then, interrupted", async () => {
  await using folder = await TempDir.create();
  using recorder = new RunRecorder(options(folder.path));
  recorder.complete(record("aa"), { durable: false });
  const finishedAt = "2027-03-02T06:15:01.000Z";
  const phases = { loadMs: 1, finalizeMs: 2 };
  assert.equal(recorder.finish("success", { finishedAt, phases, interrupted: false }), undefined);
  assert.ok(!read(folder.path, "journal.ndjson").includes("end"));
  const receipt = JSON.parse(read(folder.path, "run_results.json"));
  assert.deepEqual(Object.keys(receipt), ["version", "runId", "status", "startedAt", "finishedAt", "nodes", "phases"]);
  assert.deepEqual(receipt.phases, { loadMs: 1, finalizeMs: 2 });
  recorder.finish("fatal", { finishedAt, phases: {}, interrupted: true });
  assert.equal(JSON.parse(read(folder.path, "run_results.json")).interrupted, true);
});

Deno.test("up to 200 nodes the receipt follows each node; beyond, four times a second; the journal always", async () => {
  await using folder = await TempDir.create();
  let now = 1000;
  using recorder = new RunRecorder(options(folder.path, { nodeCount: 201, now: () => now }));
  const written = () => JSON.parse(read(folder.path, "run_results.json")).nodes.length;
  recorder.snapshot();
  recorder.complete(record("a"), { durable: false });
  now += 249;
  recorder.complete(record("b"), { durable: false });
  assert.equal(written(), 0);
  now += 1;
  recorder.complete(record("c"), { durable: false });
  assert.equal(written(), 3);
  recorder.complete(record("d"), { durable: false });
  assert.equal(written(), 3);
  assert.equal(read(folder.path, "journal.ndjson").split("\n").length, 5);
  recorder.finish("success", { finishedAt: STARTED, phases: {}, interrupted: false });
  assert.equal(written(), 4);
});

Deno.test("a receipt that can't be written warns once, and the journal is written on and tells the end", async () => {
  await using folder = await TempDir.create();
  const warnings: string[] = [];
  const results = join(folder.path, "missing", "run_results.json");
  using recorder = new RunRecorder(options(folder.path, { results, onWarning: (text) => warnings.push(text) }));
  recorder.snapshot();
  recorder.complete(record("a"), { durable: true });
  recorder.complete(record("b"), { durable: true });
  const unrecorded = recorder.finish("success", { finishedAt: STARTED, phases: {}, interrupted: false });
  assert.ok(unrecorded?.error instanceof Deno.errors.NotFound);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? "", /run_results\.json/);
  const lines = read(folder.path, "journal.ndjson").trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(lines.map(({ id }) => id), ["a", "b", undefined]);
  assert.deepEqual(lines[2], { runId: RUN_ID, end: "success", finishedAt: STARTED, interrupted: false });
});

Deno.test("a journal that can't be opened warns once, and a warning that throws harms nothing", async () => {
  await using folder = await TempDir.create();
  let warnings = 0;
  const journal = join(folder.path, "missing", "journal.ndjson");
  const onWarning = () => {
    warnings++;
    throw new Error("no view");
  };
  using recorder = new RunRecorder(options(folder.path, { journal, onWarning }));
  recorder.complete(record("a"), { durable: true });
  recorder.finish("success", { finishedAt: STARTED, phases: {}, interrupted: false });
  assert.equal(warnings, 1);
  assert.equal(JSON.parse(read(folder.path, "run_results.json")).nodes.length, 1);
});

Deno.test("writing leaves no temporary files", async () => {
  await using folder = await TempDir.create();
  using recorder = new RunRecorder(options(folder.path));
  for (const id of ["a", "b", "c"]) recorder.complete(record(id), { durable: true });
  assert.deepEqual([...Deno.readDirSync(folder.path)].map(({ name }) => name).sort(), [
    "journal.ndjson",
    "run_results.json",
  ]);
});

Deno.test("a write that can't be noted does not begin", async () => {
  await using folder = await TempDir.create();
  const warnings: string[] = [];
  const journal = join(folder.path, "missing", "journal.ndjson");
  using recorder = new RunRecorder(
    options(folder.path, { journal, onWarning: (message) => void warnings.push(message) }),
  );
  assert.throws(
    () => recorder.begin({ id: "a", name: "lake.a" }, 1),
    /^Error: Run record '.*journal\.ndjson' can't be written$/,
  );
  using good = new RunRecorder(options(folder.path));
  good.begin({ id: "a", name: "lake.a" }, 2);
  assert.equal(
    read(folder.path, "journal.ndjson").trim().split("\n").at(-1),
    `{"started":"a","name":"lake.a","attempt":2}`,
  );
});
