import type { PipelineNode } from "../compile/mod.ts";
import type { ConnectorSession, DatasetSpec, OutputSpec, PartitionRef, WriteHandle } from "../connectors/mod.ts";
import type { DuckDbConnection } from "../duckdb/mod.ts";
import type { EventBus, NodeCompleted, Timings } from "../events/mod.ts";
import type { Plan, PlannedNode } from "../plan/mod.ts";
import type { Project } from "../project/mod.ts";
import type { Drain, DrainOptions, Staging } from "../staging/mod.ts";
import type { NodeRecord } from "../state/mod.ts";
import type { RecordBatch, Schema } from "../util/arrow.ts";
import type { ByteBudget } from "./byte_budget.ts";
import type { NodeFailure } from "./failure.ts";
import type { SessionPool } from "./session_pool.ts";

/** What the engine uses of a connector's session. */
export type Session = Pick<ConnectorSession, "getSchema" | "planRead" | typeof Symbol.asyncDispose> & {
  read(...args: Parameters<ConnectorSession["read"]>): AsyncIterable<RecordBatch>;
  /** The partitions as the connector names them; the reading of some may go on meanwhile. */
  planReadStreaming?(spec: DatasetSpec, signal: AbortSignal): AsyncIterable<PartitionRef>;
  beginWrite(spec: OutputSpec, schema: Schema, signal: AbortSignal): Promise<WriteHandle>;
};

/** What the engine uses of the staging database. */
export type StagingArea = Pick<Staging, "connect" | "setup" | typeof Symbol.asyncDispose>;

/** Opens the rows of a table of schema `staging` for one pass, on a connection that nothing else uses meanwhile. */
export type DrainTable = (connection: DuckDbConnection, table: string, options: DrainOptions) => Promise<Drain>;

/** What all nodes of one run share. */
export type RunContext = {
  readonly project: Project;
  readonly runId: string;
  readonly plan: Plan;
  readonly planned: ReadonlyMap<string, PlannedNode>;
  /** The pipelines of the project by the name of their relation. */
  readonly pipelines: ReadonlyMap<string, PipelineNode>;
  readonly staging: StagingArea;
  readonly drain: DrainTable;
  readonly sessions: SessionPool;
  readonly budget: ByteBudget;
  readonly bus: EventBus;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** A number in [0, 1). */
  readonly random: () => number;
};

/** What one attempt of one node works with. */
export type NodeContext = {
  readonly run: RunContext;
  /** The node's own connection to staging. */
  readonly connection: DuckDbConnection;
  readonly signal: AbortSignal;
  /** Counts from 1. */
  readonly attempt: number;
};

/** What an executor found out; with `failure` the node failed although nothing was thrown. */
export type NodeOutcome = {
  readonly rows: number;
  readonly timings?: Timings;
  /** Of a load that was read in parts. */
  readonly partitions?: NonNullable<NodeCompleted["partitions"]>;
  readonly stages?: NonNullable<NodeRecord["stages"]>;
  readonly failure?: NodeFailure;
};
