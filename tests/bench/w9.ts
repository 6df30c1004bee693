import assert from "node:assert/strict";
import { HAS_FAULTS, runWithFault } from "../crash/fault_run.ts";
import { Duck } from "../harness/duck.ts";
import { startPostgres, type TestPostgres } from "../harness/postgres.ts";
import { readReceipt } from "../harness/run_files.ts";
import { TempDir, writeFiles } from "../harness/temp_dir.ts";
import { type Gate, numberAfter, reportGates, say } from "./gates.ts";

const PARTITIONS = 10;
/** After how many staged partitions the run is killed. */
const KILLS = [1, 5, 9];
/** What a retry may cost beyond what it has to do. */
const MARGIN_S = 0.5;

/**
 * W9: a run that reads ten partitions from PostgreSQL into a Parquet file and a table is killed after some of them; a
 * retry may cost the share that was not staged, the outputs, and half a second, and it reads no staged partition again.
 *
 *     deno task bench w9 [--rows 3000000]
 *     PZ_FAULT_BINARY=dist/pz-faults deno task bench w9
 */
export async function bench(args: readonly string[]): Promise<void> {
  if (!HAS_FAULTS) throw new Error("set PZ_FAULT_BINARY: see `deno task build --faults`");
  const rows = numberAfter(args, "--rows", 3_000_000);
  const server = await startPostgres();
  try {
    await server.sql(
      `CREATE TABLE orders AS SELECT i::bigint AS id, (i::bigint * 7919) % 1000003 AS amount, repeat('n', (i % 40)::int) AS note ` +
        `FROM generate_series(1, ${rows}) i; ALTER TABLE orders ADD PRIMARY KEY (id); ANALYZE orders`,
    );
    const whole = await measure(server, rows, undefined);
    say(`      undisturbed: ${whole.wall.toFixed(2)} s, of which reading ${whole.load.toFixed(2)} s`);
    const gates: Gate[] = [];
    for (const kill of KILLS) {
      const { wall, staged, read } = await measure(server, rows, kill);
      const unread = (PARTITIONS - staged) / PARTITIONS;
      const limit = unread * whole.load + (whole.wall - whole.load) + MARGIN_S;
      say(`      killed with ${staged} of ${PARTITIONS} partitions staged: ${(wall / whole.wall).toFixed(2)} of a run`);
      gates.push(
        { what: `retry with ${staged} staged`, value: wall, unit: " s", limit: Number(limit.toFixed(2)) },
        // A partition that was read when the run was killed has to be read again.
        {
          what: "rows read by the retry",
          value: read / rows,
          unit: " of all",
          limit: Number((unread + 0.001).toFixed(3)),
        },
      );
    }
    reportGates(gates);
  } finally {
    await server[Symbol.asyncDispose]();
  }
}

type Measured = {
  /** Seconds of the run, or of the retry. */
  readonly wall: number;
  /** Seconds of the load in it. */
  readonly load: number;
  /** How many partitions were not read again. */
  readonly staged: number;
  /** Rows that the server says it has given. */
  readonly read: number;
};

/** A run, or the retry of one that was killed after so many staged partitions. */
async function measure(server: TestPostgres, rows: number, kill: number | undefined): Promise<Measured> {
  await using folder = await TempDir.create();
  const cwd = folder.path;
  await server.sql("DROP TABLE IF EXISTS target");
  await writeFiles(cwd, files(server));
  const env = { PG_SECRET: server.password };
  const run = ["run", "--all"];
  if (kill !== undefined) {
    const killed = await runWithFault(run, { cwd, env, fault: `partition_done:${kill}:kill` });
    assert.equal(killed.signal, "SIGKILL", killed.toString());
  }
  const before = await rowsGiven(server);
  const start = performance.now();
  const result = await runWithFault(kill === undefined ? run : ["retry"], { cwd, env });
  const wall = (performance.now() - start) / 1000;
  assert.equal(result.code, 0, result.toString());
  assert.deepEqual(await server.sql("SELECT count(*), count(DISTINCT id) FROM target"), [[String(rows), String(rows)]]);
  using duck = await Duck.open();
  const [[written] = []] = await duck.rows(`SELECT count(*) AS n FROM read_parquet('${cwd}/lake/q/q.parquet')`);
  assert.equal(written, String(rows));
  const load: unknown = readReceipt(cwd).nodes.find(({ kind }) => kind === "SourceLoad");
  const partitions: unknown = Reflect.get(Object(load), "partitions");
  return {
    wall,
    load: Number(Reflect.get(Object(load), "durationMs")) / 1000,
    staged: Number(Reflect.get(Object(partitions), "reused")),
    read: await rowsGiven(server) - before,
  };
}

function files({ host, port, user, database }: TestPostgres): { readonly [path: string]: string } {
  const source = `{{ source('pg', 'orders', partition_column: 'id', partitions: ${PARTITIONS}) }}`;
  return {
    "project.yml": `name: w9\nversion: "1"\nengine: { threads: 2 }\n`,
    "connections.yml": `pg:\n  connector: postgres\n  host: ${host}\n  port: ${port}\n  database: ${database}\n` +
      `  user: ${user}\n  password: \${PG_SECRET}\nlake:\n  connector: localfiles\n  root: lake\n`,
    "pipelines/p.sql": `INSERT INTO {{ sink('pg', 'target', strategy: 'append') }}\nSELECT * FROM ${source}\n`,
    "pipelines/q.sql": `INSERT INTO {{ sink('lake', 'q', format: 'parquet', strategy: 'replace') }}\n` +
      `SELECT * FROM ${source}\n`,
  };
}

/** How many rows of the table statements have read, by the server's own count. */
async function rowsGiven(server: TestPostgres): Promise<number> {
  await server.sql("SELECT pg_stat_force_next_flush()");
  const [[read] = []] = await server.sql(
    "SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables WHERE relname = 'orders'",
  );
  return Number(read);
}
