import assert from "node:assert/strict";
import { type PzResult, startPz } from "../harness/cli.ts";
import { Duck } from "../harness/duck.ts";
import type { TestPostgres } from "../harness/postgres.ts";
import { readReceipt } from "../harness/run_files.ts";
import { TempDir, writeFiles } from "../harness/temp_dir.ts";

const ROWS = 300_000;
const JSON_RUN = ["run", "--all", "--log-format", "json"];
/** A kill that finds no connector process does not count; so many tries there are for each that must. */
const TRIES = 4;
const STRATEGIES = ["append", "replace", "merge"] as const;

export type Direction = "read" | "write";
export type KillCounts = { kills: number; repeated: number; failed: number; untouched: number };

/** What of a run is killed: the project, and how the rows in its target are told. */
type Scene = {
  readonly node: string;
  readonly sink: string;
  readonly strategy: typeof STRATEGIES[number];
  readonly attempts: number;
};

/** Makes the table that is read. */
export async function prepareKills(server: TestPostgres): Promise<void> {
  await server.sql(
    `DROP TABLE IF EXISTS big; CREATE TABLE big AS SELECT i AS id, 'row ' || i AS name, i * 7 % 1000 AS k, ` +
      `(i % 9973)::numeric(12,2) AS amount, now() AS at FROM generate_series(1, ${ROWS}) i`,
  );
}

/**
 * Kills the connector's process of one run after the other, so many times, each at a random instant between the node's
 * start and its end. Every second run may repeat its attempt: then all rows must be there, once each; the others must
 * fail, saying that the process was killed, and leave the target as it was. No process may be left.
 *
 * @param random gives numbers in [0, 1)
 */
export async function killConnector(
  server: TestPostgres,
  direction: Direction,
  kills: number,
  random: () => number,
): Promise<KillCounts> {
  const counts = { kills: 0, repeated: 0, failed: 0, untouched: 0 };
  const whole = await killOnce(server, sceneOf(direction, 0), undefined);
  for (let tries = 0; counts.kills < kills; tries++) {
    assert.ok(tries < kills * TRIES, `only ${counts.kills} of ${tries} kills found a connector process`);
    const scene = sceneOf(direction, counts.kills);
    const { killed, verdict } = await killOnce(server, scene, random() * whole.nodeMs);
    if (!killed) continue;
    counts.kills++;
    counts[verdict]++;
  }
  return counts;
}

function sceneOf(direction: Direction, index: number): Scene {
  const attempts = index % 2 === 0 ? 3 : 1;
  const strategy = direction === "read" ? "replace" : STRATEGIES[index % 3] ?? "append";
  const sink = direction === "read" ? "files.copied" : "pg.target";
  return { node: direction === "read" ? "src_pg__big" : sink, sink, strategy, attempts };
}

/** Runs a project; `afterMs` after the node's start its connector's process is killed. Checks what is left. */
async function killOnce(server: TestPostgres, scene: Scene, afterMs: number | undefined): Promise<{
  readonly killed: boolean;
  readonly nodeMs: number;
  readonly verdict: "repeated" | "failed" | "untouched";
}> {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, projectFiles(server, scene));
  await server.sql(
    `DROP TABLE IF EXISTS target, _pz_attempts; CREATE TABLE target (id bigint PRIMARY KEY, name text); ` +
      `INSERT INTO target SELECT i, 'old' FROM generate_series(-9, 5) i WHERE i < 0 OR i > 0 AND '${scene.strategy}' = 'merge'`,
  );
  const before = await targetRows(server);
  await using running = startPz(JSON_RUN, { cwd: folder.path, env: { PG_SECRET: server.password } });
  const { pid } = running;
  assert.ok(await running.until(({ event, name }) => event === "node_started" && name === scene.node));
  const started = performance.now();
  const seen = new Set<number>();
  let killed = false;
  const timer = afterMs === undefined ? undefined : setTimeout(() => {
    for (const child of connectorsOf(pid)) {
      seen.add(child);
      Deno.kill(child, "SIGKILL");
      killed = true;
    }
  }, afterMs);
  await running.until(({ event, name }) => event === "node_completed" && name === scene.node);
  const nodeMs = performance.now() - started;
  clearTimeout(timer);
  for (const child of connectorsOf(pid)) seen.add(child);
  const result = await running.finish();
  for (const child of seen) assert.ok(!isConnector(child), `process ${child} is left of: ${result}`);
  await assertNoConnection(server);
  const verdict = await judge(server, scene, folder, { result, killed, before });
  return { killed, nodeMs, verdict };
}

