import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout } from "node:timers/promises";
import { ConnectorError } from "../contract/mod.ts";
import { countMember, type Message } from "../protocol/messages.ts";
import type { GatedOperation } from "./connector.ts";
import { toConnectorError } from "./failure.ts";

/** What a label may be: a word that the author wrote, never a value. */
const LABEL = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

type Verdict = "granted" | "over";

/** What takes something back when the host is gone has to come through by itself, within the little time that is left. */
const TRIES_ALONE = 4;
const PAUSE_ALONE_MS = 150;

type Asked = { readonly stream: number; readonly told: (verdict: Verdict) => void };

/**
 * The side of the connector's process of every gated operation: asks the host before each try, on the stream of the
 * request that the operation serves, and tells how it went.
 */
export class Operations {
  readonly #send: (stream: number, message: Message) => void;
  readonly #request = new AsyncLocalStorage<number>();
  readonly #streams = new Set<number>();
  readonly #asked = new Map<number, Asked>();
  #next = 1;
  #isAlone = false;

  /** @param send says something on the stream of a request */
  constructor(send: (stream: number, message: Message) => void) {
    this.#send = send;
  }

  /** Does the work of one request of the host; operations that begin within it are asked for on its stream. */
  async within<T>(stream: number, work: () => Promise<T>): Promise<T> {
    this.#streams.add(stream);
    try {
      return await this.#request.run(stream, work);
    } finally {
      this.#streams.delete(stream);
      for (const asked of this.#asked.values()) if (asked.stream === stream) asked.told("over");
    }
  }

  /** Does something on behalf of a request: what begins there is asked for on its stream. */
  onBehalf<T>(stream: number, work: () => T): T {
    return this.#request.run(stream, work);
  }

  /**
   * The host is gone: what waits for it is not let go, and what begins from now on is done without asking, a few times
   * where that may help.
   */
  abandon(): void {
    this.#isAlone = true;
    this.#streams.clear();
    for (const asked of this.#asked.values()) asked.told("over");
  }

  /** As `ConnectorHost.operate` promises. Outside of every request there is nobody to ask, and the work is done once. */
  async operate<T>(operation: GatedOperation, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { label, idempotent, signal } = operation;
    if (!LABEL.test(label)) {
      throw new ConnectorError(`The connector names an operation "${label}": expected one fixed word`, {
        transient: false,
        code: "PZ0357",
      });
    }
    signal.throwIfAborted();
    const stream = this.#request.getStore();
    if (stream === undefined || !this.#streams.has(stream)) {
      return await this.#alone(work, this.#isAlone && idempotent ? TRIES_ALONE : 1, signal);
    }
    const requestId = this.#next++;
    const ask = (message: Message) => this.#ask(stream, { requestId, ...message }, signal);
    let verdict = await ask({ m: "GateAcquire", label, idempotent });
    if (verdict === "over") throw new ConnectorError("The host let no further request go", { transient: true });
    for (;;) {
      try {
        const result = await work(signal);
        this.#complete(stream, { requestId });
        return result;
      } catch (error) {
        const failure = toConnectorError(error);
        const { transient, retryAfterMs } = failure;
        const told = { requestId, error: { transient, retryAfterMs } };
        if (!transient || !idempotent || signal.aborted) {
          this.#complete(stream, told);
          throw error;
        }
        verdict = await ask({ m: "GateComplete", ...told });
        if (verdict === "over") throw error;
      }
    }
  }

  async #alone<T>(work: (signal: AbortSignal) => Promise<T>, tries: number, signal: AbortSignal): Promise<T> {
    for (let left = tries - 1;; left--) {
      try {
        return await work(signal);
      } catch (error) {
        if (left === 0 || signal.aborted || !toConnectorError(error).transient) throw error;
        await setTimeout(PAUSE_ALONE_MS, undefined, { signal });
      }
    }
  }

  /** As `ConnectorHost.reportBudget` promises. */
  reportBudget(remaining: number, resetAtMs: number): void {
    const stream = this.#request.getStore();
    if (stream === undefined || !this.#streams.has(stream)) return;
    const whole = (value: number) => Math.min(Math.max(0, Math.ceil(value)), Number.MAX_SAFE_INTEGER);
    if (Number.isNaN(remaining) || Number.isNaN(resetAtMs)) return;
    this.#send(stream, { m: "GateBudget", remaining: whole(remaining), resetAtMs: whole(resetAtMs) });
  }

  /** Takes what the host says of an operation; false: the message is about something else. */
  receive(message: Message): boolean {
    if (message.m !== "GateGrant" && message.m !== "GateEnd") return false;
    this.#asked.get(countMember(message, "requestId"))?.told(message.m === "GateGrant" ? "granted" : "over");
    return true;
  }

  /** Says something to which the host answers; who stops waiting takes the request back. */
  async #ask(stream: number, message: Message & { readonly requestId: number }, signal: AbortSignal): Promise<Verdict> {
    const { requestId } = message;
    const { promise, resolve, reject } = Promise.withResolvers<Verdict>();
    const stop = () => reject(signal.reason);
    this.#asked.set(requestId, { stream, told: resolve });
    signal.addEventListener("abort", stop, { once: true });
    try {
      if (this.#streams.has(stream)) this.#send(stream, message);
      else resolve("over");
      return await promise;
    } catch (error) {
      this.#complete(stream, { requestId });
      throw error;
    } finally {
      this.#asked.delete(requestId);
      signal.removeEventListener("abort", stop);
    }
  }

  #complete(stream: number, told: { readonly requestId: number; readonly error?: object }): void {
    if (this.#streams.has(stream)) this.#send(stream, { m: "GateComplete", ...told });
  }
}
