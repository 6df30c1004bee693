import { join } from "node:path";
import { Statement } from "../../src/connectors/builtin/mysql/commands.ts";
import { type Connection, createConnection } from "../../src/connectors/builtin/mysql/driver.ts";
import { CERTIFICATE, KEY } from "./postgres_tls.ts";

/** A MariaDB server of the tests' own, on loopback, gone when the process ends or when it is disposed. */
export type TestMariaDb = AsyncDisposable & {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** The folder of the server. */
  readonly folder: string;
  /** Runs statements, split at `;` and a line's end, on a connection of their own; gives the last one's rows as texts. */
  sql(text: string): Promise<(string | null)[][]>;
};

const PROGRAMS = ["/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin"];
const NOBODY = 65534;
const PATIENCE_MS = 60_000;

/** How to get what `installedMariaDb` looks for. */
export const INSTALL_HINT = "run: apt-get install mariadb-server";

/** The programs that a server needs; undefined: they are not installed. */
export function installedMariaDb(): { readonly server: string; readonly install: string } | undefined {
  const server = findProgram("mariadbd");
  const install = findProgram("mariadb-install-db");
  return server === undefined || install === undefined ? undefined : { server, install };
}

/** Says aloud, as a test that is left out, that a suite needs a server which is not there; true: it is there. */
export function needsMariaDb(suite: string): boolean {
  const isMissing = installedMariaDb() === undefined;
  if (isMissing) {
    const name = `${suite} needs MariaDB, which is not installed; ${INSTALL_HINT}`;
    Deno.test({ name, ignore: isMissing, fn: () => {} });
  }
  return !isMissing;
}

