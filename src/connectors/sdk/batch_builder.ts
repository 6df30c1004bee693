import { makeData, RecordBatch, type Schema, Struct } from "../../util/arrow.ts";
import { type CellValue, type ColumnBuilder, columnBuilder } from "./column_builder.ts";

/** Turns rows into Arrow batches of one schema, straight into Arrow's memory layout. */
export class BatchBuilder {
  readonly schema: Schema;
  readonly #columns: readonly ColumnBuilder[];
  #rows = 0;

  constructor(schema: Schema) {
    this.schema = schema;
    this.#columns = schema.fields.map((field) => columnBuilder(field.type));
  }

  get rows(): number {
    return this.#rows;
  }

  /** Bytes that the rows take so far, about. */
  get bytes(): number {
    return this.#columns.reduce((sum, column) => sum + column.bytes, 0);
  }

  /**
   * Adds one row, with a value for each column in the schema's order.
   *
   * @throws {TypeError} when a value does not fit; the builder is then of no more use
   */
  append(row: readonly CellValue[]): void {
    for (let index = 0; index < this.#columns.length; index++) this.#columns[index]?.append(row[index] ?? null);
    this.#rows++;
  }

  /** The rows so far as a batch; the builder starts anew. */
  finish(): RecordBatch {
    const length = this.#rows;
    this.#rows = 0;
    const children = this.#columns.map((column) => column.finish());
    return new RecordBatch(
      this.schema,
      makeData({ type: new Struct(this.schema.fields), length, nullCount: 0, children }),
    );
  }
}
