import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import { type RunningPz, startPz } from "../harness/cli.ts";
import { StoreProxy } from "../harness/s3_proxy.ts";
import type { TestStore } from "../harness/s3_store.ts";
import type { TempDir } from "../harness/temp_dir.ts";
import { pzIn, storeProject } from "./s3_support.ts";
import { connectorsOf, isConnector } from "./universal_kill_support.ts";

/** Rows of about a kilobyte: three parts of an upload. */
const ROWS = 40_000;
const LINE = 1000;
/** A kill that finds nothing to kill does not count; so many tries there are for each that must. */
const TRIES = 4;
const CHILD_ENDS_MS = 20_000;
const LOOK_EVERY_MS = 50;
/** What a process takes before its first node. */
const START_MS = 500;

/** Who is killed: pz, the connector's process in a run that may repeat it or may not, or both at once. */
export const SCENES = ["pz", "connector", "connector_once", "both"] as const;
type Scene = typeof SCENES[number];

export type KillCounts = { [scene in Scene]: number } & { landed: number; notLanded: number };

/**
 * Kills the writers of one object after the other, so many times, each at a random instant. The object is the former one
 * or the new one to its last byte, and no upload is left; where all processes died at once, none is after the next run.
 *
 * @param random gives numbers in [0, 1)
 */
export async function killStores(store: TestStore, kills: number, random: () => number): Promise<KillCounts> {
  const counts: KillCounts = { pz: 0, connector: 0, connector_once: 0, both: 0, landed: 0, notLanded: 0 };
  const whole = await killOnce(store, "pz", { store, moment: undefined });
  let done = 0;
  for (let tries = 0; done < kills; tries++) {
    assert.ok(tries < kills * TRIES, `only ${done} of ${tries} kills found a process`);
    const scene = SCENES[done % SCENES.length] ?? "pz";
    const { promise: moment, resolve } = Promise.withResolvers<void>();
    const timer = globalThis.setTimeout(resolve, START_MS + random() * whole.ms);
    const { killed, landed } = await killOnce(store, scene, { store, moment });
    clearTimeout(timer);
    if (!killed) continue;
    done++;
    counts[scene]++;
    counts[landed ? "landed" : "notLanded"]++;
  }
  return counts;
}

/**
 * Does the same once, at the moment when the second of three parts is sent.
 */
export async function killWithinUpload(store: TestStore, scene: Scene): Promise<void> {
  const moment = Promise.withResolvers<void>();
  const killed = Promise.withResolvers<void>();
  await using proxy = new StoreProxy(store, async ({ query }) => {
    if (query.get("partNumber") !== "2") return undefined;
    moment.resolve();
    await killed.promise;
    return undefined;
  });
  const end = await killOnce(store, scene, { store: proxy.store, moment: moment.promise, done: killed.resolve });
  assert.ok(end.killed);
  assert.equal(end.landed, scene === "connector" || scene === "both");
}

/** Kills a pz and its connectors at once. */
export function killAll(pid: number): void {
  const children = connectorsOf(pid);
  Deno.kill(pid, "SIGKILL");
  for (const child of children) Deno.kill(child, "SIGKILL");
}

/** When a run is killed, and the store that it knows. */
type Instant = {
  readonly store: TestStore;
  /** Undefined: never. */
  readonly moment: Promise<void> | undefined;
  readonly done?: () => void;
};

async function killOnce(
  store: TestStore,
  scene: Scene,
  instant: Instant,
): Promise<{ readonly killed: boolean; readonly landed: boolean; readonly ms: number }> {
  const attempts = scene === "connector" ? 3 : 1;
  await using folder = await storeProject(instant.store, "kill", {
    "pipelines/p.sql": `INSERT INTO {{ sink('store', 'x', path: 'x.csv', format: 'csv', strategy: 'replace') }}\n` +
      `SELECT range AS id, repeat('${crypto.randomUUID()}', 27) AS text FROM range(${ROWS})\n`,
  }, { entities: `  retry: { max_attempts: ${attempts}, base_delay: 10ms }\n` });
  await store.put("kill/x.csv", "before");
  await using running = startPz(["run", "--all", "--log-format", "json"], {
    cwd: folder.path,
    env: { S3_SECRET: store.secret },
  });
  assert.ok(await running.until(({ event, name }) => event === "node_started" && name === "store.x"));
  const started = performance.now();
  const { killed, children } = await killAt(running, scene, instant);
  const result = await running.finish();
  const ms = performance.now() - started;
  for (const child of children) await assertEnds(child);
  const said = `${scene} in ${ms} ms: ${result}`;
  if (scene === "both") {
    const again = await pzIn(folder, store, "run", "--all");
    assert.equal(again.code, 0, String(again));
  }
  assert.deepEqual(await store.uploads(), [], said);
  const { length } = await store.get("kill/x.csv");
  const landed = length > "before".length;
  assert.ok(!landed || length > ROWS * LINE * 0.9, `${length} bytes, ${said}`);
  assert.deepEqual(await store.keys("kill/"), ["kill/x.csv"], said);
  if (scene === "connector" || scene === "both" || !killed) assert.ok(landed, said);
  if (scene === "connector" && killed) assert.equal(result.code, 0, said);
  await assertNoFiles(folder, scene);
  return { killed, landed, ms };
}

/** Kills what the scene says when the time has come, or leaves it alone. */
async function killAt(
  running: RunningPz,
  scene: Scene,
  { moment, done }: Instant,
): Promise<{ readonly killed: boolean; readonly children: ReadonlySet<number> }> {
  const children = new Set<number>();
  let killed = false;
  let isOver = false;
  void moment?.then(async () => {
    let found = connectorsOf(running.pid);
    // A machine that is busy starts it late.
    for (; found.length === 0 && !isOver; found = connectorsOf(running.pid)) await setTimeout(LOOK_EVERY_MS);
    for (const child of found) children.add(child);
    try {
      if (found.length === 0) return;
      if (scene !== "connector" && scene !== "connector_once") running.kill("SIGKILL");
      if (scene !== "pz") { for (const child of found) Deno.kill(child, "SIGKILL"); }
      killed = true;
    } catch {
      /* it has ended by itself */
    } finally {
      done?.();
    }
  });
  await running.until(({ event, name }) => event === "node_completed" && name === "store.x");
  isOver = true;
  return { killed, children };
}

/** A connector's process whose pz is gone takes back what it had begun, and ends. */
async function assertEnds(child: number): Promise<void> {
  const deadline = performance.now() + CHILD_ENDS_MS;
  while (isConnector(child)) {
    assert.ok(performance.now() < deadline, `process ${child} does not end`);
    await setTimeout(LOOK_EVERY_MS);
  }
}

/** Only a pz that was killed leaves files of its own. */
async function assertNoFiles(folder: TempDir, scene: Scene): Promise<void> {
  if (scene === "pz" || scene === "both") return;
  const left: string[] = [];
  for await (const run of Deno.readDir(folder.join(".pz", "runs"))) {
    for await (const { name } of Deno.readDir(folder.join(".pz", "runs", run.name, "files", "store"))) left.push(name);
  }
  assert.deepEqual(left.filter((name) => name !== "journals"), []);
}
