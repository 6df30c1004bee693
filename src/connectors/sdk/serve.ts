import { CAPABILITIES, ConnectorError } from "../contract/mod.ts";
import { decodeCredit, FRAME, type Frame, FrameError } from "../protocol/frame.ts";
import {
  countMember,
  decodeMessage,
  encodeMessage,
  errorToWire,
  type Message,
  PROTOCOL_MAJOR,
  READ_CREDITS,
  specFromWire,
  textMember,
} from "../protocol/messages.ts";
import { configFromWire } from "../protocol/values.ts";
import type { ConnectorInstance, ConnectorModule, Source } from "./connector.ts";
import { batchFrames, schemaFrames } from "./arrow_stream.ts";
import { Credits } from "./credits.ts";
import { toConnectorError } from "./failure.ts";

/** One running request. */
type Operation = { readonly controller: AbortController; readonly credits: Credits };

/**
 * Answers the host's requests with a connector, as frames through `post`. Requests run side by side; a failure of one
 * is answered on its own stream and leaves the others alone.
 */
export class ConnectorServer {
  readonly #module: ConnectorModule;
  readonly #post: (frame: Uint8Array<ArrayBuffer>) => void;
  readonly #operations = new Map<number, Operation>();
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
    if (frame.kind === FRAME.credit) {
      this.#operations.get(frame.stream)?.credits.add(decodeCredit(frame));
      return;
    }
    if (frame.kind !== FRAME.control) throw new FrameError("data from the host, which nothing waits for");
    const message = decodeMessage(frame.payload);
    if (message.m === "Cancel") {
      this.#operations.get(frame.stream)?.controller.abort(
        new ConnectorError("The host cancelled the operation", { transient: true }),
      );
      return;
    }
    void this.#run(frame.stream, message);
  }

  async #run(stream: number, message: Message): Promise<void> {
    const operation: Operation = { controller: new AbortController(), credits: new Credits(READ_CREDITS) };
    this.#operations.set(stream, operation);
    try {
      await this.#answer(stream, message, operation);
    } catch (error) {
      const failure = operation.controller.signal.aborted ? operation.controller.signal.reason : error;
      this.#send(stream, { m: "Failed", error: errorToWire(toConnectorError(failure)) });
    } finally {
      this.#operations.delete(stream);
    }
  }

  async #answer(stream: number, message: Message, operation: Operation): Promise<void> {
    const { signal } = operation.controller;
    switch (message.m) {
      case "Handshake":
        this.#handshake(stream);
        break;
      case "Configure":
        this.#configure(message);
        break;
      case "Shutdown":
        await this.#instance?.close?.();
        break;
      case "GetSchema": {
        const schema = await this.#source().schema(this.#spec(message), signal);
        await this.#stream(stream, operation, schemaFrames(stream, schema));
        return;
      }
      case "PlanRead":
        for (const { id } of await this.#source().plan(this.#spec(message), signal)) {
          this.#send(stream, { m: "Partition", id });
        }
        break;
      case "OpenReadStream": {
        const spec = this.#spec(message);
        const options = { batchBytes: countMember(message, "batchBytes"), signal };
        const source = this.#source();
        const schema = await source.schema(spec, signal);
        const batches = source.read(spec, { id: textMember(message, "partition") }, options);
        await this.#stream(stream, operation, batchFrames(stream, schema, batches));
        return;
      }
      default:
        throw new ConnectorError(`Connector "${this.#module.name}" does not know the request "${message.m}"`, {
          transient: false,
          code: "PZ0357",
        });
    }
    this.#send(stream, { m: "EndOfStream", frames: 0 });
  }

  async #stream(
    stream: number,
    operation: Operation,
    frames: AsyncIterable<Uint8Array<ArrayBuffer>> | Iterable<Uint8Array<ArrayBuffer>>,
  ): Promise<void> {
    let sent = 0;
    for await (const frame of frames) {
      await operation.credits.take(operation.controller.signal);
      this.#post(frame);
      sent++;
    }
    operation.controller.signal.throwIfAborted();
    this.#send(stream, { m: "EndOfStream", frames: sent });
  }

  #handshake(stream: number): void {
    let bits = 0n;
    for (const capability of this.#module.capabilities) bits |= CAPABILITIES[capability];
    this.#send(stream, {
      m: "Hello",
      name: this.#module.name,
      version: this.#module.version,
      protocolMajor: PROTOCOL_MAJOR,
      capabilities: bits.toString(),
    });
  }

  #configure(message: Message): void {
    if (this.#instance !== undefined) throw new ConnectorError("Configured twice", { transient: false });
    this.#config = configFromWire(message["config"]);
    this.#instance = this.#module.open(this.#config, {
      log: (level, text) => this.#send(0, { m: "LogEvent", level, message: text }),
    });
  }

  #source(): Source {
    const source = this.#instance?.source;
    if (source !== undefined) return source;
    throw new ConnectorError(
      this.#instance === undefined
        ? `Connector "${this.#module.name}" was asked before it was configured`
        : `Connector "${this.#module.name}" can't read`,
      { transient: false, code: "PZ0357" },
    );
  }

  #spec(message: Message): ReturnType<typeof specFromWire> {
    return specFromWire(message["spec"], this.#config ?? {});
  }

  #send(stream: number, message: Message): void {
    this.#post(encodeMessage(stream, message));
  }
}
