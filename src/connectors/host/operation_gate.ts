import { FrameError } from "../protocol/frame.ts";
import {
  countMember,
  flagMember,
  type Message,
  type OperationFailure,
  operationFailure,
  textMember,
} from "../protocol/messages.ts";
import { printable } from "./tail.ts";

/** More operations than this at once, in one request, are a broken connector. */
const MAX_WAITING = 10_000;

const MAX_LABEL_LENGTH = 64;

/** One request that a connector wants to make to its system. */
export type OperationRequest = {
  /** A fixed word for what it does. */
  readonly label: string;
  /** Whether doing it twice harms nothing. */
  readonly idempotent: boolean;
  /** Whether it takes back what can't go on, and should not be made to wait. */
  readonly urgent: boolean;
  /** Aborted when nobody waits for it any more. */
  readonly signal: AbortSignal;
};

/** How one try of an operation ended: undefined for well. */
export type OperationEnd = OperationFailure | undefined;

/** Decides when the requests of connectors go, and how often; the engine's. */
export type OperationGate = {
  /**
   * Lets an operation go: calls `attempt`, which never throws, when it may, and again after a failure that is worth it.
   * Returns how the last one ended.
   *
   * @throws the signal's reason when it is aborted while the operation waits
   */
  execute(operation: OperationRequest, attempt: () => Promise<OperationEnd>): Promise<OperationEnd>;
  /** What a system has said is left of its own limit, and when that is renewed, in ms since 1970. */
  reportBudget(remaining: number, resetAtMs: number): void;
};

/** Lets everything go at once, and nothing twice. */
export const OPEN_GATE: OperationGate = { execute: (_, attempt) => attempt(), reportBudget: () => {} };

type Asked = Omit<OperationRequest, "signal"> & {
  readonly stop: AbortController;
  /** While it is being tried: takes how that ends. */
  granted: ((end: OperationEnd) => void) | undefined;
};

/** What the operations within one request to a connector say, taken to the gate and answered. */
export class CallGate {
  readonly #gate: OperationGate;
  readonly #reply: (message: Message) => void;
  readonly #waits: (isWaiting: boolean) => void;
  readonly #asked = new Map<number, Asked>();
  #waiting = 0;
  #isGivenUp = false;

  /**
   * @param reply says something on the stream of the request
   * @param waits told whenever that changes whether an operation waits for the gate
   */
  constructor(gate: OperationGate, reply: (message: Message) => void, waits: (isWaiting: boolean) => void) {
    this.#gate = gate;
    this.#reply = reply;
    this.#waits = waits;
  }

  /**
   * Takes a message; false: it is about something else.
   *
   * @throws {FrameError} for one that no connector sends
   */
  hear(message: Message): boolean {
    switch (message.m) {
      case "GateAcquire":
        this.#ask(message);
        return true;
      case "GateComplete":
        this.#complete(countMember(message, "requestId"), operationFailure(message));
        return true;
      case "GateBudget":
        this.#gate.reportBudget(countMember(message, "remaining"), countMember(message, "resetAtMs"));
        return true;
    }
    return false;
  }

  /** The request is to stop: what waits is let go no more, and what still comes only takes back what was done. */
  giveUp(reason: unknown): void {
    if (this.#isGivenUp) return;
    this.#isGivenUp = true;
    for (const { stop } of this.#asked.values()) stop.abort(reason);
  }

  /** The request is over, and so is all that it asked for. */
  end(reason: unknown): void {
    this.giveUp(reason);
    for (const { granted, stop } of this.#asked.values()) {
      stop.abort(reason);
      granted?.({ transient: false });
    }
  }

  /** @throws {FrameError} */
  #ask(message: Message): void {
    const requestId = countMember(message, "requestId");
    const asked = {
      label: printable(textMember(message, "label")).slice(0, MAX_LABEL_LENGTH),
      idempotent: flagMember(message, "idempotent"),
      urgent: this.#isGivenUp,
      stop: new AbortController(),
      granted: undefined,
    };
    if (this.#asked.has(requestId)) throw new FrameError("an operation that is asked for twice");
    if (this.#asked.size >= MAX_WAITING) throw new FrameError("too many operations at once");
    this.#asked.set(requestId, asked);
    void this.#serve(requestId, asked);
  }

  async #serve(requestId: number, asked: Asked): Promise<void> {
    const { label, idempotent, urgent, stop } = asked;
    this.#wait(1);
    try {
      const attempt = () => this.#attempt(requestId, asked);
      const end = await this.#gate.execute({ label, idempotent, urgent, signal: stop.signal }, attempt);
      // Whoever did not fail in a way that may pass does not wait for an answer.
      if (end?.transient === true && idempotent) this.#reply({ m: "GateEnd", requestId });
    } catch {
      this.#reply({ m: "GateEnd", requestId });
    } finally {
      this.#asked.delete(requestId);
      this.#wait(-1);
    }
  }

  async #attempt(requestId: number, asked: Asked): Promise<OperationEnd> {
    const { promise, resolve } = Promise.withResolvers<OperationEnd>();
    asked.granted = resolve;
    this.#wait(-1);
    this.#reply({ m: "GateGrant", requestId });
    const end = await promise;
    this.#wait(1);
    return end;
  }

  #complete(requestId: number, end: OperationEnd): void {
    const asked = this.#asked.get(requestId);
    if (asked === undefined) return;
    const { granted } = asked;
    asked.granted = undefined;
    if (granted === undefined) asked.stop.abort(new DOMException("The operation was taken back", "AbortError"));
    else granted(end);
  }

  #wait(change: 1 | -1): void {
    this.#waiting += change;
    this.#waits(this.#waiting > 0);
  }
}
