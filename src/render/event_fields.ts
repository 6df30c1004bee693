import type { RunEvent, StampedEvent } from "../events/mod.ts";

type EventName = RunEvent["event"];
type EventOf<N extends EventName> = Extract<RunEvent, { readonly event: N }>;

/** Every field of an event; a list names the members of an object field (or of the objects in a list). */
type Fields<N extends EventName> = {
  readonly [K in Exclude<keyof EventOf<N>, "event">]-?: true | readonly string[];
};

const STALLS = ["producerStallMs", "consumerStallMs"];

/** The order in which every event's fields are written; a field that the type has and this table lacks won't compile. */
const FIELDS: { readonly [N in EventName]: Fields<N> } = {
  run_started: { projectName: true, nodeCount: true },
  node_started: { nodeId: true, kind: true, name: true },
  node_progress: { nodeId: true, name: true, rows: true, bytes: true, batches: true },
  retry_scheduled: { nodeId: true, name: true, attempt: true, maxAttempts: true, delayMs: true, reason: true },
  source_drift_detected: {
    nodeId: true,
    connection: true,
    entity: true,
    policy: true,
    changes: ["kind", "column", "from", "to"],
    observed: ["name", "type"],
    hintsHash: true,
  },
  merge_key_duplicates_detected: { nodeId: true, output: true, keys: true, duplicateGroups: true, extraRows: true },
  lossy_integer_inference_detected: { nodeId: true, connection: true, entity: true, columns: true },
  ambiguous_date_inference_detected: { nodeId: true, connection: true, entity: true, columns: true, format: true },
  node_completed: {
    nodeId: true,
    kind: true,
    name: true,
    status: true,
    rows: true,
    durationMs: true,
    errorCode: true,
    errorMessage: true,
    timings: STALLS,
    provenance: true,
    ops: ["executed", "retried", "throttleWaitMs"],
    partitions: ["total", "completed", "reused", "resumed"],
    delivery: ["abortSemantics", "rowsVisible", "resumedRows"],
    cdc: ["inserts", "updates", "deletes", "position"],
    caughtUp: true,
  },
  run_completed: { status: true, succeeded: true, failed: true, skipped: true, durationMs: true },
  breaker_state_changed: { instance: true, oldState: true, newState: true, trigger: true, coolDownMs: true },
  connector_log: { level: true, connection: true, message: true },
  retention_swept: { runsSwept: true, bytesFreed: true, failures: true },
};

/** One event as compact JSON: `event`, `at`, `runId`, then its fields in their fixed order, nested ones too. */
export function eventJson({ at, runId, event }: StampedEvent): string {
  const keys = ["event", "at", "runId"];
  for (const [field, members] of Object.entries<true | readonly string[]>(FIELDS[event.event])) {
    keys.push(field);
    if (members !== true) keys.push(...members);
  }
  const { event: name, ...fields } = event;
  return JSON.stringify({ event: name, at, runId, ...fields }, keys);
}

/** The names of an event's fields in their order, without the envelope. */
export function fieldNames(event: EventName): readonly string[] {
  return Object.keys(FIELDS[event]);
}
