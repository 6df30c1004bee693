type Waiter = { readonly bytes: number; readonly start: () => void };

/** A number of bytes that many users share; who asks first gets first. */
export class ByteBudget {
  readonly #total: number;
  readonly #waiters: Waiter[] = [];
  #used = 0;

  constructor(total: number) {
    this.#total = total;
  }

  /**
   * Waits until the bytes are free and takes them. More than there are in all is granted when nothing else is taken,
   * so that one huge batch can pass.
   *
   * @throws the signal's reason when it is aborted first
   */
  async acquire(bytes: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#waiters.length === 0 && this.#fits(bytes)) {
      this.#used += bytes;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { bytes, start: resolve };
    const onAbort = () => {
      this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
      reject(signal.reason);
      this.#grant();
    };
    this.#waiters.push(waiter);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      await promise;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Gives bytes back. */
  release(bytes: number): void {
    this.#used -= bytes;
    this.#grant();
  }

  #fits(bytes: number): boolean {
    return this.#used === 0 || this.#used + bytes <= this.#total;
  }

  #grant(): void {
    for (let next = this.#waiters[0]; next !== undefined && this.#fits(next.bytes); next = this.#waiters[0]) {
      this.#waiters.shift();
      this.#used += next.bytes;
      next.start();
    }
  }
}
