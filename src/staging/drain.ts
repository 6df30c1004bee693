import type { RecordBatch, Schema } from "../util/arrow.ts";

export type DrainOptions = {
  /** Size of a batch to aim for. */
  readonly batchBytes: number;
  /** SQL after ORDER BY, where an order is asked for. */
  readonly orderBy?: string;
  /** Names of the columns to give, in this order; absent: all. */
  readonly columns?: readonly string[];
  /** How many of the first rows to leave out; needs an order that is the same each time. */
  readonly offset?: bigint;
  /**
   * A SELECT over the table, to read instead of it. It must not fail on the way: DuckDB tells of no failure here, which
   * would show as lost rows without a reason.
   */
  readonly query?: string;
  readonly signal?: AbortSignal | undefined;
};

/** The rows of a relation on their way out. */
export type Drain = {
  readonly schema: Schema;
  /** To be read once. Whoever stops early ends the iteration by its `return`, as `for await` does. */
  readonly batches: AsyncIterable<RecordBatch>;
};
