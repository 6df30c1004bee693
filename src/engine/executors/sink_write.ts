import type { SinkWriteNode } from "../../compile/mod.ts";
import type { NativeCopy } from "../../connectors/mod.ts";
import { PzError } from "../../errors/mod.ts";
import { StepError } from "../failure.ts";
import { guardMerge } from "../merge_guard.ts";
import { makeFolders, publish, removeLeftovers, syncTree } from "../publish.ts";
import { orderedRelation } from "../row_order.ts";
import type { NodeContext, NodeOutcome } from "../run_context.ts";
import { setUp } from "../setup.ts";
import { columnsOf, countRows, run } from "../statements.ts";

/**
 * Delivers one staged relation. Until the write is complete nothing stands under a final name, and a write that fails
 * leaves nothing behind.
 */
export async function runSinkWrite(context: NodeContext, node: SinkWriteNode): Promise<NodeOutcome> {
  const planned = context.run.planned.get(node.id);
  if (planned?.strategy !== "native_copy" || planned.copy === undefined) {
    throw new PzError("PZ0700", `Sink '${node.name}' can't be written by this build: no way to write it was planned`);
  }
  const copy = planned.copy({ run: context.run.runId, ordinal: context.attempt });
  const rows = await countRows(context, node.relation);
  await guardMerge(context, node);
  await setUp(context, node.connection, copy.setup);
  const start = context.run.now();
  const relation = await orderedRelation(context, node.relation);
  await copyAndPublish(context, copy, async () => {
    await run(context, copy.statement(relation, await columnsOf(context, relation)));
  });
  return { rows, stages: { writeMs: Math.max(0, context.run.now() - start) } };
}

/** Publishes what `execute` writes by the copy's statement; what fails leaves nothing behind. */
export async function copyAndPublish(
  context: NodeContext,
  copy: NativeCopy,
  execute: () => Promise<void>,
): Promise<void> {
  const made = makeFolders(copy.folders);
  try {
    await execute();
    for (const { from } of copy.moves) await syncTree(from);
    // Without moves the statement itself has published: then it is too late to stop.
    if (copy.moves.length > 0) context.signal.throwIfAborted();
  } catch (error) {
    removeLeftovers(copy.moves, made);
    throw error;
  }
  // From here on the write can't be stopped half-way: nothing awaits until every name is in its place.
  try {
    publish(copy.moves);
  } catch (error) {
    removeLeftovers(copy.moves, made);
    throw new StepError("commit", error);
  }
}
