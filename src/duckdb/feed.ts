import type { DuckDBConnection as NativeConnection, DuckDBType } from "@duckdb/node-api";
import type { DataChunk } from "@duckdb/node-bindings";
import type { FeedWatch } from "./fed_statement.ts";
import type { DuckDbLibrary } from "./load.ts";
import { ident, qualified } from "./quote.ts";
import type { FillRows, LoadTarget, RowLoad } from "./row_load.ts";
import { VectorWriter } from "./vector.ts";

type OpenFeed = {
  readonly names: readonly string[];
  readonly types: readonly DuckDBType[];
  /** Chunks of the running statement: no chunk is finalised while DuckDB may still write into it. */
  readonly held: DataChunk[];
  fill: FillRows;
  ended: boolean;
  failure: unknown;
  readonly watch: FeedWatch;
};

/** How a load's INSERT is run; `watch` tells of its feed. */
export type RunInsert = (
  sql: string,
  signal: AbortSignal | undefined,
  watch: FeedWatch,
) => Promise<{ readonly rowsChanged: number }>;

const FUNCTION_NAME = "pz_feed";
/**
 * One thread writes whole row groups, of which nothing has to be put together at the checkpoint; several would leave a
 * half-full one each. JavaScript, which fills the chunks, is one thread too.
 */
const MAX_THREADS = 1;

/**
 * The relations of one database that JavaScript fills: a table function whose argument is the number of an open feed.
 * DuckDB calls it on the event loop, a chunk at a time, while its own threads do the rest of the statement.
 */
export class Feeds {
  readonly #library: DuckDbLibrary;
  readonly #open = new Map<number, OpenFeed>();
  #last = 0;

  constructor(library: DuckDbLibrary) {
    this.#library = library;
  }

  /** Makes the table function known to every connection of the database. */
  register(connection: NativeConnection): void {
    const { api } = this.#library;
    connection.registerTableFunction(api.DuckDBTableFunction.create({
      name: FUNCTION_NAME,
      parameterTypes: [api.INTEGER],
      supportsProjectionPushdown: true,
      bindFunction: (bind) => {
        const id = Number(bind.getParameter(0));
        const feed = this.#open.get(id);
        if (feed === undefined) return bind.setError(`${FUNCTION_NAME}(${id}) is not open`);
        feed.types.forEach((type, index) => bind.addResultColumn(feed.names[index] ?? "", type));
        bind.setBindData({ id });
      },
      initFunction: (init) => {
        const feed = this.#open.get(idOf(init.bindData));
        if (feed !== undefined) feed.ended = false;
        init.setInitData({ columns: init.getColumnIndexes() });
        init.setMaxThreads(MAX_THREADS);
      },
      mainFunction: (info, { chunk }) => {
        const id = idOf(info.bindData);
        const feed = this.#open.get(id);
        if (feed === undefined) return info.setError(`${FUNCTION_NAME}(${id}) is not open`);
        try {
          this.#library.bindings.data_chunk_set_size(chunk, this.#fill(feed, columnsOf(info.initData), chunk));
        } catch (error) {
          feed.failure = error;
          info.setError(error instanceof Error ? error.message : String(error));
        }
      },
    }));
  }

  /** Opens a load that writes by INSERT from a feed; `run` runs a statement on the load's own connection. */
  load(target: LoadTarget, types: readonly DuckDBType[], run: RunInsert): RowLoad {
    const id = ++this.#last;
    const feed: OpenFeed = {
      names: target.columns.map(({ name }) => name),
      types,
      held: [],
      fill: () => 0,
      ended: false,
      failure: undefined,
      watch: { calls: 0, isHurried: false },
    };
    this.#open.set(id, feed);
    const names = feed.names.map(ident).join(", ");
    const table = qualified(target.schema, target.table);
    const insert = `INSERT INTO ${table} (${names}) SELECT ${names} FROM ${FUNCTION_NAME}(${id})`;
    return {
      async write(fill, signal) {
        feed.fill = fill;
        feed.failure = undefined;
        feed.watch.calls = 0;
        try {
          return (await run(insert, signal, feed.watch)).rowsChanged;
        } catch (error) {
          throw feed.failure ?? error;
        } finally {
          feed.held.length = 0;
        }
      },
      [Symbol.dispose]: () => void this.#open.delete(id),
    };
  }

  #fill(feed: OpenFeed, columns: readonly number[], chunk: DataChunk): number {
    feed.watch.calls++;
    if (feed.ended) return 0;
    const { bindings } = this.#library;
    feed.held.push(chunk);
    const wanted: number[] = [];
    const writers: VectorWriter[] = [];
    columns.forEach((column, index) => {
      // A statement that needs no column at all, such as a count, asks for a row id.
      if (column >= feed.types.length) return;
      wanted.push(column);
      writers.push(new VectorWriter(bindings, bindings.data_chunk_get_vector(chunk, index)));
    });
    const rows = feed.fill(wanted, writers);
    feed.ended = rows === 0;
    return rows;
  }
}

function idOf(data: object | undefined): number {
  return data !== undefined && "id" in data && typeof data.id === "number" ? data.id : 0;
}

function columnsOf(data: object | undefined): readonly number[] {
  return data !== undefined && "columns" in data && Array.isArray(data.columns) ? data.columns : [];
}
