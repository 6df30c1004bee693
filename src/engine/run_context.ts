import type { PipelineNode } from "../compile/mod.ts";
import type { ConnectorSession } from "../connectors/mod.ts";
import type { DuckDbConnection } from "../duckdb/mod.ts";
import type { EventBus, Timings } from "../events/mod.ts";
import type { Plan, PlannedNode } from "../plan/mod.ts";
import type { Project } from "../project/mod.ts";
import type { Staging } from "../staging/mod.ts";
import type { NodeRecord } from "../state/mod.ts";
import type { RecordBatch } from "../util/arrow.ts";
import type { ByteBudget } from "./byte_budget.ts";
import type { NodeFailure } from "./failure.ts";
import type { SessionPool } from "./session_pool.ts";

/** What the engine uses of a connector's session. */
export type Session = Pick<ConnectorSession, "getSchema" | "planRead" | typeof Symbol.asyncDispose> & {
  read(...args: Parameters<ConnectorSession["read"]>): AsyncIterable<RecordBatch>;
};

/** What the engine uses of the staging database. */
export type StagingArea = Pick<Staging, "connect" | "setup" | typeof Symbol.asyncDispose>;

/** What all nodes of one run share. */
export type RunContext = {
  readonly project: Project;
  readonly runId: string;
  readonly plan: Plan;
  readonly planned: ReadonlyMap<string, PlannedNode>;
  /** The pipelines of the project by the name of their relation. */
  readonly pipelines: ReadonlyMap<string, PipelineNode>;
  readonly staging: StagingArea;
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
  readonly stages?: NonNullable<NodeRecord["stages"]>;
  readonly failure?: NodeFailure;
};
