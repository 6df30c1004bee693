import type { DuckDBConnection as NativeConnection, DuckDBPreparedStatement, DuckDBType } from "@duckdb/node-api";
import { parseAst, type SqlAst, writeAst } from "./ast.ts";
import { DuckDbError, duckDbError } from "./error.ts";
import { execute, executePrepared, runsOnLoopThread } from "./execute.ts";
import { runFed } from "./fed_statement.ts";
import type { Feeds } from "./feed.ts";
import type { DuckDbLibrary } from "./load.ts";
import { literal } from "./quote.ts";
import { RowRead } from "./row_read.ts";
import { AppenderLoad, type FillRows, type LoadTarget, type RowLoad, typesOf } from "./row_load.ts";
import type { Slots } from "./slots.ts";
import { typeText } from "./type_text.ts";
import { type DuckType, typeTree } from "./type_tree.ts";

/** An abort interrupts the statement, which then rejects with the signal's reason unless it had already ended. */
export type StatementOptions = { readonly signal?: AbortSignal | undefined };

/** A column of a result with DuckDB's text of its type, such as `DECIMAL(18,4)`. */
export type ResultColumn = { readonly name: string; readonly type: string };

/** A column of a result with its type taken apart. */
export type TypedColumn = ResultColumn & { readonly tree: DuckType };

/** DuckDB's tree of a text of SELECT statements. */
export type SqlTree = { readonly [key: string]: SqlAst };

/** How a database takes part in the life of its connections. */
export type ConnectionHost = {
  readonly library: DuckDbLibrary;
  readonly slots: Slots;
  readonly feeds: Feeds;
  readonly closed: (connection: DuckDbConnection) => void;
};

/** An interrupt that arrives before DuckDB has begun the statement is lost, so it is repeated until the end. */
const INTERRUPT_EVERY_MS = 10;

/** One connection; statements on it run one after another. Errors are `DuckDbError`. */
export class DuckDbConnection implements Disposable {
  readonly #native: NativeConnection;
  readonly #host: ConnectionHost;
  #tail: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;
  #read: RowRead | undefined;

  constructor(native: NativeConnection, host: ConnectionHost) {
    this.#native = native;
    this.#host = host;
  }

