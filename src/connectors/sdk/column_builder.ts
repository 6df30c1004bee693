import { Data, DataType, Precision } from "../../util/arrow.ts";

/** A value of a column: integers beyond 32 bits, decimals (unscaled), times and timestamps (microseconds) are `bigint`. */
export type CellValue = null | boolean | number | bigint | string | Uint8Array;

/** Collects the values of one column of one batch. */
export interface ColumnBuilder {
  /** @throws {TypeError} when the value does not fit the column's type */
  append(value: CellValue): void;
  /** Bytes that the values take so far, about. */
  readonly bytes: number;
  /** The collected values; the builder starts anew. */
  finish(): Data;
}

/** The builder for a type. */
export function columnBuilder(type: DataType): ColumnBuilder {
  if (DataType.isUtf8(type) || DataType.isBinary(type)) return new TextColumn(type);
  if (DataType.isBool(type)) return new BoolColumn(type);
  return new FixedColumn(type, fixedKind(type));
}

type FixedArray =
  | Int8Array<ArrayBuffer>
  | Int16Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | Uint8Array<ArrayBuffer>
  | Uint16Array<ArrayBuffer>
  | Uint32Array<ArrayBuffer>
  | Float32Array<ArrayBuffer>
  | Float64Array<ArrayBuffer>
  | BigInt64Array<ArrayBuffer>
  | BigUint64Array<ArrayBuffer>;

/** How values of one fixed width are stored: `width` elements of the view for each, filled in by `write`. */
type FixedKind = {
  readonly view: (buffer: ArrayBuffer) => FixedArray;
  readonly width: number;
  readonly write: (array: FixedArray, at: number, value: CellValue) => boolean;
};

function fixedKind(type: DataType): FixedKind {
  if (DataType.isInt(type)) {
    if (type.bitWidth === 64) return type.isSigned ? SIGNED_64 : UNSIGNED_64;
    return type.isSigned
      ? integerKind(type.bitWidth === 8 ? Int8Array : type.bitWidth === 16 ? Int16Array : Int32Array, type)
      : integerKind(type.bitWidth === 8 ? Uint8Array : type.bitWidth === 16 ? Uint16Array : Uint32Array, type);
  }
  if (DataType.isFloat(type)) {
    return type.precision === Precision.SINGLE ? floatKind(Float32Array) : floatKind(Float64Array);
  }
  if (DataType.isDecimal(type)) return DECIMAL_128;
  if (DataType.isDate(type)) return integerKind(Int32Array, { bitWidth: 32, isSigned: true });
  if (DataType.isTimestamp(type) || DataType.isTime(type)) return SIGNED_64;
  throw new TypeError(`there is no builder for columns of the type ${type}`);
}

const SIGNED_64: FixedKind = {
  view: (buffer) => new BigInt64Array(buffer),
  width: 1,
  write: (array, at, value) => {
    const whole = wholeOf(value);
    if (!(array instanceof BigInt64Array) || whole === undefined || BigInt.asIntN(64, whole) !== whole) return false;
    array[at] = whole;
    return true;
  },
};

const UNSIGNED_64: FixedKind = {
  view: (buffer) => new BigUint64Array(buffer),
  width: 1,
  write: (array, at, value) => {
    const whole = wholeOf(value);
    if (!(array instanceof BigUint64Array) || whole === undefined || BigInt.asUintN(64, whole) !== whole) return false;
    array[at] = whole;
    return true;
  },
};

const DECIMAL_128: FixedKind = {
  view: (buffer) => new BigUint64Array(buffer),
  width: 2,
  write: (array, at, value) => {
    if (!(array instanceof BigUint64Array) || typeof value !== "bigint" || BigInt.asIntN(128, value) !== value) {
      return false;
    }
    array[at] = BigInt.asUintN(64, value);
    array[at + 1] = BigInt.asUintN(64, value >> 64n);
    return true;
  },
};

function integerKind(
  View: new (buffer: ArrayBuffer) => Exclude<FixedArray, BigInt64Array | BigUint64Array>,
  { bitWidth, isSigned }: { readonly bitWidth: number; readonly isSigned: boolean },
): FixedKind {
  const high = 2 ** (isSigned ? bitWidth - 1 : bitWidth) - 1;
  const low = isSigned ? -high - 1 : 0;
  return {
    view: (buffer) => new View(buffer),
    width: 1,
    write: (array, at, value) => {
      if (typeof value !== "number" || !Number.isInteger(value) || value < low || value > high) return false;
      if (array instanceof BigInt64Array || array instanceof BigUint64Array) return false;
      array[at] = value;
      return true;
    },
  };
}

function floatKind(
  View: new (buffer: ArrayBuffer) => Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer>,
): FixedKind {
  return {
    view: (buffer) => new View(buffer),
    width: 1,
    write: (array, at, value) => {
      if (typeof value !== "number" || array instanceof BigInt64Array || array instanceof BigUint64Array) return false;
      array[at] = value;
      return true;
    },
  };
}

function wholeOf(value: CellValue): bigint | undefined {
  if (typeof value === "bigint") return value;
  return typeof value === "number" && Number.isSafeInteger(value) ? BigInt(value) : undefined;
}

const FIRST_BYTES = 8192;

