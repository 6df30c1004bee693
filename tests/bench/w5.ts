import assert from "node:assert/strict";
import { join } from "node:path";
import { BINARY, pzCommand } from "../harness/cli.ts";
import { Duck } from "../harness/duck.ts";
import type { TestPostgres } from "../harness/postgres.ts";
import { TempDir, writeFiles } from "../harness/temp_dir.ts";
import { numberAfter, removeFolder, reportGates, say } from "./gates.ts";
import {
  type Both,
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
import { COLUMNS, generateSql, readBack } from "./workload.ts";

/** The most CPU seconds, as a multiple of those of DuckDB and psql at the two ends of a pipe, the server's included. */
const LIMITS = { append: 1.4, upsert: 1.2 } as const;

type Mode = keyof typeof LIMITS;

type Place = {
  readonly server: TestPostgres;
  readonly folder: TempDir;
  readonly rows: number;
  readonly parquet: string;
};

/**
 * W5: Parquet to a table of PostgreSQL, appended and upserted (half of the keys exist), against one statement of DuckDB
 * piped into `\copy` of psql, and for the upsert INSERT … ON CONFLICT from a table in between. CPU of the process trees
 * and of the server, start-up included, medians.
 *
 *     deno task bench w5 [--rows 2000000] [--rounds 3]
 */
export async function bench(args: readonly string[]): Promise<void> {
  const rows = numberAfter(args, "--rows", 2_000_000);
  const rounds = numberAfter(args, "--rounds", 3);
  await using folder = await TempDir.create();
  await using server = await startBenchServer();
  const parquet = folder.join("in", "rows.parquet");
  await Deno.mkdir(folder.join("in"));
  {
    using duck = await Duck.open();
    const csv = folder.join("rows.csv");
    await duck.run(generateSql({ rows, csv }));
    await duck.run(`COPY (FROM ${readBack(csv, "csv")}) TO '${parquet}' (FORMAT parquet)`);
    await Deno.remove(csv);
  }
  const place = { server, folder, rows, parquet };
  say(`W5, ${rows} rows, pz from ${BINARY === undefined ? "source" : "the binary"}`);
  for (const mode of ["append", "upsert"] as const) {
    const raw = rawVariant(place, mode);
    const pz = await pzVariant(place, mode);
    await runRounds([raw, pz], rounds);
    sayCosts(raw);
    sayCosts(pz);
    const ratio = (cost: (sample: Both) => number) => medianOf(pz, cost) / medianOf(raw, cost);
    reportGates([
      {
        what: `Parquet to PostgreSQL, ${mode}, CPU with the server's`,
        value: ratio(({ cpu, server }) => cpu + server),
        unit: "x",
        limit: LIMITS[mode],
      },
      {
        what: `Parquet to PostgreSQL, ${mode}, CPU of the process tree alone`,
        value: ratio(({ cpu }) => cpu),
        unit: "x",
      },
    ]);
  }
}

function rawVariant({ server, folder, rows, parquet }: Place, mode: Mode): Variant {
  const names = COLUMNS.map(([name]) => name);
  const csv = duckCommand(`COPY (FROM '${parquet}') TO '/dev/stdout' (FORMAT csv, HEADER false)`);
  const copy = (table: string) => `\\copy ${table} FROM STDIN (FORMAT csv)`;
  const update = names.slice(1).map((name) => `${name} = EXCLUDED.${name}`).join(", ");
  const steps = mode === "append" ? [copy("rows")] : [
    "BEGIN",
    "CREATE TEMP TABLE fresh (LIKE rows)",
    copy("fresh"),
    `INSERT INTO rows SELECT * FROM fresh ON CONFLICT (id) DO UPDATE SET ${update}`,
    "COMMIT",
  ];
  const script = `${csv} | psql -q -v ON_ERROR_STOP=1 ${steps.map((step) => `-c "${step}"`).join(" ")}`;
  return {
    name: `DuckDB | psql, ${mode}`,
    samples: [],
    run: async () => {
      await prepare(server, mode, rows);
      const sample = await measureBoth(server, psql(server, script, folder.path));
      await assertRows(server, rows);
      return sample;
    },
  };
}

async function pzVariant({ server, folder, rows }: Place, mode: Mode): Promise<Variant> {
  const project = folder.join(mode);
  const strategy = mode === "append" ? "strategy: 'append'" : "strategy: 'merge', keys: ['id']";
  await writeFiles(project, {
    "project.yml": `name: bench\nversion: "1"\nengine:\n  threads: 2\n  duckdb: { threads: 2 }\n`,
    "connections.yml": `${pgConnection(server)}in:\n  connector: localfiles\n  root: ${folder.join("in")}\n`,
    "pipelines/rows.sql": `INSERT INTO {{ sink('pg', 'rows', ${strategy}) }}\n` +
      `SELECT * FROM {{ source('in', 'rows', format: 'parquet') }}\n`,
  });
  return {
    name: `pz, ${mode}`,
    samples: [],
    run: async () => {
      await removeFolder(join(project, ".pz"));
      await prepare(server, mode, rows);
      const command = pzCommand(["run", "--log-format", "json"], { env: { PG_SECRET: server.password } });
      const sample = await measureBoth(server, { ...command, cwd: project });
      await assertRows(server, rows);
      return sample;
    },
  };
}

/** The target as each round finds it: empty, or with every second key, and a note in each of its rows. */
async function prepare(server: TestPostgres, mode: Mode, rows: number): Promise<void> {
  await server.sql(`DROP TABLE IF EXISTS rows; CREATE TABLE rows (${PG_COLUMNS})`);
  if (mode === "upsert") {
    await server.sql(`INSERT INTO rows (id, note) SELECT i, 'old' FROM generate_series(0, ${rows - 1}, 2) i`);
    await server.sql("ALTER TABLE rows ADD PRIMARY KEY (id)");
  }
  await server.sql("VACUUM (FREEZE, ANALYZE) rows");
  await server.sql("CHECKPOINT");
}

/** A run whose outcome is not the right rows is void, not slow. */
async function assertRows(server: TestPostgres, rows: number): Promise<void> {
  const count = BigInt(rows);
  assert.deepEqual(
    await server.sql("SELECT count(*), sum(id), count(DISTINCT id), count(*) FILTER (WHERE note = 'old') FROM rows"),
    [[`${count}`, `${count * (count - 1n) / 2n}`, `${count}`, "0"]],
  );
}
