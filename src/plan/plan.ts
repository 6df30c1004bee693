import type { DagNode, DagNodeKind } from "../compile/mod.ts";
import type { Grant, NativeCopy, NativeScan } from "../connectors/mod.ts";

/** How a node's bytes move. */
export type Strategy = "native_scan" | "native_copy" | "arrow_stream" | "duck_sql";

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
  readonly pushed?: { readonly columns: number | null; readonly predicate: boolean };
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

/** A load, a pipeline and a write, by id, that stand in a row. */
export type Chain = {
  readonly load: string;
  readonly pipeline: string;
  readonly write: string;
  /** Why the three can't be one statement; undefined: they can, whether or not the engine makes use of it. */
  readonly obstacle?: string;
};

export type Plan = {
  /** Topological, the whole project. */
  readonly nodes: readonly PlannedNode[];
  readonly memoryBudget: MemoryBudget;
  readonly limits: DuckDbLimits;
  /** What each connection may touch, by connection name, sorted. */
  readonly grants: readonly { readonly connection: string; readonly connector: string; readonly grant: Grant }[];
};

export type { DagNode };
