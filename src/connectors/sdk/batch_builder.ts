import { makeData, RecordBatch, type Schema, Struct } from "../../util/arrow.ts";
import type { CellValue } from "./cell.ts";
import { shownType } from "./arrow_types.ts";
import { type ColumnBuilder, MisfitError } from "./column_builder.ts";
import { makeBuilder } from "./make_builder.ts";

/**
 * Turns rows into Arrow batches of one schema, straight into Arrow's memory layout: either whole rows with `append`, or
 * one value into each of `columns` and then `endRow`.
 */
export class BatchBuilder {
  readonly schema: Schema;
  /** In the schema's order. */
  readonly columns: readonly ColumnBuilder[];
  #rows = 0;

  constructor(schema: Schema) {
    this.schema = schema;
    this.columns = schema.fields.map(makeBuilder);
  }

  get rows(): number {
    return this.#rows;
  }

  /** Bytes that the rows take so far, about. */
  get bytes(): number {
    return this.columns.reduce((sum, column) => sum + column.bytes, 0);
  }

  /**
   * Adds one row, with a value for each column in the schema's order.
   *
   * @throws {TypeError} when a value does not fit; the builder is then of no more use
   */
  append(row: readonly CellValue[]): void {
    let index = 0;
    try {
      for (; index < this.columns.length; index++) this.columns[index]?.append(row[index] ?? null);
    } catch (error) {
      throw error instanceof MisfitError ? this.#named(error, index) : error;
    }
    this.#rows++;
  }

  #named({ kind }: MisfitError, index: number): TypeError {
    const field = this.schema.fields[index];
    const type = field === undefined ? "" : ` ${shownType(field)}`;
    return new TypeError(`Column "${field?.name ?? index}": ${kind} does not fit${type}`);
  }

  /** Ends a row of which each column has got its value. */
  endRow(): void {
    this.#rows++;
  }

  /**
   * The rows so far as a batch; the builder starts anew.
   *
   * @throws {TypeError} when a column has not as many values as there are rows
   */
  finish(): RecordBatch {
    const length = this.#rows;
    this.#rows = 0;
    for (const [index, column] of this.columns.entries()) {
      if (column.length !== length) {
        throw new TypeError(
          `Column "${this.schema.fields[index]?.name}" has got ${column.length} values for ${length} rows`,
        );
      }
    }
    const children = this.columns.map((column) => column.finish());
    return new RecordBatch(
      this.schema,
      makeData({ type: new Struct(this.schema.fields), length, nullCount: 0, children }),
    );
  }
}
