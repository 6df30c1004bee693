import { isUtf8 } from "node:buffer";
import type { RecordBatch, Schema } from "../../../../util/arrow.ts";
import { BatchBuilder } from "../../../sdk/batch_builder.ts";
import { readHeader } from "../csv_header.ts";
import { boundName, hiveValues } from "../hive.ts";
import { FIELD, type Found, RecordScanner } from "./csv_records.ts";
import type { ReadRequest } from "./read_request.ts";
import { during, refused } from "./trouble.ts";

const CHUNK = 1 << 20;
const MAX_RECORD = 1 << 28;
const MAX_ROWS = 122_880;
const QUOTE = 0x22;
const BOM = [0xef, 0xbb, 0xbf];

/** Where a column's values come from: a field of the record, or a text that is the same in the whole file. */
type Origin = { readonly field: number } | { readonly text: Uint8Array | undefined };

/** What is known of the file that is being read. */
type Reading = {
  readonly path: string;
  readonly index: number;
  readonly fields: number;
  readonly origins: readonly Origin[];
};

/** Turns CSV files into batches of texts: an unquoted empty field is NULL, a quoted one an empty text. */
export class CsvReader {
  readonly #request: ReadRequest;
  readonly #options: { readonly batchBytes: number; readonly signal: AbortSignal };
  readonly #scanner: RecordScanner;
  readonly #builder: BatchBuilder;
  #bytes = new Uint8Array(CHUNK);
  #scratch = new Uint8Array(1024);
  /** Bytes of the files that the rows of the builder took. */
  #taken = 0;
  /** The line, from 1, on which the next record begins. */
  #line = 1;

  constructor(
    request: ReadRequest,
    schema: Schema,
    options: { readonly batchBytes: number; readonly signal: AbortSignal },
  ) {
    this.#request = request;
    this.#options = options;
    this.#scanner = new RecordScanner(request.delimiter);
    this.#builder = new BatchBuilder(schema);
  }

  /** The full batches that come up while this file, by its number, is read. */
  async *file(index: number): AsyncGenerator<RecordBatch> {
    const path = this.#request.files[index] ?? "";
    try {
      using file = await Deno.open(path);
      yield* this.#records(file, this.#readingOf(path, index));
    } catch (error) {
      throw during(`Reading "${path}"`, error);
    }
  }

  /** What is left over. */
  *rest(): Generator<RecordBatch> {
    if (this.#builder.rows > 0) yield this.#take();
  }

  #readingOf(path: string, index: number): Reading {
    const { base, columns, delimiter } = this.#request;
    const header = readHeader(path, delimiter);
    if (header === undefined) throw refused(`"${path}" has no header of distinct names any more`);
    const values = hiveValues(base, path);
    const keys = [...values.keys()];
    const encoder = new TextEncoder();
    const origins = columns.map((column): Origin => {
      const name = boundName(header, column);
      if (name !== undefined) return { field: header.indexOf(name) };
      const value = values.get(boundName(keys, column) ?? "");
      return { text: typeof value === "string" ? encoder.encode(value) : undefined };
    });
    return { path, index, fields: header.length, origins };
  }

