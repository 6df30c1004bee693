import { join } from "node:path";
import type { TestPostgres } from "../harness/postgres.ts";
import { startPostgres } from "../harness/postgres.ts";
import { measure, type Measured, median, type Sample } from "./cpu.ts";
import { say } from "./gates.ts";
import { COLUMNS } from "./workload.ts";

/** A server without housekeeping of its own, whose CPU would be counted as that of whoever is measured. */
export async function startBenchServer(): Promise<TestPostgres> {
  const server = await startPostgres();
  await server.sql("ALTER SYSTEM SET autovacuum = off");
  await server.sql("ALTER SYSTEM SET checkpoint_timeout = '1h'");
  await server.sql("ALTER SYSTEM SET max_wal_size = '16GB'");
  await server.sql("ALTER SYSTEM SET shared_buffers = '512MB'");
  await server.sql("SELECT pg_reload_conf()");
  return server;
}

const PG_TYPES: { readonly [duckDb: string]: string } = {
  VARCHAR: "text",
  DOUBLE: "double precision",
  "DECIMAL(18,2)": "numeric(18,2)",
};

/** The columns of the workload as PostgreSQL declares them. */
export const PG_COLUMNS: string = COLUMNS.map(([name, type]) => `${name} ${PG_TYPES[type] ?? type}`).join(", ");

/** Where psql is; it finds the server by its environment. */
export function psql(
  server: TestPostgres,
  script: string,
  cwd: string,
): Measured {
  const env = {
    ...Deno.env.toObject(),
    PGHOST: server.host,
    PGPORT: String(server.port),
    PGUSER: server.user,
    PGDATABASE: server.database,
    PGPASSWORD: server.password,
    PGSSLMODE: "disable",
  };
  return { program: "sh", args: ["-c", script], cwd, env };
}

/** A command line, for `sh`, that runs a statement in a DuckDB with the same host as pz from its source. */
export function duckCommand(sql: string): string {
  const flags = ["-q", "--no-check", "--no-prompt", "--allow-read", "--allow-write", "--allow-env", "--allow-ffi"];
  const command = [Deno.execPath(), "run", ...flags, "--allow-sys", join(import.meta.dirname ?? ".", "raw.ts"), sql];
  return command.map((part) => `'${part.replaceAll("'", `'\\''`)}'`).join(" ");
}

/** The connection `pg` of a project; the password comes from PG_SECRET. */
export function pgConnection(server: TestPostgres): string {
  return `pg:\n  connector: postgres\n  host: ${server.host}\n  port: ${server.port}\n  database: ${server.database}\n` +
    `  user: ${server.user}\n  password: \${PG_SECRET}\n  ssl_mode: disable\n  command_timeout_seconds: 600\n`;
}

/** CPU seconds of the commands, and of the server meanwhile. */
export type Both = Sample & { readonly server: number };

/** Runs a command and says what it and the server spent. */
export async function measureBoth(server: TestPostgres, measured: Measured): Promise<Both> {
  const before = serverSeconds(server);
  const sample = await measure(measured);
  // A backend is counted once it is gone.
  await quiet(server);
  return { ...sample, server: serverSeconds(server) - before };
}

/** Waits until no connection but the asking one is left. */
async function quiet(server: TestPostgres): Promise<void> {
  const others =
    "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
  while ((await server.sql(others))[0]?.[0] !== "0");
}

const TICKS_PER_SECOND = 100;

/** CPU of the server's processes so far, those that have ended included. Linux only; elsewhere NaN. */
function serverSeconds(server: TestPostgres): number {
  if (Deno.build.os !== "linux") return NaN;
  const [postmaster = ""] = Deno.readTextFileSync(join(server.folder, "data", "postmaster.pid")).split("\n");
  // Deno may not look into /proc.
  const { stdout } = new Deno.Command("sh", { args: ["-c", "cat /proc/[0-9]*/stat"], stderr: "null" }).outputSync();
  let ticks = 0;
  for (const line of new TextDecoder().decode(stdout).split("\n")) {
    // Behind the name, which may hold anything: state, parent, … then user and system time, and those of ended children.
    const [, parent, ...fields] = line.slice(line.lastIndexOf(")") + 2).split(" ");
    const isPostmaster = line.startsWith(`${postmaster} (`);
    if (!isPostmaster && parent !== postmaster) continue;
    for (const field of fields.slice(9, isPostmaster ? 13 : 11)) ticks += Number(field);
  }
  return ticks / TICKS_PER_SECOND;
}

export type Variant = { readonly name: string; readonly samples: Both[]; run(): Promise<Both> };

/** Runs the variants in turn, once more before that does not count. */
export async function runRounds(variants: readonly Variant[], rounds: number): Promise<void> {
  for (let round = 0; round <= rounds; round++) {
    for (const variant of variants) {
      const sample = await variant.run();
      if (round > 0) variant.samples.push(sample);
    }
  }
}

/** The middle of a cost over the rounds. */
export function medianOf({ samples }: Variant, cost: (sample: Both) => number): number {
  return median(samples.map(cost));
}

export function sayCosts(variant: Variant): void {
  const of = (cost: (sample: Both) => number) => medianOf(variant, cost).toFixed(2);
  say(
    `      ${variant.name}: CPU ${of(({ cpu }) => cpu)} s, with the server ${
      of(({ cpu, server }) => cpu + server)
    } s, ` +
      `wall ${of(({ wall }) => wall)} s (medians)`,
  );
}
