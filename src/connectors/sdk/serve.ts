import { CAPABILITIES, ConnectorError } from "../contract/mod.ts";
import { decodeCredit, FRAME, type Frame, FrameError } from "../protocol/frame.ts";
import {
  countMember,
  decodeMessage,
  encodeMessage,
  errorToWire,
  type Message,
  PROTOCOL_MAJOR,
  textMember,
  texts,
} from "../protocol/messages.ts";
import { schemaFrames } from "../protocol/arrow_frames.ts";
import { datasetFromWire, outputFromWire } from "../protocol/specs.ts";
import { configFromWire } from "../protocol/values.ts";
import type { ConnectorInstance, ConnectorModule, FileMover, Partition, Sink, Source } from "./connector.ts";
import { toConnectorError } from "./failure.ts";
import type { Answer, Operation } from "./operation.ts";
import { Operations } from "./operations.ts";
import { answersNumericProbe } from "./probe.ts";
import { Request, type RequestContext, sendBatches } from "./request.ts";
import { checkedItems, checkedSink, checkInstance } from "./shape.ts";
import { StoreOperation } from "./store_operation.ts";
import { WriteOperation } from "./write_operation.ts";

/**
 * Answers the host's requests with a connector, as frames through `post`. Requests run side by side; a failure of one
 * is answered on its own stream and leaves the others alone.
 */
export class ConnectorServer {
  readonly #module: ConnectorModule;
  readonly #post: (frame: Uint8Array<ArrayBuffer>) => void;
  readonly #operations = new Map<number, Operation>();
  readonly #running = new Set<Promise<void>>();
  readonly #gated = new Operations((stream, message) => this.#send(stream, message));
  #latest = 0;
  #config: ReturnType<typeof configFromWire> | undefined;
  #instance: ConnectorInstance | undefined;

  constructor(module: ConnectorModule, post: (frame: Uint8Array<ArrayBuffer>) => void) {
    this.#module = module;
    this.#post = post;
  }

