import { AsyncByteQueue, type RecordBatch, RecordBatchStreamWriter, type Schema, util } from "../../util/arrow.ts";
import { ConnectorError } from "../contract/mod.ts";
import { DATA_FRAME_BYTES, FRAME, HEADER_BYTES, sealFrame } from "../protocol/frame.ts";

/** A sink for Arrow's writer that packs what it gets into data frames of one stream. */
class FramePacker extends AsyncByteQueue<Uint8Array> {
  readonly #stream: number;
  #full: Uint8Array<ArrayBuffer>[] = [];
  #current: Uint8Array<ArrayBuffer> | undefined;
  #fill = HEADER_BYTES;

  constructor(stream: number) {
    super();
    this.#stream = stream;
  }

  override write(value: ArrayBufferLike | ArrayBufferView): void {
    let rest = bytesOf(value);
    while (rest.length > 0) {
      const frame = this.#current ??= new Uint8Array(
        HEADER_BYTES + Math.min(DATA_FRAME_BYTES, Math.max(rest.length, 64 * 1024)),
      );
      const part = rest.subarray(0, frame.length - this.#fill);
      frame.set(part, this.#fill);
      this.#fill += part.length;
      rest = rest.subarray(part.length);
      if (this.#fill === frame.length) this.#seal();
    }
  }

  /** The frames for everything written since the last call. */
  take(): readonly Uint8Array<ArrayBuffer>[] {
    if (this.#fill > HEADER_BYTES) this.#seal();
    const frames = this.#full;
    this.#full = [];
    return frames;
  }

  #seal(): void {
    if (this.#current !== undefined) {
      this.#full.push(sealFrame(FRAME.data, this.#stream, this.#current.subarray(0, this.#fill)));
    }
    this.#current = undefined;
    this.#fill = HEADER_BYTES;
  }
}

function bytesOf(value: ArrayBufferLike | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(value)
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : new Uint8Array(value);
}

/** A schema as data frames: an Arrow IPC stream without batches. */
export function schemaFrames(stream: number, schema: Schema): readonly Uint8Array<ArrayBuffer>[] {
  const packer = new FramePacker(stream);
  const writer = new RecordBatchStreamWriter();
  writer.reset(packer, schema);
  writer.finish();
  return packer.take();
}

/**
 * Batches as data frames that together are one Arrow IPC stream; each batch ends a frame.
 *
 * @throws {ConnectorError} when a batch has another schema
 */
export async function* batchFrames(
  stream: number,
  schema: Schema,
  batches: AsyncIterable<RecordBatch>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const packer = new FramePacker(stream);
  const writer = new RecordBatchStreamWriter();
  writer.reset(packer, schema);
  yield* packer.take();
  for await (const batch of batches) {
    if (!util.compareSchemas(batch.schema, schema)) {
      throw new ConnectorError(`A batch has the columns ${batch.schema}, where ${schema} was announced`, {
        transient: false,
        code: "PZ0357",
      });
    }
    writer.write(batch);
    yield* packer.take();
  }
  writer.finish();
  yield* packer.take();
}
