import type { SourceLoadNode } from "../../compile/mod.ts";
import type { DatasetSpec, PartitionRef } from "../../connectors/mod.ts";
import type { PlannedNode } from "../../plan/mod.ts";
import { ingestArrow } from "../../staging/mod.ts";
import type { RecordBatch } from "../../util/arrow.ts";
import { BatchChannel } from "../batch_channel.ts";
import { StepError } from "../failure.ts";
import type { NodeContext, NodeOutcome, Session } from "../run_context.ts";

const CHANNEL_BATCHES = 4;
const PROGRESS_EVERY_BATCHES = 10;
const DEFAULT_BATCH_BYTES = 32 * 1024 * 1024;

/**
 * Reads all partitions of a dataset through its connector's session into one staging table. The first fault stops all
 * readers, and it is that fault which is reported.
 */
export async function loadUniversal(
  context: NodeContext,
  node: SourceLoadNode,
  planned: PlannedNode,
): Promise<NodeOutcome> {
  const { run } = context;
  const session = run.sessions.get(node.connection);
  const spec = datasetSpec(node);
  const start = performance.now();
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  const schema = await session.getSchema(spec, signal);
  const partitions = await session.planRead(spec, signal);
  const monotonic = () => performance.now();
  const channel = new BatchChannel<RecordBatch>({ capacity: CHANNEL_BATCHES, budget: run.budget, signal, monotonic });
  const readers = Math.max(1, Math.min(partitions.length, run.plan.limits.threads));
  const faults: { readonly error: unknown }[] = [];
  const reading = readAll({
    session,
    spec,
    partitions,
    readers,
    batchBytes: planned.batchBytes ?? DEFAULT_BATCH_BYTES,
    channel,
    signal,
    stop,
    faults,
  });
  const ingestStart = performance.now();
  try {
    const { rows } = await ingestArrow(context.connection, node.relation, schema, channel, {
      signal,
      onProgress: ({ rows, bytes, batches }) => {
        if (batches % PROGRESS_EVERY_BATCHES !== 0) return;
        run.bus.publish({ event: "node_progress", nodeId: node.id, name: node.name, rows, bytes, batches });
      },
    });
    const readEnd = await reading;
    const producerStallMs = Math.round(channel.producerStallMs / readers);
    const consumerStallMs = Math.round(channel.consumerStallMs);
    const busy = (from: number, to: number, stall: number) => Math.max(0, Math.round(to - from - stall));
    return {
      rows,
      timings: { producerStallMs, consumerStallMs },
      stages: {
        extractMs: busy(start, readEnd, producerStallMs),
        ingestMs: busy(ingestStart, performance.now(), consumerStallMs),
      },
    };
  } catch (error) {
    // Whatever stops after this line stops because of it.
    const fault = faults[0];
    stop.abort(error);
    await reading;
    context.signal.throwIfAborted();
    throw fault === undefined ? new StepError("write", error) : new StepError("read", fault.error);
  }
}

type Reading = {
  readonly session: Session;
  readonly spec: DatasetSpec;
  readonly partitions: readonly PartitionRef[];
  readonly readers: number;
  readonly batchBytes: number;
  readonly channel: BatchChannel<RecordBatch>;
  readonly signal: AbortSignal;
  readonly stop: AbortController;
  /** What readers failed with, first one first. */
  readonly faults: { readonly error: unknown }[];
};

/** Fills the channel from all partitions, a few at a time. Never throws. Returns when it ended. */
async function readAll(reading: Reading): Promise<number> {
  const { session, spec, partitions, batchBytes, channel, signal, stop, faults } = reading;
  const queue = [...partitions];
  const readSome = async () => {
    try {
      for (let partition = queue.shift(); partition !== undefined; partition = queue.shift()) {
        for await (const batch of session.read(spec, partition, { batchBytes, signal })) {
          if (!await channel.push(batch, batch.data.byteLength)) return;
        }
      }
    } catch (error) {
      faults.push({ error });
      stop.abort(error);
    }
  };
  await Promise.all(Array.from({ length: reading.readers }, readSome));
  channel.close(faults[0] ?? {});
  return performance.now();
}

function datasetSpec(node: SourceLoadNode): DatasetSpec {
  return {
    connection: node.connection.name,
    entity: node.entity,
    config: node.connection.config,
    options: node.read.options,
    ...(node.columns === undefined ? {} : { columns: node.columns }),
  };
}