function findProgram(name: string): string | undefined {
  return PROGRAMS.map((folder) => join(folder, name)).find((path) => {
    try {
      return Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  });
}

/** Starts a server. To be called outside of a test, so that the server may outlive it. */
export async function startMariaDb({ tls = false }: { readonly tls?: boolean } = {}): Promise<TestMariaDb> {
  const programs = installedMariaDb();
  if (programs === undefined) throw new Error(`MariaDB is not installed; ${INSTALL_HINT}`);
  const isRoot = Deno.uid() === 0;
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "pz-my-", ...(isRoot ? { dir: "/tmp" } : {}) }));
  const asUser = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const data = join(folder, "data");
  const port = freePort();
  const password = crypto.randomUUID();
  await Deno.mkdir(data);
  await Deno.writeTextFile(join(folder, "init.sql"), initSql(password));
  if (tls) {
    await Deno.writeTextFile(join(folder, "server.crt"), CERTIFICATE);
    await Deno.writeTextFile(join(folder, "server.key"), KEY, { mode: 0o600 });
  }
  if (isRoot) await chownAll(folder);
  const env = { LC_ALL: "C", TZ: "Pacific/Auckland", HOME: folder, TMPDIR: folder };
  const installed = await new Deno.Command(programs.install, {
    args: [
      "--no-defaults",
      `--datadir=${data}`,
      "--auth-root-authentication-method=normal",
      "--skip-test-db",
      "--skip-name-resolve",
    ],
    env,
    ...asUser,
    cwd: folder,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  if (installed.code !== 0) throw new Error(`mariadb-install-db failed: ${new TextDecoder().decode(installed.stderr)}`);
  const settings = [
    "--no-defaults",
    `--datadir=${data}`,
    `--port=${port}`,
    "--bind-address=127.0.0.1",
    `--socket=${join(folder, "s")}`,
    `--pid-file=${join(folder, "pid")}`,
    `--log-error=${join(folder, "log")}`,
    `--init-file=${join(folder, "init.sql")}`,
    `--tmpdir=${folder}`,
    "--skip-name-resolve",
    "--innodb-buffer-pool-size=64M",
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-flush-method=nosync",
    "--max-connections=60",
    // What a user may have, and nothing that pz does may depend on.
    "--character-set-server=latin1",
    "--sql-mode=",
    "--max-allowed-packet=8M",
    ...(tls ? [`--ssl-cert=${join(folder, "server.crt")}`, `--ssl-key=${join(folder, "server.key")}`] : []),
  ];
  const pidFile = join(folder, "pid");
  const guard = startGuard(
    `kill -9 "$(cat '${pidFile}')"; rm -rf '${folder}' || rm -rf '${folder}'`,
    asUser,
  );
  // No pipes to the server: it would keep them open for its whole life.
  const server = new Deno.Command(programs.server, {
    args: settings,
    env,
    ...asUser,
    cwd: folder,
    detached: true,
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  server.unref();
  const access = { host: "127.0.0.1", port, user: "pz", password, database: "d" };
  await untilItAnswers(access, folder);

  let isRunning = true;
  const stop = (): void => {
    if (!isRunning) return;
    isRunning = false;
    guard.kill("SIGKILL");
    Deno.kill(server.pid, "SIGKILL");
    removeAll(folder);
  };
  globalThis.addEventListener("unload", stop);
  return {
    ...access,
    folder,
    sql: (text) => runSql(access, text),
    [Symbol.asyncDispose]: () => {
      globalThis.removeEventListener("unload", stop);
      stop();
      return Promise.resolve();
    },
  };
}

function initSql(password: string): string {
  return [
    "CREATE DATABASE d CHARACTER SET latin1",
    `CREATE USER pz@'%' IDENTIFIED BY '${password}'`,
    "GRANT ALL ON *.* TO pz@'%' WITH GRANT OPTION",
  ].map((line) => `${line};\n`).join("");
}

type Access = Pick<TestMariaDb, "host" | "port" | "user" | "password" | "database">;

async function untilItAnswers(access: Access, folder: string): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (true) {
    try {
      await runSql(access, "SELECT 1");
      return;
    } catch (error) {
      if (performance.now() < end) continue;
      throw new Error(`MariaDB did not start: ${error} ${Deno.readTextFileSync(join(folder, "log"))}`);
    }
  }
}

/** Statements end at a `;` before a line's end, so that a text may hold one. */
async function runSql(access: Access, text: string): Promise<(string | null)[][]> {
  const connection = await open(access);
  const closed = new Promise<void>((resolve) => connection.stream.once("close", () => resolve()));
  try {
    let rows: (string | null)[][] = [];
    const statements = text.split(/;\s*(?:\n|$)/).map((part) => part.trim()).filter((part) => part !== "");
    for (const sql of ["SET NAMES utf8mb4", "SET time_zone = '+00:00'", ...statements]) {
      const statement = new Statement(sql);
      connection.addCommand(statement);
      await statement.end;
      rows = statement.rows;
    }
    return rows;
  } finally {
    connection.destroy();
    connection.stream.destroy();
    await closed;
  }
}

function open(access: Access): Promise<Connection> {
  const connection = createConnection({
    ...access,
    charset: "UTF8MB4_GENERAL_CI",
    connectTimeout: 10_000,
    disableEval: true,
    flags: ["-CLIENT_QUERY_ATTRIBUTES"],
    trace: false,
  });
  return new Promise((resolve, reject) => {
    connection.once("connect", () => resolve(connection));
    connection.on("error", (error) => {
      connection.stream.destroy();
      reject(error);
    });
  });
}

/** A server that was just killed may have made a last file while the folder was emptied. */
function removeAll(folder: string): void {
  try {
    Deno.removeSync(folder, { recursive: true });
  } catch {
    Deno.removeSync(folder, { recursive: true });
  }
}

/** Runs a command when this process is gone, even if it was killed with its whole group. */
function startGuard(command: string, asUser: { readonly uid?: number; readonly gid?: number }): Deno.ChildProcess {
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

async function chownAll(folder: string): Promise<void> {
  await Deno.chown(folder, NOBODY, NOBODY);
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory) await chownAll(path);
    else await Deno.chown(path, NOBODY, NOBODY);
  }
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}
