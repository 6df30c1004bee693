import type { Data, Field } from "../../util/arrow.ts";
import type { CellValue, Interval } from "./cell.ts";
import { type ColumnKind, ColumnReader } from "./column_reader.ts";
import { uuidText } from "./uuid.ts";

/** A column of nothing but NULL. */
export class NullReader extends ColumnReader {
  constructor(field: Field, data: Data) {
    super(field, data, "null");
  }

  override isNull(): boolean {
    return true;
  }

  protected override present(): CellValue {
    return null;
  }
}

export class BoolReader extends ColumnReader {
  readonly #values: Uint8Array;
  readonly #offset: number;

  constructor(field: Field, data: Data) {
    super(field, data, "bool");
    this.#values = data.values;
    this.#offset = data.offset;
  }

  override bool(row: number): boolean {
    const at = this.#offset + row;
    return ((this.#values[at >> 3] ?? 0) & (1 << (at & 7))) !== 0;
  }

  protected override present(row: number): CellValue {
    return this.bool(row);
  }
}

/** Integers of at most 32 bits, dates, and times that fit. */
export class IntReader extends ColumnReader {
  readonly #values: { readonly [row: number]: number };

  constructor(field: Field, data: Data, kind: ColumnKind, digits = 0) {
    super(field, data, kind, digits);
    this.#values = data.values;
  }

  override i32(row: number): number {
    return this.#values[row] ?? 0;
  }

  override i64(row: number): bigint {
    return BigInt(this.i32(row));
  }

  override text(row: number): string {
    return String(this.i32(row));
  }

  protected override present(row: number): CellValue {
    return this.i32(row);
  }
}

/** 64-bit integers, times and timestamps. */
export class LongReader extends ColumnReader {
  readonly #values: { readonly [row: number]: bigint };

  constructor(field: Field, data: Data, kind: ColumnKind, digits: number) {
    super(field, data, kind, digits);
    this.#values = data.values;
  }

  override i64(row: number): bigint {
    return this.#values[row] ?? 0n;
  }

  override text(row: number): string {
    return this.i64(row).toString();
  }

  protected override present(row: number): CellValue {
    return this.i64(row);
  }
}

export class FloatReader extends ColumnReader {
  readonly #values: { readonly [row: number]: number };

  /** @throws {TypeError} for numbers of 16 bits */
  constructor(field: Field, data: Data, isHalf: boolean) {
    super(field, data, "float");
    if (isHalf) throw new TypeError(`Column "${field.name}" has numbers of 16 bits, which can't be read`);
    this.#values = data.values;
  }

  override f64(row: number): number {
    return this.#values[row] ?? 0;
  }

  override text(row: number): string {
    return String(this.f64(row));
  }

  protected override present(row: number): CellValue {
    return this.f64(row);
  }
}

/** Decimals, 128-bit integers, UUIDs and blobs of a fixed size. */
export class WideReader extends ColumnReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #width: number;

  constructor(field: Field, data: Data, kind: ColumnKind, width: number, scale = 0) {
    super(field, data, kind, scale);
    const values: ArrayBufferView = data.values;
    this.#bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    this.#view = new DataView(values.buffer, values.byteOffset, values.byteLength);
    this.#width = width;
  }

  override i128(row: number): bigint {
    if (this.kind === "uuid" || this.kind === "blob") return super.i128(row);
    const low = this.#view.getBigUint64(16 * row, true);
    const high = this.kind === "uhugeint"
      ? this.#view.getBigUint64(16 * row + 8, true)
      : this.#view.getBigInt64(16 * row + 8, true);
    return (high << 64n) | low;
  }

  override bytes(row: number): Uint8Array {
    return this.#bytes.subarray(row * this.#width, (row + 1) * this.#width);
  }

  /** A decimal with all digits of its scale. */
  override text(row: number): string {
    if (this.kind === "uuid") return uuidText(this.#bytes, 16 * row);
    if (this.kind === "blob") return super.text(row);
    const value = this.i128(row);
    if (this.digits === 0) return value.toString();
    const digits = (value < 0n ? -value : value).toString().padStart(this.digits + 1, "0");
    return `${value < 0n ? "-" : ""}${digits.slice(0, -this.digits)}.${digits.slice(-this.digits)}`;
  }

  protected override present(row: number): CellValue {
    return this.kind === "uuid" ? this.text(row) : this.kind === "blob" ? this.bytes(row) : this.i128(row);
  }
}

export class IntervalReader extends ColumnReader {
  readonly #parts: Int32Array;

  constructor(field: Field, data: Data) {
    super(field, data, "interval", 9);
    this.#parts = data.values;
  }

  interval(row: number): Interval {
    const [months = 0, days = 0, low = 0, high = 0] = this.#parts.subarray(4 * row, 4 * row + 4);
    return { months, days, nanos: (BigInt(high) << 32n) | BigInt(low >>> 0) };
  }

  protected override present(row: number): CellValue {
    return this.interval(row);
  }
}
