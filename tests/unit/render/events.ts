import type { NodeCompleted, RunEvent, StampedEvent } from "../../../src/events/mod.ts";

/** An event with a fixed envelope. */
export function stamped(event: RunEvent): StampedEvent {
  return { at: "2027-03-02T06:15:00.004Z", runId: "20270302T061500001Z-9f3c", event };
}

/** A pipeline's success of 3 rows in 12 ms, with some fields changed. */
export function completed(change: Partial<NodeCompleted> = {}): NodeCompleted {
  return {
    event: "node_completed",
    nodeId: "0b62f4d9a75c1e38",
    kind: "Pipeline",
    name: "daily_sales",
    status: "success",
    rows: 3,
    durationMs: 12,
    errorCode: null,
    errorMessage: null,
    timings: null,
    ...change,
  };
}
