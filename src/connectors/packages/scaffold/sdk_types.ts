/** The types of the SDK that the author of a connector writes against, as one file: what of pz a connector may use. */
export const SDK_TYPES =
  `// The SDK of pz for connectors, protocol 1. Written by pz connector new: do not edit; pz connector sdk writes it anew.

/** A value of a connection's settings or of options, as the project's YAML holds it. */
export type ConfigValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly ConfigValue[]
  | { readonly [key: string]: ConfigValue };
export type ConfigMap = { readonly [key: string]: ConfigValue };

/** What a connector can do beyond reading everything and appending; the manifest names the same ones. */
export type Capability =
  | "ColumnPruning"
  | "PredicatePushdown"
  | "PartitionedRead"
  | "Merge"
  | "Transactional"
  | "BoundedWindow"
  | "StreamingPartitions"
  | "InclusiveWatermarkBound"
  | "GatedOperations"
  | "StablePartitionIds"
  | "CheckpointableReads"
  | "ReplaceWrites"
  | "CheckpointableWrites"
  | "ApplyDeletes";

/** A column with a DuckDB type, such as BIGINT, VARCHAR, DECIMAL(18,2), TIMESTAMP or VARCHAR[]. */
export type ColumnSpec = { readonly name: string; readonly type: string };

/** Every row that matters meets it. The engine filters again: any part may be left out, and must be where it is unclear. */
export type Predicate =
  | { readonly op: "and"; readonly args: readonly Predicate[] }
  | { readonly op: "=" | "<>" | "<" | "<=" | ">" | ">="; readonly column: string; readonly value: TypedText }
  | { readonly op: "in"; readonly column: string; readonly values: readonly TypedText[] }
  | { readonly op: "is_null" | "is_not_null"; readonly column: string };
export type TypedText = { readonly type: string; readonly text: string };

/** What a read is asked for. */
export type DatasetSpec = {
  readonly connection: string;
  /** The dataset's name: source('connection', 'entity'). */
  readonly entity: string;
  /** The connection's settings, with the manifest's defaults; paths of its permissions are absolute. */
  readonly config: ConfigMap;
  /** The options of the read, with the manifest's defaults. */
  readonly options: ConfigMap;
  /** The contract of the dataset, where the project has one. */
  readonly columns?: readonly ColumnSpec[];
  /** With ColumnPruning: the columns that are needed, in their order. With PredicatePushdown: what rows are needed. */
  readonly hints?: { readonly columns?: readonly string[]; readonly predicate?: Predicate };
};

/** What a write is asked for. */
export type OutputSpec = {
  readonly connection: string;
  readonly entity: string;
  readonly config: ConfigMap;
  readonly options: ConfigMap;
  /** replace needs the capability ReplaceWrites, merge needs Merge. */
  readonly mode: "replace" | "append" | "merge";
  readonly schemaPolicy: "fail_on_change" | "additive" | "evolve";
  /** The key columns of a merge. */
  readonly keys: readonly string[];
  /** Names this try of this write, so that a destination can tell a repetition from new data. */
  readonly attempt: { readonly node: string; readonly run: string; readonly ordinal: number };
};

/** What a connector may use of pz. */
export type ConnectorHost = {
  /** Tells the user something; never a setting's value. */
  log(level: "debug" | "info" | "warn" | "error", message: string): void;
  /** Tells the user once per run what can't be done as asked; never a setting's value. */
  notice(message: string): void;
  /**
   * With GatedOperations, around every request to the system: waits for its turn, and repeats it as the connection's retry
   * policy says while it is idempotent and fails with a transient ConnectorError. The label is a fixed word without values.
   */
  operate<T>(
    operation: { readonly label: string; readonly idempotent: boolean; readonly signal: AbortSignal },
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T>;
  /** With GatedOperations: what is left of the system's own limit, and when that is renewed, in ms since 1970. */
  reportBudget(remaining: number, resetAtMs: number): void;
};

/** An independent part of a read; ids are unique, and with StablePartitionIds the same in each plan. */
export type Partition = { readonly id: string; readonly checkpointing?: boolean };

/** With CheckpointableReads, checkpoint gives after a batch a token from which another read can go on. */
export type Reading = AsyncIterable<RecordBatch> & { checkpoint?(): string | undefined };

/** The read side. Each call gets a signal that fires when nobody waits for its result any more. */
export type Source = {
  schema(spec: DatasetSpec, signal: AbortSignal): Promise<Schema>;
  /** At least one partition; exactly one without the capability PartitionedRead. */
  plan(spec: DatasetSpec, signal: AbortSignal): Promise<readonly Partition[]> | AsyncIterable<Partition>;
  /** With CheckpointableReads: whether a read can go on from this token. */
  resumeFrom?(spec: DatasetSpec, partition: Partition, token: string, signal: AbortSignal): Promise<boolean>;
  /** Batches of exactly the schema that schema() gives; batchBytes is the size to aim for. */
  read(
    spec: DatasetSpec,
    partition: Partition,
    options: { readonly batchBytes: number; readonly signal: AbortSignal; readonly resumeFrom?: string },
  ): Reading;
};

/** The write side. */
export type Sink = {
  /** What abort leaves behind: nothing, perhaps something, or all that was written. */
  readonly abortSemantics: "discards_all" | "best_effort" | "none";
  /** Starts one write of rows of this schema. Nothing may become visible before commit, if that can be done. */
  begin(spec: OutputSpec, schema: Schema, signal: AbortSignal): Promise<WriteSession>;
};

/** One write, from begin to exactly one of commit and abort; its calls never overlap. */
export type WriteSession = {
  /** Whether another try finds out by itself that this one has landed, and then adds nothing. */
  readonly provesAttempt?: boolean;
  write(batch: RecordBatch, signal: AbortSignal): Promise<void>;
  /** With ApplyDeletes: rows of the key columns alone, after the last write. */
  applyDeletes?(keys: RecordBatch, signal: AbortSignal): Promise<void>;
  /** With CheckpointableWrites: how many rows the destination has confirmed for good. */
  acknowledgedRows?(): bigint;
  /** With CheckpointableWrites, before the first write: whether the write can go on after so many rows. */
  resumeFrom?(rows: bigint): Promise<boolean>;
  /** Makes the write visible. Where it throws and nothing became visible: a ConnectorError with outcomeUnknown: false. */
  commit(): Promise<{ readonly rows: bigint; readonly batches: number }>;
  /** Takes back what can be taken back; works after a failed write. */
  abort(): Promise<void>;
};

/** An opened connection. It connects when first used, not when opened. */
export type ConnectorInstance = {
  readonly source?: Source;
  readonly sink?: Sink;
  /** Reaches the system once and changes nothing, for pz validate --connect. */
  check?(signal: AbortSignal): Promise<void>;
  close?(): Promise<void>;
};

/** What the entry module exports as "connector". */
export type ConnectorModule = {
  readonly name: string;
  readonly version: string;
  readonly capabilities: readonly Capability[];
  open(config: ConfigMap, host: ConnectorHost): ConnectorInstance;
};

/** The columns of rows, as Apache Arrow has them. */
export interface Schema {
  readonly fields: readonly Field[];
}

export interface Field {
  readonly name: string;
  /** Its text is such as Int64, Utf8 or Decimal[18e2]. */
  readonly type: { toString(): string };
  readonly nullable: boolean;
}

export interface RecordBatch {
  readonly schema: Schema;
  readonly numRows: number;
}

/**
 * A value of a column, exact: integers beyond 32 bits, decimals (unscaled: 1.50 is 150n of DECIMAL(18,2)), times and
 * timestamps (microseconds, unless the type says otherwise) are bigint; dates are days since 1970; JSON and UUIDs are text.
 * Where a whole number is safe, number may stand for bigint.
 */
export type CellValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | { readonly months: number; readonly days: number; readonly nanos: bigint }
  | readonly CellValue[]
  | ReadonlyMap<CellValue, CellValue>
  | { readonly [member: string]: CellValue };

/** The schema of these columns; every column may be NULL. */
export declare function arrowSchema(columns: readonly ColumnSpec[]): Schema;

/** Turns rows into batches of one schema. */
export declare class BatchBuilder {
  constructor(schema: Schema);
  /** Rows so far. */
  get rows(): number;
  /** Bytes so far, about. */
  get bytes(): number;
  /** Adds one row, with a value for each column in the schema's order; throws a TypeError for one that does not fit. */
  append(row: readonly CellValue[]): void;
  /** The rows so far; the builder starts anew. */
  finish(): RecordBatch;
}

/** What the values of a column are. */
export type ColumnKind =
  | "null"
  | "bool"
  | "int"
  | "long"
  | "float"
  | "decimal"
  | "hugeint"
  | "uhugeint"
  | "date"
  | "time"
  | "timestamp"
  | "timestamptz"
  | "interval"
  | "text"
  | "json"
  | "blob"
  | "uuid"
  | "list"
  | "struct"
  | "map";

/** Exact access to the values of one column of one batch. */
export interface ColumnReader {
  readonly field: Field;
  readonly kind: ColumnKind;
  readonly length: number;
  /** Of a decimal: its scale. Of times and timestamps: 0, 3, 6 or 9 digits of a second. */
  readonly digits: number;
  isNull(row: number): boolean;
  /** The value as BatchBuilder takes it. */
  value(row: number): CellValue;
  /** The text of a value of the kinds text, json, int, long, float, decimal, hugeint, uhugeint and uuid. */
  text(row: number): string;
}

/** Readers for the columns of a batch, in its order. */
export declare function columnReaders(batch: RecordBatch): readonly ColumnReader[];

/** How a connector fails. Anything else that it throws counts as a bug of it, and is not tried again. */
export declare class ConnectorError extends Error {
  constructor(
    message: string,
    init: {
      /** Whether the same operation may succeed if it is tried again. */
      readonly transient: boolean;
      readonly retryAfterMs?: number;
      /** PZ0301 for a setting or option that can't be as it is; say: Option "name" … */
      readonly code?: string;
      /** The next step for the user. */
      readonly hint?: string;
      /** Of a failed commit: false where surely nothing became visible. */
      readonly outcomeUnknown?: boolean;
      readonly cause?: unknown;
    },
  );
}

/** To be called before node:net or node:tls connects: throws the error that a refused permission deserves. */
export declare function requireNet(host: string, port: number): void;
`;
