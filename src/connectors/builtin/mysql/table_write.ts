import type { RecordBatch } from "../../../util/arrow.ts";
import { ConnectorError, type OutputSpec, type WriteResult } from "../../contract/mod.ts";
import type { WriteSession } from "../../sdk/connector.ts";
import { completeAttempt } from "./attempts.ts";
import type { MysqlConfig } from "./config.ts";
import type { RowInserts } from "./row_inserts.ts";
import type { MysqlSession } from "./session.ts";
import { takeBack } from "./take_back.ts";
import { isRefused, numberOf, toTrouble } from "./trouble.ts";
import type { Way } from "./ways.ts";

const DUPLICATE = 1062;

type Parts = {
  readonly config: MysqlConfig;
  readonly session: MysqlSession;
  /** Ends the session at once. */
  readonly stop: AbortController;
  readonly way: Way;
  readonly inserts: RowInserts;
  readonly spec: OutputSpec;
  readonly isMarked: boolean;
  readonly doing: string;
};

/** A write into a table. */
export class TableWrite implements WriteSession {
  readonly #parts: Parts;
  #batches = 0;
  #state: "open" | "over" = "open";

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get provesAttempt(): boolean {
    return this.#parts.isMarked;
  }

  async write(batch: RecordBatch, signal: AbortSignal): Promise<void> {
    this.#mustBeOpen("write");
    const { inserts, stop, doing } = this.#parts;
    const abort = () => stop.abort(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    try {
      signal.throwIfAborted();
      await inserts.write(batch);
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
    this.#state = "over";
    const { session, doing, isMarked, inserts, spec, way } = this.#parts;
    const result: WriteResult = { rows: inserts.rows, batches: this.#batches };
    let isAsked = false;
    let isThere = false;
    try {
      await way.finish();
      if (isMarked) await completeAttempt(session, spec.attempt, result);
      isAsked = true;
      await way.publish();
      isThere = true;
      await way.tidy();
      return result;
    } catch (error) {
      if (isThere) return result;
      const outcomeUnknown = isAsked && !isRefused(error);
      if (!outcomeUnknown) await this.#undo();
      throw this.#explain(error, doing, outcomeUnknown);
    } finally {
      await session[Symbol.asyncDispose]();
    }
  }

  #explain(error: unknown, doing: string, outcomeUnknown: boolean): unknown {
    const trouble = toTrouble(error, doing);
    if (!(trouble instanceof ConnectorError)) return trouble;
    if (numberOf(error) !== DUPLICATE || this.#parts.spec.mode !== "merge") return trouble.with({ outcomeUnknown });
    return trouble.with({
      outcomeUnknown,
      hint: "another unique index of the table has such a value already, or somebody else has just written the key",
    });
  }

  async abort(): Promise<void> {
    if (this.#state !== "open") return;
    this.#state = "over";
    await this.#undo();
    await this.#parts.session[Symbol.asyncDispose]();
  }

  async #undo(): Promise<void> {
    const { way, session, config } = this.#parts;
    await takeBack(way, session, config);
  }

  #mustBeOpen(what: string): void {
    if (this.#state === "open") return;
    throw new ConnectorError(`A ${what} after the write has ended`, { transient: false, code: "PZ0357" });
  }
}
