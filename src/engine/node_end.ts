import type { DagNode, PipelineNode, SinkWriteNode } from "../compile/mod.ts";
import { DuckDbError } from "../duckdb/mod.ts";
import { PzError } from "../errors/mod.ts";
import type { NodeCompleted, Provenance } from "../events/mod.ts";
import type { NodeRecord, RunRecorder } from "../state/mod.ts";
import type { Verdict } from "./dispatcher.ts";
import { pipelinePlace } from "./executors/pipeline.ts";
import { delivered, type FailureCause, type FailureScene, type NodeFailure, StepError } from "./failure.ts";
import { type NodeTimeout, STOP_GRACE_MS } from "./node_timeout.ts";
import type { NodeOutcome, RunContext } from "./run_context.ts";

/** How a node ended. */
export type NodeEnd = {
  readonly node: DagNode;
  readonly verdict: Verdict;
  /** Where the result comes from, when it is not of this run. */
  readonly provenance?: Provenance;
  readonly outcome?: NodeOutcome | undefined;
  readonly failure?: NodeFailure | undefined;
  /** Undefined: the node never ran. */
  readonly attempts?: number;
  readonly ops?: NodeCompleted["ops"] | undefined;
  readonly durationMs: number;
};

/** Gives nodes their ends, each exactly one: the record first, then the event. Counts them. */
export class NodeEnds {
  readonly #run: RunContext;
  readonly #recorder: RunRecorder;
  readonly #counts = { success: 0, failed: 0, skipped: 0 };

  constructor(run: RunContext, recorder: RunRecorder) {
    this.#run = run;
    this.#recorder = recorder;
  }

  /** How many nodes ended in each way. */
  get counts(): { readonly [V in Verdict]: number } {
    return this.#counts;
  }

  /** Notes that an attempt of an append is about to begin, which may land before it has an end. */
  begin(node: SinkWriteNode, attempt: number): void {
    if (node.write.strategy === "append") this.#recorder.begin(node, attempt);
  }

  /** Ends a node. */
  complete(end: NodeEnd): void {
    this.completeTogether([end]);
  }

  /** Ends nodes whose work was done as one: all are recorded before the first event; `before` is called ahead of each. */
  completeTogether(ends: readonly NodeEnd[], before: (end: NodeEnd) => void = () => {}): void {
    const durable = ends.some(({ node, verdict }) => node.kind === "SinkWrite" && verdict === "success");
    this.#recorder.complete(ends.map((end) => this.#recordOf(end)), { durable });
    for (const end of ends) {
      before(end);
      this.#counts[end.verdict]++;
      this.#run.bus.publish(eventOf(end));
    }
  }

  #recordOf({ node, verdict, provenance, outcome, failure, attempts, ops, durationMs }: NodeEnd): NodeRecord {
    const connected = connectionOf(node);
    const strategy = this.#run.planned.get(node.id)?.strategy;
    return {
      id: node.id,
      kind: node.kind,
      name: node.name,
      status: verdict,
      ...(provenance === undefined ? {} : { provenance }),
      rows: outcome?.rows ?? 0,
      durationMs,
      error: failure ?? null,
      ...(outcome?.timings === undefined ? {} : { timings: outcome.timings }),
      ...(ops === undefined ? {} : { ops }),
      ...(outcome?.partitions === undefined ? {} : { partitions: outcome.partitions }),
      ...(connected === undefined ? {} : { connector: connected.connector, connection: connected.name }),
      ...(attempts === undefined ? {} : { ...(strategy === undefined ? {} : { strategy }), attempts }),
      ...(outcome?.stages === undefined ? {} : { stages: outcome.stages }),
      ...deliveryOf(outcome, failure),
      ...(failure?.outcomeUnknown === true ? { outcomeUnknown: true } : {}),
    };
  }
}

function eventOf({ node, verdict, provenance, outcome, failure, ops, durationMs }: NodeEnd): NodeCompleted {
  return {
    event: "node_completed",
    nodeId: node.id,
    kind: node.kind,
    name: node.name,
    status: verdict,
    rows: outcome?.rows ?? 0,
    durationMs,
    errorCode: failure?.code ?? null,
    errorMessage: failure?.message ?? null,
    timings: outcome?.timings ?? null,
    ...(provenance === undefined ? {} : { provenance }),
    ...(ops === undefined ? {} : { ops }),
    ...(outcome?.partitions === undefined ? {} : { partitions: outcome.partitions }),
    ...deliveryOf(outcome, failure),
  };
}

function deliveryOf(
  outcome: NodeOutcome | undefined,
  failure: NodeFailure | undefined,
): Pick<NodeCompleted, "delivery"> {
  const delivery = failure?.delivery ?? outcome?.delivery;
  return delivery === undefined ? {} : { delivery };
}

const STEP_OF_KIND: { readonly [K in DagNode["kind"]]: FailureCause } = {
  SourceLoad: "read",
  Pipeline: "sql",
  Check: "sql",
  SinkWrite: "write",
};

/** The pipeline whose SQL a statement of DuckDB's holds, and what stands there before it. */
export type SqlPlace = { readonly pipeline: PipelineNode; readonly prefix: string };

/** What a node's failure is told about; `at` where a position in it belongs, unless into the node's own statement. */
export function sceneOf(node: DagNode, redact: FailureScene["redact"], at?: SqlPlace): FailureScene {
  const connected = connectionOf(node);
  return {
    step: STEP_OF_KIND[node.kind],
    connector: connected?.connector,
    connection: connected?.name,
    place: at === undefined ? placeOf(node) : (error) => pipelinePlace(at.pipeline, error, at.prefix),
    redact,
  };
}

/** Where a failure of DuckDB stands in the project's files, for nodes whose SQL comes from one. */
function placeOf(node: DagNode): FailureScene["place"] {
  if (node.kind === "Pipeline") return (error) => pipelinePlace(node, error);
  if (node.kind !== "Check") return undefined;
  const { file, line, column } = node.check.position;
  return () => `${file}:${line}:${column}`;
}

function connectionOf(node: DagNode) {
  return node.kind === "SourceLoad" || node.kind === "SinkWrite" ? node.connection : undefined;
}

/**
 * Whether an error that came after a stop was asked for only says so. DuckDB's own errors, coded ones and those of a
 * commit are real failures all the same.
 */
export function isCancellation(error: unknown, signal: AbortSignal): boolean {
  if (error === signal.reason) return true;
  if (error instanceof StepError) return error.step !== "commit" && isCancellation(error.cause, signal);
  if (error instanceof DuckDbError) return error.interrupted;
  return !(error instanceof PzError);
}

/** The failure of a node that ran longer than it may. */
export function timeoutFailure(node: DagNode, error: NodeTimeout): NodeFailure {
  const { limitMs, unresponsive } = error;
  const limit = `${Number((limitMs / 1000).toFixed(3))}s`;
  return unresponsive
    ? {
      code: "PZ0526",
      message: `Node '${node.name}' ran longer than engine.node_timeout (${limit}) and did not stop within ` +
        `${STOP_GRACE_MS / 1000}s; the rest of the run is stopped`,
      cause: "timeout",
    }
    : {
      code: "PZ0525",
      message: `Node '${node.name}' ran longer than engine.node_timeout (${limit}) and was stopped`,
      cause: "timeout",
      ...delivered(error),
    };
}
