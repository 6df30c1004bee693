import assert from "node:assert/strict";
import type { EventLine } from "../../harness/cli.ts";
import { problemOfEvent, problemsOfStream } from "../../harness/events.ts";

const ENVELOPE = { at: "2027-03-02T06:15:00.004Z", runId: "20270302T061500001Z-9f3c" };
const ID = "5d0e77b1c2aa4e90";

function event(name: string, fields: { readonly [field: string]: unknown }): EventLine {
  return { event: name, ...ENVELOPE, ...fields };
}

const started = event("node_started", { nodeId: ID, kind: "Pipeline", name: "a" });
const completed = event("node_completed", {
  nodeId: ID,
  kind: "Pipeline",
  name: "a",
  status: "success",
  rows: 1,
  durationMs: 2,
  errorCode: null,
  errorMessage: null,
  timings: null,
});
const runStarted = event("run_started", { projectName: "p", nodeCount: 1 });
const runCompleted = event("run_completed", { status: "success", succeeded: 1, failed: 0, skipped: 0, durationMs: 3 });
const swept = event("retention_swept", { runsSwept: 1, bytesFreed: 2, failures: 0 });

Deno.test("a stream that keeps the contract has no problems", () => {
  assert.deepEqual(problemsOfStream([runStarted, started, completed, runCompleted]), []);
  assert.deepEqual(problemsOfStream([runStarted, started, completed, runCompleted, swept]), []);
});

Deno.test("a field that is missing, extra, of another type or out of place is named", () => {
  assert.match(problemOfEvent(event("node_started", { nodeId: ID, name: "a" })) ?? "", /expected 'kind'/);
  assert.match(problemOfEvent({ ...started, extra: 1 }) ?? "", /'extra' is unknown/);
  assert.match(problemOfEvent({ ...completed, rows: -1 }) ?? "", /'rows' is -1/);
  assert.match(problemOfEvent({ ...completed, rows: "1" }) ?? "", /'rows' is "1"/);
  assert.match(problemOfEvent({ ...completed, status: "failed" }) ?? "", /errorCode/);
  assert.match(problemOfEvent({ event: "node_started", nodeId: ID, ...ENVELOPE }) ?? "", /expected 'at'/);
  assert.match(problemOfEvent({ ...completed, caughtUp: true, provenance: "reused" }) ?? "", /'provenance' is unknown/);
  assert.match(problemOfEvent(event("no_such_event", {})) ?? "", /'event' is/);
  assert.match(problemOfEvent({ ...started, at: "2027-03-02T06:15:00Z" }) ?? "", /'at' is/);
});

Deno.test("an order that breaks the contract is named", () => {
  const cases: readonly (readonly [readonly EventLine[], RegExp])[] = [
    [[started, runStarted, completed, runCompleted], /run_started, first/],
    [[runStarted, started, runCompleted, completed], /run_completed, last/],
    [[runStarted, completed, runCompleted], /node_completed without node_started/],
    [[runStarted, started, runCompleted], /no node_completed/],
    [[runStarted, started, completed, completed, runCompleted], /after node_completed/],
    [[runStarted, started, started, completed, runCompleted], /node_started too late/],
    [[runStarted, started, completed, swept, runCompleted], /retention_swept is not last/],
    [[{ ...runStarted, nodeCount: 2 }, started, completed, runCompleted], /says 2 nodes, 1 completed/],
    [[runStarted, started, completed, { ...runCompleted, succeeded: 2 }], /succeeded 2, 1 nodes/],
    [[runStarted, started, { ...completed, at: "2026-01-01T00:00:00.000Z" }, runCompleted], /before its forerunner/],
    [[runStarted, started, { ...completed, runId: "20270302T061500001Z-0000" }, runCompleted], /several run ids/],
  ];
  for (const [events, message] of cases) assert.match(problemsOfStream(events).join("\n"), message);
});
