import type { Mask } from "../util/mod.ts";
import { setTimeout } from "node:timers/promises";
import type { DagNode } from "../compile/mod.ts";
import { DuckDbError } from "../duckdb/mod.ts";
import { PzError } from "../errors/mod.ts";
import type { NodeCompleted } from "../events/mod.ts";
import type { NodeRecord, RunRecorder } from "../state/mod.ts";
import type { NodeControl, Verdict } from "./dispatcher.ts";
import { runCheck } from "./executors/check.ts";
import { pipelinePlace, runPipeline } from "./executors/pipeline.ts";
import { runSinkWrite } from "./executors/sink_write.ts";
import { runSourceLoad } from "./executors/source_load.ts";
import { type FailureCause, failureOf, type FailureScene, type NodeFailure, StepError } from "./failure.ts";
import { NodeTimeout, STOP_GRACE_MS, withNodeTimeout } from "./node_timeout.ts";
import { retryDelayMs, retryPolicy, transientError } from "./retry.ts";
import type { NodeContext, NodeOutcome, RunContext } from "./run_context.ts";

/** Runs one node to its end: events, limits, failure, record. */
export class NodeRunner {
  readonly #run: RunContext;
  readonly #recorder: RunRecorder;
  readonly #redact: Mask;
  #stuck = false;

  constructor(options: { run: RunContext; recorder: RunRecorder; redact: Mask }) {
    this.#run = options.run;
    this.#recorder = options.recorder;
    this.#redact = options.redact;
  }

  /** Whether a node was left to itself because it did not stop when told to. */
  get stuck(): boolean {
    return this.#stuck;
  }

  /** Runs a node; whatever happens it ends with exactly one record and one event. Never throws. */
  async execute(node: DagNode, control: NodeControl): Promise<Verdict> {
    const { bus, now } = this.#run;
    const start = now();
    bus.publish({ event: "node_started", nodeId: node.id, kind: node.kind, name: node.name });
    const end = await this.#attempt(node, control);
    this.#complete(node, end, Math.max(0, now() - start));
    return end.verdict;
  }

  /** Ends a node that never ran. */
  skip(node: DagNode): void {
    this.#complete(node, { verdict: "skipped" }, 0);
  }

