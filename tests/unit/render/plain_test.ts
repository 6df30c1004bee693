import assert from "node:assert/strict";
import type { RunEvent } from "../../../src/events/mod.ts";
import { Console, PlainRenderer } from "../../../src/render/mod.ts";
import { CollectingSink } from "./byte_sinks.ts";
import { completed, stamped } from "./events.ts";

async function rendered(...events: readonly RunEvent[]): Promise<string[]> {
  const stdout = new CollectingSink();
  const stderr = new CollectingSink();
  const console = new Console({ stdout, stderr });
  const renderer = new PlainRenderer(console);
  for (const event of events) renderer.handle(stamped(event));
  await console.flush(Infinity);
  assert.equal(stderr.text, "");
  return stdout.text === "" ? [] : stdout.text.slice(0, -1).split("\n");
}

Deno.test("a success and a skip are exactly one line each", async () => {
  assert.deepEqual(await rendered(completed(), completed({ status: "skipped", rows: 0, durationMs: 0 })), [
    "ok daily_sales 3 rows 12ms",
    "skip daily_sales 0 rows 0ms",
  ]);
});

Deno.test("a failure shows its code and its whole message, indented, without carriage returns", async () => {
  const event = completed({
    status: "failed",
    rows: 0,
    errorCode: "PZ0501",
    errorMessage: "cannot cast\r\nrow 7\nrow 8",
  });
  assert.deepEqual(await rendered(event), [
    "FAIL daily_sales 0 rows 12ms",
    "  PZ0501: cannot cast",
    "  row 7",
    "  row 8",
  ]);
});

Deno.test("control characters in data can't reach the terminal", async () => {
  const event = completed({ status: "failed", errorCode: "PZ0510", errorMessage: "id=\x1b[31mred\x07\u009b" });
  assert.equal((await rendered(event))[1], "  PZ0510: id=\\x1b[31mred\\x07\\x9b");
});

Deno.test("bottleneck hints follow the node's line", async () => {
  const load = (producerStallMs: number, consumerStallMs: number) =>
    completed({
      kind: "SourceLoad",
      name: "src_a__b",
      durationMs: 1000,
      timings: { producerStallMs, consumerStallMs },
    });
  const write = (producerStallMs: number, consumerStallMs: number) => ({
    ...load(producerStallMs, consumerStallMs),
    kind: "SinkWrite" as const,
    name: "a.b",
  });
  const hint = async (event: RunEvent) => (await rendered(event)).slice(1);
  assert.deepEqual(await hint(load(0, 719)), ["hint: src_a__b: source-bound — ingest idle 71% of the node's runtime"]);
  assert.deepEqual(await hint(load(600, 600)), [
    "hint: src_a__b: source-bound — ingest idle 60% of the node's runtime",
  ]);
  assert.deepEqual(await hint(load(600, 599)), [
    "hint: src_a__b: ingest-bound — reader idle 60% of the node's runtime",
  ]);
  assert.deepEqual(await hint(write(600, 600)), ["hint: a.b: staging-bound — writer idle 60% of the node's runtime"]);
  assert.deepEqual(await hint(write(0, 999)), ["hint: a.b: sink-bound — staging idle 99% of the node's runtime"]);
  const paced = (throttleWaitMs: number) => ({ ...load(0, 999), ops: { executed: 9, retried: 0, throttleWaitMs } });
  assert.deepEqual(await hint(paced(600)), [
    "hint: src_a__b: pace-bound — its requests waited 1 s for rate_limit or for the system's own limit",
  ]);
  assert.match((await hint(paced(599)))[0] ?? "", /source-bound/);
  assert.deepEqual(await hint(load(599, 599)), []);
  assert.deepEqual(
    await hint(completed({ kind: "SourceLoad", durationMs: 0, timings: { producerStallMs: 9, consumerStallMs: 9 } })),
    [],
  );
  assert.deepEqual(await hint(completed({ durationMs: 10, timings: { producerStallMs: 9, consumerStallMs: 9 } })), []);
});

