import type { Data, RecordBatch } from "../../../util/arrow.ts";
import { ConnectorError, type OutputSpec, type WriteResult } from "../../contract/mod.ts";
import type { WriteSession } from "../../sdk/connector.ts";
import { completeAttempt, forgetOldAttempts } from "./attempts.ts";
import { BadValue } from "./bad_value.ts";
import type { CopyIn } from "./copy_in.ts";
import { CopyWriter } from "./copy_writer.ts";
import { encoder } from "./encode.ts";
import type { Put } from "./encode_parts.ts";
import { ident, qualified } from "./name.ts";
import type { PgSession } from "./session.ts";
import type { Target } from "./target.ts";
import { isRolledBack, stateOf, toTrouble } from "./trouble.ts";

/** How long a broken connection may take to say so before it is given up. */
const ABORT_PATIENCE_MS = 5000;
const UNSUPPORTED = "0A000";

type Parts = {
  readonly session: PgSession;
  /** Ends the session at once. */
  readonly stop: AbortController;
  readonly copy: CopyIn;
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
  readonly #writer = new CopyWriter();
  #rows = 0n;
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
      const puts = this.#encoders(batch);
      const { numRows } = batch;
      const writer = this.#writer;
      for (let row = 0; row < numRows; row++) {
        writer.row(puts.length);
        for (let column = 0; column < puts.length; column++) this.#put(puts, column, row);
        if (writer.isFull) await this.#flush(copy);
      }
      await this.#flush(copy);
      this.#rows += BigInt(numRows);
      this.#batches++;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw toTrouble(error, doing);
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  #encoders(batch: RecordBatch): readonly Put[] {
    return this.#parts.target.columns.map(({ field, type }, index) => {
      const data: Data | undefined = batch.data.children[index];
      if (data === undefined) throw new TypeError("a batch with fewer columns than its schema");
      return encoder(field, data, type);
    });
  }

  #put(puts: readonly Put[], column: number, row: number): void {
    try {
      puts[column]?.(row, this.#writer);
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      const name = this.#parts.target.columns[column]?.name;
      throw new ConnectorError(`Column "${name}": ${error.message}`, {
        transient: false,
        hint: "change the values in the SELECT, or the column in the table",
        cause: error,
      });
    }
  }

  async #flush(copy: CopyIn): Promise<void> {
    const piece = this.#writer.take();
    if (piece !== undefined) await copy.send(piece);
  }

  async commit(): Promise<WriteResult> {
    this.#mustBeOpen("commit");
    this.#state = "committing";
    const { session, doing, isMarked, target, spec } = this.#parts;
    const result: WriteResult = { rows: this.#rows, batches: this.#batches };
    let isAsked = false;
    try {
      await this.#finishCopy();
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

  async #finishCopy(): Promise<void> {
    const { copy, doing } = this.#parts;
    this.#writer.end();
    await this.#flush(copy);
    const taken = await copy.finish();
    if (taken === this.#rows) return;
    throw new ConnectorError(`${doing} failed: the server took ${taken} of ${this.#rows} rows`, { transient: false });
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
    const update = others.length === 0
      ? "NOTHING"
      : `UPDATE SET ${others.map((column) => `${column} = EXCLUDED.${column}`).join(", ")}`;
    // A fresh table is only ever filled at its end, so the place of a row tells when it was written.
    await session.query(
      `INSERT INTO ${table} (${list}) OVERRIDING SYSTEM VALUE ` +
        `SELECT DISTINCT ON (${keys.join(", ")}) ${list} FROM ${into} ORDER BY ${keys.join(", ")}, ctid DESC ` +
        `ON CONFLICT (${keys.join(", ")}) DO ${update}`,
    );
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

/** A write whose rows an earlier attempt has delivered: takes the rows again and does nothing with them. */
export class LandedWrite implements WriteSession {
  readonly provesAttempt = true;
  readonly #result: WriteResult;
  #isOver = false;

  constructor(result: WriteResult) {
    this.#result = result;
  }

  write(): Promise<void> {
    return Promise.resolve();
  }

  commit(): Promise<WriteResult> {
    if (this.#isOver) {
      const error = new ConnectorError("A commit after the write has ended", { transient: false, code: "PZ0357" });
      return Promise.reject(error);
    }
    this.#isOver = true;
    return Promise.resolve(this.#result);
  }

  abort(): Promise<void> {
    this.#isOver = true;
    return Promise.resolve();
  }
}
