import { setImmediate } from "node:timers/promises";
import { type DuckDbConnection, ident, qualified, type RowChunk } from "../duckdb/mod.ts";
import { Data, type Field, RecordBatch, Schema, Struct } from "../util/arrow.ts";
import type { Collector } from "./collect.ts";
import { collectorOf } from "./collectors.ts";
import type { Drain, DrainOptions } from "./drain.ts";
import { DrainError } from "./drain_error.ts";
import { drainFields } from "./drain_fields.ts";

/** How long the collecting may hold the event loop. */
const SLICE_MS = 8;

/** At most so much is collected of one column without a look at the clock. */
const RUN_BYTES = 1 << 20;

/** Arrow counts the bytes of a batch's texts in 31 bits. */
const MAX_BATCH_BYTES = 1 << 30;
const MAX_BATCH_ROWS = 1 << 20;

/**
 * Opens the rows of table `staging.<relation>` as Arrow batches of about `batchBytes`. Nothing else may use the
 * connection while they are read. The rows that came are counted against those that are there.
 *
 * @throws {DrainError} for a column of a type that Arrow can't carry. While batches are read: for a value that Arrow's
 * type can't hold, and for lost rows. An abort rejects with the signal's reason
 */
export async function drainArrow(
  connection: DuckDbConnection,
  relation: string,
  options: DrainOptions,
): Promise<Drain> {
  const { columns, orderBy, offset = 0n, query, signal } = options;
  if (offset > 0n && orderBy === undefined) throw new TypeError("An offset needs an order");
  signal?.throwIfAborted();
  const source = query === undefined ? qualified("staging", relation) : `(${query})`;
  const chosen = columns === undefined ? "*" : columns.map(ident).join(", ");
  const order = orderBy === undefined ? "" : ` ORDER BY ${orderBy}`;
  const skip = offset === 0n ? "" : ` OFFSET ${offset}`;
  const sql = `SELECT ${chosen} FROM ${source}${order}${skip}`;
  const schema = new Schema(drainFields(await connection.typedColumns(sql)));
  const batches = readBatches(connection, { sql, schema, options });
  return {
    schema,
    batches: verified(batches, async () => {
      const all = await connection.integer(`SELECT count(*) FROM ${source}`, { signal });
      return { expected: all > offset ? all - offset : 0n, relation };
    }),
  };
}

type Reading = { readonly sql: string; readonly schema: Schema; readonly options: DrainOptions };

async function* verified(
  batches: AsyncIterable<RecordBatch>,
  count: () => Promise<{ readonly expected: bigint; readonly relation: string }>,
): AsyncGenerator<RecordBatch> {
  let rows = 0n;
  for await (const batch of batches) {
    rows += BigInt(batch.numRows);
    yield batch;
  }
  const { expected, relation } = await count();
  if (rows !== expected) throw new DrainError(`${rows} of the ${expected} rows of "${relation}" were read`);
}

async function* readBatches(
  connection: DuckDbConnection,
  { sql, schema, options }: Reading,
): AsyncGenerator<RecordBatch> {
  const { signal } = options;
  const batch = new BatchCollector(schema, Math.min(options.batchBytes, MAX_BATCH_BYTES));
  await using read = await connection.openRead(sql, { signal });
  for (let chunk = await read.next(); chunk !== undefined; chunk = await read.next()) {
    yield* batch.add(chunk, signal);
  }
  if (batch.rows > 0) yield batch.take();
}

/** Collects chunks into batches. */
class BatchCollector {
  readonly #schema: Schema;
  readonly #collectors: readonly Collector[];
  readonly #batchBytes: number;
  #bytes = 0;
  #rows = 0;
  #sliceStart = performance.now();

  constructor(schema: Schema, batchBytes: number) {
    this.#schema = schema;
    this.#collectors = schema.fields.map(collectorOf);
    this.#batchBytes = batchBytes;
  }

  get rows(): number {
    return this.#rows;
  }

  /** Adds a chunk and gives each batch that is full. */
  async *add(chunk: RowChunk, signal: AbortSignal | undefined): AsyncGenerator<RecordBatch> {
    this.#sliceStart = performance.now();
    for (let from = 0; from < chunk.rows;) {
      const { rows, bytes } = this.#run(chunk, from);
      if (this.#rows > 0 && (this.#bytes + bytes > this.#batchBytes || this.#rows + rows > MAX_BATCH_ROWS)) {
        yield this.take();
        signal?.throwIfAborted();
      }
      for (const [index, collector] of this.#collectors.entries()) {
        const reader = chunk.columns[index];
        if (reader === undefined) throw new RangeError("A chunk has too few columns");
        try {
          collector.add(reader, from, rows);
        } catch (error) {
          throw named(error, this.#schema.fields[index]);
        }
        if (performance.now() - this.#sliceStart < SLICE_MS) continue;
        await setImmediate();
        signal?.throwIfAborted();
        this.#sliceStart = performance.now();
      }
      from += rows;
      this.#rows += rows;
      this.#bytes += bytes;
    }
  }

  /** How many rows from `from` on fit a batch and are not too much to collect in one go. */
  #run(chunk: RowChunk, from: number): { readonly rows: number; readonly bytes: number } {
    let rows = chunk.rows - from;
    for (;; rows >>= 1) {
      let bytes = 0;
      let largest = 0;
      this.#collectors.forEach((collector, index) => {
        const reader = chunk.columns[index];
        const cost = reader === undefined ? 0 : collector.cost(reader, from, rows);
        bytes += cost;
        largest = Math.max(largest, cost);
      });
      if (rows === 1 || (bytes <= this.#batchBytes && largest <= RUN_BYTES)) return { rows, bytes };
    }
  }

  take(): RecordBatch {
    const children = this.#collectors.map((collector) => collector.take());
    const data = new Data(new Struct(this.#schema.fields), 0, this.#rows, 0, {}, children);
    this.#rows = this.#bytes = 0;
    return new RecordBatch(this.#schema, data);
  }
}

function named(error: unknown, field: Field | undefined): unknown {
  return error instanceof DrainError ? new DrainError(`Column "${field?.name}": ${error.message}`) : error;
}
