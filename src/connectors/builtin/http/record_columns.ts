import { arrowSchema, BatchBuilder, type ColumnBuilder } from "../../sdk/mod.ts";
import type { RecordBatch, Schema } from "../../../util/arrow.ts";
import { duckDbType } from "../../contract/mod.ts";
import { stringOf } from "./json_text.ts";
import type { RecordTarget, ValueKind } from "./page_reader.ts";
import { findMember } from "./find_member.ts";
import { appendCursor, type CursorColumn } from "./cursor_value.ts";

/** Collects records as batches, one after the other. */
export type RecordBatches = RecordTarget & {
  readonly schema: Schema;
  readonly rows: number;
  readonly bytes: number;
  /** What comes now is of this page, from 1, fetched at this time in microseconds since 1970. */
  page(number: number, fetchedAt: bigint): void;
  take(): RecordBatch;
};

const NOTHING = 0;
const KINDS: readonly ValueKind[] = ["null", "string", "escaped", "plain", "nested"];

/**
 * Records by the columns of a contract: each value as text, numbers with the very digits that came, what is nested as
 * JSON. A member that is missing is NULL; one that no column has is left out; of two of one name the last counts. A
 * column behind them, if named, tells page and number of each record.
 */
export class ContractColumns implements RecordBatches {
  readonly schema: Schema;
  readonly #builder: BatchBuilder;
  readonly #columns: readonly ColumnBuilder[];
  readonly #slots: ReadonlyMap<string, number>;
  /** Whether a column wants a string with its quotes. */
  readonly #isJson: readonly boolean[];
  readonly #place: ColumnBuilder | undefined;
  /** Records mostly have the same members in the same order: what stood at each position last, and its slot. */
  readonly #knownKeys: Uint8Array[] = [];
  readonly #knownSlots: number[] = [];
  readonly #kinds: Uint8Array;
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;
  readonly #met: boolean[];
  #page = 0;
  #record = 0;

  constructor(columns: readonly { readonly name: string; readonly type: string }[], place: string | undefined) {
    this.schema = arrowSchema([
      ...columns.map(({ name }) => ({ name, type: "VARCHAR" })),
      ...(place === undefined ? [] : [{ name: place, type: "BIGINT" }]),
    ]);
    this.#builder = new BatchBuilder(this.schema);
    this.#columns = this.#builder.columns.slice(0, columns.length);
    this.#place = this.#builder.columns[columns.length];
    this.#slots = new Map(columns.map(({ name }, index) => [name, index]));
    this.#isJson = columns.map(({ type }) => duckDbType(type) === "JSON");
    this.#kinds = new Uint8Array(columns.length);
    this.#starts = new Int32Array(columns.length);
    this.#ends = new Int32Array(columns.length);
    this.#met = columns.map(() => false);
  }

  get rows(): number {
    return this.#builder.rows;
  }

  get bytes(): number {
    return this.#builder.bytes;
  }

  /** The columns that no record had so far. */
  get unmet(): readonly string[] {
    return this.schema.fields.slice(0, this.#met.length).filter((_, index) => !this.#met[index]).map(({ name }) =>
      name
    );
  }

  page(number: number): void {
    this.#page = number;
    this.#record = 0;
  }

  slotOf(position: number, bytes: Uint8Array, start: number, end: number, isEscaped: boolean): number {
    const known = this.#knownKeys[position];
    if (known !== undefined && known.length === end - start) {
      let at = 0;
      while (at < known.length && known[at] === bytes[start + at]) at++;
      if (at === known.length) return this.#knownSlots[position] ?? -1;
    }
    const slot = this.#slots.get(stringOf(bytes, start, end, isEscaped)) ?? -1;
    if (position <= this.#knownKeys.length && position < 1024) {
      this.#knownKeys[position] = bytes.slice(start, end);
      this.#knownSlots[position] = slot;
    }
    if (slot >= 0) this.#met[slot] = true;
    return slot;
  }

  value(slot: number, kind: ValueKind, start: number, end: number): void {
    this.#kinds[slot] = KINDS.indexOf(kind);
    this.#starts[slot] = start;
    this.#ends[slot] = end;
  }

  record(bytes: Uint8Array, base: number): void {
    for (let slot = 0; slot < this.#columns.length; slot++) {
      const column = this.#columns[slot];
      if (column === undefined) continue;
      const start = base + (this.#starts[slot] ?? 0);
      const end = base + (this.#ends[slot] ?? 0);
      const kind = KINDS[this.#kinds[slot] ?? NOTHING];
      if (kind === "null") column.appendNull();
      else if (this.#isJson[slot] === true || kind === "plain" || kind === "nested") {
        column.appendBytes(bytes, start, end);
      } else if (kind === "escaped") column.append(stringOf(bytes, start, end, true));
      else column.appendBytes(bytes, start + 1, end - 1);
    }
    this.#kinds.fill(NOTHING);
    this.#place?.appendI64Parts(++this.#record, this.#page);
    this.#builder.endRow();
  }

  take(): RecordBatch {
    return this.#builder.finish();
  }
}

/** Records as they came: their text, the page and the time, and one value of each where a cursor is named. */
export class RawColumns implements RecordBatches {
  readonly schema: Schema;
  readonly #builder: BatchBuilder;
  readonly #cursor: CursorColumn | undefined;
  #page = 0;
  #fetchedAt = 0n;

  constructor(cursor: CursorColumn | undefined) {
    this.#cursor = cursor;
    this.schema = arrowSchema([
      { name: "payload", type: "VARCHAR" },
      { name: "pz_page", type: "INTEGER" },
      { name: "pz_fetched_at", type: "TIMESTAMP" },
      ...(cursor === undefined ? [] : [{ name: cursor.name, type: cursor.type }]),
    ]);
    this.#builder = new BatchBuilder(this.schema);
  }

  get rows(): number {
    return this.#builder.rows;
  }

  get bytes(): number {
    return this.#builder.bytes;
  }

  page(number: number, fetchedAt: bigint): void {
    this.#page = number;
    this.#fetchedAt = fetchedAt;
  }

  slotOf(): number {
    return -1;
  }

  value(): void {}

  record(bytes: Uint8Array, start: number, end: number): void {
    const [payload, page, fetchedAt, cursor] = this.#builder.columns;
    payload?.appendBytes(bytes, start, end);
    page?.appendI32(this.#page);
    fetchedAt?.appendI64(this.#fetchedAt);
    if (this.#cursor !== undefined && cursor !== undefined) {
      appendCursor(cursor, this.#cursor, findMember(bytes.subarray(start, end), this.#cursor.pointer));
    }
    this.#builder.endRow();
  }

  take(): RecordBatch {
    return this.#builder.finish();
  }
}
