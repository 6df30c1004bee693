import { AsyncByteQueue, type RecordBatch, RecordBatchStreamWriter, type Schema, util } from "../../util/arrow.ts";
import { ConnectorError } from "../contract/mod.ts";
import { DATA_FRAME_BYTES, FRAME, HEADER_BYTES, sealFrame } from "./frame.ts";

type Frame = Uint8Array<ArrayBuffer>;

/** One Arrow IPC stream as data frames; each step of it ends a frame. */
export class ArrowFrames {
  readonly #packer: FramePacker;
  readonly #writer = new RecordBatchStreamWriter();

  readonly #schema: Schema;

  constructor(stream: number, schema: Schema) {
    this.#schema = schema;
    this.#packer = new FramePacker(stream);
    this.#writer.reset(this.#packer, schema);
  }

  /** The frames of the schema; to be sent first. */
  start(): readonly Frame[] {
    return this.#packer.take();
  }

  /** @throws {ConnectorError} when the batch has another schema */
  batch(batch: RecordBatch): readonly Frame[] {
    if (!util.compareSchemas(batch.schema, this.#schema)) {
      throw new ConnectorError(`A batch has the columns ${batch.schema}, where ${this.#schema} was announced`, {
        transient: false,
        code: "PZ0357",
      });
    }
    this.#writer.write(batch);
    return this.#packer.take();
  }

  /** The frames of the end; nothing may follow. */
  finish(): readonly Frame[] {
    this.#writer.finish();
    return this.#packer.take();
  }
}

/** A schema as data frames: an Arrow IPC stream without batches. */
export function schemaFrames(stream: number, schema: Schema): readonly Frame[] {
  const frames = new ArrowFrames(stream, schema);
  return [...frames.start(), ...frames.finish()];
}

/** A sink for Arrow's writer that packs what it gets into data frames of one stream. */
class FramePacker extends AsyncByteQueue<Uint8Array> {
  readonly #stream: number;
  #full: Frame[] = [];
  #current: Frame | undefined;
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
  take(): readonly Frame[] {
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
