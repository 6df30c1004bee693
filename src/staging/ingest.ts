import {
  type DuckDbConnection,
  ident,
  type LoadTarget,
  qualified,
  type RowLoad,
  VECTOR_ROWS,
  type VectorWriter,
} from "../duckdb/mod.ts";
import { DataType, type RecordBatch, type Schema } from "../util/arrow.ts";
import { stagedColumns } from "./arrow_columns.ts";
import { writeRun } from "./arrow_vector.ts";
import { IngestError } from "./ingest_error.ts";
import { isSameType } from "./same_type.ts";

export type IngestProgress = { readonly rows: number; readonly bytes: number; readonly batches: number };

export type IngestOptions = {
  /** Called after every batch that was taken. */
  readonly onProgress?: ((progress: IngestProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How many bytes one INSERT takes, where several loads go on side by side; absent: as many as pay off. */
  readonly insertBytes?: number;
};

/**
 * One INSERT takes about this much: enough rows to keep its fixed cost small, few enough bytes to bound the memory, of
 * which one such part waits while another is written.
 */
const INSERT_ROWS = 1 << 20;
const INSERT_BYTES = 32 << 20;

/** DuckDB's row group. Groups that an INSERT leaves half full are put together, and written again, at the checkpoint. */
const GROUP_ROWS = 122_880;

/** One call that fills a chunk writes at most about this much, so that the event loop turns often. */
const CHUNK_BYTES = 4 << 20;
const CHUNK_ITEMS = 1 << 18;

/**
 * Creates `staging.<relation>` from an Arrow schema and fills it from batches in one transaction; on any failure the
 * table is gone. Returns the counts. What the batches throw is thrown on; values that DuckDB can't hold are an
 * `IngestError`; an abort rejects with the signal's reason.
 */
export async function ingestArrow(
  connection: DuckDbConnection,
  relation: string,
  schema: Schema,
  batches: AsyncIterable<RecordBatch>,
  options: IngestOptions,
): Promise<IngestProgress> {
  const { signal } = options;
  const table = qualified("staging", relation);
  const columns = stagedColumns(schema);
  await connection.run(`DROP TABLE IF EXISTS ${table}`, { signal });
  await connection.run("BEGIN TRANSACTION", { signal });
  try {
    const definitions = columns.map(({ name, type }) => `${ident(name)} ${type}`);
    await connection.run(`CREATE TABLE ${table} (${definitions.join(", ")})`, { signal });
    const progress = await appendArrow(connection, relation, schema, batches, options);
    await connection.run("COMMIT");
    return progress;
  } catch (error) {
    await rollback(connection);
    throw error;
  }
}

/**
 * Adds batches to `staging.<relation>`, a table of the columns that the Arrow schema becomes, within the transaction
 * that is open on the connection. It fails as `ingestArrow` does, and leaves the transaction to its owner.
 */
export async function appendArrow(
  connection: DuckDbConnection,
  relation: string,
  schema: Schema,
  batches: AsyncIterable<RecordBatch>,
  options: IngestOptions,
): Promise<IngestProgress> {
  const columns = stagedColumns(schema).map(({ name, feedType }) => ({ name, type: feedType }));
  await changeCatalog(connection, options.signal);
  const target = { schema: "staging", table: relation, columns, ownsCatalog: true };
  const progress = await fill(connection, target, schema, batches, options);
  options.signal?.throwIfAborted();
  return progress;
}

/** Changes the catalog in the open transaction, and changes it back: see `LoadTarget.ownsCatalog`. */
async function changeCatalog(connection: DuckDbConnection, signal: AbortSignal | undefined): Promise<void> {
  const view = qualified("staging", `pz_load_${crypto.randomUUID()}`);
  await connection.run(`CREATE VIEW ${view} AS SELECT 1; DROP VIEW ${view}`, { signal });
}

async function rollback(connection: DuckDbConnection): Promise<void> {
  try {
    await connection.run("ROLLBACK");
  } catch {
    // DuckDB has already ended the transaction, or the connection is closed, which ends it too.
  }
}

async function fill(
  connection: DuckDbConnection,
  target: LoadTarget,
  schema: Schema,
  batches: AsyncIterable<RecordBatch>,
  { onProgress, signal, insertBytes = INSERT_BYTES }: IngestOptions,
): Promise<IngestProgress> {
  const failed = new AbortController();
  const stop = signal === undefined ? failed.signal : AbortSignal.any([signal, failed.signal]);
  const queue = new BatchQueue(schema);
  using load = await connection.openLoad(target);
  let writing: Promise<void> = Promise.resolve();
  let waiting: RecordBatch[] = [];
  let waitingRows = 0;
  let waitingBytes = 0;
  /** Rows of the first waiting batch that are written already. */
  let skipped = 0;
  let progress: IngestProgress = { rows: 0, bytes: 0, batches: 0 };

  const flush = async (rows: number) => {
    await writing;
    queue.take(waiting, skipped, rows);
    writing = writeRows(load, queue, rows, signal);
    // The next flush or the end awaits it; until then its failure stops the reading.
    writing.catch((error: unknown) => failed.abort(error));
    waitingRows -= rows;
    let tail = 0;
    let first = waiting.length;
    while (tail < waitingRows) tail += waiting[--first]?.numRows ?? waitingRows;
    waiting = waiting.slice(first);
    skipped = tail - waitingRows;
    waitingBytes = waiting.reduce((sum, batch) => sum + batch.data.byteLength, 0);
  };

  try {
    for await (const batch of untilAborted(batches, stop)) {
      checkShape(batch, schema);
      const bytes = batch.data.byteLength;
      waiting.push(batch);
      waitingRows += batch.numRows;
      waitingBytes += bytes;
      progress = { rows: progress.rows + batch.numRows, bytes: progress.bytes + bytes, batches: progress.batches + 1 };
      onProgress?.(progress);
      if (waitingRows < INSERT_ROWS && waitingBytes < insertBytes) continue;
      const rest = waitingRows % GROUP_ROWS;
      await flush(waitingRows === rest ? rest : waitingRows - rest);
    }
    if (waitingRows > 0) await flush(waitingRows);
  } finally {
    await writing.catch(() => {});
  }
  await writing;
  return progress;
}

async function writeRows(load: RowLoad, queue: BatchQueue, rows: number, signal?: AbortSignal): Promise<void> {
  const written = await load.write((wanted, writers) => queue.fill(wanted, writers), signal);
  if (written !== rows) throw new IngestError(`${written} of ${rows} rows were staged`);
}

/** Rows of batches that are written, in chunks of at most a vector's rows. */
class BatchQueue {
  readonly #schema: Schema;
  #batches: readonly RecordBatch[] = [];
  #index = 0;
  #row = 0;
  #left = 0;

  constructor(schema: Schema) {
    this.#schema = schema;
  }

  /** Takes `rows` rows, the first of which is row `from` of the first batch. */
  take(batches: readonly RecordBatch[], from: number, rows: number): void {
    this.#batches = batches;
    this.#index = 0;
    this.#row = from;
    this.#left = rows;
  }

  fill(wanted: readonly number[], writers: readonly VectorWriter[]): number {
    let batch = this.#batches[this.#index];
    while (batch !== undefined && this.#row >= batch.numRows) {
      this.#row = 0;
      batch = this.#batches[++this.#index];
    }
    if (batch === undefined || this.#left === 0) return 0;
    const rows = Math.min(this.#left, chunkRows(batch, this.#row));
    for (const [index, column] of wanted.entries()) {
      const writer = writers[index];
      const field = this.#schema.fields[column];
      const data = batch.data.children[column];
      if (writer === undefined || field === undefined || data === undefined) continue;
      try {
        writeRun(writer, { field, data, from: this.#row, rows });
      } catch (error) {
        throw new IngestError(`Column "${field.name}": ${error instanceof Error ? error.message : String(error)}`, {
          cause: error,
        });
      }
    }
    this.#row += rows;
    this.#left -= rows;
    return rows;
  }
}

/** How many rows from `from` on go into one chunk: a vector's, or fewer where they are large. */
function chunkRows(batch: RecordBatch, from: number): number {
  let rows = Math.min(VECTOR_ROWS, batch.numRows - from);
  for (const data of batch.data.children) {
    const offsets: unknown = data.valueOffsets;
    if (!(offsets instanceof Int32Array)) continue;
    const limit = DataType.isList(data.type) || DataType.isMap(data.type) ? CHUNK_ITEMS : CHUNK_BYTES;
    while (rows > 1 && (offsets[from + rows] ?? 0) - (offsets[from] ?? 0) > limit) rows >>= 1;
  }
  return rows;
}

/** A batch may rename its columns, but not change their order or types. */
function checkShape(batch: RecordBatch, schema: Schema): void {
  if (batch.schema === schema) return;
  const { fields } = batch.schema;
  if (fields.length !== schema.fields.length) {
    throw new IngestError(`A batch has ${fields.length} columns, its schema ${schema.fields.length}`);
  }
  schema.fields.forEach((field, index) => {
    const type = fields[index]?.type;
    if (!isSameType(field.type, type)) {
      throw new IngestError(`Column "${field.name}" is ${type} in a batch, ${field.type} in its schema`);
    }
  });
}

/** The batches up to an abort, which ends the waiting for the next one at once. */
async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]();
  let ended = false;
  try {
    while (true) {
      const next = await nextOrAbort(iterator, signal);
      if (next.done === true) {
        ended = true;
        return;
      }
      yield next.value;
    }
  } finally {
    // Not awaited: a source that hangs must not keep the failure from being told.
    if (!ended) iterator.return?.().catch(() => {});
  }
}

function nextOrAbort<T>(iterator: AsyncIterator<T>, signal: AbortSignal): Promise<IteratorResult<T>> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    iterator.next().then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
