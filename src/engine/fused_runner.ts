import type { DagNode } from "../compile/mod.ts";
import type { Mask } from "../util/mod.ts";
import type { NodeControl, Verdict } from "./dispatcher.ts";
import { failureOf, type NodeFailure } from "./failure.ts";
import { runFused } from "./fused.ts";
import { ChainError } from "./fused_blame.ts";
import { chainNodes, type FusedChain } from "./fused_chain.ts";
import { isCancellation, type NodeEnds, sceneOf, timeoutFailure } from "./node_end.ts";
import { NodeTimeout, withNodeTimeout } from "./node_timeout.ts";
import type { NodeOutcome, RunContext } from "./run_context.ts";

/**
 * Runs a fused chain to its end, as one unit: its nodes start together and end together, all with success once the
 * output stands under its name; else one has failed and the others count as not done. One time limit holds for the
 * whole. There is one attempt, since DuckDB's own reads and writes know no failure that passes by itself.
 */
export class FusedRunner {
  readonly #run: RunContext;
  readonly #ends: NodeEnds;
  readonly #redact: Mask;
  #stuck = false;

  constructor(options: { run: RunContext; ends: NodeEnds; redact: Mask }) {
    this.#run = options.run;
    this.#ends = options.ends;
    this.#redact = options.redact;
  }

  /** Whether a chain was left to itself because it did not stop when told to. */
  get stuck(): boolean {
    return this.#stuck;
  }

  /** Runs a chain; whatever happens each of its nodes ends with exactly one record and one event. Never throws. */
  async execute(chain: FusedChain, control: NodeControl): Promise<Verdict> {
    const { bus, now, project } = this.#run;
    const nodes = chainNodes(chain);
    const start = now();
    for (const node of nodes) bus.publish({ event: "node_started", nodeId: node.id, kind: node.kind, name: node.name });
    let end: ChainEnd;
    try {
      const { nodeTimeoutMs } = project.engine;
      const outcomes = await withNodeTimeout(
        nodeTimeoutMs,
        control.signal,
        (signal) => this.#runOnce(chain, signal),
      );
      end = { verdict: "success", outcomes };
    } catch (error) {
      end = this.#endOf(chain, control, error);
    }
    const durationMs = Math.max(0, now() - start);
    this.#ends.complete(...nodes.map((node, index) => {
      const shared = { node, attempts: 1, durationMs };
      if (end.verdict === "success") return { ...shared, verdict: end.verdict, outcome: end.outcomes[index] };
      return end.verdict === "failed" && end.culprit === node
        ? { ...shared, verdict: end.verdict, failure: end.failure }
        : { ...shared, verdict: "skipped" as const };
    }));
    return end.verdict;
  }

  /** Ends a chain that never ran. */
  skip(chain: FusedChain): void {
    this.#ends.complete(...chainNodes(chain).map((node) => ({ node, verdict: "skipped" as const, durationMs: 0 })));
  }

  #endOf(chain: FusedChain, control: NodeControl, error: unknown): ChainEnd {
    const culprit = error instanceof ChainError ? error.node : chain.write;
    if (error instanceof NodeTimeout) {
      const failure = timeoutFailure(culprit, error);
      if (error.unresponsive) {
        this.#stuck = true;
        control.stopAll(new DOMException(failure.message, "AbortError"));
      }
      return { verdict: "failed", culprit, failure };
    }
    const cause = error instanceof ChainError ? error.cause : error;
    if (control.signal.aborted && isCancellation(cause, control.signal)) return { verdict: "skipped" };
    const prefix = error instanceof ChainError ? error.prefix : undefined;
    return { verdict: "failed", culprit, failure: failureOf(cause, sceneOf(culprit, this.#redact, prefix)) };
  }

  async #runOnce(chain: FusedChain, signal: AbortSignal): Promise<readonly NodeOutcome[]> {
    signal.throwIfAborted();
    const connection = await this.#run.staging.connect();
    try {
      return await runFused({ run: this.#run, connection, signal, attempt: 1 }, chain);
    } finally {
      await connection.close();
    }
  }
}

type ChainEnd =
  | { readonly verdict: "success"; readonly outcomes: readonly NodeOutcome[] }
  | { readonly verdict: "failed"; readonly culprit: DagNode; readonly failure: NodeFailure }
  | { readonly verdict: "skipped" };
