import { type Data, type DataType, Precision } from "../../util/arrow.ts";
import { type CellValue, isInterval } from "./cell.ts";
import { ColumnBuilder, grown, wholeOf } from "./column_builder.ts";

const FIRST_ROWS = 1024;

type SmallIntegers =
  | Int8Array<ArrayBuffer>
  | Int16Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | Uint8Array<ArrayBuffer>
  | Uint16Array<ArrayBuffer>
  | Uint32Array<ArrayBuffer>;

/** Integers of at most 32 bits, and dates. */
export class IntBuilder extends ColumnBuilder {
  readonly #make: (rows: number) => SmallIntegers;
  readonly #low: number;
  readonly #high: number;
  #values: SmallIntegers;

  constructor(type: DataType, bits: number, isSigned: boolean) {
    super(type);
    const View = isSigned
      ? bits === 8 ? Int8Array : bits === 16 ? Int16Array : Int32Array
      : bits === 8
      ? Uint8Array
      : bits === 16
      ? Uint16Array
      : Uint32Array;
    this.#make = (rows) => new View(rows);
    this.#high = 2 ** (isSigned ? bits - 1 : bits) - 1;
    this.#low = isSigned ? -this.#high - 1 : 0;
    this.#values = this.#make(FIRST_ROWS);
  }

  get bytes(): number {
    return this.length * this.#values.BYTES_PER_ELEMENT;
  }

  override appendI32(value: number): void {
    if (!Number.isInteger(value)) throw this.misfit(value);
    if (value < this.#low || value > this.#high) throw this.unfit("a number out of its range");
    const row = this.length;
    if (row >= this.#values.length) this.#values = grown(this.#values, this.#make(row * 2));
    this.#values[row] = value;
    this.added();
  }

  protected override appendValue(value: CellValue): void {
    if (typeof value !== "number") throw this.misfit(value);
    this.appendI32(value);
  }

  protected override appendNothing(): void {
    this.appendI32(0);
  }

  override finish(): Data {
    const values = this.#values.subarray(0, this.length);
    this.#values = this.#make(Math.max(FIRST_ROWS, this.length));
    return this.take(undefined, values);
  }
}

/** 64-bit integers, times and timestamps. */
export class LongBuilder extends ColumnBuilder {
  readonly #isSigned: boolean;
  #halves = new Int32Array(2 * FIRST_ROWS);
  #values: BigInt64Array<ArrayBuffer>;

  constructor(type: DataType, isSigned: boolean) {
    super(type);
    this.#isSigned = isSigned;
    this.#values = new BigInt64Array(this.#halves.buffer);
  }

  get bytes(): number {
    return this.length * 8;
  }

  override appendI64(value: bigint): void {
    if ((this.#isSigned ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value)) !== value) {
      throw this.unfit("a whole number out of its range");
    }
    if (this.length >= this.#values.length) this.#grow();
    this.#values[this.length] = value;
    this.added();
  }

  override appendI64Parts(low: number, high: number): void {
    const row = this.length;
    if (row >= this.#values.length) this.#grow();
    this.#halves[2 * row] = low;
    this.#halves[2 * row + 1] = high;
    this.added();
  }

  protected override appendValue(value: CellValue): void {
    const whole = wholeOf(value);
    if (whole === undefined) throw this.misfit(value);
    this.appendI64(whole);
  }

  protected override appendNothing(): void {
    this.appendI64Parts(0, 0);
  }

  #grow(): void {
    this.#halves = grown(this.#halves, new Int32Array(this.#halves.length * 2));
    this.#values = new BigInt64Array(this.#halves.buffer);
  }

  override finish(): Data {
    const used = this.#values.subarray(0, this.length);
    this.#halves = new Int32Array(2 * Math.max(FIRST_ROWS, this.length));
    this.#values = new BigInt64Array(this.#halves.buffer);
    return this.take(undefined, this.#isSigned ? used : new BigUint64Array(used.buffer, 0, used.length));
  }
}

/** Numbers in binary floating point. */
export class FloatBuilder extends ColumnBuilder {
  readonly #make: (rows: number) => Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;
  #values: Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

  constructor(type: DataType, precision: Precision) {
    super(type);
    this.#make = (rows) => precision === Precision.SINGLE ? new Float32Array(rows) : new Float64Array(rows);
    this.#values = this.#make(FIRST_ROWS);
  }

  get bytes(): number {
    return this.length * this.#values.BYTES_PER_ELEMENT;
  }

  override appendF64(value: number): void {
    const row = this.length;
    if (row >= this.#values.length) this.#values = grown(this.#values, this.#make(row * 2));
    this.#values[row] = value;
    this.added();
  }

  protected override appendValue(value: CellValue): void {
    if (typeof value !== "number") throw this.misfit(value);
    this.appendF64(value);
  }

  protected override appendNothing(): void {
    this.appendF64(0);
  }

  override finish(): Data {
    const values = this.#values.subarray(0, this.length);
    this.#values = this.#make(Math.max(FIRST_ROWS, this.length));
    return this.take(undefined, values);
  }
}

export class BoolBuilder extends ColumnBuilder {
  #values = new Uint8Array(FIRST_ROWS >> 3);

  get bytes(): number {
    return this.length >> 3;
  }

  override appendBool(value: boolean): void {
    const row = this.length;
    const at = row >> 3;
    if (at >= this.#values.length) this.#values = grown(this.#values, new Uint8Array(at * 2));
    if (value) this.#values[at] = (this.#values[at] ?? 0) | (1 << (row & 7));
    this.added();
  }

  protected override appendValue(value: CellValue): void {
    if (typeof value !== "boolean") throw this.misfit(value);
    this.appendBool(value);
  }

  protected override appendNothing(): void {
    this.appendBool(false);
  }

  override finish(): Data {
    const values = this.#values.subarray(0, (this.length + 7) >> 3);
    this.#values = new Uint8Array(FIRST_ROWS >> 3);
    return this.take(undefined, values);
  }
}

/** Months, days and nanoseconds. */
export class IntervalBuilder extends ColumnBuilder {
  #parts = new Int32Array(4 * FIRST_ROWS);

  get bytes(): number {
    return this.length * 16;
  }

  override appendInterval(months: number, days: number, nanos: bigint): void {
    if ((months | 0) !== months || (days | 0) !== days || BigInt.asIntN(64, nanos) !== nanos) {
      throw this.unfit("an interval of this size");
    }
    const at = 4 * this.length;
    if (at >= this.#parts.length) this.#parts = grown(this.#parts, new Int32Array(at * 2));
    this.#parts[at] = months;
    this.#parts[at + 1] = days;
    this.#parts[at + 2] = Number(BigInt.asIntN(32, nanos));
    this.#parts[at + 3] = Number(BigInt.asIntN(32, nanos >> 32n));
    this.added();
  }

  protected override appendValue(value: CellValue): void {
    if (!isInterval(value)) throw this.misfit(value);
    this.appendInterval(value.months, value.days, value.nanos);
  }

  protected override appendNothing(): void {
    this.appendInterval(0, 0, 0n);
  }

  override finish(): Data {
    const values = this.#parts.subarray(0, 4 * this.length);
    this.#parts = new Int32Array(4 * FIRST_ROWS);
    return this.take(undefined, values);
  }
}
