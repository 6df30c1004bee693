import { DatabaseSync, type StatementSync } from "node:sqlite";
import { ConnectorError } from "../../contract/mod.ts";

/** How long a statement waits for another program that has locked the database. */
const BUSY_TIMEOUT_MS = 5000;

/** A value as SQLite keeps it: whole numbers are `bigint`, `number` is floating point. */
export type SqliteValue = null | bigint | number | string | Uint8Array;

/** A select, of which the columns are known. */
export type Query = { readonly columns: readonly string[]; readonly from: string };

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
    return this.#arrays(sql).all(...values).map(arrayOf);
  }

  /**
   * The rows of `SELECT columns from`, one after another, as they are asked for.
   *
   * @throws what the database fails with on its way through the rows
   */
  *each({ columns, from }: Query): Generator<readonly SqliteValue[]> {
    // The runtime takes a failure for the end of the rows, so that there has to be a last one.
    const last = `SELECT ${columns.map(() => "NULL").join(", ")}, 1`;
    const statement = this.#arrays(`SELECT ${columns.join(", ")}, 0 ${from} UNION ALL ${last}`);
    for (const row of statement.iterate()) {
      const values = arrayOf(row);
      if (values.pop() === 1n) return;
      yield values;
    }
    this.#fail({ columns, from });
  }

  /** Goes through the rows once more, in a way that tells of a failure. */
  #fail({ columns, from }: Query): never {
    const kinds = columns.map((_, index) => `max(typeof(c${index}))`).join(", ");
    const names = columns.map((_, index) => `c${index}`).join(", ");
    this.prepare(`WITH r(${names}) AS (SELECT ${columns.join(", ")} ${from}) SELECT ${kinds} FROM r`).get();
    throw new ConnectorError("The rows ended before their end", { transient: true });
  }

  #arrays(sql: string): StatementSync {
    const statement = this.prepare(sql);
    statement.setReturnArrays(true);
    statement.setReadBigInts(true);
    return statement;
  }

  prepare(sql: string): StatementSync {
    return this.#database.prepare(sql);
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

/** The types of the module know rows as objects only. */
function arrayOf(row: unknown): SqliteValue[] {
  if (!Array.isArray(row)) throw new TypeError("a row that is no array");
  return row;
}
