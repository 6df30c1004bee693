import type * as NodeBindings from "@duckdb/node-bindings";
import type { Vector } from "@duckdb/node-bindings";

/** The most rows that one vector holds. */
export const VECTOR_ROWS = 2048;

/** Bytes of a text entry: length, then up to 12 bytes in place, or 4 bytes of prefix and a pointer. */
const ENTRY_BYTES = 16;
const INLINE_BYTES = 12;
const TWO_TO_32 = 2 ** 32;

/** Room for the entries of one vector's texts. */
const textEntries = new Uint32Array(VECTOR_ROWS * 4);

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Writes one column of a chunk from row 0 on, in DuckDB's own layout. Every range is checked against its source, since
 * the bindings below copy raw memory; what does not fit is a `RangeError`.
 */
export class VectorWriter {
  readonly #bindings: typeof NodeBindings.default;
  readonly #vector: Vector;

  constructor(bindings: typeof NodeBindings.default, vector: Vector) {
    this.#bindings = bindings;
    this.#vector = vector;
  }

  /** Copies values of a fixed width as they are stored, from `from` on, both counted in elements of the array. */
  values(source: Numbers, from: number, count: number): void {
    if (from < 0 || count < 0 || from + count > source.length) {
      throw new RangeError(`Expected ${from + count} values, got ${source.length}`);
    }
    const width = source.BYTES_PER_ELEMENT;
    this.#copy(source, from * width, count * width);
  }

  /** Marks rows as NULL by a bitmap in which a set bit, from the lowest of byte 0 on, means a value. */
  validity(bitmap: Uint8Array, rows: number): void {
    const bytes = (rows + 7) >> 3;
    if (bytes > bitmap.length) throw new RangeError(`Expected ${rows} validity bits, got ${bitmap.length * 8}`);
    this.#bindings.vector_ensure_validity_writable(this.#vector);
    const own = plainBuffer(bitmap, 0, bytes);
    this.#bindings.copy_data_to_vector_validity(this.#vector, 0, own.buffer, own.at, bytes);
  }

  /**
   * Writes texts or byte strings: row `i` is `bytes` from `offsets[from + i]` up to the next offset.
   *
   * @throws {TypeError} when a text is not UTF-8
   */
  texts(offsets: Int32Array, bytes: Uint8Array, from: number, rows: number, isText: boolean): void {
    const start = offsets[from];
    const end = offsets[from + rows];
    if (start === undefined || end === undefined || start < 0 || end < start || end > bytes.length) {
      throw new RangeError("Text offsets do not fit their bytes");
    }
    const base = end - start > INLINE_BYTES
      ? this.#store(bytes.subarray(start, end)) - start
      : checkShort(bytes.subarray(start, end), isText);
    // Copied before anybody else can write there.
    const entries = rows <= VECTOR_ROWS ? textEntries : new Uint32Array(rows * 4);
    const entryBytes = new Uint8Array(entries.buffer);
    let at = start;
    for (let row = 0, word = 0; row < rows; row++, word += 4) {
      const next = offsets[from + row + 1] ?? -1;
      const length = next - at;
      if (length < 0 || next > end) throw new RangeError("Text offsets do not ascend");
      // Both halves of a letter may be valid together while each text alone is not.
      if (isText && at < end && ((bytes[at] ?? 0) & 0xc0) === 0x80) throw notUtf8();
      entries[word] = length;
      if (length <= INLINE_BYTES) {
        entries[word + 1] = entries[word + 2] = entries[word + 3] = 0;
        const target = (word << 2) + 4;
        for (let index = 0; index < length; index++) entryBytes[target + index] = bytes[at + index] ?? 0;
      } else {
        entries[word + 1] = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) |
          ((bytes[at + 3] ?? 0) << 24);
        const pointer = base + at;
        entries[word + 2] = pointer % TWO_TO_32;
        entries[word + 3] = Math.floor(pointer / TWO_TO_32);
      }
      at = next;
    }
    this.#copy(entries, 0, rows * ENTRY_BYTES);
  }

  /**
   * Writes lists by their offsets and returns the writer of the elements, which are those from `offsets[from]` up to
   * `offsets[from + rows]`.
   */
  lists(offsets: Int32Array, from: number, rows: number): VectorWriter {
    const start = offsets[from];
    const end = offsets[from + rows];
    if (start === undefined || end === undefined || start < 0 || end < start) {
      throw new RangeError("List offsets do not ascend");
    }
    const entries = new Uint32Array(rows * 4);
    let at = start;
    for (let row = 0, word = 0; row < rows; row++, word += 4) {
      const next = offsets[from + row + 1] ?? -1;
      if (next < at || next > end) throw new RangeError("List offsets do not ascend");
      entries[word] = at - start;
      entries[word + 2] = next - at;
      at = next;
    }
    this.#bindings.list_vector_reserve(this.#vector, end - start);
    this.#bindings.list_vector_set_size(this.#vector, end - start);
    this.#copy(entries, 0, entries.byteLength);
    return new VectorWriter(this.#bindings, this.#bindings.list_vector_get_child(this.#vector));
  }

  /** The writer of the elements of arrays of a fixed length. */
  elements(): VectorWriter {
    return new VectorWriter(this.#bindings, this.#bindings.array_vector_get_child(this.#vector));
  }

  /** The writer of a field of structs, or of the keys (0) and values (1) of a map's entries. */
  field(index: number): VectorWriter {
    return new VectorWriter(this.#bindings, this.#bindings.struct_vector_get_child(this.#vector, index));
  }

  /**
   * Puts a run of bytes into the vector's own heap and returns its address: the first entry is assigned the whole run,
   * and where DuckDB put it is read back from that entry. The heap lives as long as the vector.
   */
  #store(run: Uint8Array): number {
    this.#bindings.vector_assign_string_element_len(this.#vector, 0, run);
    const entry = this.#bindings.vector_get_data(this.#vector, ENTRY_BYTES);
    const view = new DataView(entry.buffer, entry.byteOffset, ENTRY_BYTES);
    // DuckDB drops a text that is not UTF-8.
    if (view.getUint32(0, true) !== run.length) throw notUtf8();
    return view.getUint32(8, true) + view.getUint32(12, true) * TWO_TO_32;
  }

  #copy(source: Numbers, byteOffset: number, byteCount: number): void {
    if (byteCount === 0) return;
    const { buffer, at } = plainBuffer(source, byteOffset, byteCount);
    this.#bindings.copy_data_to_vector(this.#vector, 0, buffer, at, byteCount);
  }
}

/** The bytes of a view in a buffer that is not shared, copied if need be. */
function plainBuffer(view: Numbers, byteOffset: number, byteCount: number): { buffer: ArrayBuffer; at: number } {
  const { buffer } = view;
  if (buffer instanceof ArrayBuffer) return { buffer, at: view.byteOffset + byteOffset };
  const own = new Uint8Array(buffer, view.byteOffset + byteOffset, byteCount).slice();
  return { buffer: own.buffer, at: 0 };
}

/** A typed array of values of a fixed width. */
export type Numbers =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Float32Array
  | Float64Array;

/** Runs that are kept in place pass no check of DuckDB's. */
function checkShort(run: Uint8Array, isText: boolean): 0 {
  if (isText) {
    try {
      strictUtf8.decode(run);
    } catch {
      throw notUtf8();
    }
  }
  return 0;
}

function notUtf8(): TypeError {
  return new TypeError("A text is not valid UTF-8");
}
