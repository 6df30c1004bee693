import assert from "node:assert/strict";
import { type RunningPz, startPz } from "../../harness/cli.ts";
import { DiskStore } from "../../harness/s3_disk.ts";
import type { TestStore } from "../../harness/s3_store.ts";
import type { TempDir } from "../../harness/temp_dir.ts";
import { assertNothingLeft, storeProject } from "../../connectors/s3_support.ts";
import { connectorsOf } from "../../connectors/universal_kill_support.ts";

/** Rows of about a kilobyte. */
const ROWS = 2_200_000;
const MEMORY_LIMIT = "512MB";
/** What a process may use at most: DuckDB's limit and as much again, or what the parts on their way take. */
const MOST = { pz: 1400 * 1024 ** 2, connector: 600 * 1024 ** 2 };

type Peaks = { readonly seconds: number; readonly pzMegabytes: number; readonly connectorMegabytes: number };

/** Moves an object of 2 GB out and in again, and tells the most memory that pz and its connector used. */
export async function measureStores(): Promise<
  { readonly bytes: number; readonly written: Peaks; readonly read: Peaks }
> {
  await using disk = await DiskStore.create();
  const { store } = disk;
  const settings = `engine: { duckdb: { memory_limit: ${MEMORY_LIMIT} } }\n`;
  await using out = await storeProject(store, "memory", {
    "pipelines/p.sql": `INSERT INTO {{ sink('store', 'x', path: 'x.csv', format: 'csv', strategy: 'replace') }}\n` +
      `SELECT range AS id, repeat(md5(range::varchar), 31) AS text FROM range(${ROWS})\n`,
  }, { settings });
  const written = await measure(out, store);
  const bytes = Number((await store.headers("memory/x.csv")).get("content-length"));
  assert.ok(bytes > 2 * 1024 ** 3, `${bytes} bytes`);
  await using back = await storeProject(store, "memory", {
    "pipelines/p.sql": `INSERT INTO {{ sink('files', 'n', format: 'csv', strategy: 'replace') }}\n` +
      `SELECT count(*) AS n, sum(id) AS s, sum(length(text)) AS l FROM {{ source('store', 'x', format: 'csv', ` +
      `columns: { id: 'bigint', text: 'varchar' }) }}\n`,
  }, { settings });
  const read = await measure(back, store);
  const sums = `n,s,l\n${ROWS},${(ROWS * (ROWS - 1)) / 2},${ROWS * 32 * 31}\n`;
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
  assert.ok(peaks.pz < MOST.pz && peaks.connector < MOST.connector, JSON.stringify(peaks));
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
