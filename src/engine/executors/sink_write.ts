import type { SinkWriteNode } from "../../compile/mod.ts";
import type { NativeCopy } from "../../connectors/mod.ts";
import { PzError } from "../../errors/mod.ts";
import { StepError } from "../failure.ts";
import { guardMerge } from "../merge_guard.ts";
import { survivors } from "../merge_order.ts";
import { makeFolders, publish, removeLeftovers, syncTree } from "../publish.ts";
import { orderedRelation } from "../row_order.ts";
import type { NodeContext, NodeOutcome } from "../run_context.ts";
import { setUp } from "../setup.ts";
import { columnsOf, integer, run } from "../statements.ts";
import { attemptOf, refuseForeign } from "./attempt_of.ts";
import { writeStaged } from "./staged_write.ts";
import { writeUniversal } from "./universal_write.ts";
import { faultPoint } from "../../util/mod.ts";

/**
 * Delivers one staged relation. Until the write is complete nothing stands under a final name, and a write that fails
 * leaves nothing behind.
 */
export async function runSinkWrite(context: NodeContext, node: SinkWriteNode): Promise<NodeOutcome> {
  refuseForeign(context, node);
  const planned = context.run.planned.get(node.id);
  if (planned?.strategy === "arrow_stream") return await writeUniversal(context, node, planned);
  if (planned?.strategy === "staged_copy" && planned.stagedOutput !== undefined) {
    return await writeStaged(context, node, planned.stagedOutput(attemptOf(context, node)));
  }
  if (planned?.strategy === "native_copy" && planned.copy !== undefined) {
    return await writeNative(context, node, planned.copy(attemptOf(context, node)));
  }
  throw new PzError("PZ0700", `Sink '${node.name}' can't be written by this build: no way to write it was planned`);
}

async function writeNative(context: NodeContext, node: SinkWriteNode, copy: NativeCopy): Promise<NodeOutcome> {
  const dropped = await guardMerge(context, node);
  const relation = survivors(node, await orderedRelation(context, node.relation));
  const rows = Number(await integer(context, `SELECT count(*) FROM ${relation}`));
  const start = context.run.now();
  context.run.writeBegins(node, context.attempt);
  await copyAndPublish(context, copy, async () => {
    // Once the folders are there: a database that is attached may be made in one of them.
    await setUp(context, node.connection, copy.setup);
    await run(context, copy.statement(relation, await columnsOf(context, relation)));
  });
  return { rows: rows - dropped, stages: { writeMs: Math.max(0, context.run.now() - start) } };
}

/** Publishes what `execute` writes by the copy's statement; what fails leaves nothing behind. */
export async function copyAndPublish(
  context: NodeContext,
  copy: NativeCopy,
  execute: () => Promise<void>,
): Promise<void> {
  const made = makeFolders(copy.folders);
  try {
    faultPoint("write_begun");
    await execute();
    faultPoint("copy_written");
    for (const { from } of copy.moves) await syncTree(from);
    // Without moves the statement itself has published: then it is too late to stop.
    if (copy.moves.length > 0) context.signal.throwIfAborted();
    faultPoint("copy_flushed");
  } catch (error) {
    removeLeftovers(copy.moves, made);
    throw error;
  }
  // From here on the write can't be stopped half-way: nothing awaits until every name is in its place.
  try {
    publish(copy.moves);
    faultPoint("committed");
  } catch (error) {
    removeLeftovers(copy.moves, made);
    throw new StepError("commit", error);
  }
}
