/** What a frame holds: a JSON message, Arrow bytes, or the right to send more data frames. */
export const FRAME = { control: 1, data: 2, credit: 3 } as const;

export type Frame = { readonly kind: number; readonly stream: number; readonly payload: Uint8Array<ArrayBuffer> };

/** Bytes before the payload: its length (u32), the kind (u8) and the stream (u32), little-endian. */
export const HEADER_BYTES = 9;
/** No data frame is larger than this. */
export const MAX_DATA_BYTES = 1 << 20;
/** What senders cut their data into. */
export const DATA_FRAME_BYTES = 512 * 1024;
/** No JSON message is larger than this. */
export const MAX_CONTROL_BYTES = 8 << 20;

/** Bytes that are no frame, or a frame that may not be where it stands; the connection can't go on. */
export class FrameError extends Error {
  override readonly name = "FrameError";
}

/** A frame as the bytes that travel. */
export function encodeFrame(kind: number, stream: number, payload: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(HEADER_BYTES + payload.length);
  bytes.set(payload, HEADER_BYTES);
  return sealFrame(kind, stream, bytes);
}

/** Writes the header into the first bytes of a buffer whose rest is the payload. */
export function sealFrame(kind: number, stream: number, bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  view.setUint32(0, bytes.length - HEADER_BYTES, true);
  view.setUint8(4, kind);
  view.setUint32(5, stream, true);
  return bytes;
}

/** A credit frame: the receiver of data allows `count` more data frames on the stream. */
export function encodeCredit(stream: number, count: number): Uint8Array<ArrayBuffer> {
  const payload = new Uint8Array(4);
  new DataView(payload.buffer).setUint32(0, count, true);
  return encodeFrame(FRAME.credit, stream, payload);
}

/**
 * The count of a credit frame.
 *
 * @throws {FrameError}
 */
export function decodeCredit(frame: Frame): number {
  if (frame.payload.length !== 4) throw new FrameError(`a credit frame of ${frame.payload.length} bytes`);
  return new DataView(frame.payload.buffer, frame.payload.byteOffset).getUint32(0, true);
}

/** Puts frames together from bytes that arrive in pieces of any size. Each payload has a buffer of its own. */
export class FrameDecoder {
  readonly #header = new Uint8Array(HEADER_BYTES);
  readonly #view = new DataView(this.#header.buffer);
  #headerFill = 0;
  #payload: Uint8Array<ArrayBuffer> | undefined;
  #payloadFill = 0;

  /** Whether the bytes so far end between two frames. */
  get atBoundary(): boolean {
    return this.#headerFill === 0 && this.#payload === undefined;
  }

  /**
   * The frames that these bytes complete, in order.
   *
   * @throws {FrameError} for an unknown kind or a length beyond the kind's limit
   */
  *push(bytes: Uint8Array): Generator<Frame> {
    let at = 0;
    while (at < bytes.length || (this.#payload !== undefined && this.#payloadFill === this.#payload.length)) {
      if (this.#payload === undefined) {
        const part = bytes.subarray(at, at + HEADER_BYTES - this.#headerFill);
        this.#header.set(part, this.#headerFill);
        this.#headerFill += part.length;
        at += part.length;
        if (this.#headerFill === HEADER_BYTES) this.#payload = new Uint8Array(this.#checkedLength());
        continue;
      }
      const part = bytes.subarray(at, at + this.#payload.length - this.#payloadFill);
      this.#payload.set(part, this.#payloadFill);
      this.#payloadFill += part.length;
      at += part.length;
      if (this.#payloadFill === this.#payload.length) yield this.#complete(this.#payload);
    }
  }

  /**
   * Where the next bytes of a payload belong, if it lacks so many: they may be written there instead of pushed. To be
   * followed by `filled`.
   */
  room(atLeast: number): Uint8Array<ArrayBuffer> | undefined {
    if (this.#payload === undefined || this.#payload.length - this.#payloadFill < atLeast) return undefined;
    return this.#payload.subarray(this.#payloadFill);
  }

  /** Takes the bytes at the start of the room, whose memory may have gone over to another buffer. */
  *filled(bytes: Uint8Array<ArrayBuffer>): Generator<Frame> {
    this.#payloadFill += bytes.length;
    const payload = new Uint8Array(bytes.buffer);
    this.#payload = payload;
    if (this.#payloadFill === payload.length) yield this.#complete(payload);
  }

  #complete(payload: Uint8Array<ArrayBuffer>): Frame {
    this.#payload = undefined;
    this.#payloadFill = 0;
    this.#headerFill = 0;
    return { kind: this.#view.getUint8(4), stream: this.#view.getUint32(5, true), payload };
  }

  #checkedLength(): number {
    const length = this.#view.getUint32(0, true);
    const kind = this.#view.getUint8(4);
    const limit = kind === FRAME.control
      ? MAX_CONTROL_BYTES
      : kind === FRAME.data
      ? MAX_DATA_BYTES
      : kind === FRAME.credit
      ? 4
      : undefined;
    if (limit === undefined) throw new FrameError(`bytes that are no frame (kind ${kind})`);
    if (length > limit) throw new FrameError(`a frame of ${length} bytes, where at most ${limit} are allowed`);
    return length;
  }
}
