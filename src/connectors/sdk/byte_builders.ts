import { type Data, DataType } from "../../util/arrow.ts";
import type { CellValue } from "./cell.ts";
import { ColumnBuilder, grown, wholeOf } from "./column_builder.ts";
import { uuidBytes } from "./uuid.ts";

const FIRST_ROWS = 1024;
const FIRST_BYTES = 16 * 1024;
const MAX_BYTES = 0x7fffffff;

/** Texts and blobs. */
export class TextBuilder extends ColumnBuilder {
  static readonly #encoder = new TextEncoder();
  readonly #isText: boolean;
  #offsets = new Int32Array(FIRST_ROWS + 1);
  #bytes = new Uint8Array(FIRST_BYTES);
  #fill = 0;

  constructor(type: DataType) {
    super(type);
    this.#isText = DataType.isUtf8(type);
  }

  get bytes(): number {
    return this.#fill + this.length * 4;
  }

  override appendBytes(bytes: Uint8Array, start: number, end: number): void {
    const size = end - start;
    if (size < 0) throw new RangeError(`a run of bytes from ${start} to ${end}`);
    const to = this.#fill;
    this.#reserve(size);
    // A loop beats a copy by the runtime for what is short.
    if (size <= 24) { for (let at = 0; at < size; at++) this.#bytes[to + at] = bytes[start + at] ?? 0; }
    else this.#bytes.set(bytes.subarray(start, end), to);
    this.#fill = to + size;
    this.#addedText();
  }

  protected override appendValue(value: CellValue): void {
    if (typeof value === "string" && this.#isText) {
      this.#reserve(value.length * 3);
      this.#fill += TextBuilder.#encoder.encodeInto(value, this.#bytes.subarray(this.#fill)).written;
      this.#addedText();
    } else if (value instanceof Uint8Array) this.appendBytes(value, 0, value.length);
    else throw this.misfit(value);
  }

  protected override appendNothing(): void {
    this.#addedText();
  }

  #addedText(): void {
    this.added();
    const row = this.length;
    if (row >= this.#offsets.length) this.#offsets = grown(this.#offsets, new Int32Array(this.#offsets.length * 2));
    this.#offsets[row] = this.#fill;
  }

  #reserve(more: number): void {
    const needed = this.#fill + more;
    if (needed <= this.#bytes.length) return;
    if (needed > MAX_BYTES) throw new RangeError("more than 2 GiB of text in one column of a batch");
    this.#bytes = grown(this.#bytes, new Uint8Array(Math.max(needed, Math.min(MAX_BYTES, this.#bytes.length * 2))));
  }

  override finish(): Data {
    const offsets = this.#offsets.subarray(0, this.length + 1);
    const bytes = this.#bytes.subarray(0, this.#fill);
    this.#offsets = new Int32Array(Math.max(FIRST_ROWS, this.length) + 1);
    this.#bytes = new Uint8Array(Math.max(FIRST_BYTES, this.#fill));
    this.#fill = 0;
    return this.take(offsets, bytes);
  }
}

/** What 16 bytes, or another fixed number, stand for. */
export type FixedMeaning = "decimal" | "hugeint" | "uhugeint" | "uuid" | "bytes";

/** Decimals, 128-bit integers, UUIDs and other values of so many bytes each. */
export class WideBuilder extends ColumnBuilder {
  readonly #width: number;
  readonly #meaning: FixedMeaning;
  #bytes: Uint8Array<ArrayBuffer>;
  #words: BigUint64Array<ArrayBuffer>;

  constructor(type: DataType, width: number, meaning: FixedMeaning) {
    super(type);
    this.#width = width;
    this.#meaning = meaning;
    this.#bytes = new Uint8Array(roundedUp(FIRST_ROWS * width));
    this.#words = new BigUint64Array(this.#bytes.buffer);
  }

  get bytes(): number {
    return this.length * this.#width;
  }

  override appendI128(value: bigint): void {
    if (this.#meaning === "uuid" || this.#meaning === "bytes") throw this.misfit(value);
    const inRange = this.#meaning === "uhugeint" ? BigInt.asUintN(128, value) : BigInt.asIntN(128, value);
    if (inRange !== value) throw this.unfit("a whole number out of its range");
    this.#reserve();
    const at = 2 * this.length;
    this.#words[at] = BigInt.asUintN(64, value);
    this.#words[at + 1] = BigInt.asUintN(64, value >> 64n);
    this.added();
  }

  override appendBytes(bytes: Uint8Array, start: number, end: number): void {
    if (end - start !== this.#width) throw this.unfit(`a run of ${end - start} bytes`);
    this.#reserve();
    this.#bytes.set(bytes.subarray(start, end), this.length * this.#width);
    this.added();
  }

  protected override appendValue(value: CellValue): void {
    const whole = wholeOf(value);
    const bytes = this.#meaning === "uuid" && typeof value === "string" ? uuidBytes(value) : value;
    if (whole !== undefined) this.appendI128(whole);
    else if (bytes instanceof Uint8Array) this.appendBytes(bytes, 0, bytes.length);
    else throw this.misfit(value);
  }

  protected override appendNothing(): void {
    this.#reserve();
    this.added();
  }

  #reserve(): void {
    if ((this.length + 1) * this.#width <= this.#bytes.length) return;
    this.#bytes = grown(this.#bytes, new Uint8Array(this.#bytes.length * 2));
    this.#words = new BigUint64Array(this.#bytes.buffer);
  }

  override finish(): Data {
    const used = this.#bytes.subarray(0, this.length * this.#width);
    // Arrow's JavaScript keeps decimals as 32-bit words.
    const values = this.#meaning === "decimal" ? new Uint32Array(used.buffer, 0, used.length / 4) : used;
    this.#bytes = new Uint8Array(roundedUp(Math.max(FIRST_ROWS, this.length) * this.#width));
    this.#words = new BigUint64Array(this.#bytes.buffer);
    return this.take(undefined, values);
  }
}

function roundedUp(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}
