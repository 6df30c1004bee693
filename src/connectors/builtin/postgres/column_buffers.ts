import { Data, type DataType } from "../../../util/arrow.ts";
import { type Cells, countNulls } from "./cells.ts";

const FIRST_ROWS = 1024;

/** Which rows of a column have a value. */
export class Validity {
  length = 0;
  #nulls = 0;
  /** Every bit of a row without NULL, and of those to come, is set. Undefined while no row is NULL. */
  #bits: Uint8Array | undefined;

  add(cells: Cells): void {
    const { places, from, rows } = cells;
    const start = this.length;
    this.length += rows;
    const nulls = countNulls(cells);
    if (nulls === 0 && this.#bits === undefined) return;
    const bits = this.#reserve();
    if (nulls === 0) return;
    this.#nulls += nulls;
    for (let row = 0; row < rows; row++) {
      if ((places[from + row] ?? -1) >= 0) continue;
      const byte = (start + row) >> 3;
      bits[byte] = (bits[byte] ?? 0) & ~(1 << ((start + row) & 7));
    }
  }

  /** The rows so far as Arrow data with these buffers; starts anew. */
  take(type: DataType, offsets: Int32Array | undefined, values: ArrayBufferView | undefined, children: Data[]): Data {
    const bits = this.#bits?.subarray(0, (this.length + 7) >> 3);
    const buffers = { ...offsets && { 0: offsets }, ...values && { 1: values }, ...bits && { 2: bits } };
    const data = new Data(type, 0, this.length, this.#nulls, buffers, children);
    this.length = this.#nulls = 0;
    this.#bits = undefined;
    return data;
  }

  #reserve(): Uint8Array {
    const needed = (this.length + 7) >> 3;
    const old = this.#bits;
    if (old !== undefined && needed <= old.length) return old;
    const grown = new Uint8Array(Math.max(needed * 2, FIRST_ROWS >> 3)).fill(0xff);
    if (old !== undefined) grown.set(old);
    return this.#bits = grown;
  }
}

/** Room for bytes that grows as they come; the first room is a little larger than what was taken last. */
export class Room {
  #bytes = new Uint8Array(0);
  #first: number;

  constructor(first: number) {
    this.#first = first;
  }

  /** The room, with space for so many bytes; those that were never written are 0. */
  reserve(length: number): Uint8Array<ArrayBuffer> {
    const old = this.#bytes;
    if (length <= old.length) return old;
    const grown = new Uint8Array(roundUp(Math.max(length, old.length === 0 ? this.#first : old.length * 2)));
    grown.set(old);
    return this.#bytes = grown;
  }

  /** Gives the room away. */
  take(length: number): Uint8Array<ArrayBuffer> {
    const taken = this.reserve(length);
    this.#bytes = new Uint8Array(0);
    this.#first = length + (length >> 4);
    return taken;
  }
}

function roundUp(length: number): number {
  return (length + 63) & ~63;
}
