import type { DagNode, DagNodeKind } from "../compile/mod.ts";
import type { DatasetSpec, Grant, NativeCopy, NativeScan, OutputSpec, UniversalRead } from "../connectors/mod.ts";

/** How a node's bytes move. */
export type Strategy = "native_scan" | "native_copy" | "arrow_stream" | "duck_sql";

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
  /** How many writes of an arrow_stream output go on side by side; absent: one. */
  readonly writers?: number;
  /** How an arrow_stream load gets the types of its contract, where its connector gives texts. */
  readonly typing?: Pick<UniversalRead, "contract" | "diagnose">;
  /** Absolute paths that the process of an arrow_stream node touches beyond its connection's grant. */
  readonly touches?: Pick<Grant, "read" | "write">;
  /** What an arrow_stream load opens on this machine, where its connector tells. */
  readonly reads?: NativeScan["reads"];
  /** Where an arrow_stream output ends on this machine, where its connector tells. */
  readonly writes?: readonly string[];
  /** Present for arrow_stream outputs whose connector is asked otherwise than the project says. */
  readonly output?: (attempt: { readonly run: string; readonly ordinal: number }) => OutputSpec;
  readonly scan?: NativeScan;
  /** Present for native_copy; the attempt that it is called with names the temporary files. */
  readonly copy?: (attempt: { readonly run: string; readonly ordinal: number }) => NativeCopy;
};

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
  /** Ids in the order of the data; the write is the last. With an obstacle only those that were looked at. */
  readonly nodes: readonly string[];
  /** Why they can't be one statement, for people; undefined: they are one, a load, its pipelines and a write. */
  readonly obstacle?: string;
};

export type Plan = {
  /** Topological, the whole project. */
  readonly nodes: readonly PlannedNode[];
  /** One for each output that a source feeds, in their order. */
  readonly chains: readonly Chain[];
  readonly memoryBudget: MemoryBudget;
  readonly limits: DuckDbLimits;
  /** What each connection may touch, by connection name, sorted. */
  readonly grants: readonly { readonly connection: string; readonly connector: string; readonly grant: Grant }[];
};

export type { DagNode };
