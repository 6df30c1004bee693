/**
 * Asks a process every so often whether it still runs, as long as it has something to do. It counts its own questions
 * rather than the time, so that a host that was itself suspended blames nobody.
 */
export class Heartbeat {
  readonly #timer: ReturnType<typeof setInterval>;
  #unanswered = 0;

  /**
   * @param everyMs between two questions
   * @param limitMs from an unanswered question on, until `dead` is called, once
   */
  constructor(options: {
    readonly everyMs: number;
    readonly limitMs: number;
    readonly isBusy: () => boolean;
    readonly ask: () => void;
    readonly dead: () => void;
  }) {
    const { everyMs, limitMs, isBusy, ask, dead } = options;
    this.#timer = setInterval(() => {
      if (!isBusy()) {
        this.#unanswered = 0;
      } else if (this.#unanswered * everyMs >= limitMs) {
        this.stop();
        dead();
      } else {
        this.#unanswered++;
        ask();
      }
    }, everyMs);
  }

  answered(): void {
    this.#unanswered = 0;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
