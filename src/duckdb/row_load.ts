import type { DuckDBConnection as NativeConnection, DuckDBType } from "@duckdb/node-api";
import { setImmediate } from "node:timers/promises";
import type { DuckDbLibrary } from "./load.ts";
import { ident, qualified } from "./quote.ts";
import { VectorWriter } from "./vector.ts";

/** A column of a table to load; `type` is DuckDB's text of the type in which JavaScript hands its values over. */
export type LoadColumn = { readonly name: string; readonly type: string };

/** The table that is loaded, in the catalog in use. Its columns may have other types, to which values are cast. */
export type LoadTarget = {
  readonly schema: string;
  readonly table: string;
  readonly columns: readonly LoadColumn[];
  /** Whether the open transaction has changed the catalog of the table itself; then a load takes less CPU. */
  readonly ownsCatalog?: boolean;
};

/**
 * Writes up to `VECTOR_ROWS` rows into the vectors of the named columns, which come in the same order, and returns how
 * many; 0 is the end. An error thrown here ends the load and is thrown on.
 */
export type FillRows = (columns: readonly number[], writers: readonly VectorWriter[]) => number;

/** An open way into a table. What it writes belongs to the transaction of its connection. */
export type RowLoad = Disposable & {
  /** Adds rows until `fill` has no more, and returns how many the table has got. */
  write(fill: FillRows, signal?: AbortSignal): Promise<number>;
};

/** Rows that the appender collects before it writes them, which holds the event loop. */
const FLUSH_CHUNKS = 16;
const SLICE_MS = 10;

/** The types of a target's columns, as the bindings want them. */
export async function typesOf(connection: NativeConnection, columns: readonly LoadColumn[]): Promise<DuckDBType[]> {
  const nulls = columns.map(({ name, type }) => `CAST(NULL AS ${type}) AS ${ident(name)}`);
  const statement = await connection.prepare(`SELECT ${nulls.join(", ")}`);
  try {
    return columns.map((_, index) => statement.columnType(index));
  } finally {
    statement.destroySync();
  }
}

/**
 * Loads by DuckDB's appender, chunk by chunk on the thread of the event loop, with turns of the loop in between. For
 * runtimes on which a table function in JavaScript would wait for the very thread that it blocks.
 */
export class AppenderLoad implements RowLoad {
  readonly #connection: NativeConnection;
  readonly #library: DuckDbLibrary;
  readonly #target: LoadTarget;
  readonly #types: readonly DuckDBType[];
  readonly #columns: readonly number[];

  constructor(
    connection: NativeConnection,
    library: DuckDbLibrary,
    target: LoadTarget,
    types: readonly DuckDBType[],
  ) {
    this.#connection = connection;
    this.#library = library;
    this.#target = target;
    this.#types = types;
    this.#columns = types.map((_, index) => index);
  }

  /** Values of another type than their column's go through a table beside it, since the appender casts unchecked. */
  async write(fill: FillRows, signal?: AbortSignal): Promise<number> {
    const { schema, table, columns } = this.#target;
    if (await this.#hasSameTypes()) return await this.#append(schema, table, fill, signal);
    // Loads that go on side by side may have the same table.
    const beside = `pz_load_${crypto.randomUUID()}`;
    const definitions = columns.map(({ name, type }) => `${ident(name)} ${type}`).join(", ");
    await this.#connection.run(`CREATE TABLE ${qualified(schema, beside)} (${definitions})`);
    await this.#append(schema, beside, fill, signal);
    const names = columns.map(({ name }) => ident(name)).join(", ");
    const source = `SELECT ${names} FROM ${qualified(schema, beside)}`;
    const { rowsChanged } = await this.#connection.run(`INSERT INTO ${qualified(schema, table)} (${names}) ${source}`);
    await this.#connection.run(`DROP TABLE ${qualified(schema, beside)}`);
    return rowsChanged;
  }

  [Symbol.dispose](): void {}

  async #hasSameTypes(): Promise<boolean> {
    const { schema, table } = this.#target;
    const statement = await this.#connection.prepare(`FROM ${qualified(schema, table)}`);
    try {
      return this.#types.every((type, index) => {
        const actual = statement.columnType(index);
        return String(actual) === String(type) && actual.alias === type.alias;
      });
    } finally {
      statement.destroySync();
    }
  }

  async #append(schema: string, table: string, fill: FillRows, signal: AbortSignal | undefined): Promise<number> {
    const { api, bindings } = this.#library;
    const appender = await this.#connection.createAppender(table, schema);
    const chunk = api.DuckDBDataChunk.create(this.#types);
    let total = 0;
    let sliceStart = performance.now();
    try {
      for (let chunks = 1;; chunks++) {
        signal?.throwIfAborted();
        chunk.reset();
        const writers = this.#columns.map((index) =>
          new VectorWriter(bindings, bindings.data_chunk_get_vector(chunk.chunk, index))
        );
        const rows = fill(this.#columns, writers);
        if (rows === 0) break;
        bindings.data_chunk_set_size(chunk.chunk, rows);
        appender.appendDataChunk(chunk);
        total += rows;
        if (chunks % FLUSH_CHUNKS === 0) appender.flushSync();
        if (performance.now() - sliceStart < SLICE_MS) continue;
        await setImmediate();
        sliceStart = performance.now();
      }
    } finally {
      appender.closeSync();
    }
    return total;
  }
}
