import type { SinkWriteNode } from "../../compile/mod.ts";
import { ConnectorError, type OutputSpec } from "../../connectors/mod.ts";
import { PzError } from "../../errors/mod.ts";
import { outputSpec, type PlannedNode } from "../../plan/mod.ts";
import type { Drain } from "../../staging/mod.ts";
import type { RecordBatch } from "../../util/arrow.ts";
import { BatchChannel } from "../batch_channel.ts";
import { type Delivery, StepError } from "../failure.ts";
import { guardMerge } from "../merge_guard.ts";
import type { NodeContext, NodeOutcome } from "../run_context.ts";
import { fairShare } from "./fair_share.ts";
import { WriteGroup } from "./write_group.ts";
import { openWriteInput, type WriteInput } from "./write_input.ts";

const CHANNEL_BATCHES = 2;
const PROGRESS_EVERY_BATCHES = 10;
const DEFAULT_BATCH_BYTES = 32 * 1024 * 1024;

/**
 * Delivers one staged relation through its connector's session. What fails before the commit is aborted and told as it
 * failed; once a commit was tried nothing is aborted any more.
 */
export async function writeUniversal(
  context: NodeContext,
  node: SinkWriteNode,
  planned: PlannedNode,
): Promise<NodeOutcome> {
  const dropped = await guardMerge(context, node);
  await using input = await openWriteInput(context, node);
  const connection = await context.run.staging.connect();
  try {
    const { batchBytes = DEFAULT_BATCH_BYTES } = planned;
    const drain = await context.run.drain(connection, input.table, {
      batchBytes,
      signal: context.signal,
      ...(input.orderBy === undefined ? {} : { orderBy: input.orderBy }),
    });
    const spec = outputFor(context, node, planned);
    const group = await begin(context, node, spec, input.orderBy === undefined ? planned.writers ?? 1 : 1, drain);
    const outcome = await deliver({ context, node, input, drain, group });
    return { ...outcome, rows: outcome.rows - dropped };
  } finally {
    await connection.close();
  }
}

/** What the connector is asked to write. */
function outputFor({ run: { runId }, attempt }: NodeContext, node: SinkWriteNode, planned: PlannedNode): OutputSpec {
  const of = { run: runId, ordinal: attempt };
  return planned.output?.(of) ?? outputSpec(node, of);
}

/** Begins the writes; rows that have an order go through one. */
async function begin(
  { run: { sessions }, signal }: NodeContext,
  node: SinkWriteNode,
  spec: OutputSpec,
  writers: number,
  drain: Drain,
): Promise<WriteGroup> {
  const session = sessions.get(node.connection);
  try {
    return await WriteGroup.begin(writers, () => session.beginWrite(spec, drain.schema, signal));
  } catch (error) {
    throw new StepError("write", error);
  }
}

type Delivering = {
  readonly context: NodeContext;
  readonly node: SinkWriteNode;
  readonly input: WriteInput;
  readonly drain: Drain;
  readonly group: WriteGroup;
};

async function deliver(delivering: Delivering): Promise<NodeOutcome> {
  const { context, node, input, group } = delivering;
  let spent: Spent;
  try {
    spent = await pump(delivering);
    if (spent.rows !== input.rows) {
      throw new PzError(
        "PZ0501",
        `${spent.rows} of ${input.rows} staged rows came out of staging; nothing was committed`,
      );
    }
    context.signal.throwIfAborted();
  } catch (error) {
    await group.abort();
    throw new StepError("write", context.signal.aborted ? context.signal.reason : error, exposure(group));
  }
  const commitStart = performance.now();
  let committed: bigint;
  try {
    committed = await group.commit();
  } catch (error) {
    throw commitFailure(error, node, group);
  }
  warnOfDifference(context, node, { sent: input.rows, committed });
  const { rows, timings, egressMs, writeMs } = spent;
  const commitMs = performance.now() - commitStart;
  return { rows, timings, stages: { egressMs: Math.round(egressMs), writeMs: Math.round(writeMs + commitMs) } };
}

