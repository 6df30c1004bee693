import { ConnectorError, type OutputSpec } from "../contract/mod.ts";
import { FrameError } from "../protocol/frame.ts";
import { countMember, errorToWire, flagMember, type Message, textMember } from "../protocol/messages.ts";
import type { FileMover, StoreOptions, StoreSession } from "./connector.ts";
import { toConnectorError } from "./failure.ts";
import type { Answer, Operation } from "./operation.ts";
import { cancelled } from "./request.ts";

/** One write of files: hears how they grow, then commits it or takes it back, exactly one of them. */
export class StoreOperation implements Operation {
  readonly #answer: Answer;
  readonly #mover: FileMover;
  readonly #spec: OutputSpec;
  readonly #place: Pick<StoreOptions, "folder" | "journal">;
  readonly #warn: (message: string) => void;
  readonly #controller = new AbortController();
  readonly #orders: Message[] = [];
  #failure: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;
  #session: StoreSession | undefined;
  #stage: "open" | "committing" | "aborting" = "open";

  /** @param warn tells the user what the host need not know */
  constructor(
    answer: Answer,
    mover: FileMover,
    asked: { readonly spec: OutputSpec; readonly place: Pick<StoreOptions, "folder" | "journal"> },
    warn: (message: string) => void,
  ) {
    this.#answer = answer;
    this.#mover = mover;
    this.#spec = asked.spec;
    this.#place = asked.place;
    this.#warn = warn;
  }

  async run(): Promise<number> {
    try {
      await this.#store();
    } catch (error) {
      if (this.#stage === "committing") throw outcomeOf(error);
      this.#stage = "aborting";
      const { signal } = this.#controller;
      const failure = signal.aborted ? signal.reason : error;
      if (!signal.aborted) this.#answer.message({ m: "WriteFailed", error: errorToWire(toConnectorError(failure)) });
      await this.#abort();
      if (!signal.aborted) throw failure;
    }
    return 0;
  }

  cancel(): void {
    if (this.#stage === "committing") return;
    this.#controller.abort(cancelled());
    this.#wake?.();
  }

  message(message: Message): void {
    switch (message.m) {
      case "AbortWrite":
        this.cancel();
        return;
      case "FileGrew":
      case "FilesComplete":
      case "CommitWrite":
        this.#orders.push(message);
        this.#wake?.();
        return;
    }
    throw new FrameError(`the message ${message.m} within a write of files`);
  }

  credit(): void {
    throw new FrameError("credits that nobody waits for");
  }

  data(): void {
    throw new FrameError("data within a write of files");
  }

  async #store(): Promise<void> {
    const { signal } = this.#controller;
    const fail = (error: unknown) => {
      this.#failure ??= { error };
      this.#wake?.();
    };
    const session = await this.#mover.store(this.#spec, { ...this.#place, signal, fail });
    this.#session = session;
    signal.throwIfAborted();
    this.#answer.message({ m: "StoreSession" });
    let isComplete = false;
    for (let order = await this.#nextOrder(); order.m !== "CommitWrite"; order = await this.#nextOrder()) {
      if (order.m === "FilesComplete") {
        await unlessAborted(session.sent(), signal);
        this.#answer.message({ m: "FilesSent" });
        isComplete = true;
        continue;
      }
      session.grew({
        path: textMember(order, "path"),
        bytes: countMember(order, "bytes"),
        isWhole: flagMember(order, "isWhole"),
      });
    }
    if (!isComplete) {
      throw new ConnectorError("A commit before the files are complete", { transient: false, code: "PZ0357" });
    }
    this.#stage = "committing";
    const { files, bytes } = await session.commit();
    this.#answer.message({ m: "StoreResult", files, bytes });
  }

  /** What is broken stays broken: the failure that led here is what counts. */
  async #abort(): Promise<void> {
    try {
      await this.#session?.abort();
    } catch (error) {
      this.#warn(`What was written could not be taken back: ${toConnectorError(error).message}`);
    }
  }

  async #nextOrder(): Promise<Message> {
    for (;;) {
      this.#controller.signal.throwIfAborted();
      if (this.#failure !== undefined) throw this.#failure.error;
      const order = this.#orders.shift();
      if (order !== undefined) return order;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
      this.#wake = undefined;
    }
  }
}

/** The promise's outcome, or the signal's reason as soon as it is aborted. */
async function unlessAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  promise.catch(() => {}); // whoever does not wait any more has given it up
  signal.addEventListener("abort", abort, { once: true });
  try {
    await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** The error of a commit, which says whether the files may be there all the same. */
function outcomeOf(error: unknown): ConnectorError {
  const failure = toConnectorError(error);
  return failure.outcomeUnknown === undefined ? failure.with({ outcomeUnknown: true }) : failure;
}
