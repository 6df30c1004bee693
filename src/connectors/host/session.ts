import type { RecordBatch, Schema } from "../../util/arrow.ts";
import { type ConfigMap, ConnectorError, type DatasetSpec, type Grant } from "../contract/mod.ts";
import { FrameError } from "../protocol/frame.ts";
import { specToWire, textMember } from "../protocol/messages.ts";
import type { Call } from "./call.ts";
import { ConnectorChild, DEFAULT_PATIENCE, type Patience } from "./child.ts";
import { type ChildCommand, childCommand } from "./command.ts";
import { Redactor } from "./redact.ts";

/** Far more than any size of batch that can be asked for. */
const MAX_BATCH_BYTES = 1 << 30;

export type PartitionRef = { readonly id: string };

/** The batches of one partition: ends normally only when the connector said that it had sent everything. */
export type ReadStream = AsyncIterable<RecordBatch>;

export type SessionOptions = {
  readonly connector: string;
  readonly connection: string;
  readonly config: ConfigMap;
  readonly grant: Grant;
  readonly runId: string;
  /** Takes what the connector logs; already free of configuration values. */
  readonly onLog: (level: string, message: string) => void;
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
  readonly #retired: Promise<void>[] = [];
  #child: Promise<ConnectorChild> | undefined;
  readonly #stop = new AbortController();

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#redactor = new Redactor(options.config);
  }

  /** The schema of a dataset, every field as it will arrive. */
  async getSchema(spec: DatasetSpec, signal: AbortSignal): Promise<Schema> {
    const { RecordBatchReader } = await import("../../util/arrow.ts");
    const { child, call } = await this.#open({ m: "GetSchema", spec: specToWire(spec) }, signal);
    try {
      const reader = await RecordBatchReader.from(call.data());
      await reader.open({ autoDestroy: false });
      await call.settled;
      return reader.schema;
    } catch (error) {
      throw this.#explain(child, call, error);
    }
  }

  /** The partitions of a dataset: one at least, each with an id of its own. */
  async planRead(spec: DatasetSpec, signal: AbortSignal): Promise<readonly PartitionRef[]> {
    const { child, call } = await this.#open({ m: "PlanRead", spec: specToWire(spec) }, signal);
    try {
      for await (const _ of call.data()) throw new FrameError("data in the answer to a plan");
      const partitions = call.messages
        .filter(({ m }) => m === "Partition")
        .map((message) => ({ id: textMember(message, "id") }));
      if (partitions.length === 0) throw new FrameError("a plan without partitions");
      if (new Set(partitions.map(({ id }) => id)).size < partitions.length) {
        throw new FrameError("a plan that names a partition twice");
      }
      return partitions;
    } catch (error) {
      throw this.#explain(child, call, error);
    }
  }

  /** Reads one partition; a reader that stops early cancels the rest. */
  async *read(
    spec: DatasetSpec,
    partition: PartitionRef,
    options: { readonly batchBytes: number; readonly signal: AbortSignal },
  ): AsyncGenerator<RecordBatch, undefined> {
    const request = {
      m: "OpenReadStream",
      spec: specToWire(spec),
      partition: partition.id,
      batchBytes: options.batchBytes,
    };
    const { RecordBatchReader } = await import("../../util/arrow.ts");
    const { child, call } = await this.#open(request, options.signal);
    try {
      const data = call.data();
      const meter = { bytes: 0 };
      const reader = await RecordBatchReader.from(metered(data, meter));
      for await (const batch of reader) {
        meter.bytes = 0;
        yield batch;
      }
      for await (const _ of data) throw new FrameError("data after the end of the Arrow stream");
      return undefined;
    } catch (error) {
      throw this.#explain(child, call, error);
    } finally {
      child.cancel(call, new ConnectorError("The reader stopped", { transient: false }));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new ConnectorError("The connector session is closed", { transient: false }));
    const child = await this.#child?.catch(() => undefined);
    await Promise.all([child?.close(), ...this.#retired]);
  }

  async #open(
    message: Parameters<ConnectorChild["open"]>[0],
    signal: AbortSignal,
  ): Promise<{ readonly child: ConnectorChild; readonly call: Call }> {
    signal.throwIfAborted();
    const child = await unlessAborted(this.#living(), signal);
    return { child, call: child.open(message, signal) };
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
    const { connector, connection, config, grant, runId, onLog, command, patience } = this.#options;
    return ConnectorChild.start({
      command: command ?? childCommand(),
      connector,
      connection,
      config,
      grant,
      runId,
      onLog,
      redactor: this.#redactor,
      patience: { ...DEFAULT_PATIENCE, ...patience },
    }, this.#stop.signal);
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

/**
 * The same items, counted; whoever iterates can't close the source.
 *
 * @throws {FrameError} when more bytes come than one batch may have
 */
async function* metered(
  source: AsyncIterator<Uint8Array>,
  meter: { bytes: number },
): AsyncGenerator<Uint8Array, undefined> {
  for (let next = await source.next(); next.done !== true; next = await source.next()) {
    meter.bytes += next.value.length;
    if (meter.bytes > MAX_BATCH_BYTES) throw new FrameError(`a batch of more than ${MAX_BATCH_BYTES} bytes`);
    yield next.value;
  }
  return undefined;
}