  /** Runs statements to their end and drops the rows. `rowsChanged` counts for a single statement. */
  run(sql: string, options: StatementOptions = {}): Promise<{ readonly rowsChanged: number }> {
    return this.#exclusively(options.signal, async (native) => {
      const { rowsChanged } = await execute(native, sql, this.#host.library);
      return { rowsChanged };
    });
  }

  /** Rows of one statement as DuckDB's own text of each value, NULL as null; meant for small results. */
  rows(sql: string, options: StatementOptions = {}): Promise<readonly (readonly (string | null)[])[]> {
    return this.#exclusively(options.signal, async (native) => {
      const statement = await native.prepare(sql);
      try {
        const plain = hasPlainColumns(statement, this.#host.library);
        const { SELECT } = this.#host.library.api.StatementType;
        if (plain || statement.statementType !== SELECT) {
          return textRows(await (await executePrepared(statement, this.#host.library)).getRows());
        }
      } finally {
        statement.destroySync();
      }
      const text = `SELECT COLUMNS(*)::VARCHAR FROM query(${literal(sql)})`;
      const cast = await execute(native, text, this.#host.library);
      return textRows(await cast.getRows());
    });
  }

  /**
   * The first value of the first row as an exact integer.
   *
   * @throws {TypeError} when there is no row, or the value is NULL or of no integer type
   */
  integer(sql: string, options: StatementOptions = {}): Promise<bigint> {
    return this.#exclusively(options.signal, async (native) => {
      const result = await execute(native, sql, this.#host.library);
      const { FLOAT, DOUBLE } = this.#host.library.api.DuckDBTypeId;
      const value: unknown = (await result.getRows())[0]?.[0];
      if (typeof value === "bigint") return value;
      const type = result.columnTypeId(0);
      if (typeof value === "number" && type !== FLOAT && type !== DOUBLE) return BigInt(value);
      throw new TypeError(`Expected one integer from: ${sql}`);
    });
  }

  /** How many statements a text holds; 0 for one of white space and comments. Nothing runs. */
  statementCount(sql: string): Promise<number> {
    return this.#exclusively(undefined, async (native) => {
      try {
        return (await native.extractStatements(sql)).count;
      } catch (error) {
        // For a text without any statement the bindings fail without a word of DuckDB's.
        if (await this.#countSelects(native, sql) === 0) return 0;
        throw error;
      }
    });
  }

  /** The columns that one statement would return. It is bound against the catalog and not run. */
  async prepare(sql: string): Promise<{ readonly columns: readonly ResultColumn[] }> {
    const columns = await this.#describe(sql, (name, type) => ({ name, type: typeText(type, this.#host.library) }));
    return { columns };
  }

  /** The same with each type taken apart. */
  typedColumns(sql: string): Promise<readonly TypedColumn[]> {
    const { library } = this.#host;
    return this.#describe(
      sql,
      (name, type) => ({ name, type: typeText(type, library), tree: typeTree(type, library) }),
    );
  }

  /**
   * DuckDB's tree of a text of SELECT statements: `{ statements: [...] }`, also for none and for several. Positions in
   * it (`query_location`) are UTF-8 byte offsets.
   *
   * @throws {DuckDbError} of kind `Parser`, or `Not implemented` for a statement other than SELECT
   */
  serializeSql(sql: string): Promise<SqlTree> {
    return this.#exclusively(undefined, (native) => this.#serialize(native, sql));
  }

  /** The same for many texts in one statement: for each, in their order, its tree or why it has none. */
  serializeEachSql(texts: readonly string[]): Promise<readonly (SqlTree | DuckDbError)[]> {
    return this.#exclusively(undefined, async (native) => {
      const { LIST, VARCHAR, listValue } = this.#host.library.api;
      const numbered = "SELECT unnest($1) AS text, unnest(range(len($1))) AS place";
      const trees = `SELECT json_serialize_sql(text) FROM (${numbered}) ORDER BY place`;
      const result = await native.run(trees, [listValue(texts)], [LIST(VARCHAR)]);
      return (await result.getRows()).map(([json]) => treeOf(String(json)));
    });
  }

  /** The SQL text of a tree as `serializeSql` gave it. */
  deserializeSql(ast: SqlAst): Promise<string> {
    return this.#exclusively(undefined, async (native) => {
      const { VARCHAR } = this.#host.library.api;
      const result = await native.run("SELECT json_deserialize_sql($1::JSON)", [writeAst(ast)], [VARCHAR]);
      return String((await result.getRows())[0]?.[0]);
    });
  }

  /**
   * Opens a way to write rows from JavaScript into a table. While it writes, the event loop must stay free, since rows
   * are filled in there.
   */
  openLoad(target: LoadTarget): Promise<RowLoad> {
    return this.#exclusively(undefined, async (native) => {
      const types = await typesOf(native, target.columns);
      if (!runsOnLoopThread(Deno.version.deno)) {
        return this.#host.feeds.load(
          target,
          types,
          (sql, signal, watch) =>
            this.#exclusively(
              signal,
              (own) =>
                target.ownsCatalog === true
                  ? runFed(own, sql, this.#host.library, watch, signal)
                  : execute(own, sql, this.#host.library),
            ),
        );
      }
      const load = new AppenderLoad(native, this.#host.library, target, types);
      return {
        write: (fill, signal) => this.#append(load, fill, signal),
        [Symbol.dispose]: () => {},
      };
    });
  }

  /**
   * Opens the rows of one SELECT, to be read chunk by chunk. Until the read is closed, other statements of the
   * connection wait. An abort ends it with the signal's reason.
   */
  async openRead(sql: string, { signal }: StatementOptions = {}): Promise<RowRead> {
    signal?.throwIfAborted();
    this.#throwIfClosed();
    const turn = this.#tail;
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    this.#tail = turn.then(() => released);
    const closed = new AbortController();
    const stop = signal === undefined ? closed.signal : AbortSignal.any([signal, closed.signal]);
    await turn;
    const read = await RowRead.open(sql, {
      library: this.#host.library,
      native: this.#native,
      call: async (work) => {
        // Closing gives up a waiting call, but no running one: an interrupt would end a transaction around.
        const result = await this.#host.slots.run(() => this.#interruptibly(signal, work), stop);
        // An interrupted fetch just has no rows.
        if (result === null) signal?.throwIfAborted();
        return result;
      },
      stop: () => closed.abort(new DuckDbError("The read is closed", "Connection")),
      release,
    });
    // The connection was asked to close while this waited.
    if (this.#closing !== undefined) await read.close();
    this.#read = read;
    return read;
  }

  /** Stops the statement that runs; it fails with a `DuckDbError` that is `interrupted`. */
  interrupt(): void {
    if (this.#closing === undefined) this.#native.interrupt();
  }

  /** Stops what runs and closes when it has ended. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.dispose](): void {
    void this.close();
  }

  async #close(): Promise<void> {
    const stop = setInterval(() => this.#native.interrupt(), INTERRUPT_EVERY_MS);
    try {
      await this.#read?.close();
      await this.#tail;
    } finally {
      clearInterval(stop);
    }
    this.#native.disconnectSync();
    this.#host.closed(this);
  }

  /** What `fill` throws is no failure of DuckDB and stays as it is. */
  async #append(load: AppenderLoad, fill: FillRows, signal: AbortSignal | undefined): Promise<number> {
    let failure: unknown;
    const guarded: FillRows = (columns, writers) => {
      try {
        return fill(columns, writers);
      } catch (error) {
        failure = error;
        throw error;
      }
    };
    try {
      return await this.#exclusively(signal, () => load.write(guarded, signal));
    } catch (error) {
      throw failure ?? error;
    }
  }

  async #exclusively<T>(
    signal: AbortSignal | undefined,
    work: (native: NativeConnection) => Promise<T>,
  ): Promise<T> {
    signal?.throwIfAborted();
    this.#throwIfClosed();
    const mine = this.#tail.then(() => this.#host.slots.run(() => this.#interruptibly(signal, work), signal));
    this.#tail = mine.catch(() => {});
    return await mine;
  }

  #throwIfClosed(): void {
    if (this.#closing !== undefined) throw new DuckDbError("The connection is closed", "Connection");
  }

  async #interruptibly<T>(
    signal: AbortSignal | undefined,
    work: (native: NativeConnection) => Promise<T>,
  ): Promise<T> {
    signal?.throwIfAborted();
    let repeat: ReturnType<typeof setInterval> | undefined;
    const stop = () => {
      this.#native.interrupt();
      repeat = setInterval(() => this.#native.interrupt(), INTERRUPT_EVERY_MS);
    };
    signal?.addEventListener("abort", stop, { once: true });
    try {
      return await work(this.#native);
    } catch (error) {
      if (error instanceof TypeError || (signal?.aborted === true && error === signal.reason)) throw error;
      const failure = duckDbError(error);
      if (failure.interrupted) signal?.throwIfAborted();
      throw failure;
    } finally {
      signal?.removeEventListener("abort", stop);
      clearInterval(repeat);
    }
  }

  #describe<T>(sql: string, column: (name: string, type: DuckDBType) => T): Promise<readonly T[]> {
    return this.#exclusively(undefined, async (native) => {
      const statement = await native.prepare(sql);
      try {
        const columns: T[] = [];
        for (let index = 0; index < statement.columnCount; index++) {
          columns.push(column(statement.columnName(index), statement.columnType(index)));
        }
        return columns;
      } finally {
        statement.destroySync();
      }
    });
  }

  async #countSelects(native: NativeConnection, sql: string): Promise<number | undefined> {
    try {
      const statements = (await this.#serialize(native, sql))["statements"];
      return Array.isArray(statements) ? statements.length : undefined;
    } catch {
      return undefined;
    }
  }

  async #serialize(native: NativeConnection, sql: string): Promise<SqlTree> {
    const { VARCHAR } = this.#host.library.api;
    const result = await native.run("SELECT json_serialize_sql($1::VARCHAR)", [sql], [VARCHAR]);
    const tree = treeOf(String((await result.getRows())[0]?.[0]));
    if (tree instanceof DuckDbError) throw tree;
    return tree;
  }
}