/** A merge may count otherwise; else what was sent and what was committed are the same, or somebody should look. */
function warnOfDifference({ run }: NodeContext, { name, connection, write }: SinkWriteNode, { sent, committed }: {
  readonly sent: number;
  readonly committed: bigint;
}): void {
  if (write.strategy === "merge" || committed === BigInt(sent)) return;
  const message = `'${name}' got ${sent} row(s), and its connector says that it committed ${committed}`;
  run.bus.publish({ event: "connector_log", level: "warn", connection: connection.name, message });
}

/**
 * A connector says of a commit that failed whether it may have taken place; else a write failed, which came to light
 * late. Either way a part may be there when another write of the group has committed before.
 */
function commitFailure(error: unknown, { write }: SinkWriteNode, group: WriteGroup): StepError {
  const said = error instanceof ConnectorError ? error.outcomeUnknown ?? "never tried" : true;
  if (said === "never tried" && !group.hasCommitted) return new StepError("write", error, exposure(group));
  const outcomeUnknown = said === true || group.hasCommitted;
  const repeatable = !outcomeUnknown || write.strategy !== "append" || group.provesAttempt;
  return new StepError("commit", error, { outcomeUnknown, repeatable, ...exposure(group) });
}

/** What a failed write may have left behind, where its target can't take everything back. */
function exposure({ abortSemantics, rowsSent }: WriteGroup): { readonly delivery?: Delivery } {
  if (abortSemantics === "discards_all") return {};
  return { delivery: { abortSemantics, rowsVisible: rowsSent, resumedRows: 0 } };
}

type Spent = {
  readonly rows: number;
  /** How long the sink waited for staging, and staging for the sink. */
  readonly timings: NonNullable<NodeOutcome["timings"]>;
  /** Milliseconds that each side worked. */
  readonly egressMs: number;
  readonly writeMs: number;
};

/** Moves all rows from staging to the writes; both sides work at the same time. The first fault of either stops both. */
async function pump({ context, node, drain, group }: Delivering): Promise<Spent> {
  const { run } = context;
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  const monotonic = () => performance.now();
  const channel = new BatchChannel<RecordBatch>({
    capacity: CHANNEL_BATCHES,
    budget: run.budget,
    share: fairShare(run),
    signal,
    monotonic,
  });
  const faults: unknown[] = [];
  const fail = (error: unknown) => {
    faults.push(error);
    stop.abort(error);
  };
  const start = monotonic();
  const draining = drainInto(channel, drain, fail);
  const progress = { rows: 0, bytes: 0, batches: 0 };
  const onWritten = (batch: RecordBatch) => {
    progress.rows += batch.numRows;
    progress.bytes += batch.data.byteLength;
    if (++progress.batches % PROGRESS_EVERY_BATCHES !== 0) return;
    run.bus.publish({ event: "node_progress", nodeId: node.id, name: node.name, ...progress });
  };
  await group.writeAll(channel, { signal, fail, onWritten });
  const drained = await draining;
  // Whatever stopped after the first fault stopped because of it.
  if (faults.length > 0) throw faults[0];
  // Of several writes, what each did on average.
  const waiting = channel.consumerStallMs / group.size;
  const writing = group.writingMs / group.size;
  return {
    rows: drained.rows,
    timings: { producerStallMs: Math.round(waiting), consumerStallMs: Math.round(writing) },
    egressMs: Math.max(0, drained.end - start - channel.producerStallMs),
    writeMs: writing,
  };
}

/** Fills the channel with the rows of staging. Never throws. */
async function drainInto(
  channel: BatchChannel<RecordBatch>,
  drain: Drain,
  fail: (error: unknown) => void,
): Promise<{ readonly rows: number; readonly end: number }> {
  let rows = 0;
  try {
    for await (const batch of drain.batches) {
      if (!await channel.push(batch, batch.data.byteLength)) break;
      rows += batch.numRows;
    }
    channel.close();
  } catch (error) {
    fail(error);
    channel.close({ error });
  }
  return { rows, end: performance.now() };
}
