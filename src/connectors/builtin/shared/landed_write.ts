import { ConnectorError, type WriteResult } from "../../contract/mod.ts";
import type { WriteSession } from "../../sdk/connector.ts";

/** A write whose rows an earlier attempt has delivered: takes the rows again and does nothing with them. */
export class LandedWrite implements WriteSession {
  readonly provesAttempt = true;
  readonly #result: WriteResult;
  #isOver = false;

  constructor(result: WriteResult) {
    this.#result = result;
  }

  acknowledgedRows(): bigint {
    return this.#result.rows;
  }

  resumeFrom(rows: bigint): Promise<boolean> {
    return Promise.resolve(rows === this.#result.rows);
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
