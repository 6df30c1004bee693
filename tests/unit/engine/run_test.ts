import assert from "node:assert/strict";
import { join } from "node:path";
import type { NodeCompleted, RunEvent } from "../../../src/events/mod.ts";
import { Bench, csvCopy, nativeSource, pipeline, sink } from "./fixture.ts";

const names = (events: readonly RunEvent[]) =>
  events.map((event) => "name" in event ? `${event.event} ${event.name}` : event.event);

function completed(events: readonly RunEvent[], name: string): NodeCompleted | undefined {
  return events.find((event): event is NodeCompleted => event.event === "node_completed" && event.name === name);
}

Deno.test("source, pipeline and sink run in order, and receipt, journal and events tell the same", async () => {
  await using bench = await Bench.create();
  const { outcome, events, receipt, journal, warnings } = await bench.run([
    nativeSource("src", "SELECT i, 'ä' || i AS t FROM range(5) AS r(i)"),
    pipeline("big", "SELECT * FROM staging.src WHERE i > 1", ["src"]),
    sink("lake.big", "big", csvCopy(join(bench.root, "out", "deep"), "big.csv")),
  ], { engine: { threads: 1 } });
  assert.deepEqual(outcome, { status: "success", interrupted: false, succeeded: 3, failed: 0, skipped: 0 });
  assert.deepEqual(warnings, []);
  assert.deepEqual(names(events), [
    "run_started",
    "node_started src",
    "node_completed src",
    "node_started big",
    "node_completed big",
    "node_started lake.big",
    "node_completed lake.big",
    "run_completed",
  ]);
  assert.deepEqual(events[0], { event: "run_started", projectName: "bench", nodeCount: 3 });
  assert.equal(
    Deno.readTextFileSync(join(bench.root, "out", "deep", "big.csv")).split("\n").sort().join("\n"),
    "\n2,ä2\n3,ä3\n4,ä4\ni,t",
  );
  assert.deepEqual([...Deno.readDirSync(join(bench.root, "out", "deep"))].map(({ name }) => name), ["big.csv"]);
  assert.deepEqual(journal, receipt.nodes);
  assert.equal(receipt.status, "success");
  assert.ok(receipt.finishedAt !== undefined && receipt.interrupted === undefined);
  assert.deepEqual(Object.keys(receipt.phases ?? {}), ["loadMs", "executeMs", "finalizeMs"]);
  const facts = receipt.nodes.map((node) => [
    node.name,
    node.rows,
    node.connector,
    node.connection,
    node.strategy,
    node.attempts,
    Object.keys(node.stages ?? {}),
    node.error,
  ]);
  assert.deepEqual(facts, [
    ["src", 5, "localfiles", "raw", "native_scan", 1, ["ingestMs"], null],
    ["big", 3, undefined, undefined, "duck_sql", 1, [], null],
    ["lake.big", 3, "localfiles", "lake", "native_copy", 1, ["writeMs"], null],
  ]);
});

Deno.test("a view counts no rows and its readers see its rows", async () => {
  await using bench = await Bench.create();
  const { receipt } = await bench.run([
    pipeline("v", "SELECT 1 AS a UNION ALL SELECT 2", [], { materialization: "view" }),
    pipeline("t", "SELECT * FROM staging.v", ["v"]),
  ]);
  assert.deepEqual(receipt.nodes.map(({ name, rows }) => [name, rows]), [["v", 0], ["t", 2]]);
});

