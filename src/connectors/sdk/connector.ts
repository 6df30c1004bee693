import type { RecordBatch, Schema } from "../../util/arrow.ts";
import type {
  AbortSemantics,
  Capability,
  ConfigMap,
  DatasetSpec,
  FetchedFile,
  OutputSpec,
  WriteResult,
} from "../contract/mod.ts";

/** What a connector may use of its host. */
export type ConnectorHost = {
  /** Tells the user something; never a configuration value. */
  log(level: "debug" | "info" | "warn" | "error", message: string): void;
  /** Tells the user once per run what it can't do as asked, such as a type that is mapped; never a configuration value. */
  notice(message: string): void;
  /**
   * With GatedOperations, around every single request to the system: waits until the engine lets it go, and does it
   * again, as the node's retry policy says, while it is idempotent and fails with a transient `ConnectorError`; the
   * `retryAfterMs` of one holds every operation of the connection. The last failure is thrown as it came.
   *
   * So `work` makes one request, with all that one try needs, such as a body that can be read from its start, and never
   * repeats anything itself: neither does a driver within it. What has already been handed on, such as a row, must not
   * be given again by a second try. A stream of rows over one connection is no sequence of operations.
   *
   * @throws the operation's signal's reason when it is aborted while the operation waits; the work is not done then
   */
  operate<T>(operation: GatedOperation, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /**
   * With GatedOperations, from within an operation: what the system said is left of its own limit, and when that is
   * renewed, in ms since 1970. With nothing left no operation of the connection goes before.
   */
  reportBudget(remaining: number, resetAtMs: number): void;
};

/**
 * One request to a system: a fixed word for what it does (letters, digits, `_`, `-` and `.`, 64 at most), which holds no
 * value; whether doing it twice harms nothing; and what ends its wait: in a `commit` or an `abort`, which nobody stops, a
 * signal that never fires.
 */
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
   * Starts one write of rows of this schema. `acknowledge`, with CheckpointableWrites, tells at once that the destination
   * has confirmed so many rows for good, as `acknowledgedRows` does after each batch, and resolves when the host has kept
   * that: who waits for it before it sends more leaves at most what it sent last in doubt, whatever happens.
   *
   * @throws {ConnectorError} also for a merge whose schema lacks a key, naming the key
   */
  begin(
    spec: OutputSpec,
    schema: Schema,
    signal: AbortSignal,
    acknowledge?: (rows: bigint) => Promise<void>,
  ): Promise<WriteSession>;
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
  /** Where an abort of this write takes back something else than the sink's `abortSemantics` says. */
  readonly abortSemantics?: AbortSemantics;
  /**
   * With CheckpointableWrites: how many rows of this write, in order, the destination has confirmed for good; from the
   * start those that it knows to have from an earlier attempt.
   */
  acknowledgedRows?(): bigint;
  /** With CheckpointableWrites, before the first `write`: whether the write can go on after so many rows. */
  resumeFrom?(rows: bigint): Promise<boolean>;
  /** Makes the write visible. At most once; whatever it throws, the outcome is unknown and abort is not called. */
  commit(): Promise<WriteResult>;
  /** Takes back what can be taken back; works after a failed `write`. */
  abort(): Promise<void>;
};

/** What moves whole files between a system and folders of this machine. */
export type FileMover = {
  /** Puts the files of a dataset into a folder that is there, and tells each in their order as soon as it is whole. */
  fetch(
    spec: DatasetSpec,
    options: {
      readonly folder: string;
      readonly signal: AbortSignal;
      /** Told bytes that have arrived since it was told last. */
      readonly onBytes: (bytes: number) => void;
    },
  ): AsyncIterable<FetchedFile>;
  /** Starts one write of files out of a folder. */
  store(spec: OutputSpec, options: StoreOptions): Promise<StoreSession>;
  /**
   * Takes back what writes that died left at the system, by their journals; deletes the journal of each write of which
   * nothing is left, or that does not exist.
   */
  sweep(journals: readonly string[], signal: AbortSignal): Promise<void>;
};

export type StoreOptions = {
  readonly folder: string;
  /** A file to note in, before it is done, what a write that dies would leave behind; deleted when nothing is. */
  readonly journal: string;
  readonly signal: AbortSignal;
  /** To be told that the write has failed while nobody waits for it. */
  readonly fail: (error: unknown) => void;
};

/** What is there of a file that is being stored: so many bytes from its start, which stay as they are. */
export type FileGrowth = { readonly path: string; readonly bytes: number; readonly isWhole: boolean };

/** One write of files, from its start to exactly one of commit and abort; nothing is visible before the commit. */
export type StoreSession = {
  /** Says what is there of a file, as often as it grows; does not wait for anything. */
  grew(file: FileGrowth): void;
  /** After every file was whole: returns when all that is left is to make them visible. */
  sent(): Promise<void>;
  /** After that: makes them visible. Whatever it throws, abort is not called. */
  commit(): Promise<StoreResult>;
  abort(): Promise<void>;
};

export type StoreResult = { readonly files: number; readonly bytes: number };

/** An opened connection. It connects when first used, not when opened. */
export type ConnectorInstance = {
  readonly source?: Source;
  readonly sink?: Sink;
  readonly files?: FileMover;
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
