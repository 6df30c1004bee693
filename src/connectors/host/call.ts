import { FrameError } from "../protocol/frame.ts";
import { countMember, type Message, READ_CREDITS } from "../protocol/messages.ts";

/** More answers than this to one request are a broken connector, not a large plan. */
const MAX_MESSAGES = 1_000_000;

/** What the host keeps about one request: what arrived and was not yet taken, and how it ended. */
export class Call {
  readonly #grantCredit: (count: number) => void;
  readonly #settled = Promise.withResolvers<void>();
  readonly #messages: Message[] = [];
  #data: Uint8Array<ArrayBuffer>[] = [];
  #allowed = READ_CREDITS;
  #received = 0;
  #state: "open" | "ended" | "abandoned" = "open";
  #wake: (() => void) | undefined;
  #error: unknown;
  #failed = false;

  constructor(grantCredit: (count: number) => void) {
    this.#grantCredit = grantCredit;
    this.#settled.promise.catch(() => {});
  }

  /** Settles when the connector has answered to the end, or with the failure. */
  get settled(): Promise<void> {
    return this.#settled.promise;
  }

  /** Whether the end is known. */
  get isSettled(): boolean {
    return this.#failed || this.#state === "ended";
  }

  /** Why nobody waits any more, or what failed. */
  get reason(): unknown {
    return this.#error;
  }

  /** The JSON messages so far. */
  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** @throws {FrameError} for data that no credit allows */
  takeData(payload: Uint8Array<ArrayBuffer>): void {
    if (--this.#allowed < 0) throw new FrameError("more data than it was allowed to send");
    if (this.#state === "abandoned") return;
    this.#received++;
    this.#data.push(payload);
    this.#wake?.();
  }

  /** @throws {FrameError} for an end that does not fit what came, or too many messages */
  takeMessage(message: Message): void {
    if (message.m === "EndOfStream") {
      const frames = countMember(message, "frames");
      if (this.#state === "open" && frames !== this.#received) {
        throw new FrameError(`an end after ${this.#received} data frames, where it counts ${frames}`);
      }
      this.#state = "ended";
      this.#settled.resolve();
      this.#wake?.();
      return;
    }
    if (this.#state === "abandoned") return;
    if (this.#messages.length >= MAX_MESSAGES) throw new FrameError("too many answers to one request");
    this.#messages.push(message);
  }

  fail(error: unknown): void {
    if (this.isSettled) return;
    this.#failed = true;
    this.#error = error;
    this.#data = [];
    this.#settled.reject(error);
    this.#wake?.();
  }

  /** From now on nobody takes what arrives; whoever waits gets the reason. */
  abandon(reason: unknown): void {
    if (this.isSettled || this.#state === "abandoned") return;
    this.#state = "abandoned";
    this.#data = [];
    this.#error = reason;
    this.#wake?.();
  }

  /**
   * The payloads of the data frames, in order; each one taken allows the connector one more. Throws the failure as soon
   * as it is known, and ends only at the connector's own end.
   */
  async *data(): AsyncGenerator<Uint8Array<ArrayBuffer>, undefined> {
    for (;;) {
      if (this.#failed || this.#state === "abandoned") throw this.#error;
      const payload = this.#data.shift();
      if (payload !== undefined) {
        this.#allowed++;
        this.#grantCredit(1);
        yield payload;
        continue;
      }
      if (this.#state === "ended") return undefined;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
      this.#wake = undefined;
    }
  }
}
