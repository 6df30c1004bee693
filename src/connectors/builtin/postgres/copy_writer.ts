const PIECE_BYTES = 256 * 1024;
const ROOM_BYTES = PIECE_BYTES + 64 * 1024;
const HEADER_BYTES = 5;
const COPY_DATA = 0x64;
/** `PGCOPY\n\xff\r\n\0`, no flags, no extension. */
const FILE_HEADER = [0x50, 0x47, 0x43, 0x4f, 0x50, 0x59, 0x0a, 0xff, 0x0d, 0x0a, 0, 0, 0, 0, 0, 0, 0, 0, 0];
/** Copying byte by byte beats a call of the runtime up to about this length. */
const SHORT_BYTES = 32;

/** Collects the bytes of COPY … (FORMAT binary), framed as messages of the protocol. */
export class CopyWriter {
  #bytes = new Uint8Array(ROOM_BYTES);
  #view = new DataView(this.#bytes.buffer);
  #spare: Uint8Array<ArrayBuffer> | undefined;
  #fill = HEADER_BYTES;

  constructor() {
    for (const byte of FILE_HEADER) this.#bytes[this.#fill++] = byte;
  }

  /** Whether so much is collected that it should be taken. */
  get isFull(): boolean {
    return this.#fill >= PIECE_BYTES;
  }

  /** One message with all that is collected; undefined: nothing is. */
  take(): Uint8Array<ArrayBuffer> | undefined {
    if (this.#fill === HEADER_BYTES) return undefined;
    this.#bytes[0] = COPY_DATA;
    this.#view.setInt32(1, this.#fill - 1);
    const piece = this.#bytes.subarray(0, this.#fill);
    this.#bytes = this.#spare ?? new Uint8Array(ROOM_BYTES);
    this.#spare = undefined;
    this.#view = new DataView(this.#bytes.buffer);
    this.#fill = HEADER_BYTES;
    return piece;
  }

  /** Gives back what was taken, once nobody reads it any more; its memory is written again. */
  reuse({ buffer }: Uint8Array<ArrayBuffer>): void {
    if (buffer.byteLength === ROOM_BYTES) this.#spare = new Uint8Array(buffer);
  }

  /** Begins a row of so many fields. */
  row(fields: number): void {
    this.#reserve(2);
    this.#view.setInt16(this.#fill, fields);
    this.#fill += 2;
  }

  /** The mark after the last row. */
  end(): void {
    this.row(-1);
  }

  null(): void {
    this.int32(-1);
  }

  int8(value: number): void {
    this.#reserve(1);
    this.#view.setInt8(this.#fill, value);
    this.#fill += 1;
  }

  int16(value: number): void {
    this.#reserve(2);
    this.#view.setInt16(this.#fill, value);
    this.#fill += 2;
  }

  int32(value: number): void {
    this.#reserve(4);
    this.#view.setInt32(this.#fill, value);
    this.#fill += 4;
  }

  int64(value: bigint): void {
    this.#reserve(8);
    this.#view.setBigInt64(this.#fill, value);
    this.#fill += 8;
  }

  /** A value of eight bytes, given as two words, with its length before it. */
  eight(high: number, low: number): void {
    this.#reserve(12);
    const view = this.#view;
    const at = this.#fill;
    view.setInt32(at, 8);
    view.setInt32(at + 4, high);
    view.setInt32(at + 8, low);
    this.#fill = at + 12;
  }

  float32(value: number): void {
    this.#reserve(4);
    this.#view.setFloat32(this.#fill, value);
    this.#fill += 4;
  }

  float64(value: number): void {
    this.#reserve(8);
    this.#view.setFloat64(this.#fill, value);
    this.#fill += 8;
  }

  bytes(source: Uint8Array, from: number, to: number): void {
    const size = to - from;
    this.#reserve(size);
    if (size <= SHORT_BYTES) {
      const bytes = this.#bytes;
      const start = this.#fill;
      for (let index = 0; index < size; index++) bytes[start + index] = source[from + index] ?? 0;
    } else this.#bytes.set(source.subarray(from, to), this.#fill);
    this.#fill += size;
  }

  /** Leaves room for a length that is known later; returns what `close` wants. */
  open(): number {
    this.int32(0);
    return this.#fill;
  }

  close(opened: number): void {
    this.#view.setInt32(opened - 4, this.#fill - opened);
  }

  #reserve(more: number): void {
    const needed = this.#fill + more;
    if (needed <= this.#bytes.length) return;
    const bigger = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    bigger.set(this.#bytes.subarray(0, this.#fill));
    this.#bytes = bigger;
    this.#view = new DataView(bigger.buffer);
  }
}
