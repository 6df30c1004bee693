import { join } from "node:path";
import {
  CHILD_VERB,
  type ConfigMap,
  ConnectorSession,
  type DatasetSpec,
  findConnector,
  type OutputSpec,
} from "../../src/connectors/mod.ts";
import { drainArrow, ingestArrow, openStaging, type Staging } from "../../src/staging/mod.ts";
import { BINARY, runPz } from "../harness/cli.ts";
import type { TestPostgres } from "../harness/postgres.ts";
import { type Files, TempDir, writeFiles } from "../harness/temp_dir.ts";
import { median } from "./cpu.ts";
import { numberAfter, removeFolder, reportGates, say } from "./gates.ts";
import { LoopDelay } from "./process_cost.ts";
import { PG_COLUMNS, pgConnection, startBenchServer } from "./w4_server.ts";
import { COLUMNS } from "./workload.ts";

/** The most that a chain may take, as a multiple of what it takes alone. */
const LIMIT = 1.1;
const LINKS = 200;
const SLOW_ROWS = 800;
const NEVER = new AbortController().signal;

/**
 * Whether who waits for a slow system holds up what has nothing to do with it: a chain of small pipelines, with and
 * without a source and a sink beside it that take seconds for few rows; and how long the event loop is held while rows
 * come from PostgreSQL and go to it at the same time, through sandboxed connectors.
 *
 *     deno task bench stall [--rounds 5] [--rows 1000000]
 */
export async function bench(args: readonly string[]): Promise<void> {
  const rounds = numberAfter(args, "--rounds", 5);
  const rows = numberAfter(args, "--rows", 1_000_000);
  await using server = await startBenchServer();
  await measureNeighbours(server, rounds);
  await measureLoop(server, rows);
}

type Neighbour = "none" | "slow source" | "slow sink";

async function measureNeighbours(server: TestPostgres, rounds: number): Promise<void> {
  await server.sql(
    "CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.01); RETURN NEW; END $$; " +
      "CREATE TABLE slow (id bigint, filling text); " +
      "CREATE TRIGGER slow BEFORE INSERT ON slow FOR EACH ROW EXECUTE FUNCTION slowly(); " +
      "CREATE VIEW slow_rows AS SELECT i AS id, repeat('x', 65536) AS filling " +
      `FROM generate_series(1, ${SLOW_ROWS}) i, pg_sleep(0.01 + i * 0); ` +
      // So that the chain begins when everybody's connector has started.
      "CREATE VIEW head AS SELECT i AS n FROM generate_series(1, 1000) i, (SELECT pg_sleep(2)) AS waited",
  );
  const neighbours: readonly Neighbour[] = ["none", "slow source", "slow sink"];
  const times = new Map<Neighbour, number[]>(neighbours.map((neighbour) => [neighbour, []]));
  await using folder = await TempDir.create();
  for (const neighbour of neighbours) await writeFiles(folder.join(neighbour), chainFiles(server, neighbour));
  for (let round = 0; round <= rounds; round++) {
    for (const neighbour of neighbours) {
      await removeFolder(folder.join(neighbour, ".pz"));
      const ms = await chainMs(folder.join(neighbour), server, neighbour);
      if (round > 0) times.get(neighbour)?.push(ms);
    }
  }
  const middle = (neighbour: Neighbour) => median(times.get(neighbour) ?? []);
  for (const neighbour of neighbours) {
    say(`      a chain of ${LINKS}, neighbour: ${neighbour}: ${middle(neighbour).toFixed(0)} ms (median of ${rounds})`);
  }
  reportGates(
    neighbours.slice(1).map((neighbour) => ({
      what: `a chain beside a ${neighbour}, time against alone`,
      value: middle(neighbour) / middle("none"),
      unit: "x",
      limit: LIMIT,
    })),
  );
}

function chainFiles(server: TestPostgres, neighbour: Neighbour): Files {
  const files: { [path: string]: string } = {
    "project.yml": `name: stall\nversion: "1"\nengine:\n  threads: 4\n  duckdb: { threads: 2 }\n`,
    "connections.yml": `${pgConnection(server)}out:\n  connector: localfiles\n  root: out\n`,
  };
  for (let link = 0; link < LINKS; link++) {
    const from = link === 0 ? "{{ source('pg', 'head') }}" : `{{ ref('p${link - 1}') }}`;
    const sink = link === LINKS - 1
      ? "INSERT INTO {{ sink('out', 'last', format: 'csv', strategy: 'replace') }}\n"
      : "";
    files[`pipelines/p${link}.sql`] = `${sink}SELECT n + 1 AS n FROM ${from}\n`;
  }
  if (neighbour === "slow source") {
    files["pipelines/beside.sql"] = `INSERT INTO {{ sink('out', 'beside', format: 'csv', strategy: 'replace') }}\n` +
      `SELECT id, length(filling) AS size FROM {{ source('pg', 'slow_rows') }}\n`;
  }
  if (neighbour === "slow sink") {
    files["pipelines/beside.sql"] = `INSERT INTO {{ sink('pg', 'slow', strategy: 'append') }}\n` +
      `SELECT range AS id, repeat('x', 65536) AS filling FROM range(${SLOW_ROWS})\n`;
  }
  return files;
}

