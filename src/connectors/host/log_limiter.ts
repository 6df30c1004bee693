const BURST = 200;
const PER_SECOND = 50;
const MAX_LENGTH = 4096;

/** Passes a connector's messages on, at a bounded rate and length, and says in the end how many it held back. */
export class LogLimiter {
  readonly #onLog: (level: string, message: string) => void;
  readonly #now: () => number;
  #tokens = BURST;
  #filledAt: number;
  #dropped = 0;

  /** @param now milliseconds of a clock that never goes back */
  constructor(onLog: (level: string, message: string) => void, now: () => number = () => performance.now()) {
    this.#onLog = onLog;
    this.#now = now;
    this.#filledAt = now();
  }

  push(level: string, message: string): void {
    const now = this.#now();
    this.#tokens = Math.min(BURST, this.#tokens + (now - this.#filledAt) / 1000 * PER_SECOND);
    this.#filledAt = now;
    if (this.#tokens < 1) {
      this.#dropped++;
      return;
    }
    this.#tokens--;
    this.#onLog(level, message.length > MAX_LENGTH ? `${message.slice(0, MAX_LENGTH)}…` : message);
  }

  finish(): void {
    if (this.#dropped > 0) this.#onLog("warn", `${this.#dropped} more messages of the connector were left out`);
    this.#dropped = 0;
  }
}
