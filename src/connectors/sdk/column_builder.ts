import { Data, type DataType } from "../../util/arrow.ts";
import type { CellValue } from "./cell.ts";

/**
 * Collects the values of one column of one batch. `append` takes any value; the others are for those who have a value in
 * a form that needs no object, and fail for a column of another type. A value that does not fit is a `TypeError`, and
 * the builder is then of no more use.
 */
export abstract class ColumnBuilder {
  readonly type: DataType;
  #length = 0;
  #nulls = 0;
  /** A set bit for each row with a value; made with the first NULL. */
  #bits: Uint8Array<ArrayBuffer> | undefined;

  constructor(type: DataType) {
    this.type = type;
  }

  /** Rows so far. */
  get length(): number {
    return this.#length;
  }

  /** Bytes that the rows take so far, about. */
  abstract get bytes(): number;

  append(value: CellValue): void {
    if (value === null) this.appendNull();
    else this.appendValue(value);
  }

  appendNull(): void {
    const row = this.#length;
    this.appendNothing();
    const bits = this.#bits = withRoom(this.#bits ?? new Uint8Array(0), row);
    bits[row >> 3] = (bits[row >> 3] ?? 0) & ~(1 << (row & 7));
    this.#nulls++;
  }

  appendBool(_value: boolean): void {
    throw this.unfit("a boolean");
  }

  /** A whole number that the column can hold; the column's range is checked. */
  appendI32(_value: number): void {
    throw this.unfit("an integer");
  }

  appendI64(_value: bigint): void {
    throw this.unfit("a 64-bit integer");
  }

  /** The halves of a 64-bit integer, each as any whole number of 32 bits. */
  appendI64Parts(_low: number, _high: number): void {
    throw this.unfit("a 64-bit integer");
  }

  appendF64(_value: number): void {
    throw this.unfit("a number");
  }

  /** A decimal's unscaled value, or a 128-bit integer. */
  appendI128(_value: bigint): void {
    throw this.unfit("a 128-bit integer");
  }

  /** Bytes of a text in UTF-8, a blob or a UUID; they are copied. */
  appendBytes(_bytes: Uint8Array, _start: number, _end: number): void {
    throw this.unfit("bytes");
  }

  appendInterval(_months: number, _days: number, _nanos: bigint): void {
    throw this.unfit("an interval");
  }

  /** The rows so far in Arrow's layout; the builder starts anew. */
  abstract finish(): Data;

  /** Adds a value that is not NULL. */
  protected abstract appendValue(value: CellValue): void;

  /** Stores what stands in the place of a NULL, and counts the row. */
  protected abstract appendNothing(): void;

  /** Counts a row whose value has been stored. */
  protected added(): void {
    const row = this.#length++;
    if (this.#bits !== undefined && row >> 3 >= this.#bits.length) this.#bits = withRoom(this.#bits, row);
  }

  /** The counted rows with these buffers; starts counting anew. */
  protected take(offsets: Int32Array | undefined, values: ArrayBufferView | undefined, children: Data[] = []): Data {
    const bits = this.#bits === undefined || this.#nulls === 0
      ? new Uint8Array(0)
      : this.#bits.subarray(0, (this.#length + 7) >> 3);
    const data = new Data(this.type, 0, this.#length, this.#nulls, [offsets, values, bits, undefined], children);
    this.#length = 0;
    this.#nulls = 0;
    this.#bits = undefined;
    return data;
  }

  /** The error for a value that does not fit; it tells the value's kind alone. */
  protected misfit(value: CellValue): TypeError {
    return this.unfit(kindOf(value));
  }

  /** @param kind what does not fit, in words that hold nothing of the value */
  protected unfit(kind: string): TypeError {
    return new MisfitError(kind, this.type);
  }
}

/** That a value does not fit a column; the message holds nothing of the value. */
export class MisfitError extends TypeError {
  readonly kind: string;

  constructor(kind: string, type: DataType) {
    super(`${capitalized(kind)} does not fit a column of the type ${type}`);
    this.kind = kind;
  }
}

/** What kind a value has, for a message; nothing of the value itself, which may be a secret. */
function kindOf(value: unknown): string {
  if (value === null) return "a NULL";
  if (Array.isArray(value)) return "a list";
  if (value instanceof Uint8Array) return "a run of bytes";
  if (value instanceof Map) return "a map";
  if (value instanceof Date) return "a Date";
  switch (typeof value) {
    case "string":
      return "a text";
    case "boolean":
      return "a boolean";
    case "bigint":
      return "a bigint";
    case "number":
      return Number.isInteger(value) || !Number.isFinite(value) ? "a number" : "a number with a fraction";
    case "object":
      return "an object";
  }
  return `a ${typeof value}`;
}

function capitalized(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

/** Bits with a place for this row; new ones are set. */
function withRoom(bits: Uint8Array<ArrayBuffer>, row: number): Uint8Array<ArrayBuffer> {
  if (row >> 3 < bits.length) return bits;
  const larger = new Uint8Array(Math.max(128, bits.length * 2, (row >> 3) + 1)).fill(0xff);
  larger.set(bits);
  return larger;
}

/** The larger array with the smaller one's values at its start. */
export function grown<T extends { set(values: T): void }>(smaller: T, larger: T): T {
  larger.set(smaller);
  return larger;
}

/** A whole number or `bigint` as `bigint`; undefined for what is neither. */
export function wholeOf(value: CellValue): bigint | undefined {
  if (typeof value === "bigint") return value;
  return typeof value === "number" && Number.isSafeInteger(value) ? BigInt(value) : undefined;
}