  /**
   * Takes one frame of the host.
   *
   * @throws {FrameError} for a frame that no host sends
   */
  receive(frame: Frame): void {
    const { kind, stream } = frame;
    const operation = this.#operations.get(stream);
    if (operation === undefined && stream <= this.#latest) return; // too late: it has ended
    switch (kind) {
      case FRAME.credit:
        operation?.credit(decodeCredit(frame));
        return;
      case FRAME.data:
        if (operation === undefined) throw new FrameError("data from the host, which nothing waits for");
        operation.data(frame.payload);
        return;
    }
    const message = decodeMessage(frame.payload);
    if (operation === undefined) {
      const running = this.#run(stream, message);
      this.#running.add(running);
      void running.finally(() => this.#running.delete(running));
    } else if (!this.#gated.receive(message)) {
      this.#gated.onBehalf(stream, () => message.m === "Cancel" ? operation.cancel() : operation.message(message));
    }
  }

  /** The host is gone: stops every request that can be stopped, and returns when all have ended and the connection is closed. */
  async end(): Promise<void> {
    this.#gated.abandon();
    for (const operation of this.#operations.values()) operation.cancel();
    await Promise.allSettled(this.#running);
    await this.#instance?.close?.();
  }

  async #run(stream: number, message: Message): Promise<void> {
    this.#latest = stream;
    const end = await this.#gated.within(stream, () => this.#outcome(stream, message));
    this.#operations.delete(stream);
    this.#send(stream, end);
  }

  async #outcome(stream: number, message: Message): Promise<Message> {
    try {
      const operation = this.#operationFor(stream, message);
      this.#operations.set(stream, operation);
      return { m: "EndOfStream", frames: await operation.run() };
    } catch (error) {
      return { m: "Failed", error: errorToWire(toConnectorError(error)) };
    }
  }

  #operationFor(stream: number, message: Message): Operation {
    const answer: Answer = { stream, message: (told) => this.#send(stream, told), frame: this.#post };
    if (message.m === "StoreFiles") {
      const place = { folder: textMember(message, "folder"), journal: textMember(message, "journal") };
      const asked = { spec: outputFromWire(message["spec"], this.#config ?? {}), place };
      return new StoreOperation(answer, this.#files(), asked, (text) => this.#log("warn", text));
    }
    if (message.m !== "BeginWrite") return new Request(answer, (context) => this.#serve(stream, message, context));
    const sink = this.#sink();
    const spec = outputFromWire(message["spec"], this.#config ?? {});
    return new WriteOperation(answer, sink, spec, (text) => this.#log("warn", text));
  }

  async #serve(stream: number, message: Message, context: RequestContext): Promise<void> {
    const { signal } = context;
    switch (message.m) {
      case "Handshake":
        context.message(this.#hello());
        return;
      case "Configure":
        this.#configure(message);
        return;
      case "CheckConnection":
        await this.#configured().check?.(signal);
        return;
      case "Shutdown":
        await this.#instance?.close?.();
        return;
      case "GetSchema":
        await context.frames(schemaFrames(stream, await this.#source().schema(this.#dataset(message), signal)));
        return;
      case "PlanRead":
        for await (const { id, checkpointing } of await this.#plan(message, signal)) {
          signal.throwIfAborted();
          context.message({ m: "Partition", id, checkpointing });
        }
        return;
      case "OpenReadStream":
        await this.#read(stream, message, context);
        return;
      case "FetchFiles":
        await this.#fetch(message, context);
        return;
      case "SweepStores":
        await this.#files().sweep(texts(message["journals"]), signal);
        return;
    }
    throw new ConnectorError(`Connector "${this.#module.name}" does not know the request "${message.m}"`, {
      transient: false,
      code: "PZ0357",
    });
  }

  async #read(stream: number, message: Message, context: RequestContext): Promise<void> {
    const { signal } = context;
    const source = this.#source();
    const spec = this.#dataset(message);
    const partition = { id: textMember(message, "partition") };
    const batchBytes = countMember(message, "batchBytes");
    const schema = await source.schema(spec, signal);
    let token: string | undefined;
    if (message["resumeCheckpoint"] !== undefined) {
      token = textMember(message, "resumeCheckpoint");
      const accepted = await source.resumeFrom?.(spec, partition, token, signal) ?? false;
      context.message({ m: "Resumed", accepted });
      if (!accepted) token = undefined;
    }
    const options = { batchBytes, signal, ...(token === undefined ? {} : { resumeFrom: token }) };
    const reading = checkedItems(this.#module.name, "its source's read()", source.read(spec, partition, options));
    let last: string | undefined;
    await sendBatches(stream, schema, reading, context, (batches) => {
      const checkpoint = reading.checkpoint?.();
      if (checkpoint === undefined || checkpoint === last) return;
      last = checkpoint;
      context.message({ m: "Checkpoint", token: checkpoint, batches });
    });
  }

  async #plan(message: Message, signal: AbortSignal): Promise<readonly Partition[] | AsyncIterable<Partition>> {
    const plan = await this.#source().plan(this.#dataset(message), signal);
    return checkedItems(this.#module.name, "its source's plan()", plan);
  }

  async #fetch(message: Message, context: RequestContext): Promise<void> {
    const { signal } = context;
    const onBytes = (bytes: number) => context.message({ m: "Progress", bytes });
    onBytes(0); // it may take long until there is more to tell
    const options = { folder: textMember(message, "folder"), signal, onBytes };
    for await (const { path, name, bytes } of this.#files().fetch(this.#dataset(message), options)) {
      signal.throwIfAborted();
      context.message({ m: "File", path, name, bytes });
    }
  }

  #hello(): Message {
    let bits = 0n;
    for (const capability of this.#module.capabilities) bits |= CAPABILITIES[capability];
    return {
      m: "Hello",
      name: this.#module.name,
      version: this.#module.version,
      protocolMajor: PROTOCOL_MAJOR,
      capabilities: bits.toString(),
    };
  }

  #configure(message: Message): void {
    if (this.#instance !== undefined) throw new ConnectorError("Configured twice", { transient: false });
    this.#config = configFromWire(message["config"]);
    if (answersNumericProbe(this.#config)) return;
    const instance = this.#module.open(this.#config, {
      log: (level, text) => this.#log(level, text),
      notice: (text) => this.#send(0, { m: "Notice", message: text }),
      operate: (operation, work) => this.#gated.operate(operation, work),
      reportBudget: (remaining, resetAtMs) => this.#gated.reportBudget(remaining, resetAtMs),
    });
    checkInstance(this.#module.name, instance);
    this.#instance = instance;
  }

  #configured(): ConnectorInstance {
    if (this.#instance !== undefined) return this.#instance;
    throw this.#misuse("was asked before it was configured");
  }

  #source(): Source {
    const { source } = this.#configured();
    if (source === undefined) throw this.#misuse("can't read");
    return source;
  }

  #sink(): Sink {
    const { sink } = this.#configured();
    if (sink === undefined) throw this.#misuse("can't write");
    return checkedSink(this.#module.name, sink);
  }

  #files(): FileMover {
    const { files } = this.#configured();
    if (files === undefined) throw this.#misuse("can't move files");
    return files;
  }

  #misuse(what: string): ConnectorError {
    return new ConnectorError(`Connector "${this.#module.name}" ${what}`, { transient: false, code: "PZ0357" });
  }

  #dataset(message: Message): ReturnType<typeof datasetFromWire> {
    return datasetFromWire(message["spec"], this.#config ?? {});
  }

  #log(level: string, message: string): void {
    this.#send(0, { m: "LogEvent", level, message });
  }

  #send(stream: number, message: Message): void {
    this.#post(encodeMessage(stream, message));
  }
}
