import { join } from "node:path";

/** The server's version; another one is another folder of the cache. */
const VERSION = "5.2.5";
const READY_MS = 60_000;
const LOOK_EVERY_MS = 50;

/** How to get what is missing. */
const HINT =
  `moto's S3 server ${VERSION} needs python3 with venv and pip (Debian: python3-venv), and PyPI once; or set ` +
  "PZ_TEST_S3_ENDPOINT to a store on 127.0.0.1";

/** A server that speaks the protocol of S3 and keeps all in memory. */
export type Moto = { readonly endpoint: string };

let running: Promise<Moto | undefined> | undefined;

/**
 * The server of this process, which ends with it, even if it is killed; made ready in the tests' cache when it is not
 * there. Undefined where the machine lacks what it needs, which is said aloud. To be called outside of a test.
 */
export function startMoto(): Promise<Moto | undefined> {
  return running ??= start();
}

async function start(): Promise<Moto | undefined> {
  try {
    return await serve(await installed());
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    say(`LEFT OUT: tests on an object store: ${reason}\n${HINT}\n`);
    return undefined;
  }
}

/** The interpreter of a virtual environment with the server. */
async function installed(): Promise<string> {
  const home = Deno.env.get("XDG_CACHE_HOME") ??
    join(Deno.env.get("HOME") ?? Deno.env.get("LOCALAPPDATA") ?? ".", ".cache");
  const cache = join(home, "pz-tests");
  const folder = join(cache, `moto-${VERSION}`);
  if (await isFolder(folder)) return pythonOf(folder);
  await Deno.mkdir(cache, { recursive: true });
  // Several processes may make it at once: the first one to be ready gives it its name.
  const aside = await Deno.makeTempDir({ dir: cache, prefix: "making-" });
  try {
    await run("python3", "-m", "venv", aside);
    await run(pythonOf(aside), "-m", "pip", "install", "-q", "--disable-pip-version-check", `moto[server]==${VERSION}`);
    await Deno.rename(aside, folder);
  } catch (error) {
    await Deno.remove(aside, { recursive: true });
    if (!await isFolder(folder)) throw error;
  }
  return pythonOf(folder);
}

async function serve(python: string): Promise<Moto> {
  const log = await Deno.makeTempFile({ prefix: "pz-moto-" });
  // The shell outlives a killed test by the moment that it takes to end the server.
  const script = `trap '' INT TERM HUP; '${python}' -m moto.server -H 127.0.0.1 -p 0 > '${log}' 2>&1 & pid=$!; ` +
    `cat > /dev/null; kill -9 $pid; rm -f '${log}'`;
  const guard = new Deno.Command("sh", {
    args: ["-c", script],
    detached: true,
    stdin: "piped",
    stdout: "null",
    stderr: "null",
  }).spawn();
  guard.unref();
  const deadline = performance.now() + READY_MS;
  for (;;) {
    const said = await Deno.readTextFile(log);
    const port = /Running on http:\/\/127\.0\.0\.1:(\d+)/.exec(said)?.[1];
    if (port !== undefined) return { endpoint: `http://127.0.0.1:${port}` };
    if (performance.now() > deadline) throw new Error(`moto did not start: ${said.slice(-500)}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

function pythonOf(folder: string): string {
  return Deno.build.os === "windows" ? join(folder, "Scripts", "python.exe") : join(folder, "bin", "python");
}

async function run(program: string, ...args: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await new Deno.Command(program, { args: [...args] }).output();
  if (code === 0) return;
  const decoder = new TextDecoder();
  throw new Error(`${program} ${args.join(" ")} failed: ${decoder.decode(stdout)}${decoder.decode(stderr)}`);
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isDirectory;
  } catch {
    return false;
  }
}

function say(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(text));
}
