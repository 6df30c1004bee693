/** A value that a user may write in YAML, in `--vars` or in a call: whole numbers are exact, whatever their size. */
export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly Value[]
  | { readonly [key: string]: Value };

export type ValueMap = { readonly [key: string]: Value };

/** A place in a project file; `file` is relative to the project with `/` between its parts. */
export type SourcePosition = { readonly file: string; readonly line: number; readonly column: number };

/**
 * One column of a `columns:` contract, with the type as the user wrote it. `lossy` lets values that the type can't hold
 * exactly be changed instead of refused.
 */
export type ColumnContract = { readonly name: string; readonly type: string; readonly lossy?: "allow" };

export type SyncBlock =
  | { readonly mode: "auto" }
  | { readonly mode: "cdc"; readonly slot?: string }
  | {
    readonly mode: "incremental";
    readonly cursor: string;
    readonly initial?: string;
    readonly maxWindow?: string;
    readonly until?: string;
    readonly lookback?: string;
    readonly nullCursor?: "fail" | "skip" | "always";
  };

/** Fields left out fall back to the connection's, then to 3 attempts, 1 s, 30 s. */
export type RetryBlock = {
  readonly maxAttempts?: number;
  readonly baseDelayMs?: number;
  readonly maxDelayMs?: number;
};

/** What pz owns of a `read:` block or of `source()`'s named arguments; the rest are the connector's options. */
export type ReadBlock = {
  readonly columns?: readonly ColumnContract[];
  readonly sync?: SyncBlock;
  readonly retry?: RetryBlock;
  readonly options: ValueMap;
};

export type WriteStrategy = "replace" | "append" | "merge";
export type OnDelete = "delete" | "soft" | "ignore";
export type SchemaPolicy = "fail_on_change" | "additive" | "evolve";

/** What pz owns of a `write:` block or of `sink()`'s named arguments; the rest are the connector's options. */
export type WriteBlock = {
  readonly strategy: WriteStrategy;
  readonly keys: readonly string[];
  readonly acceptDuplicates: boolean;
  readonly onDelete?: OnDelete;
  readonly schemaPolicy: SchemaPolicy;
  readonly retry?: RetryBlock;
  readonly orderBy?: readonly string[];
  readonly skipUnchanged?: boolean;
  readonly checkpointRows?: number;
  readonly options: ValueMap;
};

/** Where each key of a block stands. */
export type KeyPlaces = { readonly [key: string]: SourcePosition };

export type Entity = {
  readonly name: string;
  readonly read?: ReadBlock;
  readonly write?: WriteBlock;
  readonly position: SourcePosition;
  readonly places?: {
    readonly read: KeyPlaces;
    readonly write: KeyPlaces;
    /** Of the read's `columns:` contract. */
    readonly columns?: KeyPlaces;
  };
};

export type RateLimit = { readonly requestsPerMinute: number; readonly burst: number };

export type Connection = {
  readonly name: string;
  /** The connector's id, such as `localfiles`. */
  readonly connector: string;
  /** The connector's own settings, environment variables filled in; may hold secrets. */
  readonly config: ValueMap;
  /** The texts that environment variables brought into each of its settings. */
  readonly filled?: { readonly [setting: string]: readonly string[] };
  readonly entities: { readonly [name: string]: Entity };
  readonly maxConcurrency?: number;
  readonly rateLimit?: RateLimit;
  readonly retry?: RetryBlock;
  readonly allowUnsignedExtensions: boolean;
  readonly position: SourcePosition;
  readonly places?: KeyPlaces;
};

export type CheckType = "not_null" | "unique" | "row_count" | "freshness" | "accepted_values" | "custom_sql";

export type Check = {
  readonly type: CheckType;
  readonly columns: readonly string[];
  /** `gate` holds back every sink downstream of the check's pipeline. */
  readonly severity: "alert" | "gate";
  /** Undefined: as `engine.check_samples` says. */
  readonly sampleValues?: boolean;
  readonly min?: bigint;
  readonly max?: bigint;
  readonly maxAgeMs?: number;
  readonly values?: readonly Value[];
  readonly name?: string;
  readonly sql?: string;
  readonly position: SourcePosition;
  readonly places?: CheckPlaces;
};

/** Where parts of a check stand: each of its columns, and the start of each line of its SQL where that is known. */
export type CheckPlaces = {
  readonly columns: readonly SourcePosition[];
  readonly sqlLines?: readonly SourcePosition[];
};

export type Materialization = "table" | "view" | "ephemeral";

export type PipelineFile = {
  readonly name: string;
  /** Relative to the project, with `/`. */
  readonly file: string;
  /** The template as written, without a byte-order mark. */
  readonly template: string;
  readonly materialization: Materialization;
  readonly tags: readonly string[];
  readonly checks: readonly Check[];
};

export type EngineConfig = {
  /** Nodes that may run at the same time. */
  readonly threads: number;
  /** Target size of a batch on the universal path, in bytes; undefined: 33,554,432. */
  readonly batchBytes?: number;
  readonly forceUniversal: boolean;
  readonly checkSamples: boolean;
  readonly duckdb: { readonly memoryLimit?: string; readonly threads?: number; readonly tempDirectory?: string };
  readonly breaker?: { readonly failureThreshold: number; readonly coolDownMs: number };
  readonly nodeTimeoutMs?: number;
  readonly staging: "auto" | "always";
  readonly preserveOrder: boolean;
  readonly sandbox: "auto" | "require";
  /** Bytes in flight between connectors and DuckDB, for the whole process; undefined: 268,435,456. */
  readonly channelBytes?: number;
};

export type StateConfig =
  | { readonly backend: "local" }
  | { readonly backend: "http"; readonly url?: string; readonly timeoutSeconds?: number }
  | {
    readonly backend: "sqlserver" | "postgres";
    readonly connection?: string;
    readonly schema: string;
    readonly artifacts: boolean;
    readonly events: boolean;
  };

/** A whole project, frozen: everything that the files say, checked, with defaults filled in. */
export type Project = {
  /** Absolute path of the project's folder. */
  readonly root: string;
  readonly name: string;
  readonly version: string;
  readonly connectors: readonly { readonly package: string; readonly version: string | undefined }[];
  readonly vars: ValueMap;
  readonly engine: EngineConfig;
  /** Runs whose staging database is kept; undefined: all. */
  readonly keepLast: number | undefined;
  readonly state: StateConfig;
  /** What chose the state's backend: `project.yml`, the name of an environment variable, or `default`. */
  readonly stateOrigin?: string;
  readonly onSourceDrift: "ignore" | "warn" | "fail";
  readonly connections: { readonly [name: string]: Connection };
  /** In the order of their paths. */
  readonly pipelines: readonly PipelineFile[];
  /** Every text that environment variables brought into connections; none may reach a message or an artifact. */
  readonly secrets?: readonly string[];
};
