/** The right to send data frames: each frame takes one credit, and the receiver gives new ones. */
export class Credits {
  #left: number;
  #wake: (() => void) | undefined;
  #failure: { readonly reason: unknown } | undefined;

  constructor(first: number) {
    this.#left = first;
  }

  add(count: number): void {
    this.#left += count;
    this.#wake?.();
  }

  /** From now on nobody gets a credit; whoever waits for one gets the first such reason. */
  fail(reason: unknown): void {
    this.#failure ??= { reason };
    this.#wake?.();
  }

  /** Waits for a credit and takes it; one caller at a time. Throws the signal's reason once that is aborted. */
  async take(signal: AbortSignal): Promise<void> {
    this.#check(signal);
    while (this.#left <= 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const wake = () => resolve();
      this.#wake = wake;
      signal.addEventListener("abort", wake, { once: true });
      await promise;
      signal.removeEventListener("abort", wake);
      this.#wake = undefined;
      this.#check(signal);
    }
    this.#left--;
  }

  #check(signal: AbortSignal): void {
    if (this.#failure !== undefined) throw this.#failure.reason;
    signal.throwIfAborted();
  }
}