  async *#records(file: Deno.FsFile, reading: Reading): AsyncGenerator<RecordBatch> {
    let fill = 0;
    let isHeader = true;
    let isFirst = true;
    this.#line = 1;
    for (let isLast = false; !isLast;) {
      if (fill === this.#bytes.length) this.#grow(reading);
      const read = await file.read(this.#bytes.subarray(fill));
      this.#options.signal.throwIfAborted();
      if (read === null) isLast = true;
      else fill += read;
      if (isFirst && fill < BOM.length && !isLast) continue;
      let at = isFirst && fill >= BOM.length && BOM.every((byte, index) => this.#bytes[index] === byte)
        ? BOM.length
        : 0;
      isFirst = false;
      let checked = { at, line: this.#line };
      while (at < fill) {
        const found = this.#scanner.scan(this.#bytes, at, fill, isLast);
        if (found === "more") break;
        if (isHeader) isHeader = false;
        else this.#add(found, reading);
        this.#line += this.#scanner.lines;
        this.#taken += this.#scanner.next - at;
        at = this.#scanner.next;
        if (this.#taken < this.#options.batchBytes && this.#builder.rows < MAX_ROWS) continue;
        if (this.#builder.rows === 0) continue;
        this.#checkTexts(checked, at, reading);
        checked = { at, line: this.#line };
        yield this.#take();
      }
      this.#checkTexts(checked, at, reading);
      this.#bytes.copyWithin(0, at, fill);
      fill -= at;
    }
  }

  #grow({ path }: Reading): void {
    if (this.#bytes.length >= MAX_RECORD) {
      throw this.#trouble(path, this.#line, "A record is longer than 256 MiB", "see whether a quoted text has no end");
    }
    const larger = new Uint8Array(this.#bytes.length * 2);
    larger.set(this.#bytes);
    this.#bytes = larger;
  }

  #take(): RecordBatch {
    this.#taken = 0;
    return this.#builder.finish();
  }

  /** Adds the record that the scanner has found. An empty line is one only where records have a single field. */
  #add(found: Found, reading: Reading): void {
    if (found === "blank" && reading.fields > 1) return;
    const { path, fields, origins, index } = reading;
    if (found === "open quote") {
      throw this.#trouble(
        path,
        this.#line,
        "A quoted text has no end",
        "close the quote; a quote inside a text is written twice",
      );
    }
    if (found === "text behind quote") {
      throw this.#trouble(
        path,
        this.#line,
        "Text stands behind a closing quote",
        "a quote inside a quoted text is written twice",
      );
    }
    if (this.#scanner.fields !== fields && !this.#hasEmptyRest(fields)) {
      throw this.#trouble(
        path,
        this.#line,
        `A record has ${this.#scanner.fields} fields where the first line has ${fields}`,
        "put a text that holds the delimiter in quotes, or name another delimiter with delimiter:",
      );
    }
    const { columns } = this.#builder;
    for (let column = 0; column < origins.length; column++) {
      const origin = origins[column];
      const builder = columns[column];
      if (origin === undefined || builder === undefined) continue;
      if ("field" in origin) {
        const { starts, ends, kinds } = this.#scanner;
        const start = starts[origin.field] ?? 0;
        const end = ends[origin.field] ?? 0;
        const kind = kinds[origin.field];
        if (kind === FIELD.doubled) builder.appendBytes(this.#scratch, 0, this.#undouble(start, end));
        else if (kind === FIELD.plain && start === end) builder.appendNull();
        else builder.appendBytes(this.#bytes, start, end);
      } else if (origin.text === undefined) builder.appendNull();
      else builder.appendBytes(origin.text, 0, origin.text.length);
    }
    if (columns.length > origins.length) columns[origins.length]?.appendI64Parts(this.#line, index);
    this.#builder.endRow();
  }

  /** Whether all fields from a number on are empty, as delimiters at a line's end leave them. */
  #hasEmptyRest(from: number): boolean {
    const { fields, starts, ends, kinds } = this.#scanner;
    for (let index = from; index < fields; index++) {
      if (kinds[index] !== FIELD.plain || starts[index] !== ends[index]) return false;
    }
    return fields > from;
  }

  /** Puts a text into the scratch bytes, each two quotes as one, and returns its length. */
  #undouble(start: number, end: number): number {
    if (this.#scratch.length < end - start) this.#scratch = new Uint8Array((end - start) * 2);
    let length = 0;
    for (let at = start; at < end; at++) {
      const byte = this.#bytes[at] ?? 0;
      this.#scratch[length++] = byte;
      if (byte === QUOTE) at++;
    }
    return length;
  }

  /** Stops at bytes of whole records that are no text. */
  #checkTexts(from: { readonly at: number; readonly line: number }, to: number, { path }: Reading): void {
    if (isUtf8(this.#bytes.subarray(from.at, to))) return;
    let line = from.line;
    for (let at = from.at; at < to; at = this.#scanner.next) {
      this.#scanner.scan(this.#bytes, at, to, true);
      if (!isUtf8(this.#bytes.subarray(at, this.#scanner.next))) break;
      line += this.#scanner.lines;
    }
    throw this.#trouble(path, line, "This is no text in UTF-8", "convert the file to UTF-8");
  }

  #trouble(path: string, line: number, what: string, hint: string): Error {
    return refused(`${what} (${path}:${line})`, hint);
  }
}
