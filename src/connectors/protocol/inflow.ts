import { FrameError } from "./frame.ts";
import { DATA_CREDITS } from "./messages.ts";

/** Few enough that a sender with nothing left is always told, since then more than these wait to be taken. */
const CREDITS_AT_ONCE = DATA_CREDITS / 2;

/** The data frames of one stream on their way in: what arrived and was not taken yet, under the credits given for it. */
export class Inflow {
  readonly #giveCredit: (count: number) => void;
  /** Taken payloads for which the sender has no credit yet. */
  #owed = 0;
  #waiting: Uint8Array<ArrayBuffer>[] = [];
  #allowed = DATA_CREDITS;
  #received = 0;
  #ended = false;
  #failure: { readonly reason: unknown } | undefined;
  #wake: (() => void) | undefined;

  /** @param giveCredit tells the sender that it may send so many frames more */
  constructor(giveCredit: (count: number) => void) {
    this.#giveCredit = giveCredit;
  }

  /** @throws {FrameError} for data that no credit allows */
  push(payload: Uint8Array<ArrayBuffer>): void {
    if (--this.#allowed < 0) throw new FrameError("more data than it was allowed to send");
    if (this.#ended) throw new FrameError("data after the end");
    this.#received++;
    if (this.#failure !== undefined) return;
    this.#waiting.push(payload);
    this.#wake?.();
  }

  /** @throws {FrameError} when not all of the sender's frames have come */
  end(frames: number): void {
    if (frames !== this.#received) {
      throw new FrameError(`an end after ${this.#received} data frames, where it counts ${frames}`);
    }
    this.#ended = true;
    this.#wake?.();
  }

  /** Drops what waits; whoever takes gets the first such reason, and what still comes is dropped too. */
  fail(reason: unknown): void {
    this.#failure ??= { reason };
    this.#waiting = [];
    this.#wake?.();
  }

  /**
   * The payloads in order; each one taken allows the sender one more, of which it is told for some at a time. Throws a
   * failure as soon as it is known, and ends only at the sender's own end.
   */
  async *data(): AsyncGenerator<Uint8Array<ArrayBuffer>, undefined> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure.reason;
      const payload = this.#waiting.shift();
      if (payload !== undefined) {
        if (++this.#owed === CREDITS_AT_ONCE) this.#payBack();
        yield payload;
        continue;
      }
      if (this.#ended) {
        // The sender may go on with other data, for which it needs them all.
        if (this.#owed > 0) this.#payBack();
        return undefined;
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
      this.#wake = undefined;
    }
  }

  #payBack(): void {
    this.#allowed += this.#owed;
    this.#giveCredit(this.#owed);
    this.#owed = 0;
  }
}
