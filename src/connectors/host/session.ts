import type { RecordBatch, Schema } from "../../util/arrow.ts";
import {
  type Capability,
  type ConfigMap,
  ConnectorError,
  type ConnectorProgram,
  type DatasetSpec,
  type FetchedFile,
  type Grant,
  type OutputSpec,
} from "../contract/mod.ts";
import { FrameError } from "../protocol/frame.ts";
import type { Message } from "../protocol/messages.ts";
import { datasetToWire } from "../protocol/specs.ts";
import type { Call } from "./call.ts";
import type { ConnectorChild, RequestOptions } from "./child.ts";
import { type ChildCommand, childCommand } from "./command.ts";
import { FetchStream } from "./fetch_stream.ts";
import { LivingChild } from "./living_child.ts";
import type { OperationGate } from "./operation_gate.ts";
import { type PartitionRef, PartitionStream } from "./partition_stream.ts";
import { DEFAULT_PATIENCE, type Patience } from "./patience.ts";
import { ReadStream } from "./read_stream.ts";
import { Redactor } from "./redact.ts";
import { type StoreHandle, type StorePlace, StoreStream } from "./store_stream.ts";
import type { WriteHandle } from "./write.ts";

export type SessionOptions = {
  readonly connector: string;
  readonly connection: string;
  readonly config: ConfigMap;
  readonly grant: Grant;
  readonly runId: string;
  /** What of a package the child runs; undefined: the connector inside pz. */
  readonly program?: ConnectorProgram | undefined;
  /** What the connector must say of itself; undefined: whatever it says. */
  readonly capabilities?: ReadonlySet<Capability> | undefined;
  /** Takes what the connector logs; already free of configuration values. */
  readonly onLog: (level: string, message: string) => void;
  /** Takes what the connector has to tell the user, perhaps repeatedly; free of settings that are secret. */
  readonly onNotice?: (message: string) => void;
  /** How to start the child; undefined: this program again. */
  readonly command?: ChildCommand;
  readonly patience?: Partial<Patience>;
};

/** Asks a connector's process; every failure is a `ConnectorError`, or the reason of the signal that was aborted. */
export class ConnectorRequests {
  readonly #connector: string;
  readonly #patience: Patience;
  readonly #child: LivingChild;
  readonly #gate: OperationGate | undefined;

  /** @param gate what the requests pass that the connector makes to its system; undefined: they go as they come */
  constructor(connector: string, patience: Patience, child: LivingChild, gate?: OperationGate) {
    this.#connector = connector;
    this.#patience = patience;
    this.#child = child;
    this.#gate = gate;
  }

  /** The same process, for one whose operations pass this gate. */
  through(gate: OperationGate): ConnectorRequests {
    return new ConnectorRequests(this.#connector, this.#patience, this.#child, gate);
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
   * end it. `onAcknowledged` is called with each count of rows that the destination has confirmed; a connector that asks
   * for it waits until it is done, and what it fails with fails the write.
   */
  async beginWrite(
    spec: OutputSpec,
    schema: Schema,
    signal: AbortSignal,
    onAcknowledged?: (rows: bigint) => Promise<void>,
  ): Promise<WriteHandle> {
    const { WriteStream } = await import("./write_stream.ts");
    const child = await this.#child.get(signal);
    const { abortMs } = this.#patience;
    return await WriteStream.begin(child, spec, schema, { signal, abortMs, gate: this.#gate, onAcknowledged });
  }

  /** Fetches the files of a dataset into a folder, each told in its order once it is whole. */
  async *fetchFiles(
    spec: DatasetSpec,
    { folder, signal, onBytes }: {
      readonly folder: string;
      readonly signal: AbortSignal;
      /** Told bytes that have arrived since it was told last. */
      readonly onBytes: (bytes: number) => void;
    },
  ): AsyncGenerator<FetchedFile, undefined> {
    const landing = new FetchStream(onBytes);
    const request = { m: "FetchFiles", spec: datasetToWire(spec), folder };
    const { child, call } = await this.#open(request, { signal, isLimited: true, listener: landing });
    yield* this.#explainedItems(child, call, landing.files());
    return undefined;
  }

  /** Begins a write of files. The signal counts until it has begun; from then on the handle's own methods end it. */
  async storeFiles(spec: OutputSpec, place: StorePlace, signal: AbortSignal): Promise<StoreHandle> {
    const child = await this.#child.get(signal);
    const { abortMs } = this.#patience;
    return await StoreStream.begin(child, spec, { ...place, signal, abortMs, gate: this.#gate });
  }

  /** Takes back what writes of files that died have left at the system; the journal of each that is done is gone then. */
  async sweepStores(journals: readonly string[], signal: AbortSignal): Promise<void> {
    const { child, call } = await this.#open({ m: "SweepStores", journals }, { signal });
    await this.#explained(child, call, () => call.answer());
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
    const child = await this.#child.get(options.signal);
    return { child, call: child.open(message, { ...options, gate: this.#gate }) };
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
    return new ConnectorError(`Connector "${this.#connector}" broke the protocol with ${what}`, {
      transient: false,
      code: "PZ0357",
      cause: error,
    });
  }
}

/**
 * One connector child process, started on first use and shared by the nodes of its connection. After the process died,
 * the next request starts a new one. Closing it closes the child's stdin, and kills it after a grace period.
 */
export class ConnectorSession extends ConnectorRequests implements AsyncDisposable {
  readonly #own: LivingChild;

  constructor({ command, onNotice, patience, ...options }: SessionOptions) {
    const limits = { ...DEFAULT_PATIENCE, ...patience };
    const child = new LivingChild({
      ...options,
      command: command ?? childCommand(),
      onNotice: onNotice ?? (() => {}),
      redactor: new Redactor(options.config),
      patience: limits,
    });
    super(options.connector, limits, child);
    this.#own = child;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#own[Symbol.asyncDispose]();
  }
}

async function* batchesOf(
  call: Call,
  open: (data: ReturnType<Call["data"]>) => Promise<{ batches(): AsyncGenerator<RecordBatch, undefined> }>,
): AsyncGenerator<RecordBatch, undefined> {
  yield* (await open(call.data())).batches();
  return undefined;
}