/** What DuckDB's JSON form of a text says: its tree, or why it has none. */
function treeOf(json: string): SqlTree | DuckDbError {
  const ast = parseAst(json);
  if (typeof ast !== "object" || ast === null || isList(ast)) return new DuckDbError("Unreadable SQL tree", "Internal");
  if (ast["error"] !== true) return ast;
  const kind = String(ast["error_type"]);
  const position = ast["position"];
  return new DuckDbError(
    String(ast["error_message"]),
    kind.slice(0, 1).toUpperCase() + kind.slice(1),
    position === undefined ? undefined : Number(position),
  );
}

/** Whether JavaScript's text of every value is DuckDB's own, so that no cast is needed. */
function hasPlainColumns(statement: DuckDBPreparedStatement, { api: { DuckDBTypeId: id } }: DuckDbLibrary): boolean {
  const plain: ReadonlySet<number> = new Set([
    id.BOOLEAN,
    id.TINYINT,
    id.SMALLINT,
    id.INTEGER,
    id.BIGINT,
    id.UTINYINT,
    id.USMALLINT,
    id.UINTEGER,
    id.UBIGINT,
    id.HUGEINT,
    id.UHUGEINT,
    id.VARCHAR,
    id.ENUM,
  ]);
  for (let index = 0; index < statement.columnCount; index++) {
    if (!plain.has(statement.columnTypeId(index))) return false;
  }
  return true;
}

function textRows(rows: readonly (readonly unknown[])[]): (string | null)[][] {
  return rows.map((row) => row.map((value) => value === null ? null : String(value)));
}

function isList(ast: object): ast is readonly SqlAst[] {
  return Array.isArray(ast);
}
