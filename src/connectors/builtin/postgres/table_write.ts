import type { RecordBatch } from "../../../util/arrow.ts";
import { ConnectorError, type OutputSpec, type WriteResult } from "../../contract/mod.ts";
import type { WriteSession } from "../../sdk/connector.ts";
import { completeAttempt, forgetOldAttempts } from "./attempts.ts";
import { ident, qualified } from "./name.ts";
import type { RowCopy } from "./row_copy.ts";
import type { PgSession } from "./session.ts";
import type { Target } from "./target.ts";
import { isRolledBack, stateOf, toTrouble } from "./trouble.ts";

/** How long a broken connection may take to say so before it is given up. */
const ABORT_PATIENCE_MS = 5000;
const UNSUPPORTED = "0A000";
/** Two rows of one statement would change the same row. */
const CARDINALITY = "21000";

type Parts = {
  readonly session: PgSession;
  /** Ends the session at once. */
  readonly stop: AbortController;
  readonly copy: RowCopy;
  readonly target: Target;
  /** Where the rows go first. */
  readonly into: string;
  readonly spec: OutputSpec;
  readonly isMarked: boolean;
  readonly doing: string;
};

/** A write into a table, inside of one transaction. */
export class TableWrite implements WriteSession {
  readonly #parts: Parts;
  #batches = 0;
  #state: "open" | "committing" | "over" = "open";

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get provesAttempt(): boolean {
    return this.#parts.isMarked;
  }

  async write(batch: RecordBatch, signal: AbortSignal): Promise<void> {
    this.#mustBeOpen("write");
    const { copy, stop, doing } = this.#parts;
    const abort = () => stop.abort(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    try {
      signal.throwIfAborted();
      await copy.send(batch, 0, batch.numRows);
      this.#batches++;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw toTrouble(error, doing);
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  async commit(): Promise<WriteResult> {
    this.#mustBeOpen("commit");
    this.#state = "committing";
    const { session, copy, doing, isMarked, target, spec } = this.#parts;
    const result: WriteResult = { rows: copy.rows, batches: this.#batches };
    let isAsked = false;
    try {
      await copy.finish(doing);
      await this.#apply();
      if (isMarked) {
        await completeAttempt(session, target.table, spec.attempt, result);
        await forgetOldAttempts(session, target.table, spec.attempt);
      }
      isAsked = true;
      await session.query("COMMIT");
      return result;
    } catch (error) {
      const trouble = toTrouble(error, doing);
      if (!(trouble instanceof ConnectorError)) throw trouble;
      throw trouble.with({ outcomeUnknown: isAsked && !isRolledBack(error) });
    } finally {
      this.#state = "over";
      await session[Symbol.asyncDispose]();
    }
  }

  /** Brings the rows from beside the table into it. */
  async #apply(): Promise<void> {
    const { session, target, into, spec } = this.#parts;
    const table = qualified(target.table);
    if (into === table) return;
    const columns = target.columns.map(({ name }) => ident(name));
    const list = columns.join(", ");
    if (spec.mode === "replace") {
      await this.#truncate(table);
      await session.query(`INSERT INTO ${table} (${list}) OVERRIDING SYSTEM VALUE SELECT ${list} FROM ${into}`);
      return;
    }
    const keys = target.keys.map(ident);
    const others = columns.filter((column) => !keys.includes(column));
    const isLoose = target.columns.some(({ name, type }) => target.keys.includes(name) && type.isLoose === true);
    // The server counts rows that become one only where they update it.
    const changes = others.length === 0 && isLoose
      ? keys.map((key) => `${key} = pz_t.${key}`)
      : others.map((column) => `${column} = EXCLUDED.${column}`);
    const update = changes.length === 0 ? "NOTHING" : `UPDATE SET ${changes.join(", ")}`;
    // A fresh table is only ever filled at its end, so the place of a row tells when it was written.
    const merged = session.query(
      `INSERT INTO ${table} AS pz_t (${list}) OVERRIDING SYSTEM VALUE ` +
        `SELECT DISTINCT ON (${keys.join(", ")}) ${list} FROM ${into} ORDER BY ${keys.join(", ")}, ctid DESC ` +
        `ON CONFLICT (${keys.join(", ")}) DO ${update}`,
    );
    await merged.catch((error: unknown) => {
      throw isLoose && stateOf(error) === CARDINALITY ? alikeKeys(target, error) : error;
    });
  }

  async #truncate(table: string): Promise<void> {
    try {
      await this.#parts.session.query(`TRUNCATE TABLE ${table}`);
    } catch (error) {
      if (stateOf(error) !== UNSUPPORTED) throw error;
      throw new ConnectorError(
        `${this.#parts.doing} failed: ${table} can't be emptied, since foreign keys refer to it`,
        {
          transient: false,
          hint: "use the strategy merge, or drop the foreign keys",
          cause: error,
        },
      );
    }
  }

  async abort(): Promise<void> {
    if (this.#state !== "open") return;
    this.#state = "over";
    const { session, copy } = this.#parts;
    const timer = setTimeout(() => void session.abandon(), ABORT_PATIENCE_MS);
    try {
      await copy.fail();
      await session.query("ROLLBACK").catch(() => {});
    } finally {
      clearTimeout(timer);
      await session[Symbol.asyncDispose]();
    }
  }

  #mustBeOpen(what: string): void {
    if (this.#state === "open") return;
    throw new ConnectorError(`A ${what} after the write has ended`, { transient: false, code: "PZ0357" });
  }
}

function alikeKeys({ table, keys }: Target, cause: unknown): ConnectorError {
  return new ConnectorError(
    `Two rows have different keys (${keys.map(ident).join(", ")}) that are one and the same to the columns of ` +
      `"${table.schema}.${table.table}"`,
    {
      transient: false,
      hint: "bring the keys into one form in the SELECT, such as rtrim(…) or lower(…), or make the key columns text",
      cause,
    },
  );
}
