import { type Capability, ConnectorError, type ConnectorProgram, type Grant } from "../contract/mod.ts";
import { DATA_FRAME_BYTES, decodeCredit, encodeFrame, FRAME, type Frame, FrameError } from "../protocol/frame.ts";
import { readFrames } from "../protocol/frame_reader.ts";
import {
  countMember,
  decodeMessage,
  encodeMessage,
  type Message,
  PROTOCOL_MAJOR,
  textMember,
} from "../protocol/messages.ts";
import { toWire } from "../protocol/values.ts";
import type { ConfigMap } from "../contract/mod.ts";
import { Call, type CallListener } from "./call.ts";
import type { ChildCommand } from "./command.ts";
import { ChildErrors } from "./child_errors.ts";
import { checkGreeting } from "./greeting.ts";
import { Heartbeat } from "./heartbeat.ts";
import { LogLimiter } from "./log_limiter.ts";
import { CallGate, OPEN_GATE, type OperationGate } from "./operation_gate.ts";
import type { Patience } from "./patience.ts";
import type { Redactor } from "./redact.ts";
import { printable, Tail } from "./tail.ts";
import { spawn } from "./spawn.ts";
import { withDeadline } from "./deadline.ts";

const STDERR_TAIL_BYTES = 8 * 1024;
const MAX_NOTICES = 1000;
const MAX_NOTICE_LENGTH = 4096;
const NEVER = new Promise<never>(() => {});

export type ChildOptions = {
  readonly command: ChildCommand;
  readonly connector: string;
  /** What of a package it runs; undefined: what is inside pz. */
  readonly program?: ConnectorProgram | undefined;
  /** What the connector must say that it can; undefined: whatever it says. */
  readonly capabilities?: ReadonlySet<Capability> | undefined;
  readonly connection: string;
  readonly config: ConfigMap;
  readonly grant: Grant;
  readonly runId: string;
  readonly redactor: Redactor;
  readonly patience: Patience;
  readonly onLog: (level: string, message: string) => void;
  readonly onNotice: (message: string) => void;
};

/** How a request is made. */
export type RequestOptions = {
  /** Cancels it. */
  readonly signal?: AbortSignal;
  readonly listener?: CallListener;
  /** Whether it fails when there is no sign of an answer in a time that is generous for it. */
  readonly isLimited?: boolean;
  /** What the requests pass that the connector makes to its system for this one; absent: they go as they come. */
  readonly gate?: OperationGate | undefined;
};

/** One connector process: started, configured, spoken to, and ended. */
export class ConnectorChild {
  readonly #options: ChildOptions;
  readonly #process: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #calls = new Map<number, { readonly call: Call; readonly gate: CallGate }>();
  readonly #stderr = new Tail(STDERR_TAIL_BYTES);
  readonly #errors: ChildErrors;
  readonly #log: LogLimiter;
  readonly #reading: Promise<void>;
  readonly #draining: Promise<void>;
  readonly #heartbeat: Heartbeat;
  #nextStream = 1;
  #failure: ConnectorError | undefined;
  #isIntroduced = false;
  #closing = false;
  #notices = 0;