  /** Tries until an attempt ends well, or its failure is not worth another one. */
  async #attempt(node: DagNode, control: NodeControl): Promise<NodeEnd> {
    const limitMs = this.#run.project.engine.nodeTimeoutMs;
    const policy = retryPolicy(node);
    for (let attempts = 1;; attempts++) {
      try {
        const outcome = await withNodeTimeout(
          limitMs,
          control.signal,
          (signal) => this.#runOnce(node, signal, attempts),
        );
        const { failure } = outcome;
        return { verdict: failure === undefined ? "success" : "failed", outcome, failure, attempts };
      } catch (error) {
        const transient = attempts < policy.maxAttempts && !control.signal.aborted ? transientError(error) : undefined;
        if (transient === undefined) return { ...this.#endOf(node, control, error), attempts };
        const delayMs = retryDelayMs(policy, attempts, transient.retryAfterMs, this.#run.random());
        this.#run.bus.publish({
          event: "retry_scheduled",
          nodeId: node.id,
          name: node.name,
          attempt: attempts + 1,
          maxAttempts: policy.maxAttempts,
          delayMs,
          reason: this.#redact(transient.message.split("\n")[0] ?? ""),
        });
        try {
          await setTimeout(delayMs, undefined, { signal: control.signal });
        } catch {
          return { verdict: "skipped", attempts };
        }
      }
    }
  }

  #endOf(node: DagNode, control: NodeControl, error: unknown): NodeEnd {
    if (error instanceof NodeTimeout) {
      const failure = timeoutFailure(node, error);
      if (error.unresponsive) {
        this.#stuck = true;
        control.stopAll(new DOMException(failure.message, "AbortError"));
      }
      return { verdict: "failed", failure };
    }
    if (control.signal.aborted && isCancellation(error, control.signal)) return { verdict: "skipped" };
    return { verdict: "failed", failure: failureOf(error, this.#sceneOf(node)) };
  }

  async #runOnce(node: DagNode, signal: AbortSignal, attempt: number): Promise<NodeOutcome> {
    signal.throwIfAborted();
    const connection = await this.#run.staging.connect();
    try {
      return await runByKind({ run: this.#run, connection, signal, attempt }, node);
    } finally {
      await connection.close();
    }
  }

  #complete(node: DagNode, { verdict, outcome, failure, attempts }: NodeEnd, durationMs: number): void {
    const rows = outcome?.rows ?? 0;
    const connected = node.kind === "SourceLoad" || node.kind === "SinkWrite" ? node.connection : undefined;
    const strategy = this.#run.planned.get(node.id)?.strategy;
    const record: NodeRecord = {
      id: node.id,
      kind: node.kind,
      name: node.name,
      status: verdict,
      rows,
      durationMs,
      error: failure ?? null,
      ...(outcome?.timings === undefined ? {} : { timings: outcome.timings }),
      ...(connected === undefined ? {} : { connector: connected.connector, connection: connected.name }),
      ...(attempts === undefined ? {} : { ...(strategy === undefined ? {} : { strategy }), attempts }),
      ...(outcome?.stages === undefined ? {} : { stages: outcome.stages }),
    };
    this.#recorder.complete(record, { durable: node.kind === "SinkWrite" && verdict === "success" });
    const event: NodeCompleted = {
      event: "node_completed",
      nodeId: node.id,
      kind: node.kind,
      name: node.name,
      status: verdict,
      rows,
      durationMs,
      errorCode: failure?.code ?? null,
      errorMessage: failure?.message ?? null,
      timings: outcome?.timings ?? null,
    };
    this.#run.bus.publish(event);
  }

  #sceneOf(node: DagNode): FailureScene {
    const connected = node.kind === "SourceLoad" || node.kind === "SinkWrite" ? node.connection : undefined;
    return {
      step: STEP_OF_KIND[node.kind],
      connector: connected?.connector,
      connection: connected?.name,
      place: placeOf(node),
      redact: this.#redact,
    };
  }
}

type NodeEnd = {
  readonly verdict: Verdict;
  readonly outcome?: NodeOutcome;
  readonly failure?: NodeFailure | undefined;
  /** Undefined: the node never ran. */
  readonly attempts?: number;
};

const STEP_OF_KIND: { readonly [K in DagNode["kind"]]: FailureCause } = {
  SourceLoad: "read",
  Pipeline: "sql",
  Check: "sql",
  SinkWrite: "write",
};

/** Where a failure of DuckDB stands in the project's files, for nodes whose SQL comes from one. */
function placeOf(node: DagNode): FailureScene["place"] {
  if (node.kind === "Pipeline") return (error) => pipelinePlace(node, error);
  if (node.kind !== "Check") return undefined;
  const { file, line, column } = node.check.position;
  return () => `${file}:${line}:${column}`;
}

async function runByKind(context: NodeContext, node: DagNode): Promise<NodeOutcome> {
  switch (node.kind) {
    case "SourceLoad":
      return await runSourceLoad(context, node);
    case "Pipeline":
      return await runPipeline(context, node);
    case "Check":
      return await runCheck(context, node);
    case "SinkWrite":
      return await runSinkWrite(context, node);
  }
}

/**
 * Whether an error that came after a stop was asked for only says so. DuckDB's own errors, coded ones and those of a
 * commit are real failures all the same.
 */
function isCancellation(error: unknown, signal: AbortSignal): boolean {
  if (error === signal.reason) return true;
  if (error instanceof StepError) return error.step !== "commit" && isCancellation(error.cause, signal);
  if (error instanceof DuckDbError) return error.interrupted;
  return !(error instanceof PzError);
}

function timeoutFailure(node: DagNode, { limitMs, unresponsive }: NodeTimeout): NodeFailure {
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
    };
}
