import { ConnectorError } from "../../contract/mod.ts";
import { Statement } from "./answer.ts";
import type { PgConnection } from "./driver.ts";

/** A running COPY … TO STDOUT. */
export class CopyOut extends Statement {
  readonly #onChunk: (chunk: Uint8Array) => void;
  readonly #patienceMs: number;
  readonly #giveUp: () => void;
  #connection: PgConnection | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #chunks = 0;
  #isPaused = false;
  #failed = false;

  /** `giveUp` is called, once, when a chunk could not be taken or the server was silent for `patienceMs`; 0: never. */
  constructor(sql: string, onChunk: (chunk: Uint8Array) => void, patienceMs: number, giveUp: () => void) {
    super((connection) => {
      this.#connection = connection;
      this.#watch();
      connection.query(sql);
    });
    this.#onChunk = onChunk;
    this.#patienceMs = patienceMs;
    this.#giveUp = giveUp;
  }

  override handleCopyData({ chunk }: { readonly chunk: Uint8Array }): void {
    if (this.#failed) return;
    this.#chunks++;
    try {
      this.#onChunk(chunk);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Stops the flow, after what is on its way. */
  pause(): void {
    this.#isPaused = true;
    this.#connection?.stream.pause();
  }

  resume(): void {
    this.#chunks++;
    this.#isPaused = false;
    this.#connection?.stream.resume();
  }

  override handleError(error: unknown): void {
    clearTimeout(this.#timer);
    super.handleError(error);
  }

  override handleReadyForQuery(): void {
    clearTimeout(this.#timer);
    super.handleReadyForQuery();
  }

  #fail(error: unknown): void {
    this.#failed = true;
    this.handleError(error);
    this.#giveUp();
  }

  /** Silence counts only while the server could send. */
  #watch(): void {
    if (this.#patienceMs === 0) return;
    const seen = this.#chunks;
    this.#timer = setTimeout(() => {
      if (!this.#isPaused && seen === this.#chunks) {
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
