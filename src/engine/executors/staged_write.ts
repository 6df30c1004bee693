import type { SinkWriteNode } from "../../compile/mod.ts";
import { ConnectorError, type OutputSpec, type StagedCopy, type StoreHandle } from "../../connectors/mod.ts";
import type { StagedOutput } from "../../plan/mod.ts";
import { StepError } from "../failure.ts";
import { orderedRelation } from "../row_order.ts";
import type { NodeContext, NodeOutcome } from "../run_context.ts";
import { columnsOf, integer, run } from "../statements.ts";
import { exists, journalOf, openStagedFolder } from "./staged_folder.ts";
import { StagedGrowth } from "./staged_growth.ts";
import { sweep, sweepLeftovers } from "./staged_sweep.ts";
import { faultPoint } from "../../util/mod.ts";

const PROGRESS_EVERY_BYTES = 64 * 1024 * 1024;

/**
 * Has DuckDB write the files of an output on this machine, and the connector's process store them, at the same time. They
 * become visible when all of them are there; what fails before leaves nothing at the system. The files on this machine
 * are deleted in any case.
 */
export async function writeStaged(
  context: NodeContext,
  node: SinkWriteNode,
  { output, copy }: StagedOutput,
): Promise<NodeOutcome> {
  const relation = await orderedRelation(context, node.relation);
  const rows = Number(await integer(context, `SELECT count(*) FROM ${relation}`));
  await using folder = await openStagedFolder(context, node);
  const journal = await journalOf(context, node);
  await sweepLeftovers(context, node);
  context.run.writeBegins(node, context.attempt);
  faultPoint("write_begun");
  try {
    const store = await begin(context, node, output, { folder: folder.path, journal });
    const how = { store, copy: copy(folder.path), folder: folder.path };
    const { egressMs, sendMs } = await copyAndSend(context, node, relation, how);
    faultPoint("rows_written");
    return { rows, stages: { egressMs, writeMs: sendMs + await commit(store) } };
  } catch (error) {
    // Its process has died, or could not take it back: another one may.
    if (await exists(journal)) await sweep(context, node, [journal], new AbortController().signal);
    throw error;
  }
}

async function begin(
  { run, signal }: NodeContext,
  node: SinkWriteNode,
  output: OutputSpec,
  place: { readonly folder: string; readonly journal: string },
): Promise<StoreHandle> {
  try {
    const session = run.sessions.get(node.connection);
    if (session.storeFiles === undefined) throw new Error("the session can't store files");
    return await session.storeFiles(output, place, signal);
  } catch (error) {
    throw new StepError("write", signal.aborted ? signal.reason : error);
  }
}

/**
 * Fills the folder and tells the process what is there; returns how many milliseconds DuckDB took, and then the process to
 * send the rest.
 */
async function copyAndSend(
  context: NodeContext,
  node: SinkWriteNode,
  relation: string,
  { store, copy, folder }: { readonly store: StoreHandle; readonly copy: StagedCopy; readonly folder: string },
): Promise<{ readonly egressMs: number; readonly sendMs: number }> {
  const signal = AbortSignal.any([context.signal, store.broken]);
  const progress = (bytes: number, files: number) =>
    context.run.bus.publish({
      event: "node_progress",
      nodeId: node.id,
      name: node.name,
      rows: 0,
      bytes,
      batches: files,
    });
  let told = 0;
  const growth = new StagedGrowth(folder, copy.file, (file) => {
    store.grew(file);
    if (file.isWhole || file.bytes < told + PROGRESS_EVERY_BYTES) return;
    told = file.bytes;
    progress(told, 0);
  });
  const start = performance.now();
  try {
    const statement = copy.statement(relation, await columnsOf(context, relation));
    const { signal: copied, stop } = stopper();
    const watching = growth.watch(copied);
    try {
      await run({ ...context, signal }, statement);
    } finally {
      stop();
      await watching;
    }
    const copyEnd = performance.now();
    const { files, bytes } = await growth.finish();
    progress(bytes, files);
    await store.sent(signal);
    signal.throwIfAborted();
    return { egressMs: Math.round(copyEnd - start), sendMs: Math.round(performance.now() - copyEnd) };
  } catch (error) {
    await store.abort();
    const reason = context.signal.aborted ? context.signal.reason : store.broken.aborted ? store.broken.reason : error;
    throw new StepError("write", reason);
  }
}

/** Makes the files visible; returns how many milliseconds that took. */
async function commit(store: StoreHandle): Promise<number> {
  const start = performance.now();
  try {
    const committing = store.commit();
    faultPoint("committing");
    await committing;
    faultPoint("committed");
  } catch (error) {
    const said = error instanceof ConnectorError ? error.outcomeUnknown ?? "never tried" : true;
    // The names are the same the next time, so that a repetition replaces what is there.
    throw said === true
      ? new StepError("commit", error, { outcomeUnknown: true, repeatable: true })
      : new StepError("write", error);
  }
  return Math.round(performance.now() - start);
}

function stopper(): { readonly signal: AbortSignal; readonly stop: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, stop: () => controller.abort() };
}
