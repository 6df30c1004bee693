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
} from "../protocol/messages.ts";
import { schemaFrames } from "../protocol/arrow_frames.ts";
import { datasetFromWire, outputFromWire } from "../protocol/specs.ts";
import { configFromWire } from "../protocol/values.ts";
import type { ConnectorInstance, ConnectorModule, Sink, Source } from "./connector.ts";
import { toConnectorError } from "./failure.ts";
import type { Answer, Operation } from "./operation.ts";
import { Request, type RequestContext, sendBatches } from "./request.ts";
import { WriteOperation } from "./write_operation.ts";

/**
 * Answers the host's requests with a connector, as frames through `post`. Requests run side by side; a failure of one
 * is answered on its own stream and leaves the others alone.
 */
export class ConnectorServer {
  readonly #module: ConnectorModule;
  readonly #post: (frame: Uint8Array<ArrayBuffer>) => void;
  readonly #operations = new Map<number, Operation>();
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
    if (operation === undefined) void this.#run(stream, message);
    else if (message.m === "Cancel") operation.cancel();
    else operation.message(message);
  }

  async #run(stream: number, message: Message): Promise<void> {
    this.#latest = stream;
    const end = await this.#outcome(stream, message);
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
        for await (const { id, checkpointing } of await this.#source().plan(this.#dataset(message), signal)) {
          signal.throwIfAborted();
          context.message({ m: "Partition", id, checkpointing });
        }
        return;
      case "OpenReadStream":
        await this.#read(stream, message, context);
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
    const reading = source.read(spec, partition, options);
    let last: string | undefined;
    await sendBatches(stream, schema, reading, context, (batches) => {
      const checkpoint = reading.checkpoint?.();
      if (checkpoint === undefined || checkpoint === last) return;
      last = checkpoint;
      context.message({ m: "Checkpoint", token: checkpoint, batches });
    });
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
    this.#instance = this.#module.open(this.#config, {
      log: (level, text) => this.#log(level, text),
      notice: (text) => this.#send(0, { m: "Notice", message: text }),
      operate: ({ signal }, work) => work(signal),
      reportBudget: () => {},
    });
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
    return sink;
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
