import type { Data, DataType } from "../../../util/arrow.ts";
import { larger, Validity } from "./column_buffers.ts";
import { BadValue } from "./bad_value.ts";

/** Collects one column's values out of the server's binary form. */
export interface Column {
  /** @throws {BadValue} for a value that the column's type can't hold */
  append(view: DataView, at: number, length: number): void;
  appendNull(): void;
  /** The values so far; starts anew. */
  take(): Data;
}

const FIRST_ROWS = 1024;

/** Puts one value into an array's slots, which start at `slot`. */
export type Put<A> = (array: A, slot: number, view: DataView, at: number, length: number) => void;

type Slots = {
  readonly length: number;
  readonly byteLength: number;
  readonly BYTES_PER_ELEMENT: number;
  readonly buffer: ArrayBufferLike;
  readonly byteOffset: number;
};

/** Values of one width, `stride` slots each. */
export class FixedColumn<A extends Slots & { set(values: A): void; subarray(from: number, to: number): A }>
  implements Column {
  readonly #type: DataType;
  readonly #stride: number;
  readonly #make: (slots: number) => A;
  readonly #put: Put<A>;
  readonly #validity = new Validity();
  #values: A;

  constructor(type: DataType, stride: number, make: (slots: number) => A, put: Put<A>) {
    this.#type = type;
    this.#stride = stride;
    this.#make = make;
    this.#put = put;
    this.#values = make(FIRST_ROWS * stride);
  }

  append(view: DataView, at: number, length: number): void {
    // First the slot, for which the values may have to move.
    const slot = this.#slot();
    this.#put(this.#values, slot, view, at, length);
    this.#validity.add(true);
  }

  appendNull(): void {
    this.#slot();
    this.#validity.add(false);
  }

  #slot(): number {
    const slot = this.#validity.length * this.#stride;
    if (slot >= this.#values.length) {
      this.#values = larger(this.#values, this.#make(this.#values.length * 2));
    }
    return slot;
  }

  take(): Data {
    const values = this.#values.subarray(0, this.#validity.length * this.#stride);
    // Arrow wants a plain view; what it reads out of it the type decides.
    const view = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    const whole: ArrayBufferView = ArrayBuffer.isView(values) ? values : view;
    this.#values = this.#make(FIRST_ROWS * this.#stride);
    return this.#validity.take(this.#type, undefined, whole, []);
  }
}

/** Truth values, a bit each. */
export class BoolColumn implements Column {
  readonly #type: DataType;
  readonly #validity = new Validity();
  #bits = new Uint8Array(FIRST_ROWS >> 3);

  constructor(type: DataType) {
    this.#type = type;
  }

  append(view: DataView, at: number): void {
    const row = this.#room();
    if (view.getUint8(at) !== 0) this.#bits[row >> 3] = (this.#bits[row >> 3] ?? 0) | (1 << (row & 7));
    this.#validity.add(true);
  }

  appendNull(): void {
    this.#room();
    this.#validity.add(false);
  }

  #room(): number {
    const row = this.#validity.length;
    if (row >> 3 >= this.#bits.length) this.#bits = larger(this.#bits, new Uint8Array(this.#bits.length * 2));
    return row;
  }

  take(): Data {
    const bits = this.#bits;
    this.#bits = new Uint8Array(FIRST_ROWS >> 3);
    return this.#validity.take(this.#type, undefined, bits, []);
  }
}

const MAX_COLUMN_BYTES = 0x7fffffff;
/** Copying byte by byte beats a call of the runtime up to about this length. */
const SHORT_BYTES = 32;

/** Texts and bytes; `skip` bytes at the start of each value are left out. */
export class BytesColumn implements Column {
  readonly #type: DataType;
  readonly #skip: number;
  readonly #validity = new Validity();
  #offsets = new Int32Array(FIRST_ROWS + 1);
  #values = new Uint8Array(FIRST_ROWS * 16);
  #fill = 0;

  constructor(type: DataType, skip: number) {
    this.#type = type;
    this.#skip = skip;
  }

  append(view: DataView, at: number, length: number): void {
    const from = view.byteOffset + at + this.#skip;
    const size = length - this.#skip;
    const end = this.#fill + size;
    if (end > this.#values.length) {
      if (end > MAX_COLUMN_BYTES) throw new BadValue("there are more than 2 GiB of text in one batch");
      this.#values = larger(
        this.#values,
        new Uint8Array(Math.min(MAX_COLUMN_BYTES, Math.max(end, this.#values.length * 2))),
      );
    }
    if (size <= SHORT_BYTES) {
      const values = this.#values;
      const start = this.#fill;
      const source = at + this.#skip;
      for (let index = 0; index < size; index++) values[start + index] = view.getUint8(source + index);
    } else this.#values.set(new Uint8Array(view.buffer, from, size), this.#fill);
    this.#fill = end;
    this.#endRow(true);
  }

  appendNull(): void {
    this.#endRow(false);
  }

  #endRow(hasValue: boolean): void {
    this.#validity.add(hasValue);
    const row = this.#validity.length;
    if (row >= this.#offsets.length) {
      this.#offsets = larger(this.#offsets, new Int32Array(this.#offsets.length * 2));
    }
    this.#offsets[row] = this.#fill;
  }

  take(): Data {
    const offsets = this.#offsets.subarray(0, this.#validity.length + 1);
    const values = this.#values.subarray(0, this.#fill);
    this.#offsets = new Int32Array(FIRST_ROWS + 1);
    this.#values = new Uint8Array(FIRST_ROWS * 16);
    this.#fill = 0;
    return this.#validity.take(this.#type, offsets, values, []);
  }
}
