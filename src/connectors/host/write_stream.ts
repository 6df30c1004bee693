import type { RecordBatch, Schema } from "../../util/arrow.ts";
import { type AbortSemantics, ConnectorError, type OutputSpec, type WriteResult } from "../contract/mod.ts";
import { ArrowFrames } from "../protocol/arrow_frames.ts";
import { Credits } from "../protocol/credits.ts";
import { FrameError } from "../protocol/frame.ts";
import { countMember, DATA_CREDITS, flagMember, type Message, rowsMember, textMember } from "../protocol/messages.ts";
import { outputToWire } from "../protocol/specs.ts";
import type { Call } from "./call.ts";
import type { ConnectorChild, RequestOptions } from "./child.ts";
import { slices } from "./slices.ts";
import type { WriteHandle } from "./write.ts";

const NEVER = new AbortController().signal;

/** What a connector says of a write that has begun. */
type Begun = Pick<WriteHandle, "abortSemantics" | "provesAttempt">;

type BeginOptions = Required<Pick<RequestOptions, "gate">> & {
  /** Counts until the write has begun. */
  readonly signal: AbortSignal;
  readonly abortMs: number;
  readonly onAcknowledged?: ((rows: bigint) => Promise<void>) | undefined;
};

/** One write in a connector's process, over one stream. */
export class WriteStream implements WriteHandle {
  readonly #child: ConnectorChild;
  readonly #call: Call;
  readonly #abortMs: number;
  readonly #onAcknowledged: BeginOptions["onAcknowledged"];
  readonly #credits = new Credits(DATA_CREDITS);
  readonly #begun = Promise.withResolvers<Begun>();
  readonly #result = Promise.withResolvers<WriteResult>();
  #resumed: PromiseWithResolvers<boolean> | undefined;
  #about: Begun = { abortSemantics: "discards_all", provesAttempt: false };
  #acknowledged = 0n;
  #frames: ArrowFrames;
  #sent = 0;
  #phase: "rows" | "deletes" = "rows";
  #wroteRows = false;
  #end: "commit" | "abort" | undefined;
  readonly #committing = Promise.withResolvers<void>();
  #isCommitting = false;
  #stopped: { readonly reason: unknown } | undefined;
  #written: WriteResult | undefined;
  /** What the connector said about a failed write, before any commit. */
  #told: ConnectorError | undefined;
  /** Why nothing more can be written. */
  #broken: { readonly reason: unknown } | undefined;

  private constructor(child: ConnectorChild, spec: OutputSpec, schema: Schema, options: BeginOptions) {
    const { abortMs, gate, onAcknowledged } = options;
    this.#child = child;
    this.#abortMs = abortMs;
    this.#onAcknowledged = onAcknowledged;
    for (const { promise } of [this.#begun, this.#result]) promise.catch(() => {});
    this.#call = child.open({ m: "BeginWrite", spec: outputToWire(spec) }, {
      isLimited: true,
      gate,
      listener: {
        message: (message) => this.#hear(message),
        credit: (count) => this.#credits.add(count),
        over: (outcome) => this.#over(outcome),
      },
    });
    this.#frames = new ArrowFrames(this.#call.stream, schema);
  }

