import type { Grant } from "../contract/mod.ts";
import { FRAME, type Frame, FrameError } from "../protocol/frame.ts";
import { readFrames } from "../protocol/frame_reader.ts";
import {
  countMember,
  decodeMessage,
  encodeMessage,
  grantFromWire,
  MAX_CODE_BYTES,
  textMember,
} from "../protocol/messages.ts";
import { LAUNCH } from "../host/command.ts";
import { confine } from "./confine.ts";
import { readFirstFrame } from "./first_frame.ts";
import { WORKER_URL } from "./worker_url.ts";
import type { FromWorker, ToWorker } from "./worker_message.ts";

/** The most that the environment may hold of a text; the kernel allows a little more. */
const MAX_START_LENGTH = 120_000;

/** How long it may take to take back what is half done, once the host is gone. */
const FAREWELL_MS = 15_000;

/** The variable by which the unconfined process hands the `Start` message to the confined one that it becomes. */
const HANDOVER = "PZ_CONNECTOR_START";

const PERMISSIONS = ["run", "ffi", "env", "net", "sys", "write", "read", "import"] as const;

/** The message that says what to be and what it may touch, and the bytes that it came as. */
type Start = {
  readonly connector: string;
  readonly grant: Grant;
  /** How many bytes of code follow; undefined: the connector is inside. */
  readonly codeBytes: number | undefined;
  readonly payload: Uint8Array;
};

/**
 * The whole life of a connector child: reads the grant from stdin, confines itself to it by the operating system where
 * that can do so, starts one worker that holds exactly that grant, gives up every permission of its own, and carries
 * frames between the pipes and the worker until stdin closes, and a little longer to let it take back what is half done. Returns the exit code: 0 after a closed stdin, 3 when the
 * worker or the host broke the protocol, or when the first argument is `require` and the system can't confine it. With
 * `launch` as the first argument it becomes the program of a package instead.
 */
export async function runConnectorChild(args: readonly string[]): Promise<number> {
  if (args[0] === LAUNCH) return (await import("./launch.ts")).launchProgram(args.includes("require"));
  try {
    const start = confinedStart() ?? unconfinedStart(args.includes("require"));
    if (start === undefined) return 0;
    // Connectors never get these, and nothing here needs them any more.
    for (const name of ["ffi", "run"] as const) Deno.permissions.revokeSync({ name });
    const worker = startWorker(start.grant);
    const ended = Promise.withResolvers<number>();
    const output = Deno.stdout.writable.getWriter();
    const write = (bytes: Uint8Array) => void output.write(bytes).catch(() => takeLeave(worker, ended.resolve));
    const pulse = new Pulse();
    const ready = connectOutput(worker, { write, end: ended.resolve, pulse });
    sendTo(worker, start.codeBytes === undefined ? { connector: start.connector } : { waitForCode: true });
    const early = await Promise.race([ready, ended.promise]);
    if (early !== undefined) return early;
    // Not earlier: the runtime loads the worker's modules with this thread's permissions.
    for (const name of PERMISSIONS) Deno.permissions.revokeSync({ name });
    const frames = readFrames(Deno.stdin.readable);
    if (start.codeBytes !== undefined) {
      const code = await readCode(frames, start.codeBytes);
      if (code === undefined) return 0;
      sendTo(worker, { code });
    }
    forward(frames, worker, { reply: write, pulse }).then(
      () => takeLeave(worker, ended.resolve),
      (error: unknown) => ended.resolve(complain(error)),
    );
    return await ended.promise;
  } catch (error) {
    return complain(error);
  }
}

/** What the process that became this one has handed over; undefined: there was none. */
function confinedStart(): Start | undefined {
  const text = Deno.env.get(HANDOVER);
  if (text === undefined) return undefined;
  Deno.env.delete(HANDOVER);
  return startOf(new TextEncoder().encode(text));
}

/**
 * Reads the start from stdin and becomes a confined process. Where the system has no way to that, gives the start, or
 * undefined for a closed stdin.
 *
 * @throws where the system has no way to that and one is required
 */
function unconfinedStart(isRequired: boolean): Start | undefined {
  const frame = readFirstFrame((into) => Deno.stdin.readSync(into));
  if (frame === undefined) return undefined;
  if (frame.kind !== FRAME.control) throw new FrameError("the first frame is no Start message");
  const start = startOf(frame.payload);
  if (start.payload.length > MAX_START_LENGTH) throw new FrameError("a grant that is too long");
  const missing = confine(start.grant, { [HANDOVER]: new TextDecoder().decode(start.payload) });
  if (isRequired) throw new Error(`the process can't be confined, since ${missing}`);
  return start;
}

