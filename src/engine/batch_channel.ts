import type { ByteBudget } from "./byte_budget.ts";

export type BatchChannelOptions = {
  /** Batches that may wait in the channel. */
  readonly capacity: number;
  readonly budget: ByteBudget;
  readonly signal: AbortSignal;
  /** Monotonic milliseconds. */
  readonly monotonic: () => number;
};

/**
 * Carries batches from several readers to one consumer, bounded in number and, through the shared budget, in bytes. It
 * measures how long each side waited for the other. The consumer reads it once, with `for await`.
 */
export class BatchChannel<B> implements AsyncIterable<B> {
  readonly #options: BatchChannelOptions;
  readonly #queue: { readonly batch: B; readonly bytes: number }[] = [];
  #wakeProducers = Promise.withResolvers<void>();
  #wakeConsumer = Promise.withResolvers<void>();
  #end: { readonly error?: unknown } | undefined;
  /** Batches queued or about to be. */
  #occupied = 0;
  #producerStallMs = 0;
  #consumerStallMs = 0;

  constructor(options: BatchChannelOptions) {
    this.#options = options;
  }

  /** Milliseconds that readers waited for room, all of them together. */
  get producerStallMs(): number {
    return this.#producerStallMs;
  }

  /** Milliseconds that the consumer waited for a batch. */
  get consumerStallMs(): number {
    return this.#consumerStallMs;
  }

  /**
   * Waits for room and hands a batch over; false when nobody takes it any more.
   *
   * @throws the signal's reason when it is aborted
   */
  async push(batch: B, bytes: number): Promise<boolean> {
    const { capacity, budget, signal, monotonic } = this.#options;
    const start = monotonic();
    while (this.#occupied >= capacity && this.#end === undefined) {
      await abortable(this.#wakeProducers.promise, signal);
    }
    this.#occupied++;
    try {
      await budget.acquire(bytes, signal);
    } catch (error) {
      this.#vacate();
      throw error;
    }
    this.#producerStallMs += monotonic() - start;
    if (this.#end !== undefined) {
      budget.release(bytes);
      return false;
    }
    this.#queue.push({ batch, bytes });
    this.#wakeConsumer.resolve();
    return true;
  }

  /** The consumer gets what is queued and then the end, or with `error` that error at once. The first call counts. */
  close(outcome: { readonly error?: unknown } = {}): void {
    if (this.#end !== undefined) return;
    this.#end = outcome;
    if ("error" in outcome) this.#drop();
    this.#wakeConsumer.resolve();
    this.#wakeProducers.resolve();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<B, void, void> {
    const { budget } = this.#options;
    try {
      for (let item = await this.#next(); item !== undefined; item = await this.#next()) {
        try {
          yield item.batch;
        } finally {
          budget.release(item.bytes);
        }
      }
    } finally {
      this.close();
      this.#drop();
    }
  }

  async #next(): Promise<{ readonly batch: B; readonly bytes: number } | undefined> {
    const { signal, monotonic } = this.#options;
    const start = monotonic();
    while (this.#queue.length === 0 && this.#end === undefined) {
      await abortable(this.#wakeConsumer.promise, signal);
      if (this.#queue.length === 0 && this.#end === undefined) this.#wakeConsumer = Promise.withResolvers<void>();
    }
    this.#consumerStallMs += monotonic() - start;
    const item = this.#queue.shift();
    if (item !== undefined) {
      this.#vacate();
      return item;
    }
    if (this.#end !== undefined && "error" in this.#end) throw this.#end.error;
    return undefined;
  }

  #vacate(): void {
    this.#occupied--;
    this.#wakeProducers.resolve();
    this.#wakeProducers = Promise.withResolvers<void>();
  }

  #drop(): void {
    for (const { bytes } of this.#queue.splice(0)) this.#options.budget.release(bytes);
  }
}

/** The promise's value, or the signal's reason as soon as it is aborted. */
async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