  /** Begins a write. */
  static async begin(
    child: ConnectorChild,
    spec: OutputSpec,
    schema: Schema,
    options: BeginOptions,
  ): Promise<WriteStream> {
    const { signal } = options;
    signal.throwIfAborted();
    const stream = new WriteStream(child, spec, schema, options);
    const cancel = () => child.cancel(stream.#call, signal.reason);
    signal.addEventListener("abort", cancel, { once: true });
    try {
      await stream.#send(stream.#frames.start(), signal);
      stream.#about = await stream.#begun.promise;
      return stream;
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }

  get abortSemantics(): AbortSemantics {
    return this.#about.abortSemantics;
  }

  get provesAttempt(): boolean {
    return this.#about.provesAttempt;
  }

  get acknowledgedRows(): bigint {
    return this.#acknowledged;
  }

  async write(batch: RecordBatch, signal: AbortSignal): Promise<void> {
    if (this.#phase !== "rows") throw misuse("rows after keys to delete");
    this.#wroteRows = true;
    await this.#sendBatch(batch, signal);
  }

  async applyDeletes(keys: RecordBatch, signal: AbortSignal): Promise<void> {
    this.#check(signal);
    if (this.#phase === "rows") {
      await this.#finishData(signal);
      this.#child.send(this.#call, { m: "DeleteKeys" });
      this.#phase = "deletes";
      this.#frames = new ArrowFrames(this.#call.stream, keys.schema);
      await this.#send(this.#frames.start(), signal);
    }
    await this.#sendBatch(keys, signal);
  }

  async resumeFrom(rows: bigint, signal: AbortSignal): Promise<boolean> {
    this.#check(signal);
    if (this.#wroteRows) throw misuse("a question where to resume after its first rows");
    const answer = this.#resumed = Promise.withResolvers<boolean>();
    answer.promise.catch(() => {});
    const arrived = this.#child.expect(this.#call, "ResumeFrom");
    this.#child.send(this.#call, { m: "ResumeFrom", rows: rows.toString() });
    const stop = () => answer.reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    try {
      return await answer.promise;
    } finally {
      arrived();
      signal.removeEventListener("abort", stop);
      this.#resumed = undefined;
    }
  }

  async commit(signal: AbortSignal = NEVER): Promise<WriteResult> {
    this.#check(signal);
    this.#end = "commit";
    const stop = () => this.#takeBack(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    try {
      await this.#finishData(NEVER);
      this.#child.send(this.#call, { m: "CommitWrite" });
      return await this.#result.promise;
    } catch (error) {
      // A connector says what it knows about a commit; a process that ended says nothing.
      const isOpen = error instanceof ConnectorError && error !== this.#told && error.outcomeUnknown === undefined;
      throw isOpen ? error.with({ outcomeUnknown: true }) : error;
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  async abort(): Promise<void> {
    if (this.#end !== undefined) return;
    this.#end = "abort";
    if (this.#call.isSettled) return;
    this.#child.send(this.#call, { m: "AbortWrite" });
    await this.#child.settle(this.#call, this.#abortMs);
  }

  /** Stops a commit that has not begun. */
  #takeBack(reason: unknown): void {
    if (this.#isCommitting) return;
    this.#stopped = { reason };
    this.#child.send(this.#call, { m: "AbortWrite" });
    void this.#child.settle(this.#call, this.#abortMs, this.#committing.promise);
  }

  async #sendBatch(batch: RecordBatch, signal: AbortSignal): Promise<void> {
    this.#check(signal);
    for (const slice of slices(batch)) await this.#send(this.#frames.batch(slice), signal);
  }

  async #finishData(signal: AbortSignal): Promise<void> {
    await this.#send(this.#frames.finish(), signal);
    this.#child.send(this.#call, { m: "EndOfData", frames: this.#sent });
    this.#sent = 0;
  }

  async #send(frames: readonly Uint8Array<ArrayBuffer>[], signal: AbortSignal): Promise<void> {
    try {
      for (const frame of frames) {
        await this.#credits.take(signal);
        this.#child.send(this.#call, frame);
        this.#sent++;
      }
    } catch (error) {
      this.#broken ??= { reason: error };
      throw error;
    }
  }

  #check(signal: AbortSignal): void {
    if (this.#end !== undefined) throw misuse(`another step after its ${this.#end}`);
    if (this.#broken !== undefined) throw this.#broken.reason;
    signal.throwIfAborted();
  }

  #hear(message: Message): void {
    switch (message.m) {
      case "WriteSession":
        this.#begun.resolve({
          abortSemantics: abortSemanticsOf(message),
          provesAttempt: flagMember(message, "provesAttempt"),
        });
        break;
      case "WriteAck":
        this.#acknowledge(rowsMember(message, "rows"), message["awaited"] === true);
        break;
      case "Resumed":
        this.#resumed?.resolve(flagMember(message, "accepted"));
        break;
      case "WriteFailed":
        this.#told = this.#child.errorOf(message);
        this.#breakOff(this.#told);
        break;
      case "Committing":
        this.#isCommitting = true;
        this.#committing.resolve();
        break;
      case "WriteResult":
        this.#written = { rows: rowsMember(message, "rows"), batches: countMember(message, "batches") };
    }
  }

  #acknowledge(rows: bigint, isAwaited: boolean): void {
    this.#acknowledged = maxOf(this.#acknowledged, rows);
    const answer = (isKept: boolean) => {
      if (!isAwaited || this.#call.isSettled) return;
      this.#child.send(this.#call, { m: "AckStored", rows: rows.toString(), isKept });
    };
    const kept = this.#onAcknowledged?.(rows) ?? Promise.resolve();
    kept.then(() => answer(true), (reason: unknown) => {
      this.#breakOff(reason);
      answer(false);
    });
  }

  #over(outcome: "ended" | { readonly reason: unknown }): void {
    if (outcome !== "ended") this.#breakOff(outcome.reason);
    else if (this.#written !== undefined) this.#result.resolve(this.#written);
    else this.#breakOff(this.#stopped === undefined ? misuse("an end without a result") : this.#stopped.reason);
  }

  #breakOff(reason: unknown): void {
    this.#broken ??= { reason };
    this.#credits.fail(reason);
    this.#begun.reject(reason);
    this.#resumed?.reject(reason);
    this.#result.reject(reason);
  }
}

function misuse(what: string): ConnectorError {
  return new ConnectorError(`A write got ${what}`, { transient: false, code: "PZ0357" });
}

function maxOf(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

function abortSemanticsOf(message: Message): AbortSemantics {
  const text = textMember(message, "abortSemantics");
  if (text === "discards_all" || text === "best_effort" || text === "none") return text;
  throw new FrameError(`the abort semantics "${text}"`);
}
