import type { Capability } from "./capabilities.ts";
import type { Predicate, ReadHints } from "./hints.ts";

/** A value of a connector's configuration or options, as the project holds it. */
export type ConfigValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly ConfigValue[]
  | { readonly [key: string]: ConfigValue };
export type ConfigMap = { readonly [key: string]: ConfigValue };

/** `lossy: "allow"`: the type may round, cut or drop a part of a value. */
export type ColumnSpec = { readonly name: string; readonly type: string; readonly lossy?: "allow" };

/** What a read is asked for. */
export type DatasetSpec = {
  readonly connection: string;
  readonly entity: string;
  readonly config: ConfigMap;
  readonly options: ConfigMap;
  readonly columns?: readonly ColumnSpec[];
  readonly hints?: ReadHints;
  /**
   * Of a plan, with StablePartitionIds: the partitions of an earlier plan of the same dataset, in its order. A connector
   * that divides by what it finds divides as before, so that they get their ids again; those that are done won't be read.
   */
  readonly priorPartitions?: readonly PriorPartition[];
};

/** A partition of an earlier plan, and whether an earlier attempt has read it to its end. */
export type PriorPartition = { readonly id: string; readonly isDone: boolean };

/** What a write is asked for. */
export type OutputSpec = {
  readonly connection: string;
  readonly entity: string;
  readonly config: ConfigMap;
  readonly options: ConfigMap;
  readonly mode: "replace" | "append" | "merge";
  readonly schemaPolicy: "fail_on_change" | "additive" | "evolve";
  readonly keys: readonly string[];
  /** What rows of `applyDeletes` do; absent: none will come. */
  readonly onDelete?: "delete" | "soft";
  readonly attempt: WriteAttempt;
  /** After how many rows at a time the write may save how far it is; absent: as the connector thinks best. */
  readonly checkpointRows?: number;
};

/** What an aborted write leaves behind at its destination: nothing, perhaps something, or all that was written. */
export type AbortSemantics = "discards_all" | "best_effort" | "none";

/** What a committed write did. */
export type WriteResult = { readonly rows: bigint; readonly batches: number };

/** Names one try of one write, so that a destination can tell a repetition from new data. */
export type WriteAttempt = {
  readonly node: string;
  readonly run: string;
  readonly ordinal: number;
  /**
   * Tries of the same write by earlier runs, oldest first, that nobody knows the end of: where one of them has landed,
   * this one adds nothing, and files that an append adds have the names that the first of them gave. Absent: none.
   */
  readonly prior?: readonly Pick<WriteAttempt, "run" | "ordinal">[];
};

/** A read that DuckDB does by itself: `fragment` stands after FROM. */
export type NativeScan = {
  readonly fragment: string;
  /** Statements that must run once before, such as ATTACH; treated as secret. */
  readonly setup: readonly string[];
  /** What to show, such as `read_csv`. */
  readonly mechanism: string;
  /** Whether DuckDB guessed the types. */
  readonly schemaInferred: boolean;
  /** Absolute paths that the scan opens, beyond what the connection's grant may already cover. */
  readonly reads?: { readonly files: readonly string[]; readonly folders: readonly string[] };
  /**
   * A query for the number of rows that reads none of their values. Only where the scan refuses no value, so that who
   * reads some columns or rows alone misses nothing that would have stopped it.
   */
  readonly rowCount?: string;
  /**
   * Where DuckDB guesses the types: to be asked once before the scan, whose place the answer takes. It guards what was
   * guessed from a sample against values further on that do not fit.
   */
  readonly infer?: (query: QueryRows) => Promise<NativeScan>;
  /**
   * To be called after the scan's statement failed, on a connection that is not in a transaction that failed: finds the
   * value that stopped it, or what `message`, DuckDB's own, means. Undefined: it was something else, and DuckDB's own error stands.
   */
  readonly diagnose?: (query: QueryRows, message?: string) => Promise<NativeDiagnosis | undefined>;
  /** The relation without its contract, where its columns have types of their own, with which the contract can be compared. */
  readonly uncast?: string;
  /** Of an answer of `infer`: the columns whose texts are read as dates by a form that may have been a guess. */
  readonly guessedDates?: readonly GuessedDates[];
};

/** Columns of one type, DATE or TIMESTAMP, and the form that their texts are read by, such as `%d/%m/%Y`. */
export type GuessedDates = { readonly columns: readonly string[]; readonly format: string };

/** Runs one query and gives its rows as DuckDB's text of each value, NULL as null. */
export type QueryRows = (sql: string) => Promise<readonly (readonly (string | null)[])[]>;

/** A value in a user's data that its declared type can't hold. */
export type NativeDiagnosis = {
  readonly message: string;
  readonly file: string;
  /** From 1, where it could be found. */
  readonly line: number | undefined;
  readonly column: string;
  readonly hint: string;
};

