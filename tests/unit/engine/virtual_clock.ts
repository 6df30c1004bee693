import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";

type Sleeper = { readonly at: number; readonly wake: () => void };

/** Time that passes only when everything waits for it. */
export class VirtualClock {
  /** Milliseconds since it began. */
  now = 0;
  #sleepers: Sleeper[] = [];

  readonly monotonic = (): number => this.now;

  readonly pause = async (ms: number, signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const sleeper = { at: this.now + ms, wake: resolve };
    const stop = () => {
      this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
      reject(signal.reason);
    };
    signal.addEventListener("abort", stop, { once: true });
    this.#sleepers.push(sleeper);
    try {
      await promise;
    } finally {
      signal.removeEventListener("abort", stop);
    }
  };

  /** How many wait. */
  get sleeping(): number {
    return this.#sleepers.length;
  }

  /** Lets everything happen that waits for no time. */
  async settle(): Promise<void> {
    await setImmediate();
  }

  /** Lets time pass, and everything happen in its order. */
  async pass(ms: number): Promise<void> {
    const end = this.now + ms;
    await this.settle();
    while (this.#wakeNext(end)) await this.settle();
    this.now = end;
  }

  /** Lets time pass until the work is done. */
  async run<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const done = work.then(() => isDone = true, () => isDone = true);
    await this.settle();
    while (!isDone) {
      assert.ok(this.#wakeNext(Infinity), "everything waits, and nothing for time to pass");
      await this.settle();
    }
    await done;
    return await work;
  }

  #wakeNext(end: number): boolean {
    const [first, ...rest] = this.#sleepers.toSorted((a, b) => a.at - b.at);
    if (first === undefined || first.at > end) return false;
    this.#sleepers = rest;
    this.now = Math.max(this.now, first.at);
    first.wake();
    return true;
  }
}
