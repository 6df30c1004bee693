import assert from "node:assert/strict";
import { type RunningPz, startPz } from "../../harness/cli.ts";
import { DiskStore } from "../../harness/s3_disk.ts";
import type { TestStore } from "../../harness/s3_store.ts";
import type { TempDir } from "../../harness/temp_dir.ts";
import { assertNothingLeft, storeProject } from "../../connectors/s3_support.ts";
import { connectorsOf } from "../../connectors/universal_kill_support.ts";

/** Rows of about a kilobyte: enough to fill all that may be full, and three times as many. */
const ROWS = [750_000, 2_250_000] as const;
const MEMORY_LIMIT = "512MB";
/** How much more memory three times the rows may take. */
const GROWTH = 1.15;

type Peaks = { readonly seconds: number; readonly pzMegabytes: number; readonly connectorMegabytes: number };
type Moved = { readonly bytes: number; readonly written: Peaks; readonly read: Peaks };

/**
 * Moves an object of 0.7 GB, and then one of more than 2 GB, out and in again, and tells the most memory that pz and its
 * connector used.
 *
 * @throws {Error} where the larger one takes noticeably more
 */
export async function measureStores(): Promise<{ readonly small: Moved; readonly large: Moved }> {
  await using disk = await DiskStore.create();
  const small = await move(disk.store, ROWS[0]);
  const large = await move(disk.store, ROWS[1]);
  assert.ok(large.bytes > 2 * 1024 ** 3, `${large.bytes} bytes`);
  for (const way of ["written", "read"] as const) {
    for (const process of ["pzMegabytes", "connectorMegabytes"] as const) {
      const growth = large[way][process] / small[way][process];
      assert.ok(growth <= GROWTH, `${way}, ${process}: ${growth.toFixed(2)}x of ${JSON.stringify({ small, large })}`);
    }
  }
  return { small, large };
}

async function move(store: TestStore, rows: number): Promise<Moved> {
  const settings = `engine: { duckdb: { memory_limit: ${MEMORY_LIMIT} } }\n`;
  await using out = await storeProject(store, "memory", {
    "pipelines/p.sql": `INSERT INTO {{ sink('store', 'x', path: 'x.csv', format: 'csv', strategy: 'replace') }}\n` +
      `SELECT range AS id, repeat(md5(range::varchar), 31) AS text FROM range(${rows})\n`,
  }, { settings });
  const written = await measure(out, store);
  const bytes = Number((await store.headers("memory/x.csv")).get("content-length"));
  await using back = await storeProject(store, "memory", {
    "pipelines/p.sql": `INSERT INTO {{ sink('files', 'n', format: 'csv', strategy: 'replace') }}\n` +
      `SELECT count(*) AS n, sum(id) AS s, sum(length(text)) AS l FROM {{ source('store', 'x', format: 'csv', ` +
      `columns: { id: 'bigint', text: 'varchar' }) }}\n`,
  }, { settings });
  const read = await measure(back, store);
  const sums = `n,s,l\n${rows},${(rows * (rows - 1)) / 2},${rows * 32 * 31}\n`;
  assert.equal(await Deno.readTextFile(back.join("data", "n", "n.csv")), sums);
  return { bytes, written, read };
}

async function measure(folder: TempDir, store: TestStore): Promise<Peaks> {
  const start = performance.now();
  await using running = startPz(["run", "--all", "--log-format", "json"], {
    cwd: folder.path,
    env: { S3_SECRET: store.secret },
  });
  const peaks = { pz: 0, connector: 0 };
  const timer = setInterval(() => look(running, peaks), 200);
  const result = await running.finish();
  clearInterval(timer);
  assert.equal(result.code, 0, String(result));
  await assertNothingLeft(folder, store);
  const megabytes = (bytes: number) => Math.round(bytes / 1024 ** 2);
  return {
    seconds: Math.round((performance.now() - start) / 100) / 10,
    pzMegabytes: megabytes(peaks.pz),
    connectorMegabytes: megabytes(peaks.connector),
  };
}

function look({ pid }: RunningPz, peaks: { pz: number; connector: number }): void {
  peaks.pz = Math.max(peaks.pz, residentBytes(pid));
  for (const child of connectorsOf(pid)) peaks.connector = Math.max(peaks.connector, residentBytes(child));
}

/** The most that a process has had in memory. */
function residentBytes(pid: number): number {
  const { stdout } = new Deno.Command("sh", { args: ["-c", `grep VmHWM /proc/${pid}/status`], stderr: "null" })
    .outputSync();
  return Number(/(\d+) kB/.exec(new TextDecoder().decode(stdout))?.[1] ?? 0) * 1024;
}
