import { type AllowedPaths, type DuckDbConnection, type DuckDbDatabase, openDuckDb } from "../duckdb/mod.ts";

/**
 * A DuckDB in memory in which the phases before a run read and plan SQL. It is opened at its first use, and what it holds
 * is thrown away. One may serve several phases, one after another.
 */
export class Workbench implements AsyncDisposable {
  readonly #allowedPaths: AllowedPaths;
  #database: DuckDbDatabase | undefined;
  #connection: DuckDbConnection | undefined;

  /** @param allowedPaths what SQL in it may open; default: nothing */
  constructor(allowedPaths: AllowedPaths = { files: [], folders: [] }) {
    this.#allowedPaths = allowedPaths;
  }

  /** The connection that all use. */
  async connection(): Promise<DuckDbConnection> {
    this.#database ??= await openDuckDb({ allowedPaths: this.#allowedPaths });
    this.#connection ??= await this.#database.connect();
    return this.#connection;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#database?.[Symbol.asyncDispose]();
  }
}
