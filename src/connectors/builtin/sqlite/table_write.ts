import type { StatementSync } from "node:sqlite";
import type { RecordBatch } from "../../../util/arrow.ts";
import { ConnectorError, type OutputSpec, type WriteResult } from "../../contract/mod.ts";
import { columnReader, type WriteSession } from "../../sdk/mod.ts";
import { BadValue, refusedValue } from "../shared/bad_value.ts";
import { recordAttempt } from "./attempts.ts";
import type { Database, SqliteValue } from "./database.ts";
import { type Encoder, encoderOf } from "./encode.ts";
import { ident } from "./name.ts";
import type { Target } from "./target.ts";
import { toTrouble } from "./trouble.ts";
import { newColumnType } from "./write_types.ts";

type Parts = {
  readonly database: Database;
  readonly target: Target;
  readonly spec: OutputSpec;
  readonly doing: string;
  /** Closes the database and lets the next write begin. */
  readonly release: () => void;
};

/** A write into a table, inside of one transaction that has begun. */
export class TableWrite implements WriteSession {
  readonly #parts: Parts;
  #statement: StatementSync | undefined;
  #rows = 0n;
  #batches = 0;
  #state: "open" | "over" = "open";

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get provesAttempt(): boolean {
    return this.#parts.spec.mode === "append";
  }

  write(batch: RecordBatch, signal: AbortSignal): Promise<void> {
    return this.#attempt(() => {
      this.#mustBeOpen("write");
      signal.throwIfAborted();
      const encoders = this.#encoders(batch);
      const statement = this.#statement ??= this.#parts.database.prepare(insertOf(this.#parts, encoders));
      const values: SqliteValue[] = new Array(encoders.length).fill(null);
      for (let row = 0; row < batch.numRows; row++) {
        for (let index = 0; index < encoders.length; index++) values[index] = this.#value(encoders, index, row);
        statement.run(...values);
      }
      this.#rows += BigInt(batch.numRows);
      this.#batches++;
    });
  }

  #encoders(batch: RecordBatch): readonly Encoder[] {
    return this.#parts.target.columns.map(({ field, type }, index) => {
      const data = batch.data.children[index];
      if (data === undefined) throw new TypeError("a batch with fewer columns than its schema");
      return encoderOf(columnReader(field, data), type);
    });
  }

  #value(encoders: readonly Encoder[], index: number, row: number): SqliteValue {
    try {
      return encoders[index]?.value(row) ?? null;
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      const { name = "", field } = this.#parts.target.columns[index] ?? {};
      throw refusedValue(error, {
        column: name,
        row: this.#rows + BigInt(row + 1),
        type: field === undefined ? undefined : newColumnType(field),
      });
    }
  }

  commit(): Promise<WriteResult> {
    return this.#attempt(() => {
      this.#mustBeOpen("commit");
      this.#state = "over";
      const { database, spec, release } = this.#parts;
      const result: WriteResult = { rows: this.#rows, batches: this.#batches };
      let isCommitted = false;
      try {
        if (spec.mode === "append") recordAttempt(database, spec.attempt, result);
        database.run("COMMIT");
        isCommitted = true;
        return result;
      } catch (error) {
        const trouble = toTrouble(error, this.#parts.doing);
        // A COMMIT that SQLite refuses has not happened.
        throw trouble instanceof ConnectorError ? trouble.with({ outcomeUnknown: false }) : trouble;
      } finally {
        if (!isCommitted) rollBack(database);
        release();
      }
    });
  }

  abort(): Promise<void> {
    if (this.#state === "over") return Promise.resolve();
    this.#state = "over";
    rollBack(this.#parts.database);
    this.#parts.release();
    return Promise.resolve();
  }

  #attempt<T>(work: () => T): Promise<T> {
    return new Promise((resolve) => {
      try {
        resolve(work());
      } catch (error) {
        throw toTrouble(error, this.#parts.doing);
      }
    });
  }

  #mustBeOpen(what: string): void {
    if (this.#state === "open") return;
    throw new ConnectorError(`A ${what} after the write has ended`, { transient: false, code: "PZ0357" });
  }
}

/** Takes a transaction back; SQLite may have done so by itself already. */
export function rollBack(database: Database): void {
  try {
    database.run("ROLLBACK");
  } catch {
    // there was nothing left to take back
  }
}

function insertOf({ target, spec }: Parts, encoders: readonly Encoder[]): string {
  const columns = target.columns.map(({ name }) => ident(name));
  // The runtime would cut a text off at U+0000.
  const places = encoders.map(({ isText }) => isText ? "CAST(? AS TEXT)" : "?");
  const insert = `INSERT INTO ${ident(target.table)} (${columns.join(", ")}) VALUES (${places.join(", ")})`;
  if (spec.mode !== "merge") return insert;
  const keys = target.keys.map(ident);
  const others = columns.filter((column) => !keys.includes(column));
  const update = others.length === 0
    ? "NOTHING"
    : `UPDATE SET ${others.map((column) => `${column} = excluded.${column}`).join(", ")}`;
  return `${insert} ON CONFLICT (${keys.join(", ")}) DO ${update}`;
}
