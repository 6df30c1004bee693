import { makeData, RecordBatch, type Schema, Struct } from "../../../util/arrow.ts";
import { ConnectorError } from "../../contract/mod.ts";
import { BadValue } from "./bad_value.ts";
import { NULL_PLACE } from "./cells.ts";
import { type Column, columnOf } from "./columns.ts";
import { COPY_DATA, MESSAGE_HEADER_BYTES, messageEnd } from "./copy_tap.ts";
import type { Kind } from "./kind.ts";

/** `PGCOPY\n\xff\r\n\0`, flags, and the length of an extension. */
const HEADER_BYTES = 19;
const MAX_BATCH_ROWS = 122_880;
const END_OF_ROWS = -1;
/** Values whose places are kept before they are read, column by column. */
const INDEX_CELLS = 1 << 16;
const MIN_INDEX_ROWS = 64;
const MAX_INDEX_ROWS = 2048;

type Segment = { readonly bytes: Uint8Array; readonly view: DataView };

/** Turns the bytes of COPY … (FORMAT binary) into batches. */
export class RowReader {
  readonly #schema: Schema;
  readonly #columns: readonly Column[];
  readonly #batchBytes: number;
  /** For each column the places of its values in the rows that are found and not read yet. */
  readonly #places: Int32Array;
  readonly #indexRows: number;
  #indexed = 0;
  #rows = 0;
  /** What the rows so far took on the wire, which is about what they take as a batch. */
  #bytes = 0;
  /** The start of a row that goes on in the next message, or of the header. */
  #rest: Uint8Array | undefined;
  #sawHeader = false;
  #isEnded = false;

  constructor(schema: Schema, kinds: readonly Kind[], batchBytes: number) {
    this.#schema = schema;
    this.#batchBytes = batchBytes;
    this.#columns = schema.fields.map((field, index) => {
      const kind = kinds[index];
      if (kind === undefined) throw new TypeError("fewer kinds than columns");
      return columnOf(field, kind);
    });
    const columns = Math.max(1, this.#columns.length);
    this.#indexRows = Math.min(MAX_INDEX_ROWS, Math.max(MIN_INDEX_ROWS, Math.floor(INDEX_CELLS / columns)));
    this.#places = new Int32Array(columns * this.#indexRows);
  }

  get rows(): number {
    return this.#rows;
  }

  /** Whether the rows so far make a batch of the wanted size. */
  get isFull(): boolean {
    return this.#rows >= MAX_BATCH_ROWS || this.#bytes >= this.#batchBytes;
  }

  /** Whether the server's mark of the end was read. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /**
   * Reads the CopyData messages that stand whole in the bytes from `from` on, one behind the other; returns where they
   * end.
   *
   * @throws {ConnectorError} for a value that can't be delivered, naming its column
   */
  read(bytes: Uint8Array, from: number): number {
    const segment = segmentOf(bytes);
    let at = from;
    while (at < bytes.length && bytes[at] === COPY_DATA) {
      const end = messageEnd(segment.view, at);
      if (end > bytes.length) break;
      this.#content(segment, at + MESSAGE_HEADER_BYTES, end);
      at = end;
    }
    this.#readIndexed(segment);
    this.#bytes += at - from;
    return at;
  }

  /** Reads what one message holds, as a rule one row. */
  #content(segment: Segment, start: number, end: number): void {
    if (this.#rest === undefined && this.#sawHeader) {
      const used = this.#index(segment, start, end);
      if (used < end) this.#rest = new Uint8Array(segment.bytes.subarray(used, end));
      return;
    }
    this.#readIndexed(segment);
    const content = segment.bytes.subarray(start, end);
    const whole = segmentOf(this.#rest === undefined ? content : joined(this.#rest, content));
    const { length } = whole.bytes;
    let at = 0;
    if (!this.#sawHeader) {
      at = length < HEADER_BYTES ? Infinity : HEADER_BYTES + whole.view.getUint32(HEADER_BYTES - 4);
      this.#sawHeader = at <= length;
    }
    const used = this.#sawHeader ? this.#index(whole, at, length) : 0;
    this.#readIndexed(whole);
    // A copy: what is kept beyond this call must not stay in the driver's buffer.
    this.#rest = used === length ? undefined : new Uint8Array(whole.bytes.subarray(used));
  }

  /** Finds the values of whole rows; returns where these end. */
  #index(segment: Segment, start: number, end: number): number {
    const { view } = segment;
    const columns = this.#columns.length;
    const places = this.#places;
    const stride = this.#indexRows;
    let at = start;
    while (at + 2 <= end && !this.#isEnded) {
      const fields = view.getInt16(at);
      if (fields === END_OF_ROWS) {
        this.#isEnded = true;
        return end;
      }
      if (fields !== columns) throw new Error(`A row of ${fields} values came, where ${columns} were asked for`);
      let next = at + 2;
      for (let column = 0, place = this.#indexed; column < columns; column++, place += stride) {
        if (next + 4 > end) return at;
        const length = view.getInt32(next);
        next += 4;
        places[place] = length < 0 ? NULL_PLACE : next;
        if (length > 0) next += length;
      }
      if (next > end) return at;
      at = next;
      if (++this.#indexed === stride) this.#readIndexed(segment);
    }
    return this.#isEnded ? end : at;
  }

  /** Reads the values that were found in a segment, column by column. */
  #readIndexed({ bytes, view }: Segment): void {
    const rows = this.#indexed;
    if (rows === 0) return;
    this.#indexed = 0;
    for (const [index, column] of this.#columns.entries()) {
      try {
        column.add({ bytes, view, places: this.#places, from: index * this.#indexRows, rows });
      } catch (error) {
        throw this.#explain(error, index);
      }
    }
    this.#rows += rows;
  }

  #explain(error: unknown, index: number): unknown {
    if (!(error instanceof BadValue)) return error;
    return new ConnectorError(`Column "${this.#schema.fields[index]?.name}": ${error.message}`, {
      transient: false,
      hint: "cast the column in the option query, for example to text",
      cause: error,
    });
  }

  /** The rows so far; starts anew. */
  take(): RecordBatch {
    const length = this.#rows;
    this.#rows = this.#bytes = 0;
    const children = this.#columns.map((column) => column.take());
    return new RecordBatch(
      this.#schema,
      makeData({ type: new Struct(this.#schema.fields), length, nullCount: 0, children }),
    );
  }
}

function segmentOf(bytes: Uint8Array): Segment {
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) };
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
