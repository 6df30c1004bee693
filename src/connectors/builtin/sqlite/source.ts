import type { RecordBatch, Schema } from "../../../util/arrow.ts";
import { ConnectorError, type DatasetSpec } from "../../contract/mod.ts";
import { BatchBuilder, type ConnectorHost, type Partition, type Source } from "../../sdk/mod.ts";
import { BadValue } from "../shared/bad_value.ts";
import { priorRanges, rangeId, rangeOf } from "../shared/ranges.ts";
import { readOptions } from "../shared/read_options.ts";
import type { Database, Query, SqliteValue } from "./database.ts";
import { type Dataset, describeDataset, selectOf, tableName } from "./dataset.ts";
import { ident } from "./name.ts";
import { conditionOf, dividerOf, findRanges } from "./partition.ts";
import { renderPredicate } from "./predicate.ts";
import { Snapshots } from "./snapshots.ts";
import { toTrouble } from "./trouble.ts";
import { putterOf } from "./values.ts";

const MAX_BATCH_ROWS = 122_880;
/** What a value takes that is no text. */
const VALUE_BYTES = 8;
/** What the runtime puts in the place of bytes that are no UTF-8. */
const REPLACEMENT = "\ufffd";

/** Reads tables and views. */
export class SqliteSource implements Source, Disposable {
  readonly #snapshots: Snapshots;
  readonly #host: ConnectorHost;
  readonly #noticed = new Set<string>();

  constructor(path: string, host: ConnectorHost) {
    this.#snapshots = new Snapshots(path);
    this.#host = host;
  }

  schema(spec: DatasetSpec, signal: AbortSignal): Promise<Schema> {
    return this.#attempt(spec, signal, () => {
      using database = this.#snapshots.open();
      const dataset = describeDataset(database, spec);
      const { partitions, partitionColumn } = readOptions(spec.options);
      // Told before anything is planned, so that who only asks for the columns hears of it.
      if (partitions > 1 && partitionColumn !== undefined) dividerOf(dataset, partitionColumn);
      this.#tell(dataset);
      return dataset.schema;
    });
  }

  plan(spec: DatasetSpec, signal: AbortSignal): Promise<readonly Partition[]> {
    const { partitions, partitionColumn } = readOptions(spec.options);
    if (partitions === 1 || partitionColumn === undefined) return Promise.resolve([{ id: rangeId({}) }]);
    return this.#attempt(spec, signal, () => {
      const database = this.#snapshots.open();
      let waiting: readonly string[] = [];
      try {
        const dataset = describeDataset(database, spec);
        const divider = dividerOf(dataset, partitionColumn);
        const ranges = priorRanges(spec.priorPartitions, divider.name) ??
          findRanges(database, dataset, divider, partitions);
        const done = new Set(spec.priorPartitions?.flatMap(({ id, isDone }) => isDone ? [id] : []));
        const ids = ranges.map(rangeId);
        waiting = ids.filter((id) => !done.has(id));
        return ids.map((id) => ({ id }));
      } finally {
        if (waiting.length === 0) database[Symbol.dispose]();
        else this.#snapshots.keep(keyOf(spec), database, waiting);
      }
    });
  }

  async *read(
    spec: DatasetSpec,
    partition: Partition,
    { batchBytes, signal }: { readonly batchBytes: number; readonly signal: AbortSignal },
  ): AsyncGenerator<RecordBatch> {
    const range = rangeOf(partition.id);
    const doing = `Reading "${tableName(spec)}"`;
    try {
      signal.throwIfAborted();
      using lease = this.#snapshots.lease(keyOf(spec), partition.id);
      const { database } = lease;
      const dataset = describeDataset(database, spec);
      const conditions = [renderPredicate(spec.hints?.predicate, dataset), conditionOf(dataset, range)]
        .filter((condition) => condition !== undefined);
      for (const batch of batches(database, dataset, selectOf(dataset, conditions), batchBytes)) {
        yield batch;
        signal.throwIfAborted();
      }
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw toTrouble(error, doing);
    }
  }

  #attempt<T>(spec: DatasetSpec, signal: AbortSignal, work: () => T): Promise<T> {
    return new Promise((resolve) => {
      signal.throwIfAborted();
      try {
        resolve(work());
      } catch (error) {
        throw toTrouble(error, `Reading "${tableName(spec)}"`);
      }
    });
  }

  /** Says once what arrives in another type than it has. */
  #tell({ table, wanted }: Dataset): void {
    for (const { name, rule } of wanted) {
      const notice = `"${table}": column "${name}" is read as ${rule.notice}`;
      if (rule.notice === undefined || this.#noticed.has(notice)) continue;
      this.#noticed.add(notice);
      this.#host.notice(notice);
    }
  }

  [Symbol.dispose](): void {
    this.#snapshots[Symbol.dispose]();
  }
}

function* batches(database: Database, dataset: Dataset, query: Query, batchBytes: number): Generator<RecordBatch> {
  const { wanted } = dataset;
  const builder = new BatchBuilder(dataset.schema);
  const puts = wanted.map(({ rule }) => putterOf(rule));
  let bytes = 0;
  for (const row of database.each(query)) {
    for (let index = 0; index < puts.length; index++) {
      const value = row[index + 1] ?? null;
      const column = builder.columns[index];
      if (value === null) column?.appendNull();
      else if (column !== undefined) {
        try {
          if (typeof value === "string" && value.includes(REPLACEMENT)) {
            checkUtf8(database, dataset, index, row[0] ?? null);
          }
          puts[index]?.(column, value);
        } catch (error) {
          throw explain(error, dataset, index, row[0] ?? null);
        }
      }
      bytes += typeof value === "string" || value instanceof Uint8Array ? value.length + VALUE_BYTES : VALUE_BYTES;
    }
    builder.endRow();
    if (bytes < batchBytes && builder.rows < MAX_BATCH_ROWS) continue;
    bytes = 0;
    yield builder.finish();
  }
  if (builder.rows > 0) yield builder.finish();
}

/** Finds out whether a text holds U+FFFD itself or was damaged. */
function checkUtf8(database: Database, { table, wanted, rowid }: Dataset, index: number, number: SqliteValue): void {
  const name = wanted[index]?.name;
  if (name === undefined || rowid === undefined) return;
  const [row] = database.rows(`SELECT CAST(${ident(name)} AS BLOB) FROM ${ident(table)} WHERE ${rowid} = ?`, number);
  const bytes = row?.[0];
  if (!(bytes instanceof Uint8Array)) return;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new BadValue("a text is no valid UTF-8");
  }
}

function explain(error: unknown, { table, wanted }: Dataset, index: number, rowid: SqliteValue): unknown {
  if (!(error instanceof BadValue)) return error;
  const place = rowid === null ? "" : `, rowid ${rowid}`;
  return new ConnectorError(`Table "${table}"${place}, column "${wanted[index]?.name}": ${error.message}`, {
    transient: false,
    hint: "correct the value, or name the type that the column's values have in `columns`",
    cause: error,
  });
}

function keyOf({ entity, options }: DatasetSpec): string {
  const asText = (_key: string, value: unknown) => typeof value === "bigint" ? String(value) : value;
  return JSON.stringify([entity, options], asText);
}
