import type { DuckDBConnection as NativeConnection, DuckDBType } from "@duckdb/node-api";
import type { DataChunk } from "@duckdb/node-bindings";
import type { DuckDbLibrary } from "./load.ts";
import { ident } from "./quote.ts";
import { VectorWriter } from "./vector.ts";

/** A column of a fed relation; `type` is DuckDB's text of a type. */
export type FeedColumn = { readonly name: string; readonly type: string };

/**
 * Writes up to `VECTOR_ROWS` rows and returns how many; 0 ends the relation for the statement that reads it. `columns` are the wanted columns and
 * `writers` their vectors, in the same order. An error thrown here fails the statement that reads the relation.
 */
export type FeedFill = (columns: readonly number[], writers: readonly VectorWriter[]) => number;

/** A relation that JavaScript fills, until it is disposed; one statement at a time may read it. */
export type Feed = Disposable & {
  /** Stands for the relation in a FROM clause. */
  readonly sql: string;
  /** What `fill` threw last, in place of DuckDB's text of it. */
  readonly failure: unknown;
  /** Lets go of the memory that the last statement over the relation used; to be called when it has ended. */
  settle(): void;
};

type OpenFeed = {
  readonly columns: readonly FeedColumn[];
  readonly types: readonly DuckDBType[];
  readonly fill: FeedFill;
  /** Chunks of the running statement: no chunk is finalised while DuckDB may still write into it. */
  readonly held: DataChunk[];
  /** Several threads ask, each until it is told of the end. */
  ended: boolean;
  failure: unknown;
};

const FUNCTION_NAME = "pz_feed";

/** The feeds of one database: a table function whose argument is the number of an open feed. */
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
        feed.columns.forEach(({ name }, index) => {
          const type = feed.types[index];
          if (type !== undefined) bind.addResultColumn(name, type);
        });
        bind.setBindData({ id });
      },
      initFunction: (init) => {
        const feed = this.#open.get(idOf(init.bindData));
        if (feed !== undefined) feed.ended = false;
        init.setInitData({ columns: init.getColumnIndexes() });
        init.setMaxThreads(8);
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

  /** Opens a feed; its column types are looked up by `connection`. */
  async open(connection: NativeConnection, columns: readonly FeedColumn[], fill: FeedFill): Promise<Feed> {
    const nulls = columns.map(({ name, type }) => `CAST(NULL AS ${type}) AS ${ident(name)}`);
    const statement = await connection.prepare(`SELECT ${nulls.join(", ")}`);
    const types = columns.map((_, index) => statement.columnType(index));
    statement.destroySync();
    const id = ++this.#last;
    const feed: OpenFeed = { columns, types, fill, held: [], ended: false, failure: undefined };
    this.#open.set(id, feed);
    return {
      sql: `${FUNCTION_NAME}(${id})`,
      get failure() {
        return feed.failure;
      },
      settle: () => {
        feed.held.length = 0;
      },
      [Symbol.dispose]: () => {
        this.#open.delete(id);
        feed.held.length = 0;
      },
    };
  }

  #fill(feed: OpenFeed, columns: readonly number[], chunk: DataChunk): number {
    if (feed.ended) return 0;
    const { bindings } = this.#library;
    feed.held.push(chunk);
    const wanted: number[] = [];
    const writers: VectorWriter[] = [];
    columns.forEach((column, index) => {
      // A statement that needs no column at all, such as a count, asks for a row id.
      if (column >= feed.columns.length) return;
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
