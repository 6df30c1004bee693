import type { Data, DataType, Field } from "../../../util/arrow.ts";
import { BadValue } from "./bad_value.ts";
import { larger, Validity } from "./column_buffers.ts";
import { BoolColumn, BytesColumn, type Column, FixedColumn } from "./fixed_columns.ts";
import type { Kind } from "./kind.ts";
import { putDecimal } from "./numeric.ts";

export type { Column };

/** 2000-01-01, from which PostgreSQL counts, from 1970-01-01 on. */
const EPOCH_DAYS = 10_957;
const EPOCH_MICROS = 946_684_800_000_000n;
const MAX_INT64 = 0x7fffffffffffffffn;
const MIN_INT64 = -0x8000000000000000n;
const MAX_INT32 = 0x7fffffff;
const MIN_INT32 = -0x80000000;
const NANOS_PER_MICRO = 1000n;

/** The collector for a column of a kind. */
export function columnOf(field: Field, kind: Kind): Column {
  const type: DataType = field.type;
  switch (kind.kind) {
    case "bool":
      return new BoolColumn(type);
    case "int2":
      return new FixedColumn(type, 1, (n) => new Int16Array(n), (array, slot, view, at) => {
        array[slot] = view.getInt16(at);
      });
    case "int4":
      return new FixedColumn(type, 1, (n) => new Int32Array(n), (array, slot, view, at) => {
        array[slot] = view.getInt32(at);
      });
    case "uint4":
      return new FixedColumn(type, 1, (n) => new Uint32Array(n), (array, slot, view, at) => {
        array[slot] = view.getUint32(at);
      });
    case "int8":
      return new FixedColumn(type, 1, (n) => new BigInt64Array(n), (array, slot, view, at) => {
        array[slot] = view.getBigInt64(at);
      });
    case "time":
      return new FixedColumn(type, 1, (n) => new BigInt64Array(n), (array, slot, view, at) => {
        array[slot] = view.getBigInt64(at);
      });
    case "float4":
      return new FixedColumn(type, 1, (n) => new Float32Array(n), (array, slot, view, at) => {
        array[slot] = view.getFloat32(at);
      });
    case "float8":
      return new FixedColumn(type, 1, (n) => new Float64Array(n), (array, slot, view, at) => {
        array[slot] = view.getFloat64(at);
      });
    case "decimal":
      return new FixedColumn(type, 4, (n) => new Uint32Array(n), (array, slot, view, at) => {
        putDecimal(array, slot, view, at, kind.precision, kind.scale);
      });
    case "date":
      return new FixedColumn(type, 1, (n) => new Int32Array(n), putDate);
    case "timestamp":
    case "timestamptz":
      return new FixedColumn(type, 1, (n) => new BigInt64Array(n), putTimestamp);
    case "interval":
      return new FixedColumn(type, 4, (n) => new Int32Array(n), putInterval);
    case "uuid":
      return new FixedColumn(type, 16, (n) => new Uint8Array(n), (array, slot, view, at) => {
        for (let index = 0; index < 16; index++) array[slot + index] = view.getUint8(at + index);
      });
    case "text":
    case "bytes":
    case "json":
      return new BytesColumn(type, 0);
    case "jsonb":
      return new BytesColumn(type, 1);
    case "list": {
      const child: Field | undefined = type.children[0];
      if (child === undefined) throw new TypeError("a list type without a type of elements");
      return new ListColumn(type, columnOf(child, kind.element));
    }
  }
}

/** Infinite dates stay infinite: the greatest value in both systems, the least one but one in DuckDB. */
function putDate(array: Int32Array, slot: number, view: DataView, at: number): void {
  const days = view.getInt32(at);
  array[slot] = days === MAX_INT32 ? MAX_INT32 : days === MIN_INT32 ? -MAX_INT32 : days + EPOCH_DAYS;
}

function putTimestamp(array: BigInt64Array, slot: number, view: DataView, at: number): void {
  const micros = view.getBigInt64(at);
  if (micros === MAX_INT64) array[slot] = MAX_INT64;
  else if (micros === MIN_INT64) array[slot] = -MAX_INT64;
  else if (micros + EPOCH_MICROS >= MAX_INT64) throw new BadValue("a timestamp is past the year 294246, DuckDB's last");
  else array[slot] = micros + EPOCH_MICROS;
}

function putInterval(array: Int32Array, slot: number, view: DataView, at: number): void {
  const micros = view.getBigInt64(at);
  const days = view.getInt32(at + 8);
  const months = view.getInt32(at + 12);
  if (months === MAX_INT32 && days === MAX_INT32) {
    throw new BadValue("an interval is infinite, which DuckDB can't hold");
  }
  if (months === MIN_INT32 && days === MIN_INT32) {
    throw new BadValue("an interval is infinite, which DuckDB can't hold");
  }
  const nanos = micros * NANOS_PER_MICRO;
  if (nanos > MAX_INT64 || nanos < MIN_INT64) {
    throw new BadValue("an interval has more than 292 years in hours, minutes and seconds");
  }
  array[slot] = months;
  array[slot + 1] = days;
  array[slot + 2] = Number(BigInt.asIntN(32, nanos));
  array[slot + 3] = Number(nanos >> 32n);
}

/** Arrays of one dimension that count from 1, as all do that nobody made otherwise. */
class ListColumn implements Column {
  readonly #type: DataType;
  readonly #items: Column;
  readonly #validity = new Validity();
  #offsets = new Int32Array(1025);
  #count = 0;

  constructor(type: DataType, items: Column) {
    this.#type = type;
    this.#items = items;
  }

  append(view: DataView, at: number): void {
    const dimensions = view.getInt32(at);
    if (dimensions > 1) throw new BadValue(`an array has ${dimensions} dimensions, where a list has one`);
    if (dimensions === 1) {
      const count = view.getInt32(at + 12);
      const first = view.getInt32(at + 16);
      if (first !== 1) throw new BadValue(`an array counts from ${first}, where a list counts from 1`);
      let item = at + 20;
      for (let index = 0; index < count; index++) {
        const length = view.getInt32(item);
        item += 4;
        if (length < 0) this.#items.appendNull();
        else {
          this.#items.append(view, item, length);
          item += length;
        }
      }
      this.#count += count;
    }
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
    this.#offsets[row] = this.#count;
  }

  take(): Data {
    const offsets = this.#offsets.subarray(0, this.#validity.length + 1);
    this.#offsets = new Int32Array(1025);
    this.#count = 0;
    return this.#validity.take(this.#type, offsets, undefined, [this.#items.take()]);
  }
}
