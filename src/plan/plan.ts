import type { DagNode, DagNodeKind } from "../compile/mod.ts";
import type {
  DatasetSpec,
  Grant,
  NativeCopy,
  NativeScan,
  OutputSpec,
  StagedRead,
  StagedWrite,
  UniversalRead,
  WriteAttempt,
} from "../connectors/mod.ts";

/** How a node's bytes move. */
export type Strategy = "native_scan" | "native_copy" | "arrow_stream" | "staged_scan" | "staged_copy" | "duck_sql";

/** `atMost`: the columns are those that the SQL names, of which only the source knows whether it has them. */
export type PushedHints = { readonly columns: number | null; readonly predicate: boolean; readonly atMost?: true };

export type PlannedNode = {
  readonly id: string;
  readonly kind: DagNodeKind;
  readonly name: string;
  readonly strategy: Strategy;
  readonly partitions: number;
  /** Why this strategy: template text only, never SQL, configuration values or predicates. */
  readonly reason: string;
  /** Target bytes of a batch where the node moves batches. */
  readonly batchBytes?: number;
  /** What of the hints the connector of an arrow_stream load gets: how many columns are named, and whether rows are. */
  readonly pushed?: PushedHints;
  /** Present for arrow_stream loads. */
  readonly dataset?: DatasetSpec;
  /** Whether the connector of an arrow_stream load names its partitions one by one while they are read. */
  readonly streamsPartitions?: boolean;
  /** Whether the partitions of an arrow_stream load keep their ids from one plan to the next. */
  readonly stablePartitions?: true;
  /** How many writes of an arrow_stream output go on side by side; absent: one. */
  readonly writers?: number;
  /** Whether an arrow_stream output may go on where an earlier attempt had come to. */
  readonly resumable?: true;
  /** How an arrow_stream load gets the types of its contract, where its connector gives texts. */
  readonly typing?: Pick<UniversalRead, "contract" | "diagnose">;
  /** What a connector's process touches for the node beyond its connection's grant. */
  readonly touches?: Pick<Grant, "read" | "write"> & Partial<Pick<Grant, "net">>;
  /** What an arrow_stream load opens on this machine, where its connector tells. */
  readonly reads?: NativeScan["reads"];
  /** Where an arrow_stream output ends on this machine, where its connector tells. */
  readonly writes?: readonly string[];
  /** Present for arrow_stream outputs whose connector is asked otherwise than the project says. */
  readonly output?: (attempt: Omit<WriteAttempt, "node">) => OutputSpec;
  readonly stagedInput?: StagedInput;
  readonly stagedOutput?: (attempt: Omit<WriteAttempt, "node">) => StagedOutput;
  readonly scan?: NativeScan;
  /** Present for native_copy; the attempt that it is called with names the temporary files. */
  readonly copy?: (attempt: Omit<WriteAttempt, "node">) => NativeCopy;
};

/** What the process of a staged_scan load is asked to fetch, and how DuckDB reads it. */
export type StagedInput = { readonly dataset: DatasetSpec; readonly scan: StagedRead["scan"] };

/** How DuckDB makes the files of a staged_copy output, and what the process is asked to store. */
export type StagedOutput = { readonly output: OutputSpec; readonly copy: StagedWrite["copy"] };

export type MemoryBudget = {
  readonly duckdbBytes: number | null;
  readonly duckdbDisclaimer: string | null;
  readonly channelBytes: number;
  readonly fixedOverheadBytes: number;
  readonly totalBytes: number;
  readonly duckdbThreadsDisclaimer: string | null;
};

/** Bytes of memory and CPUs that this process may use: the smaller of the machine's and the cgroup's. */
export type MachineFacts = { readonly memoryBytes: number; readonly cpus: number };

/** What DuckDB is started with, after the project's settings and the machine's limits. */
export type DuckDbLimits = {
  readonly memoryLimitBytes: number;
  readonly threads: number;
  readonly tempDirectory?: string;
};

/** The way of one output's rows from their source. */
export type Chain = {
  /**
   * Ids in the order of the data. Without an obstacle those of one statement: a load unless `from` is there, pipelines,
   * and a write unless `to` is. With one those that were looked at; the write is the last.
   */
  readonly nodes: readonly string[];
  /** Why they can't be one statement, for people. */
  readonly obstacle?: string;
  /** The load whose staged rows the statement reads: a connector's process reads this source. */
  readonly from?: string;
  /** The write of the rows that the statement stages: a connector's process writes this output. */
  readonly to?: string;
};

export type Plan = {
  /** Topological, the whole project. */
  readonly nodes: readonly PlannedNode[];
  /** One for each output that a source feeds, in their order. */
  readonly chains: readonly Chain[];
  readonly memoryBudget: MemoryBudget;
  readonly limits: DuckDbLimits;
  /** What each connection may touch, by connection name, sorted. */
  readonly grants: readonly PlannedGrant[];
};

/** What a connection may touch; `stages`: and a folder of its own within the run's. */
export type PlannedGrant = {
  readonly connection: string;
  readonly connector: string;
  readonly grant: Grant;
  readonly stages?: true;
  /** Whether its process runs outside of the sandbox, as a program of a package. */
  readonly trusted?: boolean;
};

export type { DagNode };