/** A write that DuckDB does by itself. An append adds nothing where this attempt, or one that it names, has landed. */
export type NativeCopy = {
  /**
   * The statement, for a quoted relation to read from, and the relation's columns with the types that DuckDB's DESCRIBE
   * gives them; temporary names only, never a final one.
   *
   * @throws PzError for a column whose type the target can't hold
   */
  readonly statement: (relation: string, columns: readonly ColumnSpec[]) => string;
  readonly setup: readonly string[];
  readonly mechanism: string;
  /** Folders to make before the statement runs. */
  readonly folders: readonly string[];
  /** Moves that publish the result, in this order; each replaces its target as one step. */
  readonly moves: readonly { readonly from: string; readonly to: string }[];
  /** What the write replaces or changes, so that two outputs of one place can be told. Absent: nothing on this machine. */
  readonly target?: OutputTarget;
};

/** A read through the connector's process that is asked otherwise than the project says. */
export type UniversalRead = {
  /** What the process gets in place of the dataset's options. */
  readonly options: ConfigMap;
  /** Absolute paths that it touches beyond the connection's grant. */
  readonly grant: Pick<Grant, "read" | "write">;
  /** How many partitions it will name, for display. */
  readonly partitions?: number;
  /** As of a native scan, to compare with what outputs change. */
  readonly reads?: NativeScan["reads"];
  /**
   * Where the process gives texts: `(SELECT …)` of a relation (as SQL) of its rows with the columns of the contract and
   * their types. A text that its type can't hold exactly stops the statement.
   */
  readonly contract?: (relation: string) => string;
  /** To be called after the contract's statement failed: finds the value in the same relation. */
  readonly diagnose?: (query: QueryRows, relation: string) => Promise<NativeDiagnosis | undefined>;
};

/** A write through the connector's process that is asked otherwise than the project says. */
export type UniversalWrite = {
  /** What the process gets in place of the output's options. */
  readonly options: ConfigMap;
  /** Absolute paths that it touches beyond the connection's grant. */
  readonly grant: Pick<Grant, "read" | "write">;
  /** As of a native copy; the process makes these moves itself. */
  readonly moves: NativeCopy["moves"];
  readonly target?: OutputTarget;
};

/** A file of the system that the connector's process has put into a folder of this machine. */
export type FetchedFile = {
  /** Below the folder, with `/` between its parts. Folders named `name=value` mean what they mean in the system. */
  readonly path: string;
  /** What people call it, such as `s3://bucket/key`. */
  readonly name: string;
  readonly bytes: number;
};

/** A read whose files the connector's process fetches as they are, for DuckDB to read them on this machine. */
export type StagedRead = {
  /** What the process gets in place of the dataset's options. */
  readonly options: ConfigMap;
  /** `host:port`s that it reaches beyond the connection's grant. */
  readonly net: Grant["net"];
  /** What DuckDB reads with, such as `read_csv`. */
  readonly mechanism: string;
  /** The scan of all the files, which lie in the folder. */
  readonly scan: (folder: string, files: readonly FetchedFile[]) => NativeOutcome<NativeScan>;
};

/** A write whose files DuckDB makes on this machine, for the connector's process to store them as they are. */
export type StagedWrite = {
  /** What the process gets in place of the output's options. */
  readonly options: ConfigMap;
  readonly net: Grant["net"];
  readonly mechanism: string;
  /** How DuckDB fills an empty folder. */
  readonly copy: (folder: string) => StagedCopy;
  readonly target?: OutputTarget;
};

/** How DuckDB fills a folder with the files of one output. */
export type StagedCopy = {
  readonly statement: NativeCopy["statement"];
  /** Below the folder: the one file that the statement makes, only ever writing at its end. Absent: files in folders. */
  readonly file?: string;
};

/** A place that a write changes. */
export type OutputTarget = {
  /** Absolute, with its links resolved; of another machine its address. */
  readonly path: string;
  /** Whether the path is a folder that is replaced with all that it holds. */
  readonly wholeFolder: boolean;
  /** The table inside of the file, in a form that is the same for all names that mean the same table. */
  readonly table?: string;
};

/** What a connection may touch. Empty lists grant nothing. */
export type Grant = {
  /** `host:port`. */
  readonly net: readonly string[];
  /** Absolute paths of files or folders. */
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** Names of environment variables. */
  readonly env: readonly string[];
};

/** What the project's folder and the machine tell a connector that works offline. */
export type ConnectorContext = { readonly projectRoot: string };

