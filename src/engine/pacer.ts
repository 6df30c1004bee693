import type { Connection } from "../project/mod.ts";
import type { Pause } from "./pause.ts";

/** A system that says when its own limit is renewed is not believed beyond this. */
const LONGEST_BUDGET_WAIT_MS = 15 * 60_000;

const MINUTE_MS = 60_000;

/** Waits whose ends are no further apart are one, which several operations were told. */
const SAME_WAIT_MS = 2000;

export type PacerOptions = {
  /** Absent: only what the system itself asks for holds its operations back. */
  readonly rate?: Connection["rateLimit"] | undefined;
  /** Milliseconds; only differences count. */
  readonly monotonic: () => number;
  readonly pause: Pause;
};

/**
 * Paces the operations of one connection, whichever nodes and processes they are of: a bucket of `burst` tokens, full at
 * first and filled up evenly, of which each operation takes one; and waits that the system itself has asked for.
 */
export class Pacer {
  readonly #options: PacerOptions;
  /** How long one token takes to come, and all that the bucket holds beyond one. */
  readonly #tokenMs: number;
  readonly #spareMs: number;
  /** When the bucket is full again, unless more is taken. */
  #fullAt = -Infinity;
  #heldUntil = -Infinity;
  #budgetUntil = -Infinity;
  #inLine = 0;
  #lastInLine: Promise<void> = Promise.resolve();

  constructor(options: PacerOptions) {
    this.#options = options;
    const { rate } = options;
    this.#tokenMs = rate === undefined ? 0 : MINUTE_MS / rate.requestsPerMinute;
    this.#spareMs = rate === undefined ? 0 : (rate.burst - 1) * this.#tokenMs;
  }

  /** Lets an operation go and gives 0, or gives the whole milliseconds before which it is of no use to ask again. */
  tryAcquire(): number {
    const now = this.#options.monotonic();
    const waitMs = Math.max(this.#fullAt - this.#spareMs, this.#heldUntil, this.#budgetUntil) - now;
    if (waitMs > 0) return Math.ceil(waitMs);
    this.charge();
    return 0;
  }

  /** Lets an operation go if it need not wait, and nobody waits before it. */
  tryPass(): boolean {
    return this.#inLine === 0 && this.tryAcquire() === 0;
  }

  /**
   * Waits until an operation may go; who came first goes first.
   *
   * @throws the signal's reason, at once
   */
  async acquire(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const before = this.#lastInLine;
    const stopped = Promise.withResolvers<never>();
    const stop = () => stopped.reject(signal.reason);
    const own = this.#takeTurn(before, signal);
    this.#lastInLine = own.catch(() => {});
    signal.addEventListener("abort", stop, { once: true });
    try {
      await Promise.race([own, stopped.promise]);
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  /** Counts an operation that does not wait; those after it make up for it. */
  charge(): void {
    this.#fullAt = Math.max(this.#fullAt, this.#options.monotonic()) + this.#tokenMs;
  }

  /**
   * The system asked to be left alone for so long. A wait that it asked for before is not shortened. Gives the wait, or 0
   * where it was known.
   */
  hold(ms: number): number {
    const until = this.#options.monotonic() + ms;
    const isNews = until > this.#heldUntil + SAME_WAIT_MS;
    this.#heldUntil = Math.max(this.#heldUntil, until);
    return isNews ? ms : 0;
  }

  /**
   * What the system says is left of its limit, and in how many milliseconds that is renewed: with nothing left, nothing
   * goes until then, but for 15 minutes at the most; the last word counts. Gives the wait, or 0 where it was known.
   */
  budget(remaining: number, resetInMs: number): number {
    if (remaining > 0) return 0;
    const ms = Math.min(Math.max(0, resetInMs), LONGEST_BUDGET_WAIT_MS);
    const until = this.#options.monotonic() + ms;
    const isNews = until > this.#budgetUntil + SAME_WAIT_MS;
    this.#budgetUntil = until;
    return isNews ? ms : 0;
  }

  async #takeTurn(before: Promise<void>, signal: AbortSignal): Promise<void> {
    this.#inLine++;
    try {
      await before;
      signal.throwIfAborted();
      for (let ms = this.tryAcquire(); ms > 0; ms = this.tryAcquire()) await this.#options.pause(ms, signal);
    } finally {
      this.#inLine--;
    }
  }
}