async function judge(server: TestPostgres, scene: Scene, folder: TempDir, { result, killed, before }: {
  readonly result: PzResult;
  readonly killed: boolean;
  readonly before: readonly (string | null)[];
}): Promise<"repeated" | "failed" | "untouched"> {
  const { nodes } = readReceipt(folder.path);
  const said = `${JSON.stringify(scene)} ${result}`;
  const isRead = scene.node !== scene.sink;
  const found = isRead ? await fileRows(folder) : await targetRows(server);
  const { error } = nodes.find(({ name }) => name === scene.node) ?? {};
  if (result.code === 0) {
    assert.deepEqual(found, expectedRows(scene, isRead), said);
    const attempts = Number(Reflect.get(nodes.find(({ name }) => name === scene.node) ?? {}, "attempts"));
    assert.ok(attempts <= scene.attempts, said);
    return attempts > 1 ? "repeated" : "untouched";
  }
  assert.ok(killed, said);
  assert.equal(result.code, 1, said);
  assert.match(error?.message ?? "", /SIGKILL/, said);
  const isUnclear = /outcome unknown/.test(error?.message ?? "");
  assert.ok(scene.attempts === 1 || (isUnclear && scene.strategy === "append"), said);
  if (isUnclear && JSON.stringify(found) === JSON.stringify(expectedRows(scene, isRead))) return "failed";
  assert.deepEqual(found, isRead ? ["absent"] : before, said);
  return "failed";
}

/** What the target holds after success: how many rows, how many of them old, and sums that every row changes. */
function expectedRows({ strategy }: Scene, isRead: boolean): readonly (string | null)[] {
  const ids = BigInt(ROWS) * BigInt(ROWS + 1) / 2n;
  if (isRead) return [String(ROWS), String(ROWS), String(ids)];
  const old = strategy === "replace" ? 0 : 9;
  return [String(ROWS + old), String(old), String(strategy === "replace" ? ids : ids - 45n)];
}

async function targetRows(server: TestPostgres): Promise<readonly (string | null)[]> {
  const [row = []] = await server.sql("SELECT count(*), count(*) FILTER (WHERE name = 'old'), sum(id) FROM target");
  return row;
}

async function fileRows(folder: TempDir): Promise<readonly (string | null)[]> {
  const file = folder.join("out", "copied", "copied.parquet");
  try {
    await Deno.stat(file);
  } catch {
    return ["absent"];
  }
  using duck = await Duck.open();
  const [row = []] = await duck.rows(`SELECT count(*), count(DISTINCT name), sum(id) FROM '${file}'`);
  return row;
}

function projectFiles(server: TestPostgres, { node, sink, strategy, attempts }: Scene): { [path: string]: string } {
  const keys = strategy === "merge" ? ", keys: ['id']" : "";
  return {
    "project.yml": `name: killed\nversion: "1"\nengine: { threads: 2 }\n`,
    "connections.yml": `pg:\n  connector: postgres\n  host: ${server.host}\n  port: ${server.port}\n` +
      `  database: ${server.database}\n  user: ${server.user}\n  password: \${PG_SECRET}\n  ssl_mode: disable\n` +
      `  retry: { max_attempts: ${attempts}, base_delay: 10ms }\nfiles:\n  connector: localfiles\n  root: out\n`,
    "pipelines/all.sql": node === sink
      ? `INSERT INTO {{ sink('pg', 'target', strategy: '${strategy}'${keys}) }}\n` +
        `SELECT range AS id, 'row ' || range AS name FROM range(1, ${ROWS + 1})\n`
      : `INSERT INTO {{ sink('files', 'copied', format: 'parquet', strategy: 'replace') }}\n` +
        `SELECT * FROM {{ source('pg', 'big') }}\n`,
  };
}

/** The connector processes that a process has started. The shell looks, since Deno may not look into /proc. */
export function connectorsOf(pid: number): readonly number[] {
  if (Deno.build.os !== "linux") return numbersFrom("pgrep", "-P", String(pid), "-f", "__connector");
  const named = "grep -q __connector /proc/$child/cmdline && echo $child";
  return numbersFrom("sh", "-c", `for child in $(cat /proc/${pid}/task/*/children); do ${named}; done`);
}

export function isConnector(pid: number): boolean {
  if (Deno.build.os !== "linux") return numbersFrom("pgrep", "-f", "__connector").includes(pid);
  return numbersFrom("sh", "-c", `grep -q __connector /proc/${pid}/cmdline && echo ${pid}`).length > 0;
}

/** The numbers that a command prints, a line each. */
function numbersFrom(program: string, ...args: readonly string[]): readonly number[] {
  const { stdout } = new Deno.Command(program, { args: [...args], stderr: "null" }).outputSync();
  return new TextDecoder().decode(stdout).split("\n").filter((line) => line !== "").map(Number);
}

/** Waits until the server has noticed that nobody is there any more. */
async function assertNoConnection(server: TestPostgres): Promise<void> {
  const open = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pz'";
  const deadline = performance.now() + 30_000;
  while ((await server.sql(open))[0]?.[0] !== "0") {
    assert.ok(performance.now() < deadline, "a connection to the server is left");
  }
}
