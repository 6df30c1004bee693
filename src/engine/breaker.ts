import type { BreakerState } from "../events/mod.ts";

/** A breaker's change of state. */
export type BreakerMove = {
  readonly oldState: BreakerState;
  readonly newState: BreakerState;
  readonly trigger: string;
  /** How long it stays open; 0 for another state. */
  readonly coolDownMs: number;
};

export type BreakerOptions = {
  /** Failures in a row that open it, at least 1. */
  readonly failureThreshold: number;
  readonly coolDownMs: number;
  /** Milliseconds; only differences count. */
  readonly monotonic: () => number;
  readonly onMove: (move: BreakerMove) => void;
};

/** Lets one call through; it must be given back by exactly one of `succeed`, `fail` and `leave`. */
export type Ticket = { readonly epoch: number };

export type Entry =
  | { readonly entered: true; readonly ticket: Ticket }
  /**
   * Denied: how long it is of no use to ask again, unless the breaker moves before. Undefined: until it moves, since a
   * probe is on its way.
   */
  | { readonly entered: false; readonly retryInMs: number | undefined };

/**
 * Keeps calls from a system that failed several times in a row: closed, it lets every call through; open, none until it
 * has cooled down; then, half open, one call as a probe, whose end decides. A probe that ends without telling anything
 * lets the next call be the probe, so that none stays half open for ever. What calls that began before it opened say
 * later counts for nothing.
 */
export class Breaker {
  readonly #options: BreakerOptions;
  #state: BreakerState = "closed";
  /** Grows whenever it opens. */
  #epoch = 1;
  #failures = 0;
  #openUntil = 0;
  #probe: Ticket | undefined;
  #moved = Promise.withResolvers<void>();

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  /** Asks to make a call. */
  tryEnter(): Entry {
    if (this.#state === "closed") return { entered: true, ticket: { epoch: this.#epoch } };
    const retryInMs = this.#openUntil - this.#options.monotonic();
    if (this.#state === "open" && retryInMs > 0) return { entered: false, retryInMs };
    if (this.#state === "open") this.#move("half_open", "cooled down", 0);
    if (this.#probe !== undefined) return { entered: false, retryInMs: undefined };
    this.#probe = { epoch: this.#epoch };
    return { entered: true, ticket: this.#probe };
  }

  /** Fulfilled at the next change of state, or when a probe has told nothing. */
  get moved(): Promise<void> {
    return this.#moved.promise;
  }

  /** The system has answered, be it with a refusal. */
  succeed(ticket: Ticket): void {
    if (ticket.epoch !== this.#epoch) return;
    this.#failures = 0;
    if (this.#state !== "half_open") return;
    this.#probe = undefined;
    this.#move("closed", "probe succeeded", 0);
  }

  /** The call failed in a way that may pass. @param retryAfterMs how long the system asked to be left alone */
  fail(ticket: Ticket, retryAfterMs = 0): void {
    if (ticket.epoch !== this.#epoch) return;
    if (this.#state === "half_open") return this.#open("probe failed", retryAfterMs);
    this.#failures++;
    const { failureThreshold } = this.#options;
    if (this.#failures < failureThreshold) return;
    this.#open(`${failureThreshold} transient failure${failureThreshold === 1 ? "" : "s"} in a row`, retryAfterMs);
  }

  /** The call ended without saying anything of the system, such as one that was stopped. */
  leave(ticket: Ticket): void {
    if (this.#probe !== ticket) return;
    this.#probe = undefined;
    this.#wake();
  }

  #open(trigger: string, retryAfterMs: number): void {
    const coolDownMs = Math.max(this.#options.coolDownMs, retryAfterMs);
    this.#epoch++;
    this.#failures = 0;
    this.#probe = undefined;
    this.#openUntil = this.#options.monotonic() + coolDownMs;
    this.#move("open", trigger, coolDownMs);
  }

  #move(newState: BreakerState, trigger: string, coolDownMs: number): void {
    const oldState = this.#state;
    this.#state = newState;
    this.#options.onMove({ oldState, newState, trigger, coolDownMs });
    this.#wake();
  }

  #wake(): void {
    this.#moved.resolve();
    this.#moved = Promise.withResolvers<void>();
  }
}
