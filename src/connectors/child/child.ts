import type { Grant } from "../contract/mod.ts";
import { FRAME, type Frame, FrameDecoder, FrameError } from "../protocol/frame.ts";
import { decodeMessage, grantFromWire, textMember } from "../protocol/messages.ts";
import { WORKER_URL } from "./worker_url.ts";
import type { FromWorker, ToWorker } from "./worker_message.ts";

const PERMISSIONS = ["run", "ffi", "env", "net", "sys", "write", "read", "import"] as const;

/**
 * The whole life of a connector child: reads the grant from stdin, starts one worker that holds exactly that, gives up
 * every permission of its own, and carries frames between the pipes and the worker until stdin closes. Returns the exit
 * code: 0 after a closed stdin, 3 when the worker or the host broke the protocol.
 */
export async function runConnectorChild(): Promise<number> {
  const frames = readFrames(Deno.stdin.readable);
  try {
    const first = await frames.next();
    if (first.done === true) return 0;
    const { connector, grant } = startOf(first.value);
    const worker = startWorker(grant);
    const ended = Promise.withResolvers<number>();
    const ready = connectOutput(worker, ended.resolve);
    sendTo(worker, { connector });
    const early = await Promise.race([ready, ended.promise]);
    if (early !== undefined) return early;
    // Not earlier: the runtime loads the worker's modules with this thread's permissions.
    for (const name of PERMISSIONS) Deno.permissions.revokeSync({ name });
    forward(frames, worker).then(() => ended.resolve(0), (error: unknown) => ended.resolve(complain(error)));
    return await ended.promise;
  } catch (error) {
    return complain(error);
  }
}

async function* readFrames(input: ReadableStream<Uint8Array>): AsyncGenerator<Frame, undefined> {
  const decoder = new FrameDecoder();
  for await (const bytes of input) yield* decoder.push(bytes);
  return undefined;
}

function startOf(frame: Frame): { readonly connector: string; readonly grant: Grant } {
  const message = frame.kind === FRAME.control ? decodeMessage(frame.payload) : undefined;
  if (message?.m !== "Start") throw new FrameError("the first frame is no Start message");
  return { connector: textMember(message, "connector"), grant: grantFromWire(message["grant"]) };
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

async function forward(frames: AsyncGenerator<Frame, undefined>, worker: Worker): Promise<void> {
  for await (const frame of frames) sendTo(worker, { frame });
}

function sendTo(worker: Worker, message: ToWorker): void {
  worker.postMessage(message, "frame" in message ? [message.frame.payload.buffer] : []);
}

/** Carries what the worker sends to stdout. The promise settles when the worker has loaded its connector. */
function connectOutput(worker: Worker, end: (code: number) => void): Promise<undefined> {
  const output = Deno.stdout.writable.getWriter();
  const ready = Promise.withResolvers<undefined>();
  worker.onmessage = (event: MessageEvent<FromWorker>) => {
    if ("ready" in event.data) ready.resolve(undefined);
    else if ("fatal" in event.data) end(complain(new Error(event.data.fatal)));
    else output.write(event.data.bytes).catch(() => end(0)); // the host is gone
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
