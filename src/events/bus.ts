import type { RunEvent, StampedEvent } from "./run_event.ts";

/** Takes events in the order of the bus. What it throws is dropped: a view can't harm a run. */
export type Subscriber = {
  handle(event: StampedEvent): void | Promise<void>;
};

/** The single stream of a run's events. Publishing never waits and never throws. */
export class EventBus {
  readonly #runId: string;
  readonly #now: () => string;
  readonly #subscribers: readonly Subscriber[];
  readonly #queue: StampedEvent[] = [];
  #closed = false;
  #pump: Promise<void> = Promise.resolve();
  #pumping = false;

  /** @param now the present moment as `yyyy-MM-ddTHH:mm:ss.fffZ` */
  constructor(options: { runId: string; now: () => string; subscribers: readonly Subscriber[] }) {
    this.#runId = options.runId;
    this.#now = options.now;
    this.#subscribers = options.subscribers;
  }

  /** Queues an event for every subscriber; false once the bus is closed. */
  publish(event: RunEvent): boolean {
    if (this.#closed) return false;
    this.#queue.push({ at: this.#now(), runId: this.#runId, event });
    if (!this.#pumping) {
      this.#pumping = true;
      this.#pump = this.#drain();
    }
    return true;
  }

  /**
   * Takes no more events and waits until the subscribers have handled those published so far.
   *
   * @returns whether all were handled within `timeoutMs`
   */
  async close(timeoutMs: number): Promise<boolean> {
    this.#closed = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeout = new Promise<boolean>((resolve) => timer = setTimeout(() => resolve(false), timeoutMs));
    try {
      return await Promise.race([this.#pump.then(() => true), timeout]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #drain(): Promise<void> {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      for (const subscriber of this.#subscribers) {
        try {
          await subscriber.handle(next);
        } catch { /* a broken view loses its own output and nothing else */ }
      }
    }
    this.#pumping = false;
  }
}
