import { Data, type DataType } from "../../../util/arrow.ts";

const FIRST_ROWS = 1024;

/** Which rows of a column have a value. */
export class Validity {
  length = 0;
  #nulls = 0;
  #bits = new Uint8Array(FIRST_ROWS >> 3);

  add(hasValue: boolean): void {
    const row = this.length++;
    const byte = row >> 3;
    if (byte >= this.#bits.length) this.#bits = larger(this.#bits, new Uint8Array(this.#bits.length * 2));
    if (hasValue) this.#bits[byte] = (this.#bits[byte] ?? 0) | (1 << (row & 7));
    else this.#nulls++;
  }

  /** The rows so far as Arrow data with these buffers; starts anew. */
  take(type: DataType, offsets: Int32Array | undefined, values: ArrayBufferView | undefined, children: Data[]): Data {
    const data = new Data(type, 0, this.length, this.#nulls, [offsets, values, this.#bits, undefined], children);
    this.length = this.#nulls = 0;
    this.#bits = new Uint8Array(FIRST_ROWS >> 3);
    return data;
  }
}

/** The larger array with the smaller one's values at its start. */
export function larger<T extends { set(values: T): void }>(smaller: T, bigger: T): T {
  bigger.set(smaller);
  return bigger;
}
