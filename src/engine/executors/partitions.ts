import type { PartitionRef } from "../../connectors/mod.ts";
import type { RecordBatch } from "../../util/arrow.ts";
import type { BatchChannel } from "../batch_channel.ts";
import { faultPoint } from "../../util/mod.ts";

export type Reading = {
  /** All of them, or each as it is found. */
  readonly partitions: readonly PartitionRef[] | AsyncIterable<PartitionRef>;
  readonly maxReaders: number;
  readonly read: (partition: PartitionRef) => AsyncIterable<RecordBatch>;
  readonly channel: BatchChannel<RecordBatch>;
  /** Told each failure; expected to stop the others. */
  readonly fail: (error: unknown) => void;
};

export type PartitionsRead = {
  /** How many partitions there were, as far as they were looked for, and how many were read to their ends. */
  readonly total: number;
  readonly completed: number;
  readonly readers: number;
  /** When the last reader ended, by `performance.now()`. */
  readonly end: number;
};

/**
 * Reads partitions into the channel, a few at a time, and closes it with the first failure or with the last batch.
 * Never throws.
 */
export async function readPartitions(reading: Reading): Promise<PartitionsRead> {
  const { partitions, read, channel, fail } = reading;
  const source = Symbol.asyncIterator in partitions ? partitions[Symbol.asyncIterator]() : partitions.values();
  const limit = Symbol.asyncIterator in partitions
    ? reading.maxReaders
    : Math.min(reading.maxReaders, partitions.length);
  let readers = 0;
  let total = 0;
  let completed = 0;
  let failure: { readonly error: unknown } | undefined;
  const readSome = async () => {
    let count = 0;
    try {
      for (let next = await source.next(); next.done !== true; next = await source.next()) {
        if (count++ === 0) readers++;
        total++;
        for await (const batch of read(next.value)) {
          faultPoint("batch_read");
          if (!await channel.push(batch, batch.data.byteLength)) return;
        }
        completed++;
      }
    } catch (error) {
      failure ??= { error };
      fail(error);
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, limit) }, readSome));
  channel.close(failure);
  return { total, completed, readers, end: performance.now() };
}