  private constructor(options: ChildOptions, process: Deno.ChildProcess) {
    this.#options = options;
    this.#process = process;
    this.#errors = new ChildErrors(options, () => this.#stderr.text());
    this.#log = new LogLimiter(options.onLog);
    this.#heartbeat = new Heartbeat({
      everyMs: options.patience.pingMs,
      limitMs: options.patience.pongMs,
      isBusy: () => this.#isIntroduced && this.#calls.size > 0,
      ask: () => this.#send(encodeMessage(0, { m: "Ping" })),
      dead: () => this.#condemn(this.#error("does not run any more", "PZ0358", true)),
    });
    this.#input = process.stdin.getWriter();
    this.#input.closed.catch(() => {}); // the end of the process is reported from its output
    this.#draining = this.#drainStderr();
    this.#reading = this.#read();
  }

  /** Starts a process and brings it to where it takes requests. Throws a `ConnectorError`; nothing is left then. */
  static async start(options: ChildOptions, signal: AbortSignal): Promise<ConnectorChild> {
    if (options.program?.kind === "process") await options.program.verify();
    const child = new ConnectorChild(options, spawn(options));
    const stop = () => child.#condemn(child.#error("was stopped while it started", "PZ0358", true));
    signal.addEventListener("abort", stop, { once: true });
    try {
      await child.#introduce();
      return child;
    } catch (error) {
      await child.close();
      throw error;
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  /** Whether it takes requests. */
  get isAlive(): boolean {
    return this.#failure === undefined && !this.#closing;
  }

  /** How the process ended, once it has. */
  get status(): Promise<Deno.CommandStatus> {
    return this.#process.status;
  }

  /** Sends a request. The returned call fails when the process ends or the signal fires. */
  open(message: Message, { signal, listener, isLimited = false, gate = OPEN_GATE }: RequestOptions = {}): Call {
    signal?.throwIfAborted();
    const stream = this.#nextStream++;
    let limit: ReturnType<typeof setTimeout> | undefined;
    let isAwaited = isLimited;
    const call = new Call(stream, (bytes) => this.#send(bytes), listener, () => {
      isAwaited = false;
      clearTimeout(limit);
    });
    if (this.#failure !== undefined) {
      call.fail(this.#failure);
      return call;
    }
    const limitUnless = (isWaiting: boolean) => {
      clearTimeout(limit);
      if (isAwaited && !isWaiting) limit = this.#limit(call, message.m);
    };
    this.#calls.set(stream, { call, gate: new CallGate(gate, (reply) => this.send(call, reply), limitUnless) });
    this.send(call, message);
    limitUnless(false);
    if (signal !== undefined) {
      const cancel = () => this.cancel(call, signal.reason);
      signal.addEventListener("abort", cancel, { once: true });
      call.settled.catch(() => {}).finally(() => signal.removeEventListener("abort", cancel));
    }
    return call;
  }

  /** Says something on the stream of a request: a message, or a frame of that stream. */
  send(call: Call, what: Message | Uint8Array<ArrayBuffer>): void {
    this.#send(what instanceof Uint8Array ? what : encodeMessage(call.stream, what));
  }

  /** Gives up a request: asks the connector to stop, and kills the process if it does not within its time. */
  cancel(call: Call, reason: unknown): void {
    if (call.isSettled) return;
    call.abandon(reason);
    this.send(call, { m: "Cancel" });
    void this.settle(call, this.#options.patience.cancelMs);
  }

  /**
   * Waits for the end of a request that was asked to stop, and kills the process when it does not come, unless it is
   * excused before. Never throws.
   */
  async settle(call: Call, ms: number, excused: Promise<void> = NEVER): Promise<void> {
    this.#calls.get(call.stream)?.gate.giveUp(call.reason ?? new DOMException("The request is given up", "AbortError"));
    if (await withDeadline(Promise.race([call.settled.catch(() => {}), excused]), ms)) return;
    this.#condemn(this.#error(`did not stop within ${ms / 1000} s of being asked`, "PZ0358", true));
  }

  /** Calls for an answer to this within the time for a first answer; the returned function says that it came. */
  expect(call: Call, name: string): () => void {
    const timer = this.#limit(call, name);
    return () => clearTimeout(timer);
  }

  #limit(call: Call, name: string): ReturnType<typeof setTimeout> {
    const ms = this.#options.patience.answerMs;
    return setTimeout(() => {
      this.cancel(call, this.#error(`did not answer the request ${name} within ${ms / 1000} s`, "PZ0358", true));
    }, ms);
  }

  /** Ends the process: politely, then by closing its input, then by force. Never throws. */
  async close(): Promise<void> {
    const wasIdle = this.isAlive && this.#calls.size === 0;
    this.#closing = true;
    const { shutdownMs } = this.#options.patience;
    if (wasIdle) await withDeadline(this.open({ m: "Shutdown" }).settled, shutdownMs).catch(() => {});
    await withDeadline(this.#input.close(), shutdownMs).catch(() => {});
    const ended = await withDeadline(this.#process.status, shutdownMs);
    if (!ended) this.#kill();
    this.#heartbeat.stop();
    await Promise.all([this.#process.status, this.#reading, this.#draining]);
    this.#log.finish();
  }

  #sendStart(): void {
    const { connector, grant, program } = this.#options;
    const code = program?.kind === "module" ? program.code : undefined;
    this.#send(encodeMessage(0, { m: "Start", connector, grant, codeBytes: code?.length }));
    for (let at = 0; code !== undefined && at < code.length; at += DATA_FRAME_BYTES) {
      this.#send(encodeFrame(FRAME.data, 0, code.subarray(at, at + DATA_FRAME_BYTES)));
    }
  }

  async #introduce(): Promise<void> {
    const { runId, config, connection } = this.#options;
    this.#sendStart();
    const greeting = await this.#atOnce({ m: "Handshake", protocolMajor: PROTOCOL_MAJOR, runId });
    checkGreeting(greeting.messages, this.#options);
    await this.#atOnce({ m: "Configure", instanceId: connection, config: toWire(config) });
    this.#isIntroduced = true;
  }

  /** Asks for what takes no time, since it reaches no system; ends the process that does not answer. */
  async #atOnce(message: Message): Promise<Call> {
    const { handshakeMs } = this.#options.patience;
    const call = this.open(message);
    try {
      if (await withDeadline(call.settled, handshakeMs)) return call;
    } catch (error) {
      throw error === this.#failure ? error : this.#errors.refusal(error);
    }
    const error = this.#errors.noAnswer(message.m, handshakeMs);
    this.#condemn(error);
    throw error;
  }

  async #read(): Promise<void> {
    try {
      const frames = readFrames(this.#process.stdout, () => this.#failure === undefined);
      for await (const frame of frames) this.#receive(frame);
    } catch (error) {
      this.#condemn(
        error instanceof FrameError
          ? this.#errors.breach(error)
          : this.#error(`could not be read from`, "PZ0358", true, error),
      );
      return;
    }
    await this.#reportDeath();
  }

  #receive(frame: Frame): void {
    if (frame.stream === 0 && frame.kind === FRAME.control) {
      this.#receiveOwn(decodeMessage(frame.payload));
      return;
    }
    const open = this.#calls.get(frame.stream);
    if (open === undefined) throw new FrameError("an answer to a request that is not open");
    const { call, gate } = open;
    if (frame.kind === FRAME.data) {
      call.takeData(frame.payload);
      return;
    }
    if (frame.kind === FRAME.credit) {
      call.takeCredit(decodeCredit(frame));
      return;
    }
    const message = decodeMessage(frame.payload);
    if (gate.hear(message)) return;
    // A call leaves the list only once it is settled: a message that breaks the protocol fails every open one.
    if (message.m === "Failed") call.fail(this.errorOf(message));
    else call.takeMessage(message);
    if (!call.isSettled) return;
    this.#calls.delete(frame.stream);
    gate.end(new DOMException("The request has ended", "AbortError"));
  }

  #receiveOwn(message: Message): void {
    const { redactor, onNotice } = this.#options;
    switch (message.m) { // others are those of a later version
      case "Pong":
        this.#heartbeat.answered();
        this.#checkPulse(message);
        return;
      case "LogEvent":
        this.#log.push(
          printable(textMember(message, "level")),
          redactor.strict(printable(textMember(message, "message"))),
        );
        return;
      case "Notice":
        if (this.#notices++ < MAX_NOTICES) {
          onNotice(redactor.lenient(printable(textMember(message, "message"))).slice(0, MAX_NOTICE_LENGTH));
        }
    }
  }

  /** Only the code of a package: what pz brings may have to wait long for a database within its process. */
  #checkPulse(pong: Message): void {
    const { program, patience: { pingMs, spinMs } } = this.#options;
    if (program?.kind !== "module" || pong["behind"] === undefined || this.#calls.size === 0) return;
    if (countMember(pong, "behind") * pingMs < spinMs) return;
    this.#condemn(this.#errors.busy(spinMs));
  }

  async #reportDeath(): Promise<void> {
    // A process that closed its output is of no use, even if it runs on.
    if (!await withDeadline(this.#process.status, this.#options.patience.shutdownMs)) this.#kill();
    const { code, signal } = await this.#process.status;
    await this.#draining;
    const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
    this.#fail(this.#error(`ended unexpectedly (${how})`, "PZ0358", true));
  }

  async #drainStderr(): Promise<void> {
    try {
      for await (const bytes of this.#process.stderr) this.#stderr.push(bytes);
    } catch { /* only a diagnosis is lost */ }
  }

  #error(what: string, code: string, transient: boolean, cause?: unknown): ConnectorError {
    return this.#errors.make(what, code, transient, { cause });
  }

  /** An error of the connector, fit to be shown. */
  errorOf(message: Message): ConnectorError {
    return this.#errors.told(message);
  }

  #send(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.#failure !== undefined) return;
    this.#input.write(bytes).catch(() => {}); // the end of the process is reported from its output
  }

  #fail(error: ConnectorError): void {
    this.#heartbeat.stop();
    this.#failure ??= error;
    for (const { call, gate } of this.#calls.values()) {
      call.fail(error);
      gate.end(error);
    }
    this.#calls.clear();
  }

  #condemn(error: ConnectorError): void {
    this.#fail(error);
    this.#kill();
  }

  #kill(): void {
    try {
      this.#process.kill("SIGKILL");
    } catch { /* it has ended already */ }
  }
}
