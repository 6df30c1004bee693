import type { SourceLoadNode } from "../../compile/mod.ts";
import { datasetSpec, type PlannedNode } from "../../plan/mod.ts";
import { ingestArrow } from "../../staging/mod.ts";
import type { RecordBatch } from "../../util/arrow.ts";
import { BatchChannel } from "../batch_channel.ts";
import { StepError } from "../failure.ts";
import type { NodeContext, NodeOutcome } from "../run_context.ts";
import { applyContract, refuseClashes, refuseMissing } from "./declared_columns.ts";
import { fairShare } from "./fair_share.ts";
import { planFailure } from "./partition_ids.ts";
import { readPartitions } from "./partitions.ts";
import { faultPoint } from "../../util/mod.ts";

const CHANNEL_BATCHES = 4;
const PROGRESS_EVERY_BATCHES = 10;
const DEFAULT_BATCH_BYTES = 32 * 1024 * 1024;

/**
 * Reads all partitions of a dataset through its connector's session into one staging table, with the columns that the
 * project declares. The first fault stops all readers, and it is that fault which is reported.
 */
export async function loadUniversal(
  context: NodeContext,
  node: SourceLoadNode,
  planned: PlannedNode,
): Promise<NodeOutcome> {
  const { run } = context;
  const session = run.sessions.get(node.connection);
  const spec = planned.dataset ?? datasetSpec(node);
  const monotonic = () => performance.now();
  const start = monotonic();
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  const schema = await session.getSchema(spec, signal);
  const names = schema.fields.map(({ name }) => name);
  refuseClashes(node, names);
  refuseMissing(node, spec, names);
  const partitions = planned.streamsPartitions === true && session.planReadStreaming !== undefined
    ? session.planReadStreaming(spec, signal)
    : await session.planRead(spec, signal).catch((error: unknown) => {
      throw planFailure(error);
    });
  const channel = new BatchChannel<RecordBatch>({
    capacity: CHANNEL_BATCHES,
    budget: run.budget,
    share: fairShare(run),
    signal,
    monotonic,
  });
  const faults: unknown[] = [];
  const reading = readPartitions({
    partitions,
    maxReaders: run.plan.limits.threads,
    read: (partition) =>
      session.read(spec, partition, { batchBytes: planned.batchBytes ?? DEFAULT_BATCH_BYTES, signal }),
    channel,
    fail: (error) => {
      faults.push(error);
      stop.abort(error);
    },
  });
  const ingestStart = monotonic();
  try {
    const { rows } = await ingestArrow(context.connection, node.relation, schema, channel, {
      signal,
      onProgress: ({ rows, bytes, batches }) => {
        if (batches % PROGRESS_EVERY_BATCHES !== 0) return;
        run.bus.publish({ event: "node_progress", nodeId: node.id, name: node.name, rows, bytes, batches });
      },
    });
    const read = await reading;
    faultPoint("rows_staged");
    await applyContract(context, node, spec, planned.typing);
    const producerStallMs = Math.round(channel.producerStallMs / Math.max(1, read.readers));
    const consumerStallMs = Math.round(channel.consumerStallMs);
    const busy = (from: number, to: number, stall: number) => Math.max(0, Math.round(to - from - stall));
    const { total, completed } = read;
    return {
      rows,
      ...(total > 1 ? { partitions: { total, completed, reused: 0, resumed: 0 } } : {}),
      timings: { producerStallMs, consumerStallMs },
      stages: {
        extractMs: busy(start, read.end, producerStallMs),
        ingestMs: busy(ingestStart, monotonic(), consumerStallMs),
      },
    };
  } catch (error) {
    // Whatever stops after this line stops because of it.
    const failure = faults.length === 0 ? new StepError("write", error) : planFailure(faults[0]);
    stop.abort(error);
    await reading;
    context.signal.throwIfAborted();
    throw error instanceof StepError ? error : failure;
  }
}
