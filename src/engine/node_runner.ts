import { setTimeout } from "node:timers/promises";
import type { DagNode } from "../compile/mod.ts";
import type { Mask } from "../util/mod.ts";
import type { NodeControl, Verdict } from "./dispatcher.ts";
import { runCheck } from "./executors/check.ts";
import { runPipeline } from "./executors/pipeline.ts";
import { runSinkWrite } from "./executors/sink_write.ts";
import { runSourceLoad } from "./executors/source_load.ts";
import { failureOf } from "./failure.ts";
import { isCancellation, type NodeEnd, type NodeEnds, sceneOf, timeoutFailure } from "./node_end.ts";
import { NodeTimeout, withNodeTimeout } from "./node_timeout.ts";
import { retryDelayMs, retryPolicy, transientError } from "./retry.ts";
import type { NodeContext, NodeOutcome, RunContext } from "./run_context.ts";

/** Runs one node to its end: events, limits, failure, record. */
export class NodeRunner {
  readonly #run: RunContext;
  readonly #ends: NodeEnds;
  readonly #redact: Mask;
  #stuck = false;

  constructor(options: { run: RunContext; ends: NodeEnds; redact: Mask }) {
    this.#run = options.run;
    this.#ends = options.ends;
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
    this.#ends.complete({ ...end, node, durationMs: Math.max(0, now() - start) });
    return end.verdict;
  }

  /** Ends a node that never ran. */
  skip(node: DagNode): void {
    this.#ends.complete({ node, verdict: "skipped", durationMs: 0 });
  }

  /** Tries until an attempt ends well, or its failure is not worth another one. */
  async #attempt(node: DagNode, control: NodeControl): Promise<AttemptEnd> {
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

  #endOf(node: DagNode, control: NodeControl, error: unknown): AttemptEnd {
    if (error instanceof NodeTimeout) {
      const failure = timeoutFailure(node, error);
      if (error.unresponsive) {
        this.#stuck = true;
        control.stopAll(new DOMException(failure.message, "AbortError"));
      }
      return { verdict: "failed", failure };
    }
    if (control.signal.aborted && isCancellation(error, control.signal)) return { verdict: "skipped" };
    return { verdict: "failed", failure: failureOf(error, sceneOf(node, this.#redact)) };
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
}

type AttemptEnd = Omit<NodeEnd, "node" | "durationMs">;

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
