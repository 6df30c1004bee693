import type { SourceLoadNode } from "../../compile/mod.ts";
import { ConnectorError, type DatasetSpec, type PartitionRef } from "../../connectors/mod.ts";
import { PzError } from "../../errors/mod.ts";
import { datasetSpec, type PlannedNode } from "../../plan/mod.ts";
import { LEDGER_SETUP, PartitionLedger, stagedColumns } from "../../staging/mod.ts";
import { StepError } from "../failure.ts";
import type { NodeContext, NodeOutcome, Requests } from "../run_context.ts";
import { countRows } from "../statements.ts";
import { applyContract, refuseClashes, refuseMissing } from "./declared_columns.ts";
import { LoadProgress } from "./load_progress.ts";
import { planFailure } from "./partition_ids.ts";
import { PartitionReader } from "./partition_reader.ts";
import { readPending } from "./pending_partitions.ts";

const DEFAULT_BATCH_BYTES = 32 * 1024 * 1024;
/** Longer plans are not kept: what names so many parts names them by what they are. */
const MAX_KEPT_PARTITIONS = 10_000;

/** One attempt at a load in partitions. */
type PartitionedLoad = {
  readonly context: NodeContext;
  readonly node: SourceLoadNode;
  readonly planned: PlannedNode;
  readonly spec: DatasetSpec;
  readonly ledger: PartitionLedger;
};

/**
 * Reads a dataset whose partitions keep their ids from one plan to the next into one staging table. Every partition is
 * a transaction of its own, with its account: a failure costs those that failed, and another attempt at the node, in
 * this run or in one that goes on with its staging, reads no other.
 */
export async function loadPartitions(
  context: NodeContext,
  node: SourceLoadNode,
  planned: PlannedNode,
): Promise<NodeOutcome> {
  const ledger = new PartitionLedger(node.id, node.relation);
  const load = { context, node, planned, spec: planned.dataset ?? datasetSpec(node), ledger };
  await context.run.staging.setup(LEDGER_SETUP);
  await ledger.look(context.connection);
  return await takeWhole(load) ?? await readRest(load);
}

/** The outcome of a load that an earlier attempt has read to its end; undefined: there is none that holds. */
async function takeWhole(load: PartitionedLoad): Promise<NodeOutcome | undefined> {
  const { context, node, ledger } = load;
  if (!ledger.isComplete) return undefined;
  try {
    await finish(load);
  } catch {
    // What does not fit may fit by now.
    context.signal.throwIfAborted();
    return undefined;
  }
  const total = ledger.done.size;
  return {
    rows: await countRows(context, node.relation),
    partitions: { total, completed: total, reused: total, resumed: 0 },
  };
}

async function readRest(load: PartitionedLoad): Promise<NodeOutcome> {
  const { context, node, planned, spec, ledger } = load;
  const { run, connection } = context;
  const start = performance.now();
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  const session = run.sessions.get(node.connection);
  const schema = await session.getSchema(spec, signal);
  const names = schema.fields.map(({ name }) => name);
  refuseClashes(node, names);
  refuseMissing(node, spec, names);
  await ledger.begin(connection, { columns: await stagedColumns(schema) });
  const partitions = await plan(load, session, signal);
  const readers = readersOf(load, partitions);
  const reader = new PartitionReader({
    run,
    session,
    spec,
    schema,
    ledger,
    relation: node.relation,
    batchBytes: planned.batchBytes ?? DEFAULT_BATCH_BYTES,
    readers,
    signal,
    onBatch: new LoadProgress(run.bus, node).onBatch,
    monotonic: () => performance.now(),
  });
  const readStart = performance.now();
  // The first reader works on the node's own connection.
  const connections = [connection];
  try {
    while (connections.length < readers) connections.push(await run.staging.connect());
    const { total, reused } = await readPending({
      partitions,
      isDone: (id) => ledger.done.has(id),
      readers,
      read: async (partition, index) => {
        const own = connections[index];
        if (own !== undefined) await reader.read(own, partition);
      },
      signal,
      stop: (error) => stop.abort(error),
    });
    const end = performance.now();
    await settle(load, { total, isPlanned: !(Symbol.asyncIterator in partitions) });
    await finish(load);
    const { resumed, stalls } = reader;
    const busy = (from: number, stall: number) => Math.max(0, Math.round(end - from - stall));
    return {
      rows: await countRows(context, node.relation),
      ...(total > 1 || reused + resumed > 0 ? { partitions: { total, completed: total, reused, resumed } } : {}),
      timings: stalls,
      stages: {
        extractMs: busy(start, stalls.producerStallMs),
        ingestMs: busy(readStart, stalls.consumerStallMs),
      },
    };
  } catch (error) {
    context.signal.throwIfAborted();
    throw error instanceof StepError || error instanceof PzError ? error : new StepError("write", error);
  } finally {
    stop.abort(new DOMException("The load has ended", "AbortError"));
    await Promise.all(connections.slice(1).map((own) => own.close()));
  }
}

/** The partitions to read; what was planned before is planned alike where the connector can. */
async function plan(
  { context, planned, spec, ledger }: PartitionedLoad,
  session: Requests,
  signal: AbortSignal,
): Promise<readonly PartitionRef[] | AsyncIterable<PartitionRef>> {
  if (planned.streamsPartitions === true && session.planReadStreaming !== undefined) {
    return session.planReadStreaming(spec, signal);
  }
  const prior = ledger.planned.map((id) => ({ id, isDone: ledger.done.has(id) }));
  let partitions: readonly PartitionRef[];
  try {
    partitions = await session.planRead(prior.length === 0 ? spec : { ...spec, priorPartitions: prior }, signal);
  } catch (error) {
    throw planFailure(error);
  }
  const ids = partitions.map(({ id }) => id);
  if (ids.length <= MAX_KEPT_PARTITIONS) await ledger.plan(context.connection, ids);
  return partitions;
}

function readersOf(
  { context, ledger }: PartitionedLoad,
  partitions: readonly PartitionRef[] | AsyncIterable<PartitionRef>,
): number {
  const most = context.run.plan.limits.threads;
  if (Symbol.asyncIterator in partitions) return most;
  return Math.max(1, Math.min(most, partitions.filter(({ id }) => !ledger.done.has(id)).length));
}

/** Makes sure that the table holds the partitions that there are now and no others. */
async function settle(
  { context: { connection }, ledger }: PartitionedLoad,
  { total, isPlanned }: { readonly total: number; readonly isPlanned: boolean },
): Promise<void> {
  if (!isPlanned || total > MAX_KEPT_PARTITIONS) await ledger.total(connection, total);
  await ledger.look(connection);
  if (ledger.isComplete) return;
  await ledger.reset(connection);
  throw new StepError(
    "read",
    new ConnectorError("Partitions that were read before are no part of the dataset any more", { transient: true }),
  );
}

/** Gives the table its declared columns; where that fails, all of it has to be read again. */
async function finish({ context, node, planned, spec, ledger }: PartitionedLoad): Promise<void> {
  try {
    await applyContract(context, node, spec, planned.typing);
  } catch (error) {
    if (!context.signal.aborted) await ledger.reset(context.connection);
    throw error;
  }
}