Deno.test("a failing pipeline is told with its place, its descendants are skipped and the rest ends", async () => {
  await using bench = await Bench.create();
  const { outcome, events, receipt } = await bench.run([
    nativeSource("src", "SELECT 1 AS i"),
    pipeline("bad", "SELECT 'ü' AS u,\n  nope\nFROM staging.src", ["src"]),
    pipeline("after", "SELECT * FROM staging.bad", ["bad"]),
    pipeline("good", "SELECT * FROM staging.src", ["src"]),
    sink("lake.after", "after", csvCopy(join(bench.root, "out"), "after.csv")),
  ]);
  assert.deepEqual(outcome, {
    status: "completed_with_failures",
    interrupted: false,
    succeeded: 2,
    failed: 1,
    skipped: 2,
  });
  const bad = completed(events, "bad");
  assert.equal(bad?.errorCode, "PZ0501");
  assert.match(bad?.errorMessage ?? "", /^[^\n]*"nope"[^\n]* \(pipelines\/bad\.sql:2:3\)\n/);
  assert.doesNotMatch(bad?.errorMessage ?? "", /LINE|SELECT/);
  assert.deepEqual(names(events).filter((name) => / (lake\.)?after/.test(name)), [
    "node_completed after",
    "node_completed lake.after",
  ]);
  const record = receipt.nodes.find(({ name }) => name === "bad");
  assert.deepEqual([record?.status, record?.error?.cause], ["failed", "sql"]);
  const skipped = receipt.nodes.find(({ name }) => name === "after");
  assert.deepEqual(skipped, {
    id: "id-after",
    kind: "Pipeline",
    name: "after",
    status: "skipped",
    rows: 0,
    durationMs: 0,
    error: null,
  });
  assert.throws(() => Deno.statSync(join(bench.root, "out")), Deno.errors.NotFound);
});

Deno.test("a failed native load leaves no table", async () => {
  await using bench = await Bench.create();
  const { events } = await bench.run([
    nativeSource("src", "SELECT CAST('x' || i AS INTEGER) AS i FROM range(3) AS r(i)"),
    pipeline("probe", "SELECT table_name FROM duckdb_tables() WHERE table_name = 'src'"),
  ], { engine: { threads: 1 } });
  assert.equal(completed(events, "src")?.status, "failed");
  assert.equal(completed(events, "probe")?.rows, 0);
});

Deno.test("with fail-fast nothing starts after a failure", async () => {
  await using bench = await Bench.create();
  const { outcome } = await bench.run([
    pipeline("a", "SELECT nope"),
    pipeline("b", "SELECT 1"),
  ], { engine: { threads: 1 }, options: { failFast: true } });
  assert.deepEqual([outcome.status, outcome.failed, outcome.skipped], ["completed_with_failures", 1, 1]);
});

Deno.test("a stop interrupts the running statement, skips the rest and ends the run as interrupted", async () => {
  await using bench = await Bench.create();
  const controller = new AbortController();
  const { outcome, receipt, events } = await bench.run([
    pipeline("a", "SELECT 1 AS a"),
    pipeline("b", "SELECT sum(hash(a.range + b.range)) FROM range(1000000000) a, range(1000000000) b", ["a"]),
    pipeline("c", "SELECT * FROM staging.b", ["b"]),
  ], {
    options: { signal: controller.signal },
    onEvent: (event) => {
      if (event.event === "node_started" && event.name === "b") {
        setTimeout(() => controller.abort(new Error("stop")), 50);
      }
    },
  });
  assert.deepEqual(outcome, { status: "fatal", interrupted: true, succeeded: 1, failed: 0, skipped: 2 });
  assert.equal(receipt.status, "fatal");
  assert.equal(receipt.interrupted, true);
  assert.deepEqual(receipt.nodes.map(({ name, status }) => [name, status]).sort(), [
    ["a", "success"],
    ["b", "skipped"],
    ["c", "skipped"],
  ]);
  assert.equal(events.at(-1)?.event, "run_completed");
});

