import type { DagNode } from "../compile/mod.ts";
import type { Mask } from "../util/mod.ts";
import type { NodeControl, Verdict } from "./dispatcher.ts";
import { failureOf, type NodeFailure } from "./failure.ts";
import { runFused } from "./fused.ts";
import { ChainError } from "./fused_blame.ts";
import { chainNodes, type FusedChain } from "./fused_chain.ts";
import { isCancellation, type NodeEnd, type NodeEnds, sceneOf, timeoutFailure } from "./node_end.ts";
import { NodeTimeout, withNodeTimeout } from "./node_timeout.ts";
import type { NodeOutcome, RunContext } from "./run_context.ts";

/**
 * Runs a fused chain to its end, as one unit. Its source is told to have started; the others start, for whoever
 * watches, when all is over, so that here too a node starts only after what it needs has succeeded. Success is recorded
 * once the output stands under its name. What stands before a node that failed has succeeded, in that it would have
 * been staged; nothing of it is kept, so that a retry does the whole chain again. One time limit holds for the whole.
 * There is one attempt, since DuckDB's own reads and writes know no failure that passes by itself.
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
    const { now, project } = this.#run;
    const start = now();
    this.#start(chain.load);
    let end: ChainEnd;
    try {
      const work = (signal: AbortSignal) => this.#runOnce(chain, signal);
      end = { done: await withNodeTimeout(project.engine.nodeTimeoutMs, control.signal, work) };
    } catch (error) {
      end = this.#endOf(chain, control, error);
    }
    const durationMs = Math.max(0, now() - start);
    this.#ends.completeTogether(nodeEnds(chain, end, durationMs), ({ node, attempts }) => {
      if (node !== chain.load && attempts !== undefined) this.#start(node);
    });
    if (end.failed !== undefined) return "failed";
    return end.done.length > 0 ? "success" : "skipped";
  }

  /** Ends a chain that never ran. */
  skip(chain: FusedChain): void {
    this.#ends.completeTogether(chainNodes(chain).map((node) => ({ node, verdict: "skipped", durationMs: 0 })));
  }

  #start({ id, kind, name }: DagNode): void {
    this.#run.bus.publish({ event: "node_started", nodeId: id, kind, name });
  }

  #endOf(chain: FusedChain, control: NodeControl, error: unknown): ChainEnd {
    if (error instanceof NodeTimeout) {
      const failure = timeoutFailure(chain.load, error);
      if (error.unresponsive) {
        this.#stuck = true;
        control.stopAll(new DOMException(failure.message, "AbortError"));
      }
      return { done: [], failed: { node: chain.load, failure } };
    }
    const { node, cause, done, at } = error instanceof ChainError
      ? error
      : { node: chain.load, cause: error, done: [], at: undefined };
    if (control.signal.aborted && isCancellation(cause, control.signal)) return { done: [] };
    return { done, failed: { node, failure: failureOf(cause, sceneOf(node, this.#redact, at)) } };
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

type ChainEnd = {
  /** What the first nodes did with success: all of them, those before the one that failed, or none. */
  readonly done: readonly NodeOutcome[];
  readonly failed?: { readonly node: DagNode; readonly failure: NodeFailure };
};

/** The end of each node: what counts as the time of the whole is the source's, but for the publishing. */
function nodeEnds(chain: FusedChain, { done, failed }: ChainEnd, durationMs: number): readonly NodeEnd[] {
  const publishMs = done.at(-1)?.stages?.writeMs ?? 0;
  return chainNodes(chain).map((node, index) => {
    const spent = node === chain.load ? Math.max(0, durationMs - publishMs) : node === chain.write ? publishMs : 0;
    const outcome = done[index];
    if (outcome !== undefined) return { node, verdict: "success", outcome, attempts: 1, durationMs: spent };
    if (failed?.node === node) {
      return { node, verdict: "failed", failure: failed.failure, attempts: 1, durationMs: spent };
    }
    // Only the source of a chain that was stopped has begun.
    const begun = node === chain.load && done.length === 0;
    return { node, verdict: "skipped", durationMs: begun ? spent : 0, ...(begun ? { attempts: 1 } : {}) };
  });
}