function startOf(payload: Uint8Array): Start {
  const message = decodeMessage(payload);
  if (message.m !== "Start") throw new FrameError("the first frame is no Start message");
  const grant = grantFromWire(message["grant"]);
  const codeBytes = message["codeBytes"] === undefined ? undefined : countMember(message, "codeBytes");
  if (codeBytes !== undefined && codeBytes > MAX_CODE_BYTES) throw new FrameError(`${codeBytes} bytes of code`);
  return { connector: textMember(message, "connector"), grant, codeBytes, payload };
}

/** The connector's code, which comes as data on stream 0; undefined where the input ends before it. */
async function readCode(
  frames: AsyncGenerator<Frame, undefined>,
  length: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const code = new Uint8Array(length);
  for (let at = 0; at < length;) {
    const { value: frame } = await frames.next();
    if (frame === undefined) return undefined;
    if (
      frame.kind !== FRAME.data || frame.stream !== 0 || frame.payload.length === 0 ||
      at + frame.payload.length > length
    ) {
      throw new FrameError("something else than the connector's code");
    }
    code.set(frame.payload, at);
    at += frame.payload.length;
  }
  return code;
}

function startWorker(grant: Grant): Worker {
  const permissions: Deno.PermissionOptionsObject = {
    net: listOrNothing(grant.net),
    read: listOrNothing(grant.read),
    write: listOrNothing(grant.write),
    env: listOrNothing(grant.env),
    run: false,
    ffi: false,
    sys: false,
    import: false,
  };
  return new Worker(WORKER_URL.href, { type: "module", name: "connector", deno: { permissions } });
}

/** An empty list would read as "no limit" in some of the runtime's options. */
function listOrNothing(list: readonly string[]): string[] | false {
  return list.length === 0 ? false : [...list];
}

/**
 * How many of the host's questions have come since the worker's event loop turned last. Questions are counted rather
 * than time, so that a machine that was suspended blames nobody.
 */
class Pulse {
  behind = 0;
}

/**
 * Hands frames on to the worker. The question whether the process runs is answered here, however busy that is, with how
 * many such questions the worker itself has not come to answer.
 */
async function forward(
  frames: AsyncGenerator<Frame, undefined>,
  worker: Worker,
  { reply, pulse }: { readonly reply: (bytes: Uint8Array) => void; readonly pulse: Pulse },
): Promise<void> {
  for await (const frame of frames) {
    if (frame.stream !== 0) sendTo(worker, { frame });
    else if (decodeMessage(frame.payload).m === "Ping") {
      reply(encodeMessage(0, { m: "Pong", behind: pulse.behind }));
      if (pulse.behind++ === 0) sendTo(worker, { ping: true });
    }
  }
}

/** The host is gone: gives the worker a while to take back what it had begun. May be called again. */
function takeLeave(worker: Worker, end: (code: number) => void): void {
  sendTo(worker, { hostIsGone: true });
  setTimeout(() => end(0), FAREWELL_MS);
}

function sendTo(worker: Worker, message: ToWorker): void {
  const moved = "frame" in message ? [message.frame.payload.buffer] : "code" in message ? [message.code.buffer] : [];
  worker.postMessage(message, moved);
}

/** Carries what the worker sends to stdout. The promise settles when the worker has loaded its connector. */
function connectOutput(
  worker: Worker,
  { write, end, pulse }: {
    readonly write: (bytes: Uint8Array) => void;
    readonly end: (code: number) => void;
    readonly pulse: Pulse;
  },
): Promise<undefined> {
  const ready = Promise.withResolvers<undefined>();
  worker.onmessage = (event: MessageEvent<FromWorker>) => {
    if ("ready" in event.data) ready.resolve(undefined);
    else if ("pong" in event.data) pulse.behind = 0;
    else if ("farewell" in event.data) end(0);
    else if ("fatal" in event.data) end(complain(new Error(event.data.fatal)));
    else write(event.data.bytes);
  };
  worker.onerror = (event) => {
    event.preventDefault();
    end(complain(new Error(event.message)));
  };
  return ready.promise;
}

function complain(error: unknown): number {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  Deno.stderr.writeSync(new TextEncoder().encode(`${text}\n`));
  return 3;
}
