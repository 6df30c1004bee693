import { ConnectorError, type OutputSpec } from "../contract/mod.ts";
import { countMember, type Message } from "../protocol/messages.ts";
import { outputToWire } from "../protocol/specs.ts";
import type { FileGrowth, StoreResult } from "../sdk/connector.ts";
import type { Call } from "./call.ts";
import type { ConnectorChild, RequestOptions } from "./child.ts";

/**
 * A write of files that is going on in a connector's process. Exactly one of `commit` and `abort` ends it; after a commit
 * was tried, abort is never called. Failures are `ConnectorError`s, or the reason of the signal.
 */
export type StoreHandle = {
  /** Aborted, with the reason, as soon as the write has failed. */
  readonly broken: AbortSignal;
  /** Says what is there of a file below the folder, as often as it grows. */
  grew(file: FileGrowth): void;
  /**
   * After every file was whole: returns when all that is left is to make them visible. The signal ends the waiting, and
   * nothing else.
   */
  sent(signal: AbortSignal): Promise<void>;
  /** After that. Never cancelled half-way. */
  commit(): Promise<StoreResult>;
  /** Never throws: what is broken is given up. */
  abort(): Promise<void>;
};

export type StorePlace = {
  /** The folder that the files are in. */
  readonly folder: string;
  /** Where the connector notes what it would leave behind if it died. */
  readonly journal: string;
};

type BeginOptions = StorePlace & Required<Pick<RequestOptions, "gate">> & {
  /** Counts until the write has begun. */
  readonly signal: AbortSignal;
  readonly abortMs: number;
};

/** One write of files in a connector's process, over one stream. */
export class StoreStream implements StoreHandle {
  readonly #child: ConnectorChild;
  readonly #call: Call;
  readonly #abortMs: number;
  readonly #begun = Promise.withResolvers<void>();
  readonly #sent = Promise.withResolvers<void>();
  readonly #result = Promise.withResolvers<StoreResult>();
  readonly #broken = new AbortController();
  #end: "commit" | "abort" | undefined;
  #stored: StoreResult | undefined;
  /** What the connector said about a failed write, before any commit. */
  #told: ConnectorError | undefined;

  private constructor(child: ConnectorChild, spec: OutputSpec, { folder, journal, abortMs, gate }: BeginOptions) {
    this.#child = child;
    this.#abortMs = abortMs;
    for (const { promise } of [this.#begun, this.#sent, this.#result]) promise.catch(() => {});
    this.#call = child.open({ m: "StoreFiles", spec: outputToWire(spec), folder, journal }, {
      isLimited: true,
      gate,
      listener: { message: (message) => this.#hear(message), over: (outcome) => this.#over(outcome) },
    });
  }

  /** Begins a write of files. */
  static async begin(child: ConnectorChild, spec: OutputSpec, options: BeginOptions): Promise<StoreStream> {
    const { signal } = options;
    signal.throwIfAborted();
    const stream = new StoreStream(child, spec, options);
    const cancel = () => child.cancel(stream.#call, signal.reason);
    signal.addEventListener("abort", cancel, { once: true });
    try {
      await stream.#begun.promise;
      return stream;
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }

  get broken(): AbortSignal {
    return this.#broken.signal;
  }

  grew({ path, bytes, isWhole }: FileGrowth): void {
    this.broken.throwIfAborted();
    this.#child.send(this.#call, { m: "FileGrew", path, bytes, isWhole });
  }

  async sent(signal: AbortSignal): Promise<void> {
    this.broken.throwIfAborted();
    signal.throwIfAborted();
    const stop = () => this.#sent.reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    this.#child.send(this.#call, { m: "FilesComplete" });
    try {
      await this.#sent.promise;
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  async commit(): Promise<StoreResult> {
    this.broken.throwIfAborted();
    this.#end = "commit";
    this.#child.send(this.#call, { m: "CommitWrite" });
    try {
      return await this.#result.promise;
    } catch (error) {
      // A connector says what it knows about a commit; a process that ended says nothing.
      const isOpen = error instanceof ConnectorError && error !== this.#told && error.outcomeUnknown === undefined;
      throw isOpen ? error.with({ outcomeUnknown: true }) : error;
    }
  }

  async abort(): Promise<void> {
    if (this.#end !== undefined) return;
    this.#end = "abort";
    if (this.#call.isSettled) return;
    this.#child.send(this.#call, { m: "AbortWrite" });
    await this.#child.settle(this.#call, this.#abortMs);
  }

  #hear(message: Message): void {
    switch (message.m) {
      case "StoreSession":
        this.#begun.resolve();
        break;
      case "FilesSent":
        this.#sent.resolve();
        break;
      case "WriteFailed":
        this.#told = this.#child.errorOf(message);
        this.#breakOff(this.#told);
        break;
      case "StoreResult":
        this.#stored = { files: countMember(message, "files"), bytes: countMember(message, "bytes") };
    }
  }

  #over(outcome: "ended" | { readonly reason: unknown }): void {
    if (outcome !== "ended") this.#breakOff(outcome.reason);
    else if (this.#stored !== undefined) this.#result.resolve(this.#stored);
    // One that was given up has none, and why it was is known to who did so.
    else if (this.#end !== "abort") {
      this.#breakOff(
        new ConnectorError("A write of files got an end without a result", { transient: false, code: "PZ0357" }),
      );
    }
  }

  #breakOff(reason: unknown): void {
    this.#begun.reject(reason);
    this.#sent.reject(reason);
    this.#result.reject(reason);
    this.#broken.abort(reason);
  }
}
