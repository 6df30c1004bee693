import { makeData, RecordBatch, type Schema, Struct } from "../../../util/arrow.ts";
import { ConnectorError } from "../../contract/mod.ts";
import { BadValue } from "./bad_value.ts";
import { type Column, columnOf } from "./columns.ts";
import type { Kind } from "./kind.ts";

/** `PGCOPY\n\xff\r\n\0`, flags, and the length of an extension. */
const HEADER_BYTES = 19;
const MAX_BATCH_ROWS = 122_880;
const END_OF_ROWS = -1;

/** Turns the bytes of COPY … (FORMAT binary) into batches. */
export class RowReader {
  readonly #schema: Schema;
  readonly #columns: readonly Column[];
  readonly #batchBytes: number;
  #rows = 0;
  /** What the rows so far took on the wire, which is about what they take as a batch. */
  #bytes = 0;
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

  /** @throws {ConnectorError} for a value that can't be delivered, naming its column */
  push(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    const bytes = this.#rest === undefined ? chunk : joined(this.#rest, chunk);
    const used = this.#read(new DataView(bytes.buffer, bytes.byteOffset, bytes.length));
    // What is left over is kept beyond this call, so it must not stay in the driver's buffer.
    this.#rest = used === bytes.length ? undefined : bytes.slice(used);
  }

  /** Reads whole rows; returns how many bytes they take. */
  #read(view: DataView): number {
    let at = 0;
    if (!this.#sawHeader) {
      if (view.byteLength < HEADER_BYTES) return 0;
      at = HEADER_BYTES + view.getInt32(HEADER_BYTES - 4);
      this.#sawHeader = true;
    }
    while (at + 2 <= view.byteLength && !this.#isEnded) {
      const fields = view.getInt16(at);
      if (fields === END_OF_ROWS) {
        this.#isEnded = true;
        return view.byteLength;
      }
      const end = rowEnd(view, at, fields);
      if (end === undefined) return at;
      this.#readRow(view, at + 2);
      at = end;
    }
    return at;
  }

  #readRow(view: DataView, start: number): void {
    let at = start;
    const columns = this.#columns;
    for (let index = 0; index < columns.length; index++) {
      const length = view.getInt32(at);
      at += 4;
      const column = columns[index];
      if (column === undefined) break;
      if (length < 0) column.appendNull();
      else {
        try {
          column.append(view, at, length);
        } catch (error) {
          throw this.#explain(error, index);
        }
        at += length;
      }
    }
    this.#rows++;
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

/** Where the row that begins at `at` ends; undefined: not all of it is there. */
function rowEnd(view: DataView, at: number, fields: number): number | undefined {
  let end = at + 2;
  for (let index = 0; index < fields; index++) {
    if (end + 4 > view.byteLength) return undefined;
    const length = view.getInt32(end);
    end += 4 + (length < 0 ? 0 : length);
  }
  return end <= view.byteLength ? end : undefined;
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
