import type { RecordBatch, Schema } from "../../util/arrow.ts";
import { type ConfigMap, ConnectorError, type DatasetSpec, type Grant, type OutputSpec } from "../contract/mod.ts";
import { FrameError } from "../protocol/frame.ts";
import type { Message } from "../protocol/messages.ts";
import { datasetToWire } from "../protocol/specs.ts";
import type { Call } from "./call.ts";
import { ConnectorChild, type RequestOptions } from "./child.ts";
import { type ChildCommand, childCommand } from "./command.ts";
import { type PartitionRef, PartitionStream } from "./partition_stream.ts";
import { DEFAULT_PATIENCE, type Patience } from "./patience.ts";
import { ReadStream } from "./read_stream.ts";
import { Redactor } from "./redact.ts";
import type { WriteHandle } from "./write.ts";

export type SessionOptions = {
  readonly connector: string;
  readonly connection: string;
  readonly config: ConfigMap;
  readonly grant: Grant;
  readonly runId: string;
  /** Takes what the connector logs; already free of configuration values. */
  readonly onLog: (level: string, message: string) => void;
  /** Takes what the connector has to tell the user, perhaps repeatedly; free of settings that are secret. */
  readonly onNotice?: (message: string) => void;
  /** How to start the child; undefined: this program again. */
  readonly command?: ChildCommand;
  readonly patience?: Partial<Patience>;
};

/**
 * One connector child process, started on first use and shared by the nodes of its connection. Every failure is a
 * `ConnectorError`, or the reason of the signal that was aborted; after the process died, the next request starts a new
 * one. Closing it closes the child's stdin, and kills it after a grace period.
 */
