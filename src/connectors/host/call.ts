import { encodeCredit, FrameError } from "../protocol/frame.ts";
import { Inflow } from "../protocol/inflow.ts";
import { countMember, type Message } from "../protocol/messages.ts";

/** More answers than this to a simple request are a broken connector. */
const MAX_MESSAGES = 1000;

/** Hears what a call gets as it comes; what it throws counts as a breach of the protocol. */
export type CallListener = {
  /** A message that is no end; it is not kept in `messages` then. */
  readonly message?: (message: Message) => void;
  /** The connector takes so many data frames more. */
  readonly credit?: (count: number) => void;
  /** Nothing more is to be expected: the end, a failure, or that nobody waits any more. */
  readonly over?: (outcome: "ended" | { readonly reason: unknown }) => void;
};

/** What the host keeps about one request: what arrived and was not yet taken, and how it ended. */
export class Call {
  readonly stream: number;
  readonly #listener: CallListener;
  readonly #inflow: Inflow;
  readonly #settled = Promise.withResolvers<void>();
  readonly #messages: Message[] = [];
  readonly #answered: () => void;
  #state: "open" | "ended" | "abandoned" | "failed" = "open";
  #reason: unknown;

  /**
   * @param send carries bytes to the connector
   * @param answered told with the first sign of an answer, or that nobody waits for one
   */
  constructor(
    stream: number,
    send: (bytes: Uint8Array<ArrayBuffer>) => void,
    listener: CallListener = {},
    answered: () => void = () => {},
  ) {
    this.stream = stream;
    this.#listener = listener;
    this.#answered = answered;
    this.#inflow = new Inflow((count) => send(encodeCredit(stream, count)));
    this.#settled.promise.catch(() => {});
  }

  /** Settles when the connector has answered to the end, or with the failure. */
  get settled(): Promise<void> {
    return this.#settled.promise;
  }

  /** Whether the end is known. */
  get isSettled(): boolean {
    return this.#state === "failed" || this.#state === "ended";
  }

  /** Why nobody waits any more, or what failed. */
  get reason(): unknown {
    return this.#reason;
  }

  /** The JSON messages so far. */
  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** @throws {FrameError} for data that no credit allows */
  takeData(payload: Uint8Array<ArrayBuffer>): void {
    this.#answered();
    this.#inflow.push(payload);
  }

  /** @throws {FrameError} for credits that nobody waits for */
  takeCredit(count: number): void {
    if (this.#listener.credit === undefined) throw new FrameError("credits that nobody waits for");
    if (this.#state === "open") this.#listener.credit(count);
  }

  /** @throws {FrameError} for an end that does not fit what came, or too many messages */
  takeMessage(message: Message): void {
    this.#answered();
    if (message.m === "EndOfStream") {
      const frames = countMember(message, "frames");
      const isAwaited = this.#state === "open";
      if (isAwaited) this.#inflow.end(frames);
      this.#state = "ended";
      this.#settled.resolve();
      if (isAwaited) this.#listener.over?.("ended");
      return;
    }
    if (this.#state === "abandoned") return;
    if (this.#listener.message !== undefined) this.#listener.message(message);
    else if (this.#messages.push(message) > MAX_MESSAGES) throw new FrameError("too many answers to one request");
  }

  fail(error: unknown): void {
    if (this.isSettled) return;
    const isAwaited = this.#state === "open";
    this.#state = "failed";
    this.#settled.reject(error);
    if (isAwaited) this.#giveUp(error);
  }

  /** From now on nobody takes what arrives; whoever waits gets the reason. */
  abandon(reason: unknown): void {
    if (this.#state !== "open") return;
    this.#state = "abandoned";
    this.#giveUp(reason);
  }

  #giveUp(reason: unknown): void {
    this.#answered();
    this.#reason = reason;
    this.#inflow.fail(reason);
    this.#listener.over?.({ reason });
  }

  /**
   * The payloads of the data frames, in order; each one taken allows the connector one more. Throws the failure as soon
   * as it is known, and ends only at the connector's own end.
   */
  data(): AsyncGenerator<Uint8Array<ArrayBuffer>, undefined> {
    return this.#inflow.data();
  }

  /**
   * The messages of an answer without data, once it is complete.
   *
   * @throws {FrameError} when there is data
   */
  async answer(): Promise<readonly Message[]> {
    for await (const _ of this.data()) throw new FrameError("data in an answer that has none");
    return this.#messages;
  }
}
