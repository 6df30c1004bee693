import type { Data, DataType, Field } from "../../../util/arrow.ts";
import { BadValue } from "./bad_value.ts";
import { BytesColumn } from "./bytes_column.ts";
import { type Cells, NULL_PLACE } from "./cells.ts";
import { Room, Validity } from "./column_buffers.ts";
import { BoolColumn, type Column, FixedColumn, type FixedForm } from "./fixed_columns.ts";
import {
  decimalsPut,
  putDates,
  putEightBytes,
  putFourBytes,
  putIntervals,
  putSixteenBytes,
  putTimestamps,
  putTwoBytes,
} from "./fixed_values.ts";
import type { Kind } from "./kind.ts";
import { decimalsOf } from "./numeric.ts";

export type { Column };

const SHORT: FixedForm = { width: 2, put: putTwoBytes, view: (buffer, rows) => new Int16Array(buffer, 0, rows) };
const INT: FixedForm = { width: 4, put: putFourBytes, view: (buffer, rows) => new Int32Array(buffer, 0, rows) };
const UINT: FixedForm = { ...INT, view: (buffer, rows) => new Uint32Array(buffer, 0, rows) };
const FLOAT: FixedForm = { ...INT, view: (buffer, rows) => new Float32Array(buffer, 0, rows) };
const DATE: FixedForm = { ...INT, put: putDates };
const LONG: FixedForm = { width: 8, put: putEightBytes, view: (buffer, rows) => new BigInt64Array(buffer, 0, rows) };
const DOUBLE: FixedForm = { ...LONG, view: (buffer, rows) => new Float64Array(buffer, 0, rows) };
const TIMESTAMP: FixedForm = { ...LONG, put: putTimestamps };
const UUID: FixedForm = {
  width: 16,
  put: putSixteenBytes,
  view: (buffer, rows) => new Uint8Array(buffer, 0, rows * 16),
};
const INTERVAL: FixedForm = {
  width: 16,
  put: putIntervals,
  view: (buffer, rows) => new Int32Array(buffer, 0, rows * 4),
};

/** The collector for a column of a kind. */
export function columnOf(field: Field, kind: Kind): Column {
  const type: DataType = field.type;
  switch (kind.kind) {
    case "bool":
      return new BoolColumn(type);
    case "int2":
      return new FixedColumn(type, SHORT);
    case "int4":
      return new FixedColumn(type, INT);
    case "uint4":
      return new FixedColumn(type, UINT);
    case "int8":
    case "time":
      return new FixedColumn(type, LONG);
    case "float4":
      return new FixedColumn(type, FLOAT);
    case "float8":
      return new FixedColumn(type, DOUBLE);
    case "decimal":
      return new FixedColumn(type, {
        width: 16,
        put: decimalsPut(decimalsOf(kind.precision, kind.scale)),
        view: (buffer, rows) => new Uint32Array(buffer, 0, rows * 4),
      });
    case "date":
      return new FixedColumn(type, DATE);
    case "timestamp":
    case "timestamptz":
      return new FixedColumn(type, TIMESTAMP);
    case "interval":
      return new FixedColumn(type, INTERVAL);
    case "uuid":
      return new FixedColumn(type, UUID);
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

/** Arrays of one dimension that count from 1, as all do that nobody made otherwise. */
class ListColumn implements Column {
  readonly #type: DataType;
  readonly #items: Column;
  readonly #validity = new Validity();
  readonly #offsets = new Room(1025 * 4);
  #count = 0;

  constructor(type: DataType, items: Column) {
    this.#type = type;
    this.#items = items;
  }

  add(cells: Cells): void {
    const { bytes, view, places, from, rows } = cells;
    const row = this.#validity.length;
    const offsets = new Int32Array(this.#offsets.reserve((row + rows + 1) * 4).buffer);
    const items: number[] = [];
    for (let index = 0; index < rows; index++) {
      const at = places[from + index] ?? NULL_PLACE;
      if (at >= 0) findItems(view, at, items);
      offsets[row + index + 1] = this.#count + items.length;
    }
    this.#count += items.length;
    this.#items.add({ bytes, view, places: Int32Array.from(items), from: 0, rows: items.length });
    this.#validity.add(cells);
  }

  take(): Data {
    const rows = this.#validity.length;
    const offsets = new Int32Array(this.#offsets.take((rows + 1) * 4).buffer, 0, rows + 1);
    this.#count = 0;
    return this.#validity.take(this.#type, offsets, undefined, [this.#items.take()]);
  }
}

/** Adds the places of an array's elements. */
function findItems(view: DataView, at: number, items: number[]): void {
  const dimensions = view.getInt32(at);
  if (dimensions === 0) return;
  if (dimensions > 1) throw new BadValue(`an array has ${dimensions} dimensions, where a list has one`);
  const count = view.getInt32(at + 12);
  const first = view.getInt32(at + 16);
  if (first !== 1) throw new BadValue(`an array counts from ${first}, where a list counts from 1`);
  let item = at + 20;
  for (let index = 0; index < count; index++) {
    const length = view.getInt32(item);
    item += 4;
    items.push(length < 0 ? NULL_PLACE : item);
    if (length > 0) item += length;
  }
}
