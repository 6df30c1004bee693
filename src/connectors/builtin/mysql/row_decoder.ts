import type { RecordBatch, Schema } from "../../../util/arrow.ts";
import { ConnectorError } from "../../contract/mod.ts";
import { BatchBuilder, type ColumnBuilder } from "../../sdk/mod.ts";
import { BadValue } from "../shared/bad_value.ts";
import type { Packet } from "./driver.ts";
import type { ReadRule } from "./read_types.ts";
import { type Cursor, type Take, takerOf, type ZeroDates } from "./values.ts";

const MAX_BATCH_ROWS = 122_880;

/** Turns rows of the protocol's binary form into batches. */
export class RowDecoder {
  readonly #builder: BatchBuilder;
  readonly #takers: readonly Take[];
  readonly #columns: readonly ColumnBuilder[];
  readonly #batchBytes: number;
  readonly #cursor: Cursor = { bytes: new Uint8Array(0), view: new DataView(new ArrayBuffer(0)), at: 0 };
  /** What the rows so far took on the wire, which is about what they take as a batch. */
  #bytes = 0;

  constructor(schema: Schema, rules: readonly ReadRule[], batchBytes: number, zeroDates: ZeroDates) {
    this.#builder = new BatchBuilder(schema);
    this.#columns = this.#builder.columns;
    this.#takers = rules.map((rule) => takerOf(rule, zeroDates));
    this.#batchBytes = batchBytes;
  }

  get rows(): number {
    return this.#builder.rows;
  }

  /** Whether the rows so far make a batch of the wanted size. */
  get isFull(): boolean {
    return this.#builder.rows >= MAX_BATCH_ROWS || this.#bytes >= this.#batchBytes;
  }

  /** @throws {ConnectorError} for a value that can't be delivered, naming its column */
  push({ buffer, offset, end }: Packet): void {
    const cursor = this.#cursor;
    if (cursor.bytes !== buffer) {
      cursor.bytes = buffer;
      cursor.view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
    }
    const columns = this.#columns;
    const takers = this.#takers;
    const nulls = offset + 1;
    cursor.at = nulls + ((columns.length + 9) >> 3);
    for (let index = 0; index < columns.length; index++) {
      const column = columns[index];
      const take = takers[index];
      if (column === undefined || take === undefined) break;
      const bit = index + 2;
      if (((buffer[nulls + (bit >> 3)] ?? 0) & (1 << (bit & 7))) !== 0) column.appendNull();
      else {
        try {
          take(column, cursor);
        } catch (error) {
          throw this.#explain(error, index);
        }
      }
    }
    this.#builder.endRow();
    this.#bytes += end - offset;
  }

  #explain(error: unknown, index: number): unknown {
    if (!(error instanceof BadValue)) return error;
    return new ConnectorError(`Column "${this.#builder.schema.fields[index]?.name}": ${error.message}`, {
      transient: false,
      hint: "cast the column in the option query, for example with CAST(… AS CHAR)",
      cause: error,
    });
  }

  /** The rows so far; starts anew. */
  take(): RecordBatch {
    this.#bytes = 0;
    return this.#builder.finish();
  }
}
