/** The four kinds of node, as events and receipts spell them. */
export type NodeKind = "SourceLoad" | "Pipeline" | "Check" | "SinkWrite";

/** How a node ended. */
export type NodeStatus = "success" | "failed" | "skipped";

/** How a run ended. */
export type RunStatus = "success" | "completed_with_failures" | "fatal";

/** Where a node's result came from when it was not computed in this run. */
export type Provenance = "reused" | "carried_forward";

/** Time that each side of a load or write waited for the other, in milliseconds. */
export type Timings = { readonly producerStallMs: number; readonly consumerStallMs: number };

export type RunStarted = {
  readonly event: "run_started";
  readonly projectName: string;
  /** Nodes that this run will complete; carried-forward ones are not among them. */
  readonly nodeCount: number;
};

export type NodeStarted = {
  readonly event: "node_started";
  readonly nodeId: string;
  readonly kind: NodeKind;
  readonly name: string;
};

/** Cumulative counts of a load or write through the batch channel. */
export type NodeProgress = {
  readonly event: "node_progress";
  readonly nodeId: string;
  readonly name: string;
  readonly rows: number;
  readonly bytes: number;
  readonly batches: number;
};

export type RetryScheduled = {
  readonly event: "retry_scheduled";
  readonly nodeId: string;
  readonly name: string;
  /** The attempt about to run, counted from 1. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly delayMs: number;
  readonly reason: string;
};

export type SchemaChange = {
  readonly kind: "added" | "removed" | "retyped";
  readonly column: string;
  readonly from: string | null;
  readonly to: string | null;
};

export type SourceDriftDetected = {
  readonly event: "source_drift_detected";
  readonly nodeId: string;
  readonly connection: string;
  readonly entity: string;
  readonly policy: "warn" | "fail";
  readonly changes: readonly SchemaChange[];
  readonly observed: readonly { readonly name: string; readonly type: string }[];
  readonly hintsHash: string;
};

export type MergeKeyDuplicatesDetected = {
  readonly event: "merge_key_duplicates_detected";
  readonly nodeId: string;
  readonly connection: string;
  readonly output: string;
  readonly keys: readonly string[];
  readonly duplicateGroups: number;
  readonly extraRows: number;
};

export type LossyIntegerInferenceDetected = {
  readonly event: "lossy_integer_inference_detected";
  readonly nodeId: string;
  readonly connection: string;
  readonly entity: string;
  readonly columns: readonly string[];
};

export type AmbiguousDateInferenceDetected = {
  readonly event: "ambiguous_date_inference_detected";
  readonly nodeId: string;
  readonly connection: string;
  readonly entity: string;
  readonly columns: readonly string[];
  readonly format: string;
};

export type NodeCompleted = {
  readonly event: "node_completed";
  readonly nodeId: string;
  readonly kind: NodeKind;
  readonly name: string;
  readonly status: NodeStatus;
  readonly rows: number;
  readonly durationMs: number;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly timings: Timings | null;
  readonly provenance?: Provenance;
  readonly ops?: { readonly executed: number; readonly retried: number; readonly throttleWaitMs: number };
  readonly partitions?: {
    readonly total: number;
    readonly completed: number;
    readonly reused: number;
    readonly resumed: number;
  };
  readonly delivery?: {
    readonly abortSemantics: "discards_all" | "best_effort" | "none";
    readonly rowsVisible: number;
    readonly resumedRows: number;
  };
  readonly cdc?: {
    readonly inserts: number;
    readonly updates: number;
    readonly deletes: number;
    readonly position: string | null;
  };
  readonly caughtUp?: boolean;
};

export type RunCompleted = {
  readonly event: "run_completed";
  readonly status: RunStatus;
  readonly succeeded: number;
  readonly failed: number;
  readonly skipped: number;
  readonly durationMs: number;
};

export type BreakerState = "closed" | "open" | "half_open";

export type BreakerStateChanged = {
  readonly event: "breaker_state_changed";
  /** `conn:` and the connection's name. */
  readonly instance: string;
  readonly oldState: BreakerState;
  readonly newState: BreakerState;
  readonly trigger: string;
  readonly coolDownMs: number;
};

export type LogLevel = "trace" | "debug" | "info" | "warn" | "error" | "critical" | "unknown";

export type ConnectorLog = {
  readonly event: "connector_log";
  readonly level: LogLevel;
  readonly connection: string;
  readonly message: string;
};

export type RetentionSwept = {
  readonly event: "retention_swept";
  readonly runsSwept: number;
  readonly bytesFreed: number;
  readonly failures: number;
};

/**
 * One thing that happened in a run. The fields stand in the order in which they are written; fields and events may be
 * added, never renamed or removed.
 */
export type RunEvent =
  | RunStarted
  | NodeStarted
  | NodeProgress
  | RetryScheduled
  | SourceDriftDetected
  | MergeKeyDuplicatesDetected
  | LossyIntegerInferenceDetected
  | AmbiguousDateInferenceDetected
  | NodeCompleted
  | RunCompleted
  | BreakerStateChanged
  | ConnectorLog
  | RetentionSwept;

/** An event with its envelope: the moment it was published (UTC, `yyyy-MM-ddTHH:mm:ss.fffZ`) and its run. */
export type StampedEvent = { readonly at: string; readonly runId: string; readonly event: RunEvent };