Deno.test("delivery is told where rows are visible after a failure, or were skipped on a success", async () => {
  const delivery = { abortSemantics: "best_effort", rowsVisible: 40, resumedRows: 7 } as const;
  const lines = await rendered(
    completed({
      kind: "SinkWrite",
      name: "crm.recipes",
      status: "failed",
      errorCode: "PZ0501",
      errorMessage: "gone",
      delivery,
    }),
    completed({ kind: "SinkWrite", name: "crm.recipes", delivery }),
  );
  assert.equal(lines[2], "delivery stopped: up to 40 row(s) already visible (abort: best_effort)");
  assert.equal(lines[4], "resumed past 7 delivered row(s)");
});

Deno.test("retries, breakers and data warnings have a line each", async () => {
  const lines = await rendered(
    {
      event: "retry_scheduled",
      nodeId: "a",
      name: "src_a__b",
      attempt: 2,
      maxAttempts: 4,
      delayMs: 500,
      reason: "429",
    },
    {
      event: "breaker_state_changed",
      instance: "conn:crm",
      oldState: "closed",
      newState: "open",
      trigger: "3 failures",
      coolDownMs: 1500,
    },
    {
      event: "breaker_state_changed",
      instance: "conn:crm",
      oldState: "open",
      newState: "half_open",
      trigger: "cool-down elapsed",
      coolDownMs: 0,
    },
    {
      event: "source_drift_detected",
      nodeId: "a",
      connection: "files",
      entity: "recipes",
      policy: "warn",
      changes: [
        { kind: "added", column: "x", from: null, to: "VARCHAR" },
        { kind: "removed", column: "y", from: "DATE", to: null },
        { kind: "retyped", column: "z", from: "INTEGER", to: "DOUBLE" },
      ],
      observed: [],
      hintsHash: "",
    },
  );
  assert.deepEqual(lines, [
    "retry: src_a__b attempt 2/4 in 500ms (429)",
    "breaker: connection crm closed->open (3 failures; cool down 1.5s)",
    "breaker: connection crm open->half_open (cool-down elapsed; cool down 0s)",
    "warning: schema drift on files.recipes (warn): added x, removed y, retyped z (INTEGER->DOUBLE)",
  ]);
});

Deno.test("warnings about data name what they are about", async () => {
  const [keys = "", ints = "", dates = ""] = await rendered(
    {
      event: "merge_key_duplicates_detected",
      nodeId: "a",
      connection: "crm",
      output: "r",
      keys: ["id"],
      duplicateGroups: 1,
      extraRows: 2,
    },
    { event: "lossy_integer_inference_detected", nodeId: "a", connection: "files", entity: "r", columns: ["barcode"] },
    {
      event: "ambiguous_date_inference_detected",
      nodeId: "a",
      connection: "files",
      entity: "r",
      columns: ["d"],
      format: "%d/%m/%Y",
    },
  );
  assert.match(keys, /^warning: output 'crm\.r': 1 group .*\[id\]; 2 extra rows/);
  assert.match(ints, /^warning: files\.r: .*\[barcode\].*columns: contract/);
  assert.match(dates, /^warning: files\.r: .*\[d\].*'%d\/%m\/%Y'.*ISO 8601/);
});

Deno.test("a connector's log is shown from warn on and at an unknown level", async () => {
  const log = (level: "debug" | "info" | "warn" | "unknown"): RunEvent => ({
    event: "connector_log",
    level,
    connection: "crm",
    message: "slow",
  });
  assert.deepEqual(await rendered(log("debug"), log("info"), log("warn"), log("unknown")), [
    "connector [warn] crm: slow",
    "connector [unknown] crm: slow",
  ]);
});

Deno.test("the run's own events give no line", async () => {
  assert.deepEqual(
    await rendered(
      { event: "run_started", projectName: "p", nodeCount: 1 },
      { event: "node_started", nodeId: "a", kind: "Pipeline", name: "n" },
      { event: "node_progress", nodeId: "a", name: "n", rows: 1, bytes: 1, batches: 1 },
      { event: "run_completed", status: "success", succeeded: 1, failed: 0, skipped: 0, durationMs: 1 },
      { event: "retention_swept", runsSwept: 1, bytesFreed: 1, failures: 0 },
    ),
    [],
  );
});
