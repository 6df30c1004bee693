import { ConnectorError, type OutputSpec } from "../contract/mod.ts";
import { ArrowInflow } from "../protocol/arrow_inflow.ts";
import { encodeCredit, FrameError } from "../protocol/frame.ts";
import { Inflow } from "../protocol/inflow.ts";
import { countMember, errorToWire, flagMember, type Message, rowsMember } from "../protocol/messages.ts";
import type { Sink, WriteSession } from "./connector.ts";
import { toConnectorError } from "./failure.ts";
import type { Answer, Operation } from "./operation.ts";
import { cancelled } from "./request.ts";

/** One write: takes rows from the host into the sink's session, then commits it or takes it back, exactly one of them. */
export class WriteOperation implements Operation {
  readonly #answer: Answer;
  readonly #sink: Sink;
  readonly #spec: OutputSpec;
  readonly #warn: (message: string) => void;
  readonly #controller = new AbortController();
  /** What the host wants once its data has been taken. */
  readonly #orders: Message[] = [];
  /** Who waits until the host has kept how many rows are confirmed. */
  readonly #stored = new Map<bigint, (isKept: boolean) => void>();
  #wake: (() => void) | undefined;
  #inflow: Inflow;
  #hasRows = false;
  #acknowledged = 0n;
  #session: WriteSession | undefined;
  #resuming: Promise<void> = Promise.resolve();
  #stage: "open" | "committing" | "aborting" = "open";

  /** @param warn tells the user what the host need not know */
  constructor(answer: Answer, sink: Sink, spec: OutputSpec, warn: (message: string) => void) {
    this.#answer = answer;
    this.#sink = sink;
    this.#spec = spec;
    this.#warn = warn;
    this.#inflow = this.#newInflow();
  }

  async run(): Promise<number> {
    try {
      await this.#write();
    } catch (error) {
      if (this.#stage === "committing") throw outcomeOf(error);
      this.#stage = "aborting";
      const { signal } = this.#controller;
      const failure = signal.aborted ? signal.reason : error;
      if (this.#session !== undefined) this.#acknowledge(this.#session);
      if (!signal.aborted) this.#answer.message({ m: "WriteFailed", error: errorToWire(toConnectorError(failure)) });
      await this.#abort();
      if (!signal.aborted) throw failure;
    }
    return 0;
  }

  cancel(): void {
    if (this.#stage === "committing") return;
    const reason = cancelled();
    this.#controller.abort(reason);
    this.#inflow.fail(reason);
    this.#wake?.();
  }

  message(message: Message): void {
    switch (message.m) {
      case "AbortWrite":
        this.cancel();
        return;
      case "EndOfData":
        this.#inflow.end(countMember(message, "frames"));
        return;
      case "ResumeFrom": {
        const rows = rowsMember(message, "rows");
        this.#resuming = this.#resuming.then(() => this.#resume(rows));
        return;
      }
      case "AckStored":
        this.#stored.get(rowsMember(message, "rows"))?.(flagMember(message, "isKept"));
        return;
      case "DeleteKeys":
        this.#inflow = this.#newInflow();
        this.#order(message);
        return;
      case "CommitWrite":
        this.#order(message);
        return;
    }
    throw new FrameError(`the message ${message.m} within a write`);
  }

  credit(): void {
    throw new FrameError("credits that nobody waits for");
  }

  data(payload: Uint8Array<ArrayBuffer>): void {
    this.#inflow.push(payload);
  }

  async #write(): Promise<void> {
    const { signal } = this.#controller;
    const rows = await ArrowInflow.open(this.#inflow.data());
    const session = await this.#sink.begin(this.#spec, rows.schema, signal, (count) => this.#tellAndWait(count));
    this.#session = session;
    signal.throwIfAborted();
    this.#acknowledge(session);
    this.#answer.message({
      m: "WriteSession",
      abortSemantics: session.abortSemantics ?? this.#sink.abortSemantics,
      provesAttempt: session.provesAttempt === true,
    });
    for await (const batch of rows.batches()) {
      await this.#beginRows();
      await session.write(batch, signal);
      this.#acknowledge(session);
    }
    await this.#beginRows();
    for (let order = await this.#nextOrder(); order.m === "DeleteKeys"; order = await this.#nextOrder()) {
      await this.#deleteKeys(session);
    }
    this.#acknowledge(session);
    signal.throwIfAborted();
    this.#stage = "committing";
    this.#answer.message({ m: "Committing" });
    const result = await session.commit();
    this.#answer.message({ m: "WriteResult", rows: result.rows.toString(), batches: result.batches });
  }

  async #deleteKeys(session: WriteSession): Promise<void> {
    const keys = await ArrowInflow.open(this.#inflow.data());
    for await (const batch of keys.batches()) {
      if (session.applyDeletes === undefined) {
        throw new ConnectorError("The connector can't delete rows by their keys", { transient: false, code: "PZ0357" });
      }
      await session.applyDeletes(batch, this.#controller.signal);
    }
  }

  /** An answer to where to resume comes before the first row; the session's calls never overlap. */
  async #beginRows(): Promise<void> {
    await this.#resuming;
    this.#controller.signal.throwIfAborted();
    this.#hasRows = true;
  }

  async #resume(rows: bigint): Promise<void> {
    const { signal } = this.#controller;
    try {
      if (this.#hasRows || this.#session === undefined) {
        throw new ConnectorError("A write can only be resumed between its begin and its first rows", {
          transient: false,
          code: "PZ0357",
        });
      }
      const accepted = await this.#session.resumeFrom?.(rows) ?? false;
      if (!signal.aborted) this.#answer.message({ m: "Resumed", accepted });
    } catch (error) {
      // The write as a whole has failed then: whoever waits for rows gets the reason.
      this.#inflow.fail(error);
    }
  }

  #acknowledge(session: WriteSession): void {
    const rows = session.acknowledgedRows?.() ?? 0n;
    if (rows <= this.#acknowledged) return;
    this.#acknowledged = rows;
    this.#answer.message({ m: "WriteAck", rows: rows.toString() });
  }

  async #tellAndWait(rows: bigint): Promise<void> {
    const { signal } = this.#controller;
    signal.throwIfAborted();
    if (rows <= this.#acknowledged) return;
    this.#acknowledged = rows;
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    this.#stored.set(rows, resolve);
    this.#answer.message({ m: "WriteAck", rows: rows.toString(), awaited: true });
    try {
      if (await promise) return;
      throw new ConnectorError("The host could not keep what is confirmed", { transient: false });
    } finally {
      this.#stored.delete(rows);
      signal.removeEventListener("abort", stop);
    }
  }

  /** What is broken stays broken: the failure that led here is what counts. */
  async #abort(): Promise<void> {
    await this.#resuming;
    try {
      await this.#session?.abort();
    } catch (error) {
      this.#warn(`What was written could not be taken back: ${toConnectorError(error).message}`);
    }
  }

  #order(message: Message): void {
    this.#orders.push(message);
    this.#wake?.();
  }

  async #nextOrder(): Promise<Message> {
    for (;;) {
      this.#controller.signal.throwIfAborted();
      const order = this.#orders.shift();
      if (order !== undefined) return order;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
      this.#wake = undefined;
    }
  }

  #newInflow(): Inflow {
    return new Inflow((count) => this.#answer.frame(encodeCredit(this.#answer.stream, count)));
  }
}

/** The error of a commit, which says whether the data may be there all the same. */
function outcomeOf(error: unknown): ConnectorError {
  const failure = toConnectorError(error);
  return failure.outcomeUnknown === undefined ? failure.with({ outcomeUnknown: true }) : failure;
}
