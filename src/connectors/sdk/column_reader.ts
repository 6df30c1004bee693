import type { Data, Field } from "../../util/arrow.ts";
import type { CellValue } from "./cell.ts";

/** What the values of a column are; it says which accessors a reader has. */
export type ColumnKind =
  | "null"
  | "bool"
  /** Integers of at most 32 bits. */
  | "int"
  /** 64-bit integers. */
  | "long"
  | "float"
  | "decimal"
  | "hugeint"
  | "uhugeint"
  | "date"
  | "time"
  | "timestamp"
  | "timestamptz"
  | "interval"
  | "text"
  | "json"
  | "blob"
  | "uuid"
  | "list"
  | "struct"
  | "map";

/**
 * Exact access to the values of one column of one batch. `value` gives any of them; the others are for those who want no
 * object for each, and fail for a column of another kind. Of a row that `isNull` says is NULL, only `value` means
 * anything.
 */
export abstract class ColumnReader {
  readonly field: Field;
  readonly kind: ColumnKind;
  readonly length: number;
  /** Digits after the point: a decimal's scale; of times and timestamps 0, 3, 6 or 9 of a second. */
  readonly digits: number;
  readonly #bits: Uint8Array | undefined;
  readonly #offset: number;

  constructor(field: Field, data: Data, kind: ColumnKind, digits = 0) {
    this.field = field;
    this.kind = kind;
    this.length = data.length;
    this.digits = digits;
    this.#bits = data.nullCount === 0 || data.nullBitmap.length === 0 ? undefined : data.nullBitmap;
    this.#offset = data.offset;
  }

  isNull(row: number): boolean {
    if (this.#bits === undefined) return false;
    const at = this.#offset + row;
    return ((this.#bits[at >> 3] ?? 0) & (1 << (at & 7))) === 0;
  }

  /** The value as a builder of such a column takes it. */
  value(row: number): CellValue {
    return this.isNull(row) ? null : this.present(row);
  }

  bool(_row: number): boolean {
    throw this.#misuse("booleans");
  }

  /** An integer of 32 bits, or a date in days since 1970. */
  i32(_row: number): number {
    throw this.#misuse("32-bit integers");
  }

  i64(_row: number): bigint {
    throw this.#misuse("64-bit integers");
  }

  f64(_row: number): number {
    throw this.#misuse("numbers");
  }

  /** A decimal's unscaled value, or a 128-bit integer. */
  i128(_row: number): bigint {
    throw this.#misuse("128-bit integers");
  }

  /** A text's UTF-8, a blob's or a UUID's bytes; a view that must not be changed. */
  bytes(_row: number): Uint8Array {
    throw this.#misuse("bytes");
  }

  /** The text of a value that is a text, a number, or a UUID. */
  text(_row: number): string {
    throw this.#misuse("texts");
  }

  /** The value of a row that has one. */
  protected abstract present(row: number): CellValue;

  #misuse(what: string): TypeError {
    return new TypeError(`Column "${this.field.name}" of the type ${this.field.type} has no ${what}`);
  }
}