export class ConnectorSession implements AsyncDisposable {
  readonly #options: SessionOptions;
  readonly #redactor: Redactor;
  readonly #patience: Patience;
  readonly #retired: Promise<void>[] = [];
  #child: Promise<ConnectorChild> | undefined;
  readonly #stop = new AbortController();

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#patience = { ...DEFAULT_PATIENCE, ...options.patience };
    this.#redactor = new Redactor(options.config);
  }

  /** Reaches the system once and changes nothing; returns when that went well. */
  async check(signal: AbortSignal): Promise<void> {
    const { child, call } = await this.#open({ m: "CheckConnection" }, { signal, isLimited: true });
    await this.#explained(child, call, () => call.answer());
  }

  /** The schema of a dataset, every field as it will arrive. */
  async getSchema(spec: DatasetSpec, signal: AbortSignal): Promise<Schema> {
    const { ArrowInflow } = await import("../protocol/arrow_inflow.ts");
    const request = { m: "GetSchema", spec: datasetToWire(spec) };
    const { child, call } = await this.#open(request, { signal, isLimited: true });
    return await this.#explained(child, call, async () => {
      const { schema } = await ArrowInflow.open(call.data());
      await call.settled;
      return schema;
    });
  }

  /** The partitions of a dataset: one at least, each with an id of its own. */
  async planRead(spec: DatasetSpec, signal: AbortSignal): Promise<readonly PartitionRef[]> {
    return await Array.fromAsync(this.planReadStreaming(spec, signal));
  }

  /** The same, each as soon as the connector has found it; who stops early cancels the rest. */
  async *planReadStreaming(spec: DatasetSpec, signal: AbortSignal): AsyncGenerator<PartitionRef, undefined> {
    const plan = new PartitionStream();
    const request = { m: "PlanRead", spec: datasetToWire(spec) };
    const { child, call } = await this.#open(request, { signal, isLimited: true, listener: plan });
    yield* this.#explainedItems(child, call, plan.partitions());
    return undefined;
  }

  /** Reads one partition; a reader that stops early cancels the rest. */
  read(
    spec: DatasetSpec,
    partition: PartitionRef,
    options: {
      readonly batchBytes: number;
      readonly signal: AbortSignal;
      /** A `checkpoint` of an earlier read of the same partition; see `ReadStream.resumed`. */
      readonly resumeFrom?: string;
    },
  ): ReadStream {
    const { batchBytes, signal, resumeFrom } = options;
    const request = {
      m: "OpenReadStream",
      spec: datasetToWire(spec),
      partition: partition.id,
      batchBytes,
      resumeCheckpoint: resumeFrom,
    };
    return new ReadStream((hear) => this.#batches(request, { signal, listener: { message: hear } }));
  }

  /**
   * Begins a write of rows of this schema. The signal counts until it has begun; from then on the handle's own methods
   * end it.
   */
  async beginWrite(spec: OutputSpec, schema: Schema, signal: AbortSignal): Promise<WriteHandle> {
    const { WriteStream } = await import("./write_stream.ts");
    signal.throwIfAborted();
    const child = await unlessAborted(this.#living(), signal);
    const { abortMs } = this.#patience;
    return await WriteStream.begin(child, spec, schema, { signal, abortMs });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new ConnectorError("The connector session is closed", { transient: false }));
    const child = await this.#child?.catch(() => undefined);
    await Promise.all([child?.close(), ...this.#retired]);
  }

  async *#batches(request: Message, options: RequestOptions): AsyncGenerator<RecordBatch, undefined> {
    const { ArrowInflow } = await import("../protocol/arrow_inflow.ts");
    const { child, call } = await this.#open(request, options);
    yield* this.#explainedItems(child, call, batchesOf(call, ArrowInflow.open));
    return undefined;
  }

  async #open(
    message: Message,
    options: RequestOptions,
  ): Promise<{ readonly child: ConnectorChild; readonly call: Call }> {
    const { signal } = options;
    signal?.throwIfAborted();
    const child = await (signal === undefined ? this.#living() : unlessAborted(this.#living(), signal));
    return { child, call: child.open(message, options) };
  }

  /** The running child, or a new one in place of one that died. */
  async #living(): Promise<ConnectorChild> {
    for (let tries = 0; tries < 3; tries++) {
      if (this.#stop.signal.aborted) throw this.#stop.signal.reason;
      const pending = this.#child ??= this.#start();
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

  #start(): Promise<ConnectorChild> {
    const { connector, connection, config, grant, runId, onLog, onNotice, command } = this.#options;
    return ConnectorChild.start({
      command: command ?? childCommand(),
      connector,
      connection,
      config,
      grant,
      runId,
      onLog,
      onNotice: onNotice ?? (() => {}),
      redactor: this.#redactor,
      patience: this.#patience,
    }, this.#stop.signal);
  }

  async #explained<T>(child: ConnectorChild, call: Call, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.#explain(child, call, error);
    }
  }

  async *#explainedItems<T>(
    child: ConnectorChild,
    call: Call,
    items: AsyncGenerator<T, undefined>,
  ): AsyncGenerator<T, undefined> {
    try {
      yield* items;
      return undefined;
    } catch (error) {
      throw this.#explain(child, call, error);
    } finally {
      child.cancel(call, new ConnectorError("The reader stopped", { transient: false }));
    }
  }

  /** The error to throw: what the connector or the host said, or bytes that Arrow could not read. */
  #explain(child: ConnectorChild, call: Call, error: unknown): unknown {
    if (error instanceof ConnectorError || error === call.reason) return error;
    child.cancel(call, error);
    const what = error instanceof FrameError ? error.message : "an Arrow stream that can't be read";
    return new ConnectorError(`Connector "${this.#options.connector}" broke the protocol with ${what}`, {
      transient: false,
      code: "PZ0357",
      cause: error,
    });
  }
}

async function* batchesOf(
  call: Call,
  open: (data: ReturnType<Call["data"]>) => Promise<{ batches(): AsyncGenerator<RecordBatch, undefined> }>,
): AsyncGenerator<RecordBatch, undefined> {
  yield* (await open(call.data())).batches();
  return undefined;
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
