import { hasValue, type VectorReader } from "../duckdb/mod.ts";
import { Data, type DataType } from "../util/arrow.ts";

/** Collects values of one type, as DuckDB holds them, into one Arrow array after another. */
export type Collector = {
  /** About how many bytes a run of rows takes. */
  cost(reader: VectorReader, from: number, rows: number): number;
  /** Adds a run of rows. */
  add(reader: VectorReader, from: number, rows: number): void;
  /** The array of all rows since the last one. */
  take(): Data;
};

/** Room for values that grows as they come; the first room is a little larger than what was taken last. */
export class Growing {
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  #first = 0;

  /** The room, with space for so many bytes. */
  reserve(length: number): Uint8Array<ArrayBuffer> {
    if (length <= this.#bytes.length) return this.#bytes;
    const grown = new Uint8Array(roundUp(this.#bytes.length === 0 ? Math.max(length, this.#first) : length * 2));
    grown.set(this.#bytes);
    return this.#bytes = grown;
  }

  /** Gives the room away. */
  take(length: number): ArrayBuffer {
    const { buffer } = this.reserve(length);
    this.#bytes = new Uint8Array(0);
    this.#first = length + (length >> 3);
    return buffer;
  }
}

function roundUp(length: number): number {
  return (length + 63) & ~63;
}

/** Counts rows and keeps which of them have a value. */
export class Validity {
  rows = 0;
  #nulls = 0;
  /** Every bit from `rows` on is set. Undefined while no row is NULL. */
  #bits: Uint8Array | undefined;

  /** Adds rows whose bits are those of `bits` from `from` on; null: all have a value. */
  add(bits: Uint8Array | null, from: number, rows: number): void {
    const start = this.rows;
    this.rows += rows;
    if (bits === null || rows === 0) {
      if (this.#bits !== undefined) this.#reserve();
      return;
    }
    const target = this.#bits === undefined ? undefined : this.#reserve();
    const shift = from & 7;
    const first = from >> 3;
    for (let done = 0, index = first; done < rows; done += 8, index++) {
      let byte = ((bits[index] ?? 0) >> shift) | ((bits[index + 1] ?? 0) << (8 - shift));
      const left = rows - done;
      if (left < 8) byte |= 0xff << left;
      byte &= 0xff;
      if (byte === 0xff) continue;
      this.#nulls += 8 - (POPULATION[byte] ?? 0);
      const room = target ?? this.#reserve();
      const at = start + done;
      const into = at >> 3;
      const lift = at & 7;
      // Both bytes have set bits where these rows go.
      room[into] = (room[into] ?? 0) & ((byte << lift) | ((1 << lift) - 1));
      if (lift > 0) room[into + 1] = (room[into + 1] ?? 0) & ((byte >> (8 - lift)) | (0xff << lift));
    }
  }

  /** The array of these rows, of values and children in Arrow's form. */
  take(type: DataType, values: object, children: Data[] = []): Data {
    const buffers = {
      ...values,
      ...(this.#nulls === 0 ? {} : { 2: this.#reserve().subarray(0, (this.rows + 7) >> 3) }),
    };
    const data = new Data(type, 0, this.rows, this.#nulls, buffers, children);
    this.rows = this.#nulls = 0;
    this.#bits = undefined;
    return data;
  }

  #reserve(): Uint8Array {
    // One byte more than the rows need, since they are written in bytes that may straddle two.
    const length = (this.rows >> 3) + 2;
    const old = this.#bits;
    if (old !== undefined && length <= old.length) return old;
    const grown = new Uint8Array(roundUp(length * 2)).fill(0xff);
    if (old !== undefined) grown.set(old);
    return this.#bits = grown;
  }
}

/** How many bits are set in each byte. */
const POPULATION = Uint8Array.from({ length: 256 }, (_, byte) => {
  let count = 0;
  for (let rest = byte; rest > 0; rest >>= 1) count += rest & 1;
  return count;
});

/** How values of a fixed width go over. */
export type FixedForm = {
  /** Bytes of a value in DuckDB. */
  readonly from: number;
  /** Bytes of a value in Arrow. */
  readonly to: number;
  /** Arrow's view of the bytes of so many rows. */
  readonly view: (buffer: ArrayBuffer, rows: number) => ArrayBufferView;
  /** Turns a run of values over; absent: they are the same bytes. */
  readonly convert?: (run: FixedRun) => void;
};

/** Values of rows `from` up to `from + rows` in `source` that go to row `at` and on of `target`. */
export type FixedRun = {
  readonly source: Uint8Array;
  readonly from: number;
  readonly rows: number;
  readonly target: Uint8Array;
  readonly at: number;
  readonly hasValue: (row: number) => boolean;
};

/** Values of a fixed width. */
export class FixedCollector implements Collector {
  readonly #type: DataType;
  readonly #form: FixedForm;
  readonly #validity = new Validity();
  readonly #room = new Growing();

  constructor(type: DataType, form: FixedForm) {
    this.#type = type;
    this.#form = form;
  }

  cost(_reader: VectorReader, _from: number, rows: number): number {
    return rows * this.#form.to;
  }

  add(reader: VectorReader, from: number, rows: number): void {
    const { from: width, to, convert } = this.#form;
    const at = this.#validity.rows;
    const validity = reader.validity();
    this.#validity.add(validity, from, rows);
    const target = this.#room.reserve(this.#validity.rows * to);
    const source = reader.values(width);
    if (convert === undefined) {
      const isWhole = from === 0 && source.length === rows * width;
      target.set(isWhole ? source : source.subarray(from * width, (from + rows) * width), at * to);
      return;
    }
    convert({ source, from, rows, target, at, hasValue: (row) => hasValue(validity, row) });
  }

  take(): Data {
    const { rows } = this.#validity;
    const values = this.#form.view(this.#room.take(rows * this.#form.to), rows);
    return this.#validity.take(this.#type, { 1: values });
  }
}

/** Booleans, of which DuckDB takes a byte for each and Arrow a bit. */
export class BoolCollector implements Collector {
  readonly #type: DataType;
  readonly #validity = new Validity();
  readonly #room = new Growing();

  constructor(type: DataType) {
    this.#type = type;
  }

  cost(_reader: VectorReader, _from: number, rows: number): number {
    return rows;
  }

  add(reader: VectorReader, from: number, rows: number): void {
    const at = this.#validity.rows;
    this.#validity.add(reader.validity(), from, rows);
    const target = this.#room.reserve((this.#validity.rows + 7) >> 3);
    const source = reader.values(1);
    for (let row = 0; row < rows; row++) {
      const bit = at + row;
      target[bit >> 3] = (target[bit >> 3] ?? 0) | (((source[from + row] ?? 0) & 1) << (bit & 7));
    }
  }

  take(): Data {
    const bytes = (this.#validity.rows + 7) >> 3;
    return this.#validity.take(this.#type, { 1: new Uint8Array(this.#room.take(bytes), 0, bytes) });
  }
}

/** Texts and byte strings. */
export class TextCollector implements Collector {
  readonly #type: DataType;
  readonly #validity = new Validity();
  readonly #ends = new Growing();
  readonly #room = new Growing();
  #length = 0;

  constructor(type: DataType) {
    this.#type = type;
  }

  cost(reader: VectorReader, from: number, rows: number): number {
    return rows * 4 + reader.textBytes(from, rows);
  }

  add(reader: VectorReader, from: number, rows: number): void {
    const at = this.#validity.rows;
    this.#validity.add(reader.validity(), from, rows);
    const ends = this.#ends.reserve((at + rows + 1) * 4);
    const target = this.#room.reserve(this.#length + reader.textBytes(from, rows));
    const offsets = new Int32Array(ends.buffer, 0, ends.length >> 2);
    this.#length = reader.copyTexts(from, rows, target, this.#length, offsets, at + 1);
  }

  take(): Data {
    const { rows } = this.#validity;
    const offsets = new Int32Array(this.#ends.take((rows + 1) * 4), 0, rows + 1);
    const bytes = new Uint8Array(this.#room.take(this.#length), 0, this.#length);
    this.#length = 0;
    return this.#validity.take(this.#type, { 0: offsets, 1: bytes });
  }
}
