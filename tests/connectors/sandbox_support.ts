import { join } from "node:path";
import { createSocket } from "node:dgram";
import { CHILD_VERB, type ChildCommand, childCommand } from "../../src/connectors/host/command.ts";
import { TempDir, writeFiles } from "../harness/temp_dir.ts";
import { SECRET, SECRET_VARIABLE, type Targets } from "./sandbox/attempt.ts";

/** The folder of the project. */
export const ROOT = join(import.meta.dirname ?? ".", "..", "..");

const WASM = new Uint8Array([
  ...[0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 127, 3, 2, 1, 0],
  ...[7, 10, 1, 6, 115, 101, 99, 114, 101, 116, 0, 0, 10, 6, 1, 4, 0, 65, 42, 11],
]);

/** A binary that knows the hostile connector in place of its own; undefined: pz runs from its source. */
export const HOSTILE_BINARY: string | undefined = Deno.env.get("PZ_TEST_HOSTILE_BINARY") || undefined;

/** All that a hostile connector aims at, made new, and gone when it is closed. */
export class Surroundings implements AsyncDisposable {
  readonly #stack: AsyncDisposableStack;

  private constructor(readonly targets: Targets, stack: AsyncDisposableStack) {
    this.#stack = stack;
  }

  static async create(): Promise<Surroundings> {
    const stack = new AsyncDisposableStack();
    const folder = stack.use(await TempDir.create());
    const outside = folder.join("outside");
    const victims = folder.join("victims");
    const granted = folder.join("granted");
    await writeFiles(folder.path, {
      "outside/secret.txt": SECRET,
      "outside/secret.json": JSON.stringify({ secret: SECRET }),
      "outside/secret.js": `export const secret = ${JSON.stringify(SECRET)};\nexport function call() {}\n`,
      "outside/secret.cjs": `module.exports = { secret: ${JSON.stringify(SECRET)} };\n`,
      "outside/package.json": "{}\n",
      "outside/worker.js": `postMessage(${JSON.stringify(SECRET)});\n`,
      "outside/thread.cjs": `require("node:worker_threads").parentPort?.postMessage(${JSON.stringify(SECRET)});\n`,
      "granted/data.txt": "of the connector's own\n",
      ...Object.fromEntries(
        ["moved", "moved2", "removed", "removed2", "cut", "cut2"].map((name) => [`victims/${name}`, name]),
      ),
    });
    await Deno.writeFile(join(outside, "secret.wasm"), WASM);
    await Deno.symlink(join(outside, "secret.txt"), join(granted, "file_link"));
    await Deno.symlink(join(outside, "secret.js"), join(granted, "module_link.js"));
    await Deno.symlink(victims, join(granted, "folder_link"));
    const other = stack.use(Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, answer));
    const redirecting = stack.use(
      Deno.serve(
        { hostname: "127.0.0.1", port: 0, onListen: () => {} },
        () => Response.redirect(`http://127.0.0.1:${other.addr.port}/`),
      ),
    );
    const unixSocket = folder.join("socket");
    await listenOn(unixSocket, stack);
    return new Surroundings({
      secret: join(outside, "secret.txt"),
      secretJson: join(outside, "secret.json"),
      secretModule: join(outside, "secret.js"),
      secretCommonJs: join(outside, "secret.cjs"),
      secretWasm: join(outside, "secret.wasm"),
      outside,
      victims,
      granted,
      grantedPort: redirecting.addr.port,
      otherPort: other.addr.port,
      namePort: await nameServer(stack),
      unixSocket,
      pid: bystander(stack),
      addon: await addon(),
      program: "/bin/true",
    }, stack);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

function answer(request: Request): Response {
  const { pathname } = new URL(request.url);
  if (request.headers.get("upgrade") === "websocket") {
    const { socket, response } = Deno.upgradeWebSocket(request);
    socket.onopen = () => socket.close();
    return response;
  }
  if (pathname === "/module.js") {
    return new Response(`export const secret = ${JSON.stringify(SECRET)};`, {
      headers: { "content-type": "text/javascript" },
    });
  }
  if (pathname === "/module.wasm") return new Response(WASM, { headers: { "content-type": "application/wasm" } });
  if (pathname === "/events") return new Response("data: 1\n\n", { headers: { "content-type": "text/event-stream" } });
  return new Response(SECRET);
}

/** Listens on a socket in a process of its own, since tests may only use the network of this machine. */
async function listenOn(path: string, stack: AsyncDisposableStack): Promise<void> {
  const script = `const listener = Deno.listen({ transport: "unix", path: ${JSON.stringify(path)} });
    (async () => { for await (const connection of listener) connection.close(); })();
    Deno.stdout.writeSync(new Uint8Array([1]));
    for await (const _ of Deno.stdin.readable);
    Deno.exit(0);`;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["eval", "--quiet", "--no-config", script],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const output = child.stdout.getReader();
  stack.defer(async () => {
    await child.stdin.close().catch(() => {});
    await output.cancel();
    await child.status;
  });
  if ((await output.read()).done) throw new Error("nothing listens on the socket");
}

/** Answers every question with an address; the port. */
async function nameServer(stack: AsyncDisposableStack): Promise<number> {
  const socket = createSocket("udp4");
  socket.on("message", (question, { port, address }) => socket.send(nameAnswer(question), port, address));
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  stack.defer(() => new Promise<void>((resolve) => socket.close(() => resolve())));
  return socket.address().port;
}

function nameAnswer(question: Uint8Array): Uint8Array {
  let end = 12;
  while ((question[end] ?? 0) !== 0) end += (question[end] ?? 0) + 1;
  const asked = question.subarray(12, end + 5);
  const isLong = asked.at(-3) === 28; // AAAA
  const address = isLong ? [0, 16, ...new Array(15).fill(0), 1] : [0, 4, 127, 0, 0, 1];
  return new Uint8Array([
    ...[question[0] ?? 0, question[1] ?? 0, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0],
    ...asked,
    ...[0xc0, 12, 0, isLong ? 28 : 1, 0, 1, 0, 0, 0, 60],
    ...address,
  ]);
}

/** A process that waits for the end of its input. */
function bystander(stack: AsyncDisposableStack): number {
  const child = new Deno.Command("cat", { stdin: "piped", stdout: "null" }).spawn();
  stack.defer(async () => {
    await child.stdin.close().catch(() => {});
    await child.status;
  });
  return child.pid;
}

async function addon(): Promise<string> {
  const platform = `${Deno.build.os}-${Deno.build.arch === "aarch64" ? "arm64" : "x64"}`;
  const packages = join(ROOT, "node_modules", ".deno");
  for await (const { name } of Deno.readDir(packages)) {
    if (new RegExp(`^@duckdb\\+node-bindings-${platform}@`).test(name)) {
      return join(packages, name, "node_modules", "@duckdb", `node-bindings-${platform}`, "duckdb.node");
    }
  }
  throw new Error("there is no addon to load");
}

/** Runs all attempts in a process that may do everything: null for each that works there, or why it can't. */
export function outcomesOutside(targets: Targets): Promise<Outcomes> {
  return outcomesOf("outside.ts", targets);
}

/** The same in a process that only the operating system confines. */
export function outcomesConfined(targets: Targets): Promise<Outcomes> {
  return outcomesOf("confined.ts", targets);
}

type Outcomes = { readonly [attempt: string]: string | null };

async function outcomesOf(script: string, targets: Targets): Promise<Outcomes> {
  // What succeeds may leave files where temporary ones go.
  await using temp = await TempDir.create();
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "-q", "-A", "--no-prompt", "--no-check", "--no-lock", "--unstable-kv", "--unstable-net"],
      "--unstable-raw-imports",
      ...["--unstable-worker-options", "--config", join(ROOT, "deno.json")],
      join(ROOT, "tests/connectors/sandbox", script),
      JSON.stringify(targets),
    ],
    env: { [SECRET_VARIABLE]: SECRET, ...childCommand().env, TMPDIR: temp.path },
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  const last = decoder.decode(stdout).trimEnd().split("\n").at(-1) ?? "";
  // A runtime may fall over its own end after all that; it has told everything then.
  if (!last.startsWith("{")) throw new Error(`${code}: ${last}\n${decoder.decode(stderr)}`);
  return JSON.parse(last);
}

/** How to start pz as a connector's process that knows the hostile connector, until the folder is gone. */
export async function hostileCommand(
  folder: TempDir,
  { fromSource = HOSTILE_BINARY === undefined }: { readonly fromSource?: boolean } = {},
): Promise<ChildCommand> {
  if (!fromSource && HOSTILE_BINARY !== undefined) return { path: HOSTILE_BINARY, args: [CHILD_VERB], env: {} };
  const { imports } = JSON.parse(await Deno.readTextFile(join(ROOT, "deno.json")));
  const embedded = new URL("../../src/connectors/child/embedded.ts", import.meta.url).href;
  const hostile = new URL("./sandbox/embedded.ts", import.meta.url).href;
  await writeFiles(folder.path, { "map.json": JSON.stringify({ imports: { ...imports, [embedded]: hostile } }) });
  const [verb = "run", ...flags] = childCommand().args;
  // A heap that is full soon, for the connector that fills it.
  const args = flags.map((flag) => flag.startsWith("--v8-flags=") ? `${flag},--max-old-space-size=160` : flag);
  return { ...childCommand(), args: [verb, `--import-map=${folder.join("map.json")}`, ...args] };
}
