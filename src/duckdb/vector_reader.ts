import type * as NodeBindings from "@duckdb/node-bindings";
import type { Vector } from "@duckdb/node-bindings";

/** Bytes of a text entry: length, then up to 12 bytes in place, or 4 bytes of prefix and a pointer. */
const ENTRY_BYTES = 16;
const INLINE_BYTES = 12;
const TWO_TO_32 = 2 ** 32;

/**
 * Texts whose bytes lie at most this far apart are fetched together: no more than a page, so that every page that is
 * read holds a part of a text and is there.
 */
const WINDOW_GAP = 4096;
const WINDOW_BYTES = 1 << 20;
/** Up to this length a loop copies faster than a call. */
const LOOP_BYTES = 48;

/** Reads one column of a chunk in DuckDB's own layout. It is valid as long as the chunk is held. */
export class VectorReader {
  readonly #bindings: typeof NodeBindings.default;
  readonly #vector: Vector;
  /** How many values the vector holds. */
  readonly rows: number;
  #validity: Uint8Array | null | undefined;
  #values: Uint8Array | undefined;
  readonly #children: VectorReader[] = [];

  constructor(bindings: typeof NodeBindings.default, vector: Vector, rows: number) {
    this.#bindings = bindings;
    this.#vector = vector;
    this.rows = rows;
  }

  /** A bitmap in which a set bit, from the lowest of byte 0 on, means a value; null: all rows have one. */
  validity(): Uint8Array | null {
    if (this.#validity === undefined) {
      const bytes = ((this.rows + 63) >> 6) * 8;
      this.#validity = bytes === 0 ? null : this.#bindings.vector_get_validity(this.#vector, bytes);
    }
    return this.#validity;
  }

  /** A copy of all values, each `width` bytes wide. */
  values(width: number): Uint8Array {
    if (this.#values === undefined) {
      const values = this.rows === 0
        ? new Uint8Array(0)
        : this.#bindings.vector_get_data(this.#vector, this.rows * width);
      // Views of wider numbers need an even start.
      this.#values = (values.byteOffset & 7) === 0 ? values : values.slice();
    }
    return this.#values;
  }

  /** The items of lists, of which each row holds its first one and how many in two 64-bit numbers. */
  items(): VectorReader {
    return this.#child(
      0,
      () => this.#bindings.list_vector_get_child(this.#vector),
      () => this.#bindings.list_vector_get_size(this.#vector),
    );
  }

  /** The elements of arrays of one length. */
  elements(length: number): VectorReader {
    return this.#child(0, () => this.#bindings.array_vector_get_child(this.#vector), () => this.rows * length);
  }

  /** A field of structs, or the keys (0) or values (1) of the entries of maps. */
  field(index: number): VectorReader {
    return this.#child(index, () => this.#bindings.struct_vector_get_child(this.#vector, index), () => this.rows);
  }

  /** How many bytes the texts of a run of rows have together. */
  textBytes(from: number, rows: number): number {
    const entries = this.#textEntries();
    const validity = this.validity();
    let bytes = 0;
    for (let row = from; row < from + rows; row++) {
      if (hasValue(validity, row)) bytes += entries[row * 4] ?? 0;
    }
    return bytes;
  }

  /**
   * Copies the texts of a run of rows into `target` from `at` on, which has room for them, and writes where each ends
   * into `ends` from `endsAt` on. A NULL is empty. Returns where the last one ends.
   */
  copyTexts(from: number, rows: number, target: Uint8Array, at: number, ends: Int32Array, endsAt: number): number {
    const entries = this.#textEntries();
    const own = viewOf(this.values(ENTRY_BYTES));
    const out = viewOf(target);
    const validity = this.validity();
    const last = from + rows;
    let next = at;
    let row = from;
    while (row < last) {
      const window = this.#window(entries, validity, row, last);
      const { end, low, bytes, view } = window;
      for (; row < end; row++) {
        if (hasValue(validity, row)) {
          const entry = row * 4;
          const length = entries[entry] ?? 0;
          const isInline = length <= INLINE_BYTES;
          const source = isInline ? own : view;
          const start = isInline ? entry * 4 + 4 : addressAt(entries, entry) - low;
          if (length <= LOOP_BYTES) {
            let index = 0;
            for (; index + 4 <= length; index += 4) {
              out.setUint32(next + index, source.getUint32(start + index, true), true);
            }
            for (; index < length; index++) target[next + index] = source.getUint8(start + index);
          } else {
            target.set(bytes.subarray(start, start + length), next);
          }
          next += length;
        }
        ends[endsAt++] = next;
      }
    }
    return next;
  }

  /** Fetches the bytes of as many texts from `row` on as lie near each other, by one call. */
  #window(entries: Uint32Array, validity: Uint8Array | null, row: number, last: number): Window {
    let low = 0;
    let high = 0;
    let end = row;
    for (; end < last; end++) {
      if (!hasValue(validity, end)) continue;
      const length = entries[end * 4] ?? 0;
      if (length <= INLINE_BYTES) continue;
      const address = addressAt(entries, end * 4);
      if (high === 0) {
        low = address;
        high = address + length;
        continue;
      }
      if (address + length + WINDOW_GAP < low || address > high + WINDOW_GAP) break;
      const newLow = Math.min(low, address);
      const newHigh = Math.max(high, address + length);
      if (newHigh - newLow > WINDOW_BYTES) break;
      low = newLow;
      high = newHigh;
    }
    if (high === 0) return { end, low, bytes: NO_BYTES, view: NO_VIEW };
    const pointer = new Uint32Array([low % TWO_TO_32, Math.floor(low / TWO_TO_32)]);
    const bytes = this.#bindings.get_data_from_pointer(pointer.buffer, 0, high - low);
    return { end, low, bytes, view: viewOf(bytes) };
  }

  #textEntries(): Uint32Array {
    const values = this.values(ENTRY_BYTES);
    return new Uint32Array(values.buffer, values.byteOffset, values.byteLength >> 2);
  }

  #child(index: number, open: () => Vector, rows: () => number): VectorReader {
    let child = this.#children[index];
    if (child === undefined) {
      child = new VectorReader(this.#bindings, open(), rows());
      this.#children[index] = child;
    }
    return child;
  }
}

/** Bytes from address `low` on, of texts up to row `end`. */
type Window = { readonly end: number; readonly low: number; readonly bytes: Uint8Array; readonly view: DataView };

const NO_BYTES = new Uint8Array(0);
const NO_VIEW = new DataView(NO_BYTES.buffer);

/** Whether a row of a validity bitmap has a value. */
export function hasValue(validity: Uint8Array | null, row: number): boolean {
  return validity === null || (((validity[row >> 3] ?? 0) >> (row & 7)) & 1) === 1;
}

function addressAt(entries: Uint32Array, entry: number): number {
  return (entries[entry + 2] ?? 0) + (entries[entry + 3] ?? 0) * TWO_TO_32;
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
