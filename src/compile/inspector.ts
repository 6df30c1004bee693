import { type DuckDbConnection, type DuckDbDatabase, openDuckDb } from "../duckdb/mod.ts";
import { type QueryTree, queryTree } from "./statements.ts";

/** Reads SQL with DuckDB's own parser; DuckDB is opened at the first text. */
export class SqlInspector implements AsyncDisposable {
  #database: DuckDbDatabase | undefined;
  #connection: DuckDbConnection | undefined;

  /** DuckDB's tree of a text, or undefined where it is no single query. */
  async tree(sql: string): Promise<QueryTree | undefined> {
    this.#database ??= await openDuckDb({ allowedPaths: { files: [], folders: [] } });
    this.#connection ??= await this.#database.connect();
    return await queryTree(this.#connection, sql);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#database?.[Symbol.asyncDispose]();
  }
}