/** One bit a row: set where there is a value. */
class Validity {
  #bits = new Uint8Array(128);
  #length = 0;
  nulls = 0;

  get length(): number {
    return this.#length;
  }

  append(valid: boolean): void {
    const at = this.#length >> 3;
    if (at >= this.#bits.length) this.#bits = grown(this.#bits, new Uint8Array(this.#bits.length * 2));
    if (valid) this.#bits[at] = (this.#bits[at] ?? 0) | (1 << (this.#length & 7));
    else this.nulls++;
    this.#length++;
  }

  bits(): Uint8Array<ArrayBuffer> {
    return this.#bits.subarray(0, (this.#length + 7) >> 3);
  }

  /** The column's data in Arrow's layout, with this as its validity. */
  toData(type: DataType, offsets: Int32Array | undefined, values: FixedArray): Data {
    return new Data(type, 0, this.#length, this.nulls, [offsets, values, this.bits(), undefined]);
  }
}

class FixedColumn implements ColumnBuilder {
  readonly #type: DataType;
  readonly #kind: FixedKind;
  #values: FixedArray;
  #validity = new Validity();

  constructor(type: DataType, kind: FixedKind) {
    this.#type = type;
    this.#kind = kind;
    this.#values = kind.view(new ArrayBuffer(FIRST_BYTES));
  }

  get bytes(): number {
    return this.#validity.length * this.#kind.width * this.#values.BYTES_PER_ELEMENT;
  }

  append(value: CellValue): void {
    const at = this.#validity.length * this.#kind.width;
    if (at + this.#kind.width > this.#values.length) {
      const larger = new Uint8Array(this.#values.byteLength * 2);
      larger.set(new Uint8Array(this.#values.buffer));
      this.#values = this.#kind.view(larger.buffer);
    }
    if (value !== null && !this.#kind.write(this.#values, at, value)) throw misfit(value, this.#type);
    this.#validity.append(value !== null);
  }

  finish(): Data {
    const used = this.#values.subarray(0, this.#validity.length * this.#kind.width);
    // Arrow's JavaScript keeps decimals as 32-bit words.
    const values = this.#kind.width === 1 ? used : new Uint32Array(used.buffer, 0, used.byteLength / 4);
    const data = this.#validity.toData(this.#type, undefined, values);
    this.#values = this.#kind.view(new ArrayBuffer(FIRST_BYTES));
    this.#validity = new Validity();
    return data;
  }
}

class BoolColumn implements ColumnBuilder {
  readonly #type: DataType;
  #values = new Validity();
  #validity = new Validity();

  constructor(type: DataType) {
    this.#type = type;
  }

  get bytes(): number {
    return this.#values.length >> 3;
  }

  append(value: CellValue): void {
    if (value !== null && typeof value !== "boolean") throw misfit(value, this.#type);
    this.#values.append(value === true);
    this.#validity.append(value !== null);
  }

  finish(): Data {
    const data = this.#validity.toData(this.#type, undefined, this.#values.bits());
    this.#values = new Validity();
    this.#validity = new Validity();
    return data;
  }
}

class TextColumn implements ColumnBuilder {
  static readonly #encoder = new TextEncoder();
  readonly #type: DataType;
  #offsets = new Int32Array(1025);
  #bytes = new Uint8Array(16 * 1024);
  #fill = 0;
  #validity = new Validity();

  constructor(type: DataType) {
    this.#type = type;
  }

  get bytes(): number {
    return this.#fill + this.#validity.length * 4;
  }

  append(value: CellValue): void {
    if (typeof value === "string" && DataType.isUtf8(this.#type)) {
      this.#reserve(value.length * 3);
      this.#fill += TextColumn.#encoder.encodeInto(value, this.#bytes.subarray(this.#fill)).written;
    } else if (value instanceof Uint8Array) {
      this.#reserve(value.length);
      this.#bytes.set(value, this.#fill);
      this.#fill += value.length;
    } else if (value !== null) throw misfit(value, this.#type);
    this.#validity.append(value !== null);
    const row = this.#validity.length;
    if (row >= this.#offsets.length) this.#offsets = grown(this.#offsets, new Int32Array(this.#offsets.length * 2));
    this.#offsets[row] = this.#fill;
  }

  #reserve(more: number): void {
    const needed = this.#fill + more;
    if (needed > 0x7fffffff) throw new RangeError("more than 2 GiB of text in one column of a batch");
    if (needed > this.#bytes.length) {
      this.#bytes = grown(this.#bytes, new Uint8Array(Math.max(needed, this.#bytes.length * 2)));
    }
  }

  finish(): Data {
    const offsets = this.#offsets.subarray(0, this.#validity.length + 1);
    const data = this.#validity.toData(this.#type, offsets, this.#bytes.subarray(0, this.#fill));
    this.#offsets = new Int32Array(1025);
    this.#bytes = new Uint8Array(16 * 1024);
    this.#fill = 0;
    this.#validity = new Validity();
    return data;
  }
}

/** The larger array with the smaller one's values at its start. */
function grown<T extends { set(values: T): void }>(smaller: T, larger: T): T {
  larger.set(smaller);
  return larger;
}

function misfit(value: CellValue, type: DataType): TypeError {
  return new TypeError(`a value of the kind ${typeof value} does not fit a column of the type ${type}`);
}
