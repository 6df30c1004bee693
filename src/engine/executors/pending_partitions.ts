import { ConnectorError, type PartitionRef } from "../../connectors/mod.ts";
import { StepError } from "../failure.ts";
import { planFailure } from "./partition_ids.ts";

/** Thrown for what failed at the source of one partition, which says nothing of the others. */
export class ReadFault extends Error {
  override readonly name = "ReadFault";

  constructor(cause: unknown) {
    super("A partition could not be read", { cause });
  }
}

export type Pending = {
  /** All of them, or each as it is found. */
  readonly partitions: readonly PartitionRef[] | AsyncIterable<PartitionRef>;
  readonly isDone: (id: string) => boolean;
  readonly readers: number;
  /**
   * Reads one partition to its end; each reader reads one at a time.
   *
   * @throws {ReadFault} for what failed at the source; anything else stops all
   */
  readonly read: (partition: PartitionRef, reader: number) => Promise<void>;
  readonly signal: AbortSignal;
  /** Stops what is being read. */
  readonly stop: (error: unknown) => void;
};

export type PendingRead = {
  readonly total: number;
  /** How many were done before. */
  readonly reused: number;
};

/**
 * Reads the partitions that are not done, a few at a time. What fails at the source of one leaves the others alone, but
 * where one after the other fails no more are begun.
 *
 * @throws {StepError} of the step `read` for partitions that failed, after all others have been read
 */
export async function readPending(pending: Pending): Promise<PendingRead> {
  const { partitions, signal, stop } = pending;
  const source = Symbol.asyncIterator in partitions ? partitions[Symbol.asyncIterator]() : partitions.values();
  const faults: unknown[] = [];
  let failure: { readonly error: unknown } | undefined;
  let total = 0;
  let reused = 0;
  let inARow = 0;
  const readSome = async (reader: number) => {
    while (inARow <= pending.readers && failure === undefined) {
      const next = await nextOf(source);
      if (next === undefined) return;
      total++;
      if (pending.isDone(next.id)) {
        reused++;
        continue;
      }
      try {
        await pending.read(next, reader);
        inARow = 0;
      } catch (error) {
        if (!(error instanceof ReadFault) || signal.aborted) throw error;
        faults.push(error.cause);
        inARow++;
      }
    }
  };
  const fail = (error: unknown) => {
    failure ??= { error };
    stop(error);
  };
  await Promise.all(Array.from({ length: pending.readers }, (_, reader) => readSome(reader).catch(fail)));
  await source.return?.();
  if (failure !== undefined) throw failure.error;
  if (faults.length > 0) {
    throw new StepError("read", together(faults, Symbol.asyncIterator in partitions ? total : partitions.length));
  }
  return { total, reused };
}

/** @throws a node's failure where the plan itself fails */
async function nextOf(
  source: Iterator<PartitionRef> | AsyncIterator<PartitionRef>,
): Promise<PartitionRef | undefined> {
  try {
    const next = await source.next();
    return next.done === true ? undefined : next.value;
  } catch (error) {
    throw planFailure(error);
  }
}

/** One error for all partitions that failed: worth another try where every one of theirs is. */
function together(faults: readonly unknown[], total: number): unknown {
  const [first] = faults;
  if (total === 1) return first;
  const known = faults.filter((fault) => fault instanceof ConnectorError);
  const told = first instanceof Error ? first.message : String(first);
  const waits = known.flatMap(({ retryAfterMs }) => retryAfterMs ?? []);
  const { code, hint, denied }: Partial<ConnectorError> = first instanceof ConnectorError ? first : {};
  return new ConnectorError(`${faults.length} of ${total} partitions failed; first: ${told}`, {
    transient: known.length === faults.length && known.every(({ transient }) => transient),
    ...(waits.length === 0 ? {} : { retryAfterMs: Math.max(...waits) }),
    code,
    hint,
    denied,
    cause: first,
  });
}
