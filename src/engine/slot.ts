import type { NodeControl } from "./dispatcher.ts";
import type { Pause } from "./pause.ts";

/** A node whose operations have all waited for so long lends its thread to others. */
const IDLE_MS = 1000;

/**
 * The thread of a node that is at work, as far as its operations are concerned: while all that there are wait for
 * longer than a moment, others have it. Connections stay the node's own: what it has begun there goes on.
 */
export class Slot {
  readonly #control: Pick<NodeControl, "signal" | "lend">;
  readonly #pause: Pause;
  #active = 0;
  #waiting = 0;
  #idle: AbortController | undefined;
  #lent: { readonly takeBack: () => void; readonly returned: Promise<void> } | undefined;
  #isOver = false;

  constructor(control: Pick<NodeControl, "signal" | "lend">, pause: Pause) {
    this.#control = control;
    this.#pause = pause;
  }

  /** Waits for something within an operation. */
  async wait<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting++;
    this.#look();
    try {
      return await work();
    } finally {
      this.#waiting--;
      await this.#back();
      this.#look();
    }
  }

  /** Carries out an operation. */
  async work<T>(work: () => Promise<T>): Promise<T> {
    this.#active++;
    try {
      await this.#back();
      return await work();
    } finally {
      this.#active--;
      this.#look();
    }
  }

  /** The node's attempt is over; returns once it has its thread. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#back();
  }

  /** Starts to count, or stops, when the last operation that works begins to wait, or the first to work. */
  #look(): void {
    const isIdle = this.#active === 0 && this.#waiting > 0 && !this.#isOver;
    if (!isIdle) {
      this.#idle?.abort();
      this.#idle = undefined;
    } else if (this.#idle === undefined && this.#lent === undefined) {
      const idle = this.#idle = new AbortController();
      this.#pause(IDLE_MS, AbortSignal.any([idle.signal, this.#control.signal])).then(() => this.#lend(idle), () => {});
    }
  }

  #lend(idle: AbortController): void {
    if (this.#idle !== idle) return;
    this.#idle = undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    const returned = this.#control.lend(() => promise);
    this.#lent = { takeBack: resolve, returned };
  }

  async #back(): Promise<void> {
    this.#idle?.abort();
    this.#idle = undefined;
    const lent = this.#lent;
    if (lent === undefined) return;
    lent.takeBack();
    await lent.returned;
    if (this.#lent === lent) this.#lent = undefined;
  }
}
