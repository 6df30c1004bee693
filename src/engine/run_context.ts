import type { PipelineNode, SinkWriteNode } from "../compile/mod.ts";
import type {
  ConnectorSession,
  DatasetSpec,
  FetchedFile,
  OperationGate,
  PartitionRef,
  ReadStream,
  StoreHandle,
  WriteHandle,
} from "../connectors/mod.ts";
import type { DuckDbConnection } from "../duckdb/mod.ts";
import type { EventBus, NodeCompleted, Timings } from "../events/mod.ts";
import type { Plan, PlannedNode } from "../plan/mod.ts";
import type { Connection, Project } from "../project/mod.ts";
import type { Drain, DrainOptions, Staging } from "../staging/mod.ts";
import type { NodeRecord, Try } from "../state/mod.ts";
import type { RecordBatch } from "../util/arrow.ts";
import type { ByteBudget } from "./byte_budget.ts";
import type { Delivery, NodeFailure } from "./failure.ts";
import type { Pause } from "./pause.ts";

/** What a node uses of a connector's session. */
export type Requests = Pick<ConnectorSession, "getSchema" | "planRead"> & {
  read(
    ...args: Parameters<ConnectorSession["read"]>
  ): AsyncIterable<RecordBatch> & Partial<Pick<ReadStream, "resumed" | "checkpointAfter">>;
  /** The partitions as the connector names them; the reading of some may go on meanwhile. */
  planReadStreaming?(spec: DatasetSpec, signal: AbortSignal): AsyncIterable<PartitionRef>;
  beginWrite(...args: Parameters<ConnectorSession["beginWrite"]>): Promise<WriteHandle>;
  /** Absent: the connector moves no files. */
  fetchFiles?(...args: Parameters<ConnectorSession["fetchFiles"]>): AsyncIterable<FetchedFile>;
  storeFiles?(...args: Parameters<ConnectorSession["storeFiles"]>): Promise<StoreHandle>;
  sweepStores?(journals: readonly string[], signal: AbortSignal): Promise<void>;
  /** The same session, for a node whose operations pass a gate. Absent: none of them asks. */
  through?(gate: OperationGate): Requests;
};

/** What the engine uses of a connector's session. */
export type Session = Requests & Pick<ConnectorSession, typeof Symbol.asyncDispose>;

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
  readonly sessions: { get(connection: Connection): Requests };
  readonly budget: ByteBudget;
  readonly bus: EventBus;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Tries of an output by earlier runs of which nobody knows the end, oldest first. */
  readonly triesBefore: (node: SinkWriteNode) => readonly Try[];
  /** To be told before an attempt of an output changes anything at its target. */
  readonly writeBegins: (node: SinkWriteNode, attempt: number) => void;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly pause: Pause;
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
  /** Of a write that went on where an earlier attempt had come to. */
  readonly delivery?: Delivery;
  readonly failure?: NodeFailure;
};
