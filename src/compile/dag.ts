import type {
  Check,
  ColumnContract,
  Connection,
  Materialization,
  Project,
  ReadBlock,
  SourcePosition,
  WriteBlock,
} from "../project/mod.ts";
import type { SegmentMap, WatermarkCall } from "../template/mod.ts";

/** Kinds in the order in which nodes that are ready at the same time run. */
export const NODE_KINDS = ["SourceLoad", "Pipeline", "Check", "SinkWrite"] as const;
export type DagNodeKind = typeof NODE_KINDS[number];

type NodeBase = {
  /** The first 16 hex digits of the SHA-256 of the node's canonical description. */
  readonly id: string;
  readonly name: string;
  /** Ids of the nodes whose results this one reads, sorted. */
  readonly dependsOn: readonly string[];
  /** The file that the node comes from, relative to the project. */
  readonly file: string;
  readonly tags: readonly string[];
};

/**
 * A typed predicate tree over one source's columns; values are SQL-exact texts with their DuckDB type. Every row that
 * matters meets it, and the pipeline's own WHERE still runs: a connector may leave out any part of it, and must leave
 * out a part whose column it does not have, or whose column it does not compare as DuckDB compares the given type.
 */
export type Predicate =
  | { readonly op: "and"; readonly args: readonly Predicate[] }
  | { readonly op: "=" | "<>" | "<" | "<=" | ">" | ">="; readonly column: string; readonly value: TypedText }
  | { readonly op: "in"; readonly column: string; readonly values: readonly TypedText[] }
  | { readonly op: "is_null" | "is_not_null"; readonly column: string };
export type TypedText = { readonly type: string; readonly text: string };

/**
 * What the readers of a source need together; a half that is left out: everything. `columns` is a superset: names are
 * compared without case, and those that the source does not have are to be ignored.
 */
export type ReadHints = { readonly columns?: readonly string[]; readonly predicate?: Predicate };

/** A comparison in a pipeline's SQL that says which rows of a source matter, given its watermark. */
export type WatermarkBound = {
  readonly pipeline: string;
  /** SQL of one scalar value, with the sentinel in it as a text literal. */
  readonly value: string;
  readonly sentinel: string;
  /** Whether the value is where the rows end; else they begin there. */
  readonly upper: boolean;
  /** Whether a row with the value itself matters. */
  readonly inclusive: boolean;
};

/** How SQL follows a source by `watermark()`: the cursor column, and every bound, in the order of the pipelines. */
export type SqlWatermark = { readonly cursor: string; readonly bounds: readonly WatermarkBound[] };

export type SourceLoadNode = NodeBase & {
  readonly kind: "SourceLoad";
  readonly connection: Connection;
  readonly entity: string;
  /** Bare name of the staged relation in schema `staging`, such as `src_raw__orders`. */
  readonly relation: string;
  readonly read: ReadBlock;
  readonly columns?: readonly ColumnContract[];
  readonly hints?: ReadHints;
  /** Present where SQL calls `watermark()` for the source. */
  readonly watermark?: SqlWatermark;
  /** Where the read is declared: in connections.yml or in a pipeline's call. */
  readonly position: SourcePosition;
};

export type PipelineNode = NodeBase & {
  readonly kind: "Pipeline";
  readonly relation: string;
  readonly materialization: Materialization;
  /** The SELECT that DuckDB runs: sink prefix cut, ephemerals inlined. */
  readonly sql: string;
  /** `sql` as artifacts show it: values of `env()` masked. */
  readonly shownSql: string;
  /** Values of `env()` in `sql`, which no message may show. */
  readonly secrets?: readonly string[];
  /** Takes offsets of `sql` to the templates that they come from. */
  readonly map: SegmentMap;
  /** The calls whose sentinels stand in `sql`, as text literals, until a run knows the values. */
  readonly watermarks: readonly WatermarkCall[];
};

export type CheckNode = NodeBase & {
  readonly kind: "Check";
  readonly pipeline: string;
  /** Bare name of the checked relation. */
  readonly relation: string;
  readonly check: Check;
  readonly sampleValues: boolean;
};

export type SinkWriteNode = NodeBase & {
  readonly kind: "SinkWrite";
  readonly connection: Connection;
  readonly entity: string;
  readonly pipeline: string;
  /** Bare name of the staged relation that is written. */
  readonly relation: string;
  readonly write: WriteBlock;
  readonly position: SourcePosition;
};

export type DagNode = SourceLoadNode | PipelineNode | CheckNode | SinkWriteNode;

/** A compiled project: every node after all that it depends on. */
export type CompiledDag = {
  readonly project: Project;
  readonly nodes: readonly DagNode[];
};

/** What the user asked to run. At most one of the three is given. */
export type Selection = {
  readonly names: readonly string[];
  readonly select?: string | undefined;
  readonly all: boolean;
};
