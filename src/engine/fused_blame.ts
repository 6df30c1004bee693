import type { DagNode, PipelineNode } from "../compile/mod.ts";
import type { NativeScan } from "../connectors/mod.ts";
import { explain } from "./native_trouble.ts";
import { chainHead, chainNodes, type FusedChain } from "./fused_chain.ts";
import type { SqlPlace } from "./node_end.ts";
import type { NodeContext, NodeOutcome } from "./run_context.ts";
import { integer } from "./statements.ts";

/** Thrown when a fused chain stops because of one of its nodes. */
export class ChainError extends Error {
  override readonly name = "ChainError";
  readonly node: DagNode;
  /** What the nodes before it did, all of them with success. */
  readonly done: readonly NodeOutcome[];
  /** Where the position of the cause belongs. */
  readonly at: SqlPlace | undefined;

  constructor(node: DagNode, cause: unknown, done: readonly NodeOutcome[], at?: SqlPlace) {
    super(`The chain stopped at '${node.name}'`, { cause });
    this.node = node;
    this.done = done;
    this.at = at;
  }
}

/** A node whose part of a chain failed, where what comes before it may be the cause. */
export type Suspect = { readonly node: DagNode; readonly error: unknown; readonly at?: SqlPlace };

/**
 * Finds the node because of which a chain failed: the first, from the source on, that fails when all up to it is done
 * alone and its rows are thrown away; the suspect if none does. As everywhere, what a view's SQL does is done by who
 * reads the view. Costs what staging would have cost, and only on failure.
 *
 * @param scan what the statement reads; undefined: what is staged already, which does not fail
 * @throws the signal's reason when it is aborted meanwhile
 */
export async function blame(
  context: NodeContext,
  chain: FusedChain,
  scan: NativeScan | undefined,
  { node: suspect, error, at }: Suspect,
): Promise<ChainError> {
  const done: NodeOutcome[] = [];
  if (scan !== undefined) {
    try {
      done.push({ rows: await drain(context, `(SELECT * FROM ${scan.fragment})`) });
    } catch (error) {
      context.signal.throwIfAborted();
      return new ChainError(chainHead(chain), await explain(context, scan, error), done);
    }
  }
  for (const pipeline of chain.pipelines) {
    if (pipeline === suspect && at !== undefined) break;
    try {
      const rows = await drain(context, `(\n${pipeline.sql}\n)`);
      done.push({ rows: pipeline.materialization === "view" ? 0 : rows });
    } catch (error) {
      context.signal.throwIfAborted();
      const culprit = runnerOf(chain, pipeline);
      const skipped = chainNodes(chain).indexOf(culprit) - done.length;
      done.push(...Array.from({ length: skipped }, () => ({ rows: 0 })));
      return new ChainError(culprit, error, done, { pipeline, prefix: `${DRAIN}(\n` });
    }
  }
  return new ChainError(suspect, error, done, at);
}

/** The node that runs a pipeline's SQL: itself, or for a view the next one that is none. */
function runnerOf({ pipelines, sink }: FusedChain, pipeline: PipelineNode): DagNode {
  return pipelines.slice(pipelines.indexOf(pipeline)).find(({ materialization }) => materialization !== "view") ??
    sink?.write ?? pipeline;
}

/** The hash makes every value. */
const DRAIN = "SELECT count(*), bit_xor(hash(*COLUMNS(*))) FROM ";

/** Makes every value of a relation and keeps none; returns the number of rows. */
async function drain(context: NodeContext, relation: string): Promise<number> {
  return Number(await integer(context, DRAIN + relation));
}
