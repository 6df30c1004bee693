import { hasValue, type VectorReader } from "../duckdb/mod.ts";
import type { Data, DataType } from "../util/arrow.ts";
import { type Collector, Growing, Validity } from "./collect.ts";

/** Calls `take` with each run of items that lie one after another, in the order of the rows. */
type TakeRun = (first: number, count: number) => void;

/** Lists, and maps as lists of their entries. */
export class ListCollector implements Collector {
  readonly #type: DataType;
  readonly #items: Collector;
  readonly #validity = new Validity();
  readonly #ends = new Growing();
  #length = 0;

  constructor(type: DataType, items: Collector) {
    this.#type = type;
    this.#items = items;
  }

  cost(reader: VectorReader, from: number, rows: number): number {
    const items = reader.items();
    let bytes = rows * 4;
    eachRun(reader, from, rows, (first, count) => bytes += this.#items.cost(items, first, count));
    return bytes;
  }

  add(reader: VectorReader, from: number, rows: number): void {
    const at = this.#validity.rows;
    const validity = reader.validity();
    this.#validity.add(validity, from, rows);
    const room = this.#ends.reserve((at + rows + 1) * 4);
    const ends = new Int32Array(room.buffer, 0, room.length >> 2);
    const entries = entriesOf(reader);
    for (let row = 0; row < rows; row++) {
      if (hasValue(validity, from + row)) this.#length += entries[(from + row) * 4 + 2] ?? 0;
      ends[at + row + 1] = this.#length;
    }
    const items = reader.items();
    eachRun(reader, from, rows, (first, count) => this.#items.add(items, first, count));
  }

  take(): Data {
    const { rows } = this.#validity;
    const offsets = new Int32Array(this.#ends.take((rows + 1) * 4), 0, rows + 1);
    this.#length = 0;
    return this.#validity.take(this.#type, { 0: offsets }, [this.#items.take()]);
  }
}

function eachRun(reader: VectorReader, from: number, rows: number, take: TakeRun): void {
  const entries = entriesOf(reader);
  const validity = reader.validity();
  let first = 0;
  let count = 0;
  for (let row = from; row < from + rows; row++) {
    if (!hasValue(validity, row)) continue;
    const start = entries[row * 4] ?? 0;
    const length = entries[row * 4 + 2] ?? 0;
    if (length === 0) continue;
    if (count > 0 && start !== first + count) {
      take(first, count);
      count = 0;
    }
    if (count === 0) first = start;
    count += length;
  }
  if (count > 0) take(first, count);
}

/** First item and length of each row, both as two words of which a vector's items never need the upper one. */
function entriesOf(reader: VectorReader): Uint32Array {
  const values = reader.values(16);
  return new Uint32Array(values.buffer, values.byteOffset, values.byteLength >> 2);
}

/** Arrays of one length. */
export class ArrayCollector implements Collector {
  readonly #type: DataType;
  readonly #items: Collector;
  readonly #length: number;
  readonly #validity = new Validity();

  constructor(type: DataType, items: Collector, length: number) {
    this.#type = type;
    this.#items = items;
    this.#length = length;
  }

  cost(reader: VectorReader, from: number, rows: number): number {
    return rows + this.#items.cost(reader.elements(this.#length), from * this.#length, rows * this.#length);
  }

  add(reader: VectorReader, from: number, rows: number): void {
    this.#validity.add(reader.validity(), from, rows);
    this.#items.add(reader.elements(this.#length), from * this.#length, rows * this.#length);
  }

  take(): Data {
    return this.#validity.take(this.#type, {}, [this.#items.take()]);
  }
}

/** Structs. */
export class StructCollector implements Collector {
  readonly #type: DataType;
  readonly #fields: readonly Collector[];
  readonly #validity = new Validity();

  constructor(type: DataType, fields: readonly Collector[]) {
    this.#type = type;
    this.#fields = fields;
  }

  cost(reader: VectorReader, from: number, rows: number): number {
    return this.#fields.reduce((sum, field, index) => sum + field.cost(reader.field(index), from, rows), rows);
  }

  add(reader: VectorReader, from: number, rows: number): void {
    this.#validity.add(reader.validity(), from, rows);
    this.#fields.forEach((field, index) => field.add(reader.field(index), from, rows));
  }

  take(): Data {
    return this.#validity.take(this.#type, {}, this.#fields.map((field) => field.take()));
  }
}
