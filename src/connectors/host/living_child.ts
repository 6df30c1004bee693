import { ConnectorError } from "../contract/mod.ts";
import { type ChildOptions, ConnectorChild } from "./child.ts";

/** Keeps one connector process: starts it when it is first needed, and another one after it has died. */
export class LivingChild implements AsyncDisposable {
  readonly #options: ChildOptions;
  readonly #retired: Promise<void>[] = [];
  readonly #stop = new AbortController();
  #child: Promise<ConnectorChild> | undefined;

  constructor(options: ChildOptions) {
    this.#options = options;
  }

  /** The running child, or a new one in place of one that died. */
  async get(signal: AbortSignal | undefined): Promise<ConnectorChild> {
    signal?.throwIfAborted();
    return await (signal === undefined ? this.#living() : unlessAborted(this.#living(), signal));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new ConnectorError("The connector session is closed", { transient: false }));
    const child = await this.#child?.catch(() => undefined);
    await Promise.all([child?.close(), ...this.#retired]);
  }

  async #living(): Promise<ConnectorChild> {
    for (let tries = 0; tries < 3; tries++) {
      if (this.#stop.signal.aborted) throw this.#stop.signal.reason;
      const pending = this.#child ??= ConnectorChild.start(this.#options, this.#stop.signal);
      try {
        const child = await pending;
        if (child.isAlive) return child;
        if (this.#child === pending) this.#retired.push(child.close());
      } finally {
        if (this.#child === pending && !(await isAlive(pending))) this.#child = undefined;
      }
    }
    throw new ConnectorError(`The process of connector "${this.#options.connector}" ends as soon as it starts`, {
      transient: true,
      code: "PZ0358",
    });
  }
}

async function isAlive(child: Promise<ConnectorChild>): Promise<boolean> {
  try {
    return (await child).isAlive;
  } catch {
    return false;
  }
}

/** The promise's outcome, or the signal's reason as soon as it is aborted. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
