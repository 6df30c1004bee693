import { AsyncByteQueue, type RecordBatch, RecordBatchStreamWriter, type Schema, util } from "../../util/arrow.ts";
import { ConnectorError } from "../contract/mod.ts";
import { DATA_FRAME_BYTES, FRAME, HEADER_BYTES, MAX_DATA_BYTES, sealFrame } from "./frame.ts";

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
  /** What was written since the last call of `take`, not copied yet. */
  #parts: Uint8Array[] = [];
  #length = 0;

  constructor(stream: number) {
    super();
    this.#stream = stream;
  }

  override write(value: ArrayBufferLike | ArrayBufferView): void {
    const part = bytesOf(value);
    if (part.length === 0) return;
    this.#parts.push(part);
    this.#length += part.length;
  }

  /** The frames for everything written since the last call: one, where it fits. */
  take(): readonly Frame[] {
    const frames: Frame[] = [];
    let left = this.#length;
    let frame: Frame | undefined;
    let fill = 0;
    for (let rest of this.#parts) {
      while (rest.length > 0) {
        frame ??= new Uint8Array(HEADER_BYTES + Math.min(left, left <= MAX_DATA_BYTES ? left : DATA_FRAME_BYTES));
        if (fill === 0) fill = HEADER_BYTES;
        const part = rest.subarray(0, frame.length - fill);
        frame.set(part, fill);
        fill += part.length;
        left -= part.length;
        rest = rest.subarray(part.length);
        if (fill < frame.length) continue;
        frames.push(sealFrame(FRAME.data, this.#stream, frame));
        frame = undefined;
        fill = 0;
      }
    }
    this.#parts = [];
    this.#length = 0;
    return frames;
  }
}

function bytesOf(value: ArrayBufferLike | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(value)
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : new Uint8Array(value);
}
