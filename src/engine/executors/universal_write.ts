import type { SinkWriteNode } from "../../compile/mod.ts";
import type { OutputSpec } from "../../connectors/mod.ts";
import { PzError } from "../../errors/mod.ts";
import { outputSpec, type PlannedNode } from "../../plan/mod.ts";
import { type Drain, wholeOrder } from "../../staging/mod.ts";
import type { RecordBatch, Schema } from "../../util/arrow.ts";
import { BatchChannel } from "../batch_channel.ts";
import { StepError } from "../failure.ts";
import { guardMerge } from "../merge_guard.ts";
import type { NodeContext, NodeOutcome } from "../run_context.ts";
import { attemptOf, refuseUnknown } from "./attempt_of.ts";
import { DeliveryAccount } from "./delivery_account.ts";
import { fairShare } from "./fair_share.ts";
import { WriteGroup } from "./write_group.ts";
import { openWriteInput, type WriteInput } from "./write_input.ts";
import { commitFailure, exposure, warnOfDifference, type Written } from "./write_outcome.ts";
import { faultPoint } from "../../util/mod.ts";

const CHANNEL_BATCHES = 2;
const PROGRESS_EVERY_BATCHES = 10;
const DEFAULT_BATCH_BYTES = 32 * 1024 * 1024;
/** Larger batches would be cut on their way to the connector. */
const TRAVEL_BYTES = 768 * 1024;

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
  const account = planned.resumable === true ? await DeliveryAccount.open(context, node, input) : undefined;
  // Where a write may go on, any order will do that is the same for the same rows.
  const orderBy = input.orderBy ??
    (account === undefined ? undefined : await wholeOrder(context.connection, input.table));
  const connection = await context.run.staging.connect();
  try {
    const { batchBytes = DEFAULT_BATCH_BYTES } = planned;
    const drainFrom = (offset: bigint) =>
      context.run.drain(connection, input.table, {
        batchBytes: Math.min(batchBytes, TRAVEL_BYTES),
        signal: context.signal,
        ...(orderBy === undefined ? {} : { orderBy }),
        ...(offset === 0n ? {} : { offset }),
      });
    const whole = await drainFrom(0n);
    const spec = outputFor(context, node, planned);
    const writers = orderBy === undefined ? planned.writers ?? 1 : 1;
    const group = await begin(context, node, { spec, writers, schema: whole.schema, account });
    const resumed = await resume(context, group, account);
    const drain = resumed === 0n ? whole : await drainFrom(resumed);
    const outcome = await deliver({ context, node, input, drain, group, resumed: Number(resumed), account });
    return { ...outcome, rows: outcome.rows - dropped };
  } finally {
    await connection.close();
  }
}

/** What the connector is asked to write. */
function outputFor(context: NodeContext, node: SinkWriteNode, planned: PlannedNode): OutputSpec {
  const of = attemptOf(context, node);
  return planned.output?.(of) ?? outputSpec(node, of);
}

type Beginning = {
  readonly spec: OutputSpec;
  readonly writers: number;
  readonly schema: Schema;
  readonly account: DeliveryAccount | undefined;
};

/** Begins the writes; rows that have an order go through one. */
async function begin(
  { run, signal, attempt }: NodeContext,
  node: SinkWriteNode,
  { spec, writers, schema, account }: Beginning,
): Promise<WriteGroup> {
  const session = run.sessions.get(node.connection);
  let group: WriteGroup;
  try {
    group = await WriteGroup.begin(
      writers,
      () => session.beginWrite(spec, schema, signal, account && ((rows) => account.acknowledge(rows))),
    );
  } catch (error) {
    throw new StepError("write", error);
  }
  if (account?.isTrusted !== true) await refuseUnknown(node, spec, group);
  try {
    run.writeBegins(node, attempt);
  } catch (error) {
    await group.abort();
    throw new StepError("write", error);
  }
  faultPoint("write_begun");
  return group;
}

/** After how many rows the write goes on. */
async function resume(context: NodeContext, group: WriteGroup, account: DeliveryAccount | undefined): Promise<bigint> {
  try {
    return await account?.resume(group) ?? 0n;
  } catch (error) {
    await group.abort();
    throw new StepError("write", context.signal.aborted ? context.signal.reason : error);
  }
}

type Delivering = Written & {
  readonly context: NodeContext;
  readonly input: WriteInput;
  readonly drain: Drain;
};

async function deliver(delivering: Delivering): Promise<NodeOutcome> {
  const { context, node, input, group, resumed, account } = delivering;
  let spent: Spent;
  try {
    spent = await pump(delivering);
    const due = input.rows - resumed;
    if (spent.rows !== due) {
      throw new PzError("PZ0501", `${spent.rows} of ${due} staged rows came out of staging; nothing was committed`);
    }
    context.signal.throwIfAborted();
    faultPoint("rows_written");
  } catch (error) {
    await group.abort();
    await account?.close(group);
    throw new StepError("write", context.signal.aborted ? context.signal.reason : error, exposure(delivering));
  }
  const commitStart = performance.now();
  let committed: bigint;
  try {
    const committing = group.commit(context.signal);
    faultPoint("committing");
    committed = await committing;
    faultPoint("committed");
  } catch (error) {
    await account?.close(group);
    if (isStop(error, context) && !group.hasCommitted) throw new StepError("write", error, exposure(delivering));
    throw commitFailure(error, delivering);
  }
  await account?.complete();
  warnOfDifference(context, node, { sent: input.rows, committed });
  const { timings, egressMs, writeMs } = spent;
  const commitMs = performance.now() - commitStart;
  const { abortSemantics } = group;
  return {
    rows: input.rows,
    timings,
    stages: { egressMs: Math.round(egressMs), writeMs: Math.round(writeMs + commitMs) },
    ...(resumed === 0 ? {} : { delivery: { abortSemantics, rowsVisible: input.rows, resumedRows: resumed } }),
  };
}

/** Whether the write was taken back before its commit began. */
function isStop(error: unknown, { signal }: NodeContext): boolean {
  return signal.aborted && error === signal.reason;
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
    faultPoint("batch_written");
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
