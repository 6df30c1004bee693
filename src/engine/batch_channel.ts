import type { ByteBudget } from "./byte_budget.ts";

export type BatchChannelOptions = {
  /** Batches that may wait in the channel. */
  readonly capacity: number;
  readonly budget: ByteBudget;
  /** Bytes of the budget that it may take at the same time, or one batch of any size; absent: all. */
  readonly share?: number;
  readonly signal: AbortSignal;
  /** Monotonic milliseconds. */
  readonly monotonic: () => number;
};

/** A batch that its consumer has until it gives it back. */
export type Taken<B> = { readonly batch: B; release(): void };

/**
 * Carries batches from several producers to its consumers, bounded in number and, through the shared budget, in bytes.
 * A batch counts until its consumer is done with it. Measures how long each side waited for the other. One consumer
 * reads it once, with `for await`; several take from it.
 */
export class BatchChannel<B> implements AsyncIterable<B> {
  readonly #options: BatchChannelOptions;
  readonly #queue: { readonly batch: B; readonly bytes: number }[] = [];
  #wakeProducers = Promise.withResolvers<void>();
  #wakeConsumer = Promise.withResolvers<void>();
  #end: { readonly error?: unknown } | undefined;
  /** Batches queued or about to be. */
  #occupied = 0;
  /** Bytes of batches queued, about to be, or not yet given back. */
  #held = 0;
  #producerStallMs = 0;
  #consumerStallMs = 0;

  constructor(options: BatchChannelOptions) {
    this.#options = options;
  }

  /** Milliseconds that producers waited for room, all of them together. */
  get producerStallMs(): number {
    return this.#producerStallMs;
  }

  /** Milliseconds that consumers waited for a batch, all of them together. */
  get consumerStallMs(): number {
    return this.#consumerStallMs;
  }

  /**
   * Waits for room and hands a batch over; false when nobody takes it any more.
   *
   * @throws the signal's reason when it is aborted
   */
  async push(batch: B, bytes: number): Promise<boolean> {
    const { budget, signal, monotonic } = this.#options;
    const start = monotonic();
    while (!this.#hasRoom(bytes) && this.#end === undefined) {
      await abortable(this.#wakeProducers.promise, signal);
    }
    this.#occupied++;
    this.#held += bytes;
    try {
      await budget.acquire(bytes, signal);
    } catch (error) {
      this.#held -= bytes;
      this.#vacate();
      throw error;
    }
    this.#producerStallMs += monotonic() - start;
    if (this.#end !== undefined) {
      this.#release(bytes);
      return false;
    }
    this.#queue.push({ batch, bytes });
    this.#wakeConsumers();
    return true;
  }

  /** The consumer gets what is queued and then the end, or with `error` that error at once. The first call counts. */
  close(outcome: { readonly error?: unknown } = {}): void {
    if (this.#end !== undefined) return;
    this.#end = outcome;
    if ("error" in outcome) this.#drop();
    this.#wakeConsumers();
    this.#wakeProducers.resolve();
  }

  /**
   * Waits for a batch; undefined when there will be none.
   *
   * @throws what the channel was closed with, or the signal's reason when it is aborted
   */
  async take(): Promise<Taken<B> | undefined> {
    const { signal, monotonic } = this.#options;
    const start = monotonic();
    while (this.#queue.length === 0 && this.#end === undefined) await abortable(this.#wakeConsumer.promise, signal);
    this.#consumerStallMs += monotonic() - start;
    const item = this.#queue.shift();
    if (item !== undefined) {
      this.#vacate();
      return { batch: item.batch, release: () => this.#release(item.bytes) };
    }
    if (this.#end !== undefined && "error" in this.#end) throw this.#end.error;
    return undefined;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<B, void, void> {
    try {
      for (let item = await this.take(); item !== undefined; item = await this.take()) {
        try {
          yield item.batch;
        } finally {
          item.release();
        }
      }
    } finally {
      this.close();
      this.#drop();
    }
  }

  #hasRoom(bytes: number): boolean {
    const { capacity, share = Infinity } = this.#options;
    return this.#occupied < capacity && (this.#held === 0 || this.#held + bytes <= share);
  }

  #vacate(): void {
    this.#occupied--;
    this.#callProducers();
  }

  #release(bytes: number): void {
    this.#held -= bytes;
    this.#options.budget.release(bytes);
    this.#callProducers();
  }

  #callProducers(): void {
    this.#wakeProducers.resolve();
    if (this.#end === undefined) this.#wakeProducers = Promise.withResolvers<void>();
  }

  #wakeConsumers(): void {
    this.#wakeConsumer.resolve();
    if (this.#end === undefined) this.#wakeConsumer = Promise.withResolvers<void>();
  }

  #drop(): void {
    for (const { bytes } of this.#queue.splice(0)) this.#release(bytes);
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
