import type { RecordBatch, Schema } from "../../../util/arrow.ts";
import { ConnectorError, type OutputSpec, type WriteResult } from "../../contract/mod.ts";
import type { WriteSession } from "../../sdk/connector.ts";
import { completeAttempt, forgetOldAttempts, holdProgress, saveProgress } from "./attempts.ts";
import { copyInto, type RowCopy } from "./row_copy.ts";
import { qualified, type TableName } from "./name.ts";
import type { PgSession } from "./session.ts";
import { ensureTarget } from "./target.ts";
import { isRolledBack, toTrouble } from "./trouble.ts";

/** How long a broken connection may take to say so before it is given up. */
const ABORT_PATIENCE_MS = 5000;

type Parts = {
  /** In a transaction in which the attempt was claimed. */
  readonly session: PgSession;
  /** Ends the session at once. */
  readonly stop: AbortController;
  readonly table: TableName;
  readonly spec: OutputSpec;
  readonly schema: Schema;
  /** Rows of a transaction. */
  readonly every: number;
  /** How many rows earlier attempts have left for good. */
  readonly committed: bigint;
  readonly doing: string;
  /** Told what is committed, so that it is known of even if this process ends. */
  readonly acknowledge: ((rows: bigint) => Promise<void>) | undefined;
};

/**
 * An append that commits every so many rows, together with how many they are, so that another attempt goes on behind
 * the last of them.
 */
export class CheckpointedWrite implements WriteSession {
  readonly provesAttempt = true;
  readonly abortSemantics = "best_effort";
  readonly #parts: Parts;
  /** Open while rows of a transaction come. */
  #copy: RowCopy | undefined;
  #committed: bigint;
  #batches = 0;
  #isPlaced: boolean;
  #state: "open" | "committing" | "over" = "open";

  private constructor(parts: Parts, copy: RowCopy) {
    this.#parts = parts;
    this.#copy = copy;
    this.#committed = parts.committed;
    this.#isPlaced = parts.committed === 0n;
  }

  /** Makes the table, if need be, and looks whether it takes the rows. */
  static async begin(parts: Parts): Promise<CheckpointedWrite> {
    const { session, table, spec, schema } = parts;
    const target = await ensureTarget(session, table, spec, schema);
    return new CheckpointedWrite(parts, await copyInto(session, qualified(table), target, parts.committed));
  }

  acknowledgedRows(): bigint {
    return this.#committed;
  }

  resumeFrom(rows: bigint): Promise<boolean> {
    this.#isPlaced = rows === this.#committed;
    return Promise.resolve(this.#isPlaced);
  }

  async write(batch: RecordBatch, signal: AbortSignal): Promise<void> {
    this.#mustBeOpen("write");
    const { stop, doing, every } = this.#parts;
    const abort = () => stop.abort(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    try {
      signal.throwIfAborted();
      this.#mustBePlaced();
      for (let from = 0; from < batch.numRows;) {
        const copy = this.#copy ?? await this.#goOn();
        const to = Math.min(batch.numRows, from + every - Number(copy.rows));
        await copy.send(batch, from, to);
        from = to;
        if (Number(copy.rows) >= every) await this.#checkpoint(copy);
      }
      this.#batches++;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw toTrouble(error, doing);
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  /** Commits what came since the last time. */
  async #checkpoint(copy: RowCopy): Promise<void> {
    const { session, table, spec, doing } = this.#parts;
    await copy.finish(doing);
    this.#copy = undefined;
    const committed = this.#committed + copy.rows;
    await saveProgress(session, table, spec.attempt, committed);
    await session.query("COMMIT");
    this.#committed = committed;
    // The marker says the same: nothing has to wait, and a host that can't keep it ends the write by itself.
    this.#parts.acknowledge?.(committed).catch(() => {});
  }

  /** Begins the next transaction, if the table still takes the rows and nobody else has gone on. */
  async #goOn(): Promise<RowCopy> {
    const { session, table, spec, schema } = this.#parts;
    await session.begin("write");
    await holdProgress(session, table, spec.attempt, this.#committed);
    const target = await ensureTarget(session, table, spec, schema);
    return this.#copy = await copyInto(session, qualified(table), target, this.#committed);
  }

  async commit(): Promise<WriteResult> {
    this.#mustBeOpen("commit");
    this.#state = "committing";
    const { session, doing, table, spec } = this.#parts;
    let isAsked = false;
    try {
      this.#mustBePlaced();
      const copy = this.#copy ?? await this.#goOn();
      await copy.finish(doing);
      const result: WriteResult = { rows: this.#committed + copy.rows, batches: this.#batches };
      await completeAttempt(session, table, spec.attempt, result);
      await forgetOldAttempts(session, table, spec.attempt);
      isAsked = true;
      await session.query("COMMIT");
      this.#committed = result.rows;
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

  async abort(): Promise<void> {
    if (this.#state !== "open") return;
    this.#state = "over";
    const { session } = this.#parts;
    const timer = setTimeout(() => void session.abandon(), ABORT_PATIENCE_MS);
    try {
      await this.#copy?.fail();
      await session.query("ROLLBACK").catch(() => {});
    } finally {
      clearTimeout(timer);
      await session[Symbol.asyncDispose]();
    }
  }

  /** Rows that an earlier attempt has committed must not come again, and others can't take their place. */
  #mustBePlaced(): void {
    if (this.#isPlaced) return;
    const { table } = this.#parts;
    throw new ConnectorError(
      `An earlier attempt at this write has put ${this.#committed} rows into "${table.schema}.${table.table}", and the ` +
        "rows to write are not the same any more",
      { transient: false, hint: "delete those rows, then run the pipeline anew: `pz run`" },
    );
  }

  #mustBeOpen(what: string): void {
    if (this.#state === "open") return;
    throw new ConnectorError(`A ${what} after the write has ended`, { transient: false, code: "PZ0357" });
  }
}
