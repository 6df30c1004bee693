import { ConnectorError } from "../../contract/mod.ts";
import { Statement } from "./answer.ts";
import type { CopyTap, TakeCopyData } from "./copy_tap.ts";
import type { PgConnection } from "./driver.ts";

/** A running COPY … TO STDOUT. */
export class CopyOut extends Statement {
  readonly #tap: CopyTap;
  readonly #patienceMs: number;
  readonly #giveUp: () => void;
  #connection: PgConnection | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #takes = 0;
  #isPaused = false;

  /**
   * `take` gets the rows' messages. `giveUp` is called, once, when it threw or the server was silent for `patienceMs`;
   * 0: never.
   */
  constructor(sql: string, tap: CopyTap, take: TakeCopyData, patienceMs: number, giveUp: () => void) {
    super((connection) => {
      this.#connection = connection;
      this.#watch();
      tap.divert((bytes, from) => this.#taken(take, bytes, from));
      connection.query(sql);
    });
    this.#tap = tap;
    this.#patienceMs = patienceMs;
    this.#giveUp = giveUp;
  }

  #taken(take: TakeCopyData, bytes: Uint8Array, from: number): number {
    this.#takes++;
    try {
      return take(bytes, from);
    } catch (error) {
      this.#fail(error);
      // What else comes is of no use to anybody.
      this.#tap.divert((dropped) => dropped.length);
      return bytes.length;
    }
  }

  /** Stops the flow, after what is on its way. */
  pause(): void {
    this.#isPaused = true;
    this.#connection?.stream.pause();
  }

  resume(): void {
    this.#takes++;
    this.#isPaused = false;
    this.#connection?.stream.resume();
  }

  override handleError(error: unknown): void {
    clearTimeout(this.#timer);
    super.handleError(error);
  }

  override handleReadyForQuery(): void {
    clearTimeout(this.#timer);
    this.#tap.divert(undefined);
    super.handleReadyForQuery();
  }

  #fail(error: unknown): void {
    this.handleError(error);
    this.#giveUp();
  }

  /** Silence counts only while the server could send. */
  #watch(): void {
    if (this.#patienceMs === 0) return;
    const seen = this.#takes;
    this.#timer = setTimeout(() => {
      if (!this.#isPaused && seen === this.#takes) {
        this.#fail(
          new ConnectorError(`Reading failed: the server sent nothing for ${this.#patienceMs / 1000} s`, {
            transient: false,
            hint: "raise command_timeout_seconds of the connection; 0 means no limit",
          }),
        );
      } else this.#watch();
    }, this.#patienceMs);
  }
}
