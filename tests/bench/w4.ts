import assert from "node:assert/strict";
import { BINARY, pzCommand } from "../harness/cli.ts";
import { Duck } from "../harness/duck.ts";
import { TempDir, writeFiles } from "../harness/temp_dir.ts";
import { measure } from "./cpu.ts";
import { numberAfter, removeFolder, reportGates, say } from "./gates.ts";
import {
  duckCommand,
  measureBoth,
  medianOf,
  PG_COLUMNS,
  pgConnection,
  psql,
  runRounds,
  sayCosts,
  startBenchServer,
  type Variant,
} from "./w4_server.ts";
import { COLUMNS, generateSql, rawSql } from "./workload.ts";

/** The most CPU seconds of everything at work, as a multiple of those of psql and DuckDB at the two ends of a pipe. */
const LIMIT = 1.5;

/**
 * W4: a table of PostgreSQL to Parquet, against `COPY … TO STDOUT (FORMAT csv)` by psql, piped into one statement of
 * DuckDB. CPU of the process trees, start-up included, medians. What is limited counts the server too, since the two ask
 * different things of it: it makes the texts of a CSV itself, where pz takes its own form and makes the values.
 *
 *     deno task bench w4 [--rows 2000000] [--rounds 3]
 */
export async function bench(args: readonly string[]): Promise<void> {
  const rows = numberAfter(args, "--rows", 2_000_000);
  const rounds = numberAfter(args, "--rounds", 3);
  await using folder = await TempDir.create();
  await using server = await startBenchServer();
  const csv = folder.join("rows.csv");
  {
    using duck = await Duck.open();
    await duck.run(generateSql({ rows, csv }));
  }
  await server.sql(`CREATE TABLE rows (${PG_COLUMNS})`);
  await measure(psql(server, `psql -qc "\\copy rows FROM '${csv}' (FORMAT csv, HEADER)"`, folder.path));
  await server.sql("VACUUM (FREEZE, ANALYZE) rows");
  await Deno.remove(csv);

  const target = folder.join("raw.parquet");
  const names = COLUMNS.map(([name]) => name).join(", ");
  const script = `psql -qc "COPY (SELECT ${names} FROM rows) TO STDOUT (FORMAT csv, HEADER)" | ` +
    duckCommand(rawSql({ csv: "/dev/stdin" }, target, "parquet"));
  const raw: Variant = {
    name: "psql | DuckDB",
    samples: [],
    run: () => measureBoth(server, psql(server, script, folder.path)),
  };
  await writeFiles(folder.path, {
    "project.yml": `name: bench\nversion: "1"\nengine:\n  threads: 2\n  duckdb: { threads: 2 }\n`,
    "connections.yml": `${pgConnection(server)}out:\n  connector: localfiles\n  root: out\n`,
    "pipelines/rows.sql": `INSERT INTO {{ sink('out', 'rows', format: 'parquet', strategy: 'replace') }}\n` +
      `SELECT * FROM {{ source('pg', 'rows') }}\n`,
  });
  const pz: Variant = {
    name: "pz",
    samples: [],
    run: async () => {
      await removeFolder(folder.join(".pz"));
      await removeFolder(folder.join("out"));
      const env = { PG_SECRET: server.password };
      const command = pzCommand(["run", "--log-format", "json"], { env });
      const sample = await measureBoth(server, { ...command, cwd: folder.path });
      await assertSame(folder.join("out", "rows", "rows.parquet"), target);
      return sample;
    },
  };
  say(`W4, ${rows} rows, pz from ${BINARY === undefined ? "source" : "the binary"}`);
  await runRounds([raw, pz], rounds);
  sayCosts(raw);
  sayCosts(pz);
  const own = medianOf(pz, ({ cpu }) => cpu) / medianOf(raw, ({ cpu }) => cpu);
  const all = medianOf(pz, ({ cpu, server }) => cpu + server) / medianOf(raw, ({ cpu, server }) => cpu + server);
  reportGates([
    { what: "PostgreSQL to Parquet, CPU with the server's", value: all, unit: "x", limit: LIMIT },
    { what: "PostgreSQL to Parquet, CPU of the process tree alone", value: own, unit: "x" },
  ]);
}

/** A run whose output is not the same rows is void, not slow. */
async function assertSame(actual: string, expected: string): Promise<void> {
  using duck = await Duck.open();
  assert.deepEqual(await duck.shape(`FROM '${actual}'`), await duck.shape(`FROM '${expected}'`));
  const digest = (file: string) =>
    `SELECT count(*), sum(id), count(score), count(note), sum(hash(COLUMNS(*))) FROM '${file}'`;
  assert.deepEqual(await duck.rows(digest(actual)), await duck.rows(digest(expected)));
}
