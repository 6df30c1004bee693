import { DatabaseSync, type StatementSync } from "node:sqlite";

/** How long a statement waits for another program that has locked the database. */
const BUSY_TIMEOUT_MS = 5000;

/** A value as SQLite keeps it: whole numbers are `bigint`, `number` is floating point. */
export type SqliteValue = null | bigint | number | string | Uint8Array;

/** An open database. */
export class Database implements Disposable {
  readonly #database: DatabaseSync;

  /** @throws when the file can't be opened; without `write`, also when there is none */
  constructor(path: string, use: "read" | "write") {
    this.#database = new DatabaseSync(path, { readOnly: use === "read", timeout: BUSY_TIMEOUT_MS });
    // On some versions of the runtime, opening for reading overlooks the option.
    this.#database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  }

  /** Runs statements that give no rows. */
  run(sql: string): void {
    this.#database.exec(sql);
  }

  /** Rows as arrays of values in the order of the columns. */
  rows(sql: string, ...values: SqliteValue[]): readonly (readonly SqliteValue[])[] {
    return Array.from(this.each(sql, ...values));
  }

  /** Rows one after another, as they are asked for. */
  *each(sql: string, ...values: SqliteValue[]): Generator<readonly SqliteValue[]> {
    const statement = this.prepare(sql);
    statement.setReturnArrays(true);
    statement.setReadBigInts(true);
    for (const row of statement.iterate(...values)) yield arrayOf(row);
  }

  prepare(sql: string): StatementSync {
    return this.#database.prepare(sql);
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

/** The types of the module know rows as objects only. */
function arrayOf(row: unknown): readonly SqliteValue[] {
  if (!Array.isArray(row)) throw new TypeError("a row that is no array");
  return row;
}
