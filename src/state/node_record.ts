/** One completed node as run_results.json and the journal hold it; optional fields are absent, not null. */
export type NodeRecord = {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  readonly status: "success" | "failed" | "skipped";
  readonly provenance?: "reused" | "carried_forward";
  readonly rows: number;
  readonly durationMs: number;
  readonly error: { readonly code: string; readonly message: string; readonly cause?: string } | null;
  readonly timings?: { readonly producerStallMs: number; readonly consumerStallMs: number };
  /** Of a connector that asks before each of its requests: how many were made and repeated, and how long they waited. */
  readonly ops?: { readonly executed: number; readonly retried: number; readonly throttleWaitMs: number };
  /** Of a load that was read in parts: how many there are, were read to their ends, taken over and read on. */
  readonly partitions?: {
    readonly total: number;
    readonly completed: number;
    readonly reused: number;
    readonly resumed: number;
  };
  /** What a failed write that can't be taken back left in its target. */
  readonly delivery?: {
    readonly abortSemantics: "discards_all" | "best_effort" | "none";
    readonly rowsVisible: number;
    readonly resumedRows: number;
  };
  /** Of a write that failed: whether nobody knows if its rows stand in the target. */
  readonly outcomeUnknown?: true;
  readonly connector?: string;
  readonly connection?: string;
  readonly strategy?: string;
  readonly attempts?: number;
  readonly stages?: {
    readonly extractMs?: number;
    readonly ingestMs?: number;
    readonly egressMs?: number;
    readonly writeMs?: number;
  };
};

/** Milliseconds of each phase of a run. */
export type Phases = { readonly [phase: string]: number };

/** The record as compact JSON with its fields in their fixed order, whatever order it was built in. */
export function nodeRecordJson(record: NodeRecord): string {
  const { error, timings, ops, partitions, delivery, stages } = record;
  return JSON.stringify({
    id: record.id,
    kind: record.kind,
    name: record.name,
    status: record.status,
    provenance: record.provenance,
    rows: record.rows,
    durationMs: record.durationMs,
    error: error === null ? null : { code: error.code, message: error.message, cause: error.cause },
    timings: timings === undefined
      ? undefined
      : { producerStallMs: timings.producerStallMs, consumerStallMs: timings.consumerStallMs },
    ops: ops === undefined
      ? undefined
      : { executed: ops.executed, retried: ops.retried, throttle_wait_ms: ops.throttleWaitMs },
    partitions: partitions === undefined ? undefined : {
      total: partitions.total,
      completed: partitions.completed,
      reused: partitions.reused,
      resumed: partitions.resumed,
    },
    delivery: delivery === undefined ? undefined : {
      abort_semantics: delivery.abortSemantics,
      rows_visible: delivery.rowsVisible,
      resumed_rows: delivery.resumedRows,
    },
    outcomeUnknown: record.outcomeUnknown,
    connector: record.connector,
    connection: record.connection,
    strategy: record.strategy,
    attempts: record.attempts,
    stages: stages === undefined ? undefined : {
      extractMs: stages.extractMs,
      ingestMs: stages.ingestMs,
      egressMs: stages.egressMs,
      writeMs: stages.writeMs,
    },
  });
}
