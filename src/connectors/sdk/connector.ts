import type { RecordBatch, Schema } from "../../util/arrow.ts";
import type { AbortSemantics, Capability, ConfigMap, DatasetSpec, OutputSpec, WriteResult } from "../contract/mod.ts";

/** What a connector may use of its host. */
export type ConnectorHost = {
  /** Tells the user something; never a configuration value. */
  log(level: "debug" | "info" | "warn" | "error", message: string): void;
  /** Tells the user once per run what it can't do as asked, such as a type that is mapped; never a configuration value. */
  notice(message: string): void;
  /**
   * With GatedOperations, around every single request to the system: waits until the engine lets it go, and does it
   * again, as the connection's retry policy says, while it is idempotent and fails with a transient `ConnectorError`.
   * The last failure is thrown as it came.
   */
  operate<T>(operation: GatedOperation, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** With GatedOperations: what the system said is left of its own limit, and when that is renewed, in ms since 1970. */
  reportBudget(remaining: number, resetAtMs: number): void;
};

/** One request to a system: a fixed word for what it does, which holds no value, and whether doing it twice harms nothing. */
export type GatedOperation = { readonly label: string; readonly idempotent: boolean; readonly signal: AbortSignal };

/**
 * One independent part of a read; ids are unique within a dataset. `checkpointing`: its read has `checkpoint`, and
 * `resumeFrom` may accept what that gave.
 */
export type Partition = { readonly id: string; readonly checkpointing?: boolean };

/**
 * The batches of one partition. With CheckpointableReads, `checkpoint` is asked after each batch was taken: a token from
 * which another read of the partition can go on after all batches so far, or undefined if there is none just here.
 */
export type Reading = AsyncIterable<RecordBatch> & { checkpoint?(): string | undefined };

/** The read side. Each call gets a signal that fires when nobody waits for its result any more. */
export type Source = {
  schema(spec: DatasetSpec, signal: AbortSignal): Promise<Schema>;
  /** At least one partition; exactly one without the capability PartitionedRead. */
  plan(spec: DatasetSpec, signal: AbortSignal): Promise<readonly Partition[]> | AsyncIterable<Partition>;
  /** With CheckpointableReads, before the read: whether it can go on from this token of an earlier one. */
  resumeFrom?(spec: DatasetSpec, partition: Partition, token: string, signal: AbortSignal): Promise<boolean>;
  /**
   * Batches of the schema that `schema` gives; `batchBytes` is the size to aim for. With `resumeFrom`, a token that was
   * accepted, only the rows after it.
   */
  read(
    spec: DatasetSpec,
    partition: Partition,
    options: { readonly batchBytes: number; readonly signal: AbortSignal; readonly resumeFrom?: string },
  ): Reading;
};

/** The write side. */
export type Sink = {
  readonly abortSemantics: AbortSemantics;
  /**
   * Starts one write of rows of this schema.
   *
   * @throws {ConnectorError} also for a merge whose schema lacks a key, naming the key
   */
  begin(spec: OutputSpec, schema: Schema, signal: AbortSignal): Promise<WriteSession>;
};

/** One write, from begin to exactly one of commit and abort; its calls never overlap. */
export type WriteSession = {
  /**
   * Whether another attempt at this write finds out by itself that this one has landed, and then adds nothing: an
   * append whose commit failed without an answer may be repeated then.
   */
  readonly provesAttempt?: boolean;
  /** The batch is the connector's from then on. */
  write(batch: RecordBatch, signal: AbortSignal): Promise<void>;
  /** With ApplyDeletes: rows of the key columns alone, after the last `write`, in the same transaction. */
  applyDeletes?(keys: RecordBatch, signal: AbortSignal): Promise<void>;
  /** With CheckpointableWrites: how many rows of this write, in order, the destination has confirmed for good. */
  acknowledgedRows?(): bigint;
  /** With CheckpointableWrites, before the first `write`: whether the write can go on after so many rows. */
  resumeFrom?(rows: bigint): Promise<boolean>;
  /** Makes the write visible. At most once; whatever it throws, the outcome is unknown and abort is not called. */
  commit(): Promise<WriteResult>;
  /** Takes back what can be taken back; works after a failed `write`. */
  abort(): Promise<void>;
};

/** An opened connection. It connects when first used, not when opened. */
export type ConnectorInstance = {
  readonly source?: Source;
  readonly sink?: Sink;
  /** Reaches the system once and changes nothing, for `validate --connect`. */
  check?(signal: AbortSignal): Promise<void>;
  close?(): Promise<void>;
};

/**
 * What the module of a connector exports as `connector`. Failures are thrown as `ConnectorError`; anything else counts
 * as a bug of the connector and is permanent.
 */
export type ConnectorModule = {
  readonly name: string;
  readonly version: string;
  readonly capabilities: readonly Capability[];
  open(config: ConfigMap, host: ConnectorHost): ConnectorInstance;
};