/** The result of an offline check; the code of each problem is PZ0301 unless it says otherwise. */
export type ConfigProblem = {
  readonly code: "PZ0301" | "PZ0353" | "PZ0361" | "PZ0362" | "PZ0365" | "PZ0364" | "PZ0700";
  readonly message: string;
  readonly hint?: string | undefined;
  /** The column of the contract that is not there, if that is the problem. */
  readonly missingColumn?: string;
  /** Whether nothing stands where an entity of this name would: the project may know others. */
  readonly missingEntity?: true;
  /** The column of the contract that is to blame in any other way. */
  readonly column?: string;
  /** The option of the read or write that is to blame. */
  readonly option?: string;
  /** The setting of the connection that is to blame, or missing: the problem is that of the whole connection. */
  readonly setting?: string;
};

export type NativeOutcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

/**
 * What the engine knows about a connector without starting it: cheap, offline, free of side effects. A connector that
 * does I/O of its own names a module for the child; one that only writes SQL for DuckDB does not.
 */
export type ConnectorDescription = {
  readonly name: string;
  readonly version: string;
  /** Where it comes from, such as `acme-pz-connector 1.2.0`; absent: it is inside pz. */
  readonly origin?: string;
  /** What its process runs; absent: what is inside pz by this name. */
  readonly program?: ConnectorProgram;
  readonly capabilities: ReadonlySet<Capability>;
  readonly canRead: boolean;
  readonly canWrite: boolean;
  /** Whether reads and writes go through a child process when they are not native. */
  readonly universal: { readonly read: boolean; readonly write: boolean };
  /** Option names of a connection, a read and a write; `undefined`: any. */
  readonly connectionOptions: readonly string[] | undefined;
  readonly readOptions: readonly string[] | undefined;
  readonly writeOptions: readonly string[] | undefined;
  /** Options of a connection that are never secret, such as a path, so that messages may show them. */
  readonly plainOptions?: readonly string[];
  /** With PredicatePushdown: the comparisons that it makes as DuckDB does; absent: all. `and` needs no mention. */
  readonly predicateOperators?: ReadonlySet<Predicate["op"]>;
  /** How many writes of one output may go on side by side, each with a part of the rows; absent: one. */
  readonly parallelWriters?: number;
  grant(config: ConfigMap, context: ConnectorContext): Grant;
  /** What its process gets in place of a connection's settings, such as defaults filled in. Absent: they are as they are. */
  childConfig?(config: ConfigMap, context: ConnectorContext): ConfigMap;
  /** Undefined: no native path for this dataset. */
  nativeScan(spec: DatasetSpec, context: ConnectorContext): NativeOutcome<NativeScan> | undefined;
  nativeCopy(spec: OutputSpec, context: ConnectorContext): NativeOutcome<NativeCopy> | undefined;
  /** With CheckpointableWrites: whether this write may go on where an earlier attempt had come to. Absent: each may. */
  resumesWrite?(spec: OutputSpec): boolean;
  /** Where the process is asked otherwise than the project says; a problem refuses the read. Absent: it is asked as said. */
  universalRead?(spec: DatasetSpec, context: ConnectorContext): NativeOutcome<UniversalRead>;
  universalWrite?(spec: OutputSpec, context: ConnectorContext): NativeOutcome<UniversalWrite>;
  /** Where the process moves whole files and DuckDB reads or writes them on this machine; asked when there is no native path. */
  stagedRead?(spec: DatasetSpec, context: ConnectorContext): NativeOutcome<StagedRead>;
  stagedWrite?(spec: OutputSpec, context: ConnectorContext): NativeOutcome<StagedWrite>;
  /**
   * Of a connector whose data DuckDB can read by itself, for `validate --connect`: looks at the place that a connection leads to and changes
   * nothing.
   */
  probe?(config: ConfigMap, context: ConnectorContext, use: ConnectionUse): NativeProbe;
  /**
   * What DuckDB's message about a failed statement of `setup` means, in words that hold no secret. Absent or undefined:
   * nothing of that message may be shown.
   */
  setupTrouble?(message: string, config: ConfigMap): SetupTrouble | undefined;
};

/** What the process of a connector runs that comes from outside of pz. */
export type ConnectorProgram =
  /** A module for the sandbox, whose bytes have been compared with what is locked. */
  | { readonly kind: "module"; readonly code: Uint8Array<ArrayBuffer> }
  /** A program of its own, which only the operating system confines. */
  | {
    readonly kind: "process";
    readonly path: string;
    /** The package's folder, which it may read. */
    readonly folder: string;
    /** Compares its files with what is locked, before each start. Throws a `ConnectorError`. */
    readonly verify: () => Promise<void>;
  };

/** What the project does with a connection. */
export type ConnectionUse = { readonly reads: boolean; readonly writes: boolean };

/** What stands against a connection's place, and statements that open it, in place of `setup`, without the right to change it. */
export type NativeProbe = { readonly problems: readonly ConfigProblem[]; readonly setup: readonly string[] };

/** Why a connection can't be set up, and the next step. */
export type SetupTrouble = { readonly message: string; readonly hint: string };
