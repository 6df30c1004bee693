import { join } from "node:path";
import { drainArrow, ingestArrow, openStaging, type Staging } from "../../src/staging/mod.ts";
import type { DuckDbConnection } from "../../src/duckdb/mod.ts";
import { type RecordBatch, RecordBatchReader, RecordBatchStreamWriter, type Schema } from "../../src/util/arrow.ts";
import { TempDir } from "../harness/temp_dir.ts";
import { median } from "./cpu.ts";
import { numberAfter, reportGates, say } from "./gates.ts";
import { LoopDelay, ownCpuSeconds } from "./process_cost.ts";

const BATCH_BYTES = 8 << 20;
const MEMORY_ROWS = [1_000_000, 10_000_000] as const;
const MEMORY_LIMIT = 256 << 20;
/** So many rows fill DuckDB's memory up to its limit. */
const WARM_ROWS = 4_000_000;

/** 8 columns: whole numbers, fractions, decimals, instants and texts, of which one row in twenty has none. */
const COLUMNS = "(range % 2147483647)::INTEGER AS i1, (range * 7919 % 1000003)::INTEGER AS i2, " +
  "range * 2654435761 AS b, CASE WHEN range % 20 <> 3 THEN range / 7.0 END AS d, " +
  "((range * 31 % 1000000000) - 500000000)::DECIMAL(18, 4) AS m, " +
  "TIMESTAMPTZ '2023-11-14 00:00:00+00' + to_microseconds(range * 1000) AS ts, " +
  "CASE WHEN range % 20 <> 5 THEN substr(md5(range::VARCHAR), 1, 8 + (range % 25)::INTEGER) END AS s1, " +
  "substr(md5((range * 3)::VARCHAR), 1, 8 + (range % 25)::INTEGER) AS s2";

/**
 * What rows cost on their way in from Arrow and out to it, against DuckDB's own INSERT and CREATE TABLE AS of the same
 * rows, in CPU of the process; how long they hold the event loop; and that memory does not grow with the rows.
 *
 *     deno task bench universal [--rounds 5] [--rows 2000000] [--speed]
 */
export async function bench(args: readonly string[]): Promise<void> {
  if (args[0] === "memory") return await measureMemory(args[1] ?? "", Number(args[2]));
  const rounds = numberAfter(args, "--rounds", 5);
  const rows = numberAfter(args, "--rows", 2_000_000);
  say(`universal, ${rows} rows of 8 columns, ${rounds} rounds`);
  await measureSpeed(rounds, rows);
  if (args.includes("--speed")) return;
  for (const way of ["in", "out"]) {
    const few = await memoryOf(way, MEMORY_ROWS[0]);
    const many = await memoryOf(way, MEMORY_ROWS[1]);
    say(`      ${way}: ${few.toFixed(0)} MiB beside DuckDB's at 1M rows, ${many.toFixed(0)} MiB at 10M`);
    reportGates([{ what: `${way}: growth of memory beside DuckDB's`, value: many / few, unit: "x", limit: 1.15 }]);
  }
}

type Way = "raw INSERT" | "in" | "raw CTAS" | "out";

async function measureSpeed(rounds: number, rows: number): Promise<void> {
  await using folder = await TempDir.create();
  await using staging = await open(folder.path);
  using connection = await staging.connect();
  await connection.run(`CREATE TABLE staging.source AS SELECT ${COLUMNS} FROM range(${rows})`);
  await connection.run("CHECKPOINT pz");
  const { schema, batches } = await drainArrow(connection, "source", { batchBytes: BATCH_BYTES });
  const prepared: RecordBatch[] = [];
  for await (const batch of batches) prepared.push(batch);

  const works: { readonly [way in Way]: () => Promise<void> } = {
    "raw INSERT": async () => {
      await connection.run("CREATE OR REPLACE TABLE staging.raw AS FROM staging.source LIMIT 0");
      await connection.run("INSERT INTO staging.raw FROM staging.source");
    },
    in: async () => void await ingestArrow(connection, "x", schema, stream(prepared), {}),
    "raw CTAS": async () => void await connection.run("CREATE OR REPLACE TEMP TABLE raw AS FROM staging.source"),
    out: async () => void await countOut(connection, "source"),
  };
  const costs: { readonly [way in Way]: { cpu: number; wall: number }[] } = {
    "raw INSERT": [],
    in: [],
    "raw CTAS": [],
    out: [],
  };
  const delays: { readonly [way in Way]: LoopDelay } = {
    "raw INSERT": new LoopDelay(),
    in: new LoopDelay(),
    "raw CTAS": new LoopDelay(),
    out: new LoopDelay(),
  };
  for (let round = 0; round <= rounds; round++) {
    for (const way of ["raw INSERT", "in", "raw CTAS", "out"] as const) {
      if (round > 0) delays[way].start();
      const cpu = ownCpuSeconds();
      const wall = performance.now();
      await works[way]();
      delays[way].stop();
      if (round > 0) costs[way].push({ cpu: ownCpuSeconds() - cpu, wall: (performance.now() - wall) / 1000 });
      await connection.run("DROP TABLE IF EXISTS staging.raw; DROP TABLE IF EXISTS temp.raw; CHECKPOINT pz");
    }
  }
  for (const way of ["raw INSERT", "in", "raw CTAS", "out"] as const) {
    const of = (kind: "cpu" | "wall") => costs[way].map((cost) => cost[kind]);
    say(
      `      ${way}: CPU ${Math.min(...of("cpu")).toFixed(2)} s (median ${median(of("cpu")).toFixed(2)}), ` +
        `wall ${Math.min(...of("wall")).toFixed(2)} s (median ${median(of("wall")).toFixed(2)})`,
    );
  }
  // What else runs on the machine holds the loop too, and does so while DuckDB works alone.
  const held = (way: Way, raw: Way) =>
    ([[99.9, "p99.9", 50], [100, "longest", 200]] as const).map(([percent, name, limit]) => {
      const [value, other] = [delays[way].percentile(percent), delays[raw].percentile(percent)];
      say(`      ${way}: event loop held, ${name}: ${value.toFixed(1)} ms; in ${raw}: ${other.toFixed(1)} ms`);
      const what = `${way}: event loop held beyond ${raw}, ${name}`;
      return { what, value: Math.max(0, value - other), unit: " ms", limit };
    });
  // What else runs on the machine only ever adds to the CPU of a round.
  const leastCpu = (way: Way) => Math.min(...costs[way].map(({ cpu }) => cpu));
  const ratio = (a: Way, b: Way) => leastCpu(a) / leastCpu(b);
  reportGates([
    { what: "in against raw INSERT", value: ratio("in", "raw INSERT"), unit: "x CPU", limit: 1.5 },
    { what: "out against raw CTAS", value: ratio("out", "raw CTAS"), unit: "x CPU", limit: 2.8 },
    ...held("in", "raw INSERT"),
    ...held("out", "raw CTAS"),
  ]);
}

