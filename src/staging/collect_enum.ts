import { hasValue, type VectorReader } from "../duckdb/mod.ts";
import type { Data, DataType } from "../util/arrow.ts";
import { type Collector, Growing, Validity } from "./collect.ts";

/** Labels of an enumeration, which DuckDB holds as their numbers and Arrow gets as texts. */
export class EnumCollector implements Collector {
  readonly #type: DataType;
  readonly #labels: readonly Uint8Array[];
  /** Bytes of a number in DuckDB. */
  readonly #width: number;
  readonly #validity = new Validity();
  readonly #ends = new Growing();
  readonly #room = new Growing();
  #length = 0;

  constructor(type: DataType, labels: readonly string[]) {
    const encoder = new TextEncoder();
    this.#type = type;
    this.#labels = labels.map((label) => encoder.encode(label));
    this.#width = labels.length <= 0xff ? 1 : labels.length <= 0xffff ? 2 : 4;
  }

  cost(reader: VectorReader, from: number, rows: number): number {
    return rows * 4 + this.#textBytes(reader, from, rows);
  }

  add(reader: VectorReader, from: number, rows: number): void {
    const at = this.#validity.rows;
    const validity = reader.validity();
    this.#validity.add(validity, from, rows);
    const target = this.#room.reserve(this.#length + this.#textBytes(reader, from, rows));
    const room = this.#ends.reserve((at + rows + 1) * 4);
    const ends = new Int32Array(room.buffer, 0, room.length >> 2);
    const numbers = this.#numbers(reader);
    for (let row = 0; row < rows; row++) {
      if (hasValue(validity, from + row)) {
        const label = this.#labels[numbers[from + row] ?? 0];
        if (label === undefined) throw new RangeError("An enumeration has no such label");
        target.set(label, this.#length);
        this.#length += label.length;
      }
      ends[at + row + 1] = this.#length;
    }
  }

  take(): Data {
    const { rows } = this.#validity;
    const offsets = new Int32Array(this.#ends.take((rows + 1) * 4), 0, rows + 1);
    const bytes = new Uint8Array(this.#room.take(this.#length), 0, this.#length);
    this.#length = 0;
    return this.#validity.take(this.#type, { 0: offsets, 1: bytes });
  }

  #textBytes(reader: VectorReader, from: number, rows: number): number {
    const validity = reader.validity();
    const numbers = this.#numbers(reader);
    let bytes = 0;
    for (let row = from; row < from + rows; row++) {
      if (hasValue(validity, row)) bytes += this.#labels[numbers[row] ?? 0]?.length ?? 0;
    }
    return bytes;
  }

  #numbers(reader: VectorReader): Uint8Array | Uint16Array | Uint32Array {
    const { buffer, byteOffset, byteLength } = reader.values(this.#width);
    if (this.#width === 1) return new Uint8Array(buffer, byteOffset, byteLength);
    return this.#width === 2
      ? new Uint16Array(buffer, byteOffset, byteLength >> 1)
      : new Uint32Array(buffer, byteOffset, byteLength >> 2);
  }
}