Deno.test("events are published only after receipt and journal hold the node", async () => {
  await using bench = await Bench.create();
  const seen: boolean[] = [];
  const folder = join(bench.root, ".pz", "runs", "20270302T061500001Z-9f3c");
  await bench.run([pipeline("a", "SELECT 1"), pipeline("b", "SELECT 2")], {
    onEvent: (event) => {
      if (event.event !== "node_completed") return;
      const journal = Deno.readTextFileSync(join(folder, "journal.ndjson"));
      const receipt = Deno.readTextFileSync(join(folder, "run_results.json"));
      seen.push(journal.includes(event.nodeId) && receipt.includes(event.nodeId));
      assert.equal(JSON.parse(receipt).status, "running");
    },
  });
  assert.deepEqual(seen, [true, true]);
});

Deno.test("old staging is swept after the run, told last, and the receipt still ends", async () => {
  await using bench = await Bench.create();
  const old = join(bench.root, ".pz", "runs", "20270301T061500001Z-9f3c");
  Deno.mkdirSync(old, { recursive: true });
  Deno.writeTextFileSync(join(old, "staging.duckdb"), "1234");
  const { events, receipt } = await bench.run([pipeline("a", "SELECT 1")], { project: { keepLast: 1 } });
  assert.deepEqual(events.at(-1), { event: "retention_swept", runsSwept: 1, bytesFreed: 4, failures: 0 });
  assert.equal(receipt.status, "success");
  assert.ok(Deno.statSync(join(bench.root, ".pz", "runs", "20270302T061500001Z-9f3c", "staging.duckdb")).size > 0);
});

Deno.test("a sweep that frees only a working folder is told, one that fails warns and changes no status", async () => {
  await using bench = await Bench.create();
  const tmp = join(bench.root, ".pz", "tmp");
  Deno.mkdirSync(join(tmp, "restore-1"), { recursive: true });
  Deno.writeTextFileSync(join(tmp, "restore-1", "part"), "1234");
  const freed = await bench.run([pipeline("a", "SELECT 1")], { project: { keepLast: 1 } });
  assert.deepEqual(freed.events.at(-1), { event: "retention_swept", runsSwept: 0, bytesFreed: 4, failures: 0 });
  assert.deepEqual(freed.warnings, []);

  Deno.removeSync(tmp);
  Deno.writeTextFileSync(tmp, "a file is in the way");
  const failed = await bench.run([pipeline("a", "SELECT 1")], { project: { keepLast: 1 } });
  assert.deepEqual(failed.events.at(-1), { event: "retention_swept", runsSwept: 0, bytesFreed: 0, failures: 1 });
  assert.match(failed.warnings.join(), /`pz clean` tells why/);
  assert.equal(failed.receipt.status, "success");
});

Deno.test("a run without retention sweeps nothing", async () => {
  await using bench = await Bench.create();
  const part = join(bench.root, ".pz", "tmp", "restore-1", "part");
  Deno.mkdirSync(join(part, ".."), { recursive: true });
  Deno.writeTextFileSync(part, "1234");
  const { events } = await bench.run([pipeline("a", "SELECT 1")]);
  assert.equal(events.at(-1)?.event, "run_completed");
  assert.ok(Deno.statSync(part).isFile);
});

Deno.test("a view that fails to end warns and the receipt is terminal all the same", async () => {
  await using bench = await Bench.create();
  const onFinalize = () => Promise.reject(new Error("view broke"));
  const { receipt, warnings } = await bench.run([pipeline("a", "SELECT 1")], { options: { onFinalize } });
  assert.equal(receipt.status, "success");
  assert.match(warnings.join(), /view broke/);
});

Deno.test("a staging database that can't be opened ends the receipt as fatal", async () => {
  await using bench = await Bench.create();
  const services = {
    openStaging: () => Promise.reject(new Error("no disk")),
    openSession: () => assert.fail("no session is needed"),
  };
  await assert.rejects(bench.run([pipeline("a", "SELECT 1")], { services }), /no disk/);
  const receipt = Deno.readTextFileSync(
    join(bench.root, ".pz", "runs", "20270302T061500001Z-9f3c", "run_results.json"),
  );
  assert.equal(JSON.parse(receipt).status, "fatal");
});
