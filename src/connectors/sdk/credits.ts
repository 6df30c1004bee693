/** The right to send data frames: each frame takes one credit, and the receiver gives new ones. */
export class Credits {
  #left: number;
  #wake: (() => void) | undefined;

  constructor(first: number) {
    this.#left = first;
  }

  add(count: number): void {
    this.#left += count;
    this.#wake?.();
  }

  /** Waits for a credit and takes it; one caller at a time. Throws the signal's reason once that is aborted. */
  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    while (this.#left <= 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const wake = () => resolve();
      this.#wake = wake;
      signal.addEventListener("abort", wake, { once: true });
      await promise;
      signal.removeEventListener("abort", wake);
      this.#wake = undefined;
      signal.throwIfAborted();
    }
    this.#left--;
  }
}
