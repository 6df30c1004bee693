import type { DagNode } from "../compile/mod.ts";
import type { Tools, Trouble } from "./attempts.ts";
import type { NodeControl, Verdict } from "./dispatcher.ts";
import type { NodeFailure } from "./failure.ts";
import { runFused } from "./fused.ts";
import { ChainError } from "./fused_blame.ts";
import { chainHead, chainNodes, type FusedChain } from "./fused_chain.ts";
import type { NodeEnd } from "./node_end.ts";
import type { NodeOutcome } from "./run_context.ts";

/**
 * Runs a fused chain to its end, as one unit. Its first node is told to have started; the others start, for whoever
 * watches, when all is over, so that here too a node starts only after what it needs has succeeded. Success is recorded
 * once the output stands under its name, or the last pipeline's table is there. What stands before a node that failed
 * has succeeded, in that it would have been staged; nothing of it is kept, so that a retry does the whole chain again.
 * One time limit holds for the whole. There is one attempt, since DuckDB's own reads and writes know no failure that
 * passes by itself.
 *
 * Whatever happens each of its nodes ends with exactly one record and one event. Never throws.
 */
export async function executeChain(
  { run, ends, attempts }: Tools,
  chain: FusedChain,
  control: NodeControl,
): Promise<Verdict> {
  const startNode = ({ id, kind, name }: DagNode) => run.bus.publish({ event: "node_started", nodeId: id, kind, name });
  const start = run.now();
  const head = chainHead(chain);
  startNode(head);
  let end: ChainEnd;
  try {
    // The last node: a chain changes its connection, as pipelines alone don't.
    const whole = chain.source?.load ?? chain.sink?.write ?? head;
    end = { done: await attempts.run(whole, 1, control, (context) => runFused(context, chain)) };
  } catch (error) {
    const trouble = troubleOf(chain, error);
    const failure = attempts.judge(trouble, control);
    end = failure === undefined ? { done: [] } : { done: trouble.done, failed: { node: trouble.node, failure } };
  }
  const durationMs = Math.max(0, run.now() - start);
  ends.completeTogether(nodeEnds(chain, end, durationMs), (one) => {
    if (one.node !== head && one.attempts !== undefined) startNode(one.node);
  });
  if (end.failed !== undefined) return "failed";
  return end.done.length > 0 ? "success" : "skipped";
}

/** Ends a chain that never ran. */
export function skipChain({ ends }: Pick<Tools, "ends">, chain: FusedChain): void {
  ends.completeTogether(chainNodes(chain).map((node) => ({ node, verdict: "skipped", durationMs: 0 })));
}

type ChainTrouble = Trouble & { readonly done: readonly NodeOutcome[] };

/** At which node a chain stopped, and what those before it did. */
function troubleOf(chain: FusedChain, error: unknown): ChainTrouble {
  if (!(error instanceof ChainError)) return { node: chainHead(chain), error, done: [] };
  const { node, cause, done, at } = error;
  return { node, error: cause, done, at };
}

type ChainEnd = {
  /** What the first nodes did with success: all of them, those before the one that failed, or none. */
  readonly done: readonly NodeOutcome[];
  readonly failed?: { readonly node: DagNode; readonly failure: NodeFailure };
};

/** The end of each node: what counts as time of the whole is the first one's, but for the publishing. */
function nodeEnds(chain: FusedChain, { done, failed }: ChainEnd, durationMs: number): readonly NodeEnd[] {
  const head = chainHead(chain);
  const publishMs = chain.sink === undefined ? 0 : done.at(-1)?.stages?.writeMs ?? 0;
  return chainNodes(chain).map((node, index) => {
    const spent = node === head ? Math.max(0, durationMs - publishMs) : node === chain.sink?.write ? publishMs : 0;
    const outcome = done[index];
    if (outcome !== undefined) return { node, verdict: "success", outcome, attempts: 1, durationMs: spent };
    if (failed?.node === node) {
      return { node, verdict: "failed", failure: failed.failure, attempts: 1, durationMs: spent };
    }
    // Only the first node of a chain that was stopped has begun.
    const begun = node === head && done.length === 0;
    return { node, verdict: "skipped", durationMs: begun ? spent : 0, ...(begun ? { attempts: 1 } : {}) };
  });
}
