import { type RecordBatch, RecordBatchReader, type Schema } from "../../util/arrow.ts";
import { FrameError } from "./frame.ts";

/** Far more than any size of batch that can be asked for. */
const MAX_BATCH_BYTES = 1 << 30;

/** One Arrow IPC stream that comes in data frames; its batches are taken once. */
export class ArrowInflow {
  readonly schema: Schema;
  readonly #data: AsyncIterable<unknown>;
  readonly #reader: AsyncIterable<RecordBatch>;
  readonly #meter: { bytes: number };

  private constructor(
    schema: Schema,
    data: AsyncIterable<unknown>,
    reader: AsyncIterable<RecordBatch>,
    meter: { bytes: number },
  ) {
    this.schema = schema;
    this.#data = data;
    this.#reader = reader;
    this.#meter = meter;
  }

  /** Waits for the schema. */
  static async open(data: AsyncGenerator<Uint8Array, undefined>): Promise<ArrowInflow> {
    const meter = { bytes: 0 };
    const reader = await RecordBatchReader.from(metered(data, meter));
    await reader.open({ autoDestroy: false });
    return new ArrowInflow(reader.schema, data, reader, meter);
  }

  /**
   * The batches that have rows. Ends only where the sender said that it had sent everything.
   *
   * @throws {FrameError} for a batch beyond all size, or data after the end
   */
  async *batches(): AsyncGenerator<RecordBatch, undefined> {
    for await (const batch of this.#reader) {
      this.#meter.bytes = 0;
      if (batch.numRows > 0) yield batch;
    }
    for await (const _ of this.#data) throw new FrameError("data after the end of the Arrow stream");
    return undefined;
  }
}

/**
 * The same bytes, counted; whoever iterates can't close the source. Arrow's reader takes what it wants without waiting
 * for more only if it asked for that before the last of it came, so the last byte of each item comes by itself.
 *
 * @throws {FrameError} when more bytes come than one batch may have
 */
async function* metered(
  source: AsyncIterator<Uint8Array>,
  meter: { bytes: number },
): AsyncGenerator<Uint8Array, undefined> {
  for (let next = await source.next(); next.done !== true; next = await source.next()) {
    meter.bytes += next.value.length;
    if (meter.bytes > MAX_BATCH_BYTES) throw new FrameError(`a batch of more than ${MAX_BATCH_BYTES} bytes`);
    if (next.value.length > 1) yield next.value.subarray(0, -1);
    yield next.value.subarray(-1);
  }
  return undefined;
}