/** From the start of the chain's first node to the end of its last. */
async function chainMs(cwd: string, server: TestPostgres, neighbour: Neighbour): Promise<number> {
  const result = await runPz(["run", "--all", "--log-format", "json"], { cwd, env: { PG_SECRET: server.password } });
  if (result.code !== 0) throw new Error(result.toString());
  const at = (event: string, name: string) =>
    Date.parse(String(result.events.find((line) => line["event"] === event && line["name"] === name)?.["at"]));
  const end = at("node_completed", "out.last");
  const besideEnd = {
    none: Infinity,
    "slow source": at("node_completed", "src_pg__slow_rows"),
    "slow sink": at("node_completed", "pg.slow"),
  };
  if (!(end < besideEnd[neighbour])) throw new Error(`the neighbour, ${neighbour}, ended before the chain`);
  return end - at("node_started", "p0");
}

/** Reads a table and writes another, each through its own connector process, at the same time. */
async function measureLoop(server: TestPostgres, rows: number): Promise<void> {
  await using folder = await TempDir.create();
  await using staging = await openStaging({
    file: join(folder.path, "staging.duckdb"),
    memoryLimitBytes: 4 * 2 ** 30,
    threads: 2,
    tempDirectory: join(folder.path, "spill"),
    allowedPaths: { files: [], folders: [] },
    preserveInsertionOrder: false,
  });
  const names = COLUMNS.map(([name]) => name).join(", ");
  await server.sql(
    `CREATE TABLE moved (${PG_COLUMNS}); INSERT INTO moved (${names}) SELECT i, i % 1000003, 'C' || i, 'paid', i % 1000, ` +
      `i / 7.0, now(), now()::date, i % 2 = 0, repeat('n', i % 60) FROM generate_series(1, ${rows}) i`,
  );
  await read(staging, server, "warm");
  const alone = new LoopDelay();
  alone.start();
  using connection = await staging.connect();
  for (let round = 0; round < 4; round++) {
    await connection.run("CREATE OR REPLACE TABLE staging.copied AS FROM staging.warm");
  }
  alone.stop();
  const delay = new LoopDelay();
  delay.start();
  await Promise.all([read(staging, server, "again"), write(staging, server, "warm")]);
  delay.stop();
  say(`      ${rows} rows in and as many out at once`);
  // What else runs on the machine holds the loop too, and does so while DuckDB works alone.
  reportGates(([[99.9, "p99.9", 50], [100, "longest", 200]] as const).map(([percent, name, limit]) => {
    const [value, other] = [delay.percentile(percent), alone.percentile(percent)];
    say(`      event loop held, ${name}: ${value.toFixed(1)} ms; while DuckDB works alone: ${other.toFixed(1)} ms`);
    const what = `event loop held while rows move both ways, beyond DuckDB alone, ${name}`;
    return { what, value: Math.max(0, value - other), unit: " ms", limit };
  }));
}

async function read(staging: Staging, server: TestPostgres, relation: string): Promise<void> {
  await using session = open(server);
  using connection = await staging.connect();
  const spec: DatasetSpec = { connection: "pg", entity: "moved", config: {}, options: {} };
  const schema = await session.getSchema(spec, NEVER);
  const [partition] = await session.planRead(spec, NEVER);
  if (partition === undefined) throw new Error("there is nothing to read");
  const batches = session.read(spec, partition, { batchBytes: 8 << 20, signal: NEVER });
  await ingestArrow(connection, relation, schema, batches, {});
}

async function write(staging: Staging, server: TestPostgres, relation: string): Promise<void> {
  await using session = open(server);
  using connection = await staging.connect();
  const { schema, batches } = await drainArrow(connection, relation, { batchBytes: 8 << 20 });
  const spec: OutputSpec = {
    connection: "pg",
    entity: "arrived",
    config: {},
    options: {},
    mode: "replace",
    schemaPolicy: "fail_on_change",
    keys: [],
    attempt: { node: "n", run: "r", ordinal: 1 },
  };
  const handle = await session.beginWrite(spec, schema, NEVER);
  for await (const batch of batches) await handle.write(batch, NEVER);
  await handle.commit();
}

function open({ host, port, user, password, database }: TestPostgres): ConnectorSession {
  const postgres = findConnector("postgres");
  if (postgres === undefined || postgres === "planned") throw new Error("there is no connector postgres");
  const config: ConfigMap = { host, port: BigInt(port), user, password, database, command_timeout_seconds: 600n };
  return new ConnectorSession({
    connector: "postgres",
    connection: "pg",
    config,
    grant: postgres.grant(config, { projectRoot: "/nowhere" }),
    runId: "r",
    onLog: () => {},
    onNotice: () => {},
    ...(BINARY === undefined ? {} : { command: { path: BINARY, args: [CHILD_VERB], env: {} } }),
  });
}
