const SIGNALS: readonly Deno.Signal[] = Deno.build.os === "windows"
  ? ["SIGINT", "SIGBREAK"]
  : ["SIGINT", "SIGTERM", "SIGHUP"];

/**
 * From `listen` on, turns the first stop signal into an abort, for a cooperative end however long it takes. From then on nothing listens,
 * so that a second one ends the process at once. Closing it stops listening.
 */
export class StopSignals implements Disposable {
  readonly #controller = new AbortController();
  readonly #listener = () => {
    this.#stopListening();
    this.#controller.abort(new DOMException("The run was stopped", "AbortError"));
  };
  #listening = false;

  /** Begins to listen, unless it does already or a signal has come. */
  listen(): void {
    if (this.#listening || this.#controller.signal.aborted) return;
    this.#listening = true;
    for (const signal of SIGNALS) Deno.addSignalListener(signal, this.#listener);
  }

  /** Aborted by the first signal. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  [Symbol.dispose](): void {
    this.#stopListening();
  }

  #stopListening(): void {
    if (!this.#listening) return;
    this.#listening = false;
    for (const signal of SIGNALS) Deno.removeSignalListener(signal, this.#listener);
  }
}