function open(folder: string, memoryLimitBytes = 4 * 2 ** 30): Promise<Staging> {
  return openStaging({
    file: join(folder, "staging.duckdb"),
    memoryLimitBytes,
    threads: 2,
    tempDirectory: join(folder, "spill"),
    allowedPaths: { files: [], folders: [] },
    preserveInsertionOrder: false,
  });
}

async function* stream(batches: readonly RecordBatch[]): AsyncGenerator<RecordBatch> {
  for (const batch of batches) yield await Promise.resolve(batch);
}

async function countOut(connection: DuckDbConnection, relation: string): Promise<number> {
  let rows = 0;
  for await (const batch of (await drainArrow(connection, relation, { batchBytes: BATCH_BYTES })).batches) {
    rows += batch.numRows;
  }
  return rows;
}

/** The median of three processes, whose memory holds nothing else: when garbage is collected is up to chance. */
async function memoryOf(way: string, rows: number): Promise<number> {
  return median([await memoryOnce(way, rows), await memoryOnce(way, rows), await memoryOnce(way, rows)]);
}

async function memoryOnce(way: string, rows: number): Promise<number> {
  const main = join(import.meta.dirname ?? ".", "main.ts");
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "-A", main, "universal", "memory", way, String(rows)],
    stdout: "piped",
    stderr: "piped",
  }).output();
  if (code !== 0) throw new Error(new TextDecoder().decode(stderr));
  return Number(new TextDecoder().decode(stdout));
}

/**
 * Moves rows one way and writes how many MiB the process had beside DuckDB's while they moved, as a median. What DuckDB's
 * allocator keeps for itself grows with DuckDB's memory, so that is filled before.
 */
async function measureMemory(way: string, rows: number): Promise<void> {
  await using folder = await TempDir.create();
  await using staging = await open(folder.path, MEMORY_LIMIT);
  using connection = await staging.connect();
  using watcher = await staging.connect();
  await connection.run(`CREATE TABLE staging.source AS SELECT ${COLUMNS} FROM range(100000)`);
  const { schema, batches } = await drainArrow(connection, "source", { batchBytes: BATCH_BYTES });
  const parts: RecordBatch[] = [];
  for await (const batch of batches) parts.push(batch);
  await ingestArrow(connection, "warm", schema, repeated(schema, parts, WARM_ROWS), {});
  if (way === "out") await ingestArrow(connection, "x", schema, repeated(schema, parts, rows), {});

  const beside: number[] = [];
  const watch = async () => {
    const duckDb = await watcher.integer("SELECT sum(memory_usage_bytes)::BIGINT FROM duckdb_memory()");
    beside.push(Deno.memoryUsage().rss - Number(duckDb));
  };
  const source = way === "in"
    ? repeated(schema, parts, rows)
    : (await drainArrow(connection, "x", { batchBytes: BATCH_BYTES })).batches;
  const watched = async function* () {
    for await (const batch of source) {
      await watch();
      yield batch;
    }
  };
  if (way === "in") await ingestArrow(connection, "x", schema, watched(), {});
  else for await (const _batch of watched());
  say(String(median(beside) / 2 ** 20));
}

/** The same rows again and again, as a source would give them: each batch is new. */
async function* repeated(
  schema: Schema,
  parts: readonly RecordBatch[],
  rows: number,
): AsyncGenerator<RecordBatch> {
  const writer = new RecordBatchStreamWriter();
  writer.reset(undefined, schema);
  for (const part of parts) writer.write(part);
  writer.finish();
  const bytes = writer.toUint8Array(true);
  for (let given = 0; given < rows;) {
    for (const batch of RecordBatchReader.from(bytes.slice())) {
      given += batch.numRows;
      yield await Promise.resolve(batch);
    }
  }
}
