import assert from "node:assert/strict";
import type { RunEvent } from "../../../src/events/mod.ts";
import { Console, eventJson, NdjsonRenderer } from "../../../src/render/mod.ts";
import { CollectingSink } from "./byte_sinks.ts";
import { completed, stamped } from "./events.ts";

const ENVELOPE = (event: string) =>
  `{"event":"${event}","at":"2027-03-02T06:15:00.004Z","runId":"20270302T061500001Z-9f3c"`;

const GOLDEN: readonly (readonly [RunEvent, string])[] = [
  [{ event: "run_started", projectName: "bakery", nodeCount: 9 }, `,"projectName":"bakery","nodeCount":9}`],
  [
    { event: "node_started", nodeId: "a1", kind: "SourceLoad", name: "src_pos__tickets" },
    `,"nodeId":"a1","kind":"SourceLoad","name":"src_pos__tickets"}`,
  ],
  [
    { event: "node_progress", nodeId: "a1", name: "n", rows: 81920, bytes: 6291456, batches: 10 },
    `,"nodeId":"a1","name":"n","rows":81920,"bytes":6291456,"batches":10}`,
  ],
  [
    { event: "retry_scheduled", nodeId: "a1", name: "n", attempt: 2, maxAttempts: 4, delayMs: 500, reason: "429" },
    `,"nodeId":"a1","name":"n","attempt":2,"maxAttempts":4,"delayMs":500,"reason":"429"}`,
  ],
  [
    {
      event: "source_drift_detected",
      nodeId: "a1",
      connection: "files",
      entity: "recipes",
      policy: "warn",
      changes: [{ kind: "added", column: "allergens", from: null, to: "VARCHAR" }],
      observed: [{ name: "recipe_id", type: "BIGINT" }],
      hintsHash: "7b1f",
    },
    `,"nodeId":"a1","connection":"files","entity":"recipes","policy":"warn",` +
    `"changes":[{"kind":"added","column":"allergens","from":null,"to":"VARCHAR"}],` +
    `"observed":[{"name":"recipe_id","type":"BIGINT"}],"hintsHash":"7b1f"}`,
  ],
  [
    {
      event: "merge_key_duplicates_detected",
      nodeId: "a1",
      connection: "crm",
      output: "recipes",
      keys: ["id", "day"],
      duplicateGroups: 2,
      extraRows: 3,
    },
    `,"nodeId":"a1","connection":"crm","output":"recipes","keys":["id","day"],"duplicateGroups":2,"extraRows":3}`,
  ],
  [
    { event: "lossy_integer_inference_detected", nodeId: "a1", connection: "files", entity: "r", columns: ["barcode"] },
    `,"nodeId":"a1","connection":"files","entity":"r","columns":["barcode"]}`,
  ],
  [
    {
      event: "ambiguous_date_inference_detected",
      nodeId: "a1",
      connection: "files",
      entity: "r",
      columns: ["revised_on"],
      format: "%d/%m/%Y",
    },
    `,"nodeId":"a1","connection":"files","entity":"r","columns":["revised_on"],"format":"%d/%m/%Y"}`,
  ],
  [
    completed(),
    `,"nodeId":"0b62f4d9a75c1e38","kind":"Pipeline","name":"daily_sales","status":"success","rows":3,"durationMs":12,` +
    `"errorCode":null,"errorMessage":null,"timings":null}`,
  ],
  [
    completed({
      caughtUp: false,
      cdc: { position: null, inserts: 1, updates: 2, deletes: 3 },
      delivery: { abortSemantics: "best_effort", rowsVisible: 40, resumedRows: 0 },
      partitions: { total: 4, completed: 3, reused: 1, resumed: 0 },
      ops: { executed: 21, retried: 1, throttleWaitMs: 140 },
      provenance: "reused",
      timings: { producerStallMs: 12, consumerStallMs: 1180 },
    }),
    `,"nodeId":"0b62f4d9a75c1e38","kind":"Pipeline","name":"daily_sales","status":"success","rows":3,"durationMs":12,` +
    `"errorCode":null,"errorMessage":null,"timings":{"producerStallMs":12,"consumerStallMs":1180},` +
    `"provenance":"reused","ops":{"executed":21,"retried":1,"throttleWaitMs":140},` +
    `"partitions":{"total":4,"completed":3,"reused":1,"resumed":0},` +
    `"delivery":{"abortSemantics":"best_effort","rowsVisible":40,"resumedRows":0},` +
    `"cdc":{"inserts":1,"updates":2,"deletes":3,"position":null},"caughtUp":false}`,
  ],
  [
    {
      event: "run_completed",
      status: "completed_with_failures",
      succeeded: 5,
      failed: 3,
      skipped: 1,
      durationMs: 2011,
    },
    `,"status":"completed_with_failures","succeeded":5,"failed":3,"skipped":1,"durationMs":2011}`,
  ],
  [
    {
      event: "breaker_state_changed",
      instance: "conn:crm",
      oldState: "closed",
      newState: "open",
      trigger: "3 transient failures in a row",
      coolDownMs: 60000,
    },
    `,"instance":"conn:crm","oldState":"closed","newState":"open","trigger":"3 transient failures in a row","coolDownMs":60000}`,
  ],
  [
    { event: "connector_log", level: "warn", connection: "crm", message: "slow" },
    `,"level":"warn","connection":"crm","message":"slow"}`,
  ],
  [
    { event: "retention_swept", runsSwept: 4, bytesFreed: 734003200, failures: 0 },
    `,"runsSwept":4,"bytesFreed":734003200,"failures":0}`,
  ],
];

for (const [event, rest] of GOLDEN) {
  Deno.test(`an event line has the envelope and its fields in their order: ${event.event} (${rest.length})`, () => {
    assert.equal(eventJson(stamped(event)), `${ENVELOPE(event.event)}${rest}`);
  });
}

Deno.test("an event line does not depend on the order in which the event was built", () => {
  const reversed = Object.fromEntries(Object.entries(completed()).reverse());
  assert.equal(eventJson(stamped({ ...completed(), ...reversed })), eventJson(stamped(completed())));
});

Deno.test("NdjsonRenderer writes one line for each event, line ends inside a message escaped", async () => {
  const stdout = new CollectingSink();
  const console = new Console({ stdout, stderr: new CollectingSink() });
  const renderer = new NdjsonRenderer(console);
  renderer.handle(stamped({ event: "run_started", projectName: "bakery", nodeCount: 1 }));
  renderer.handle(stamped(completed({ status: "failed", errorCode: "PZ0501", errorMessage: "one\ntwo\u2028" })));
  await console.flush(Infinity);
  const lines = stdout.text.trimEnd().split("\n");
  assert.equal(lines.length, 2);
  assert.equal(JSON.parse(lines[1] ?? "").errorMessage, "one\ntwo\u2028");
});
