import { connector as mysql } from "../../src/connectors/builtin/mysql/connector.ts";
import { connector as sqlite } from "../../src/connectors/builtin/sqlite/connector.ts";
import { ConnectorError } from "../../src/connectors/mod.ts";
import { runPz } from "../harness/cli.ts";
import { Duck } from "../harness/duck.ts";
import type { TestMariaDb } from "../harness/mariadb.ts";
import type { TestPostgres } from "../harness/postgres.ts";
import { readReceipt } from "../harness/run_files.ts";
import { type Files, TempDir, writeFiles } from "../harness/temp_dir.ts";
import { fromDuck, OpenedConnector, output, staged } from "./database_support.ts";
import { configOf } from "./mysql_support.ts";
import { CASES, type TypeCase } from "./types_matrix_cases.ts";
import { duckText, jsonKind, jsonOf, NULL, quoted, refusal, spelled, type Text } from "./types_matrix_values.ts";

/** What rows are read from, and what they are written to. */
export const SYSTEMS = ["duckdb", "parquet", "ndjson", "postgres"] as const;
export type System = typeof SYSTEMS[number];
/** Those, and the databases that a suite of their own takes them to. */
export type AnySystem = System | "mysql" | "sqlite";

/** The servers, of which MariaDB may be missing where nothing goes to it, and what the rows of a run are written to. */
export type Stage = {
  readonly server: TestPostgres;
  readonly mariadb?: TestMariaDb;
  readonly sinks: readonly AnySystem[];
};

/** What became of a case in each sink. */
export type Outcomes = ReadonlyMap<string, ReadonlyMap<AnySystem, string>>;

/** The cases that a system can hold by itself. */
export function casesOf(source: AnySystem): readonly TypeCase[] {
  if (source === "postgres") return CASES.filter(({ pg }) => pg !== undefined);
  return CASES.filter(({ notIn }) => notIn?.some((system) => system === source) !== true);
}

/**
 * Takes every case from one system to all, in one run of pz, and reads it back by the target's own means. `same`: type
 * and values are those of the case; `as T`: so are the values, in another type; `refused CODE`: the node failed with a
 * message that names the column; anything else tells what is wrong.
 */
export async function runMatrix(stage: Stage, source: AnySystem): Promise<Outcomes> {
  const { server, mariadb, sinks } = stage;
  await using folder = await TempDir.create();
  await server.sql(`DROP SCHEMA IF EXISTS "to" CASCADE; CREATE SCHEMA "to"`);
  await mariadb?.sql("CREATE OR REPLACE DATABASE d");
  const cases = await fill(stage, source, casesOf(source), folder);
  await writeFiles(folder.path, projectFiles(stage, source, cases));
  const result = await runPz(["run", "--all", "--log-format", "json"], {
    cwd: folder.path,
    env: { PG_SECRET: server.password, MY_SECRET: mariadb?.password ?? "none" },
  });
  if (result.code !== 0 && result.code !== 1) throw new Error(result.toString());
  const failures = new Map<string, string>();
  for (const { name, status, error } of readReceipt(folder.path).nodes) {
    if (status === "failed") failures.set(name, `${error?.code} ${error?.message}`);
  }
  using duck = await Duck.open();
  if (sinks.includes("duckdb")) await duck.run(`ATTACH '${folder.join("to.duckdb")}' AS made (READ_ONLY)`);
  const outcomes = new Map<string, Map<AnySystem, string>>();
  for (const one of cases) {
    const found = new Map<AnySystem, string>();
    outcomes.set(one.name, found);
    for (const sink of sinks) {
      const failure = failures.get(`to_${sink}.${nameIn(sink, one)}`) ??
        failures.get(`src_from__${nameIn(source, one, "from")}`) ?? failures.get(`${one.name}__${sink}`);
      found.set(sink, failure === undefined ? await verdict(one, sink, { duck, stage, folder }) : refusal(failure));
    }
  }
  return outcomes;
}

/** Entities at a server have a schema, or names, of their own. */
function nameIn(system: AnySystem, { name }: TypeCase, schema = "to"): string {
  return system === "postgres" ? `${schema}.${name}` : system === "mysql" ? `${schema}_${name}` : name;
}

function projectFiles({ server, mariadb, sinks }: Stage, source: AnySystem, cases: readonly TypeCase[]): Files {
  const pg = `connector: postgres\n  host: ${server.host}\n  port: ${server.port}\n  database: ${server.database}\n` +
    `  user: ${server.user}\n  password: \${PG_SECRET}\n  ssl_mode: disable\n`;
  const my = mariadb === undefined
    ? ""
    : `connector: mysql\n  host: ${mariadb.host}\n  port: ${mariadb.port}\n  database: d\n  user: pz\n` +
      "  password: ${MY_SECRET}\n  ssl_mode: disable\n";
  const entities = cases.flatMap(({ name, contract }) => {
    if (source !== "ndjson") return [];
    const columns = contract === undefined ? "" : `        columns: { n: bigint, x: "${contract}" }\n`;
    return [`    ${name}:\n      read:\n        format: json\n        path: ${name}.ndjson\n${columns}`];
  });
  const from: { readonly [system in AnySystem]: string } = {
    duckdb: "connector: duckdb\n  path: from.duckdb\n",
    parquet: "connector: localfiles\n  root: from\n",
    ndjson: `connector: localfiles\n  root: from\n  entities:\n${entities.join("")}`,
    postgres: pg,
    mysql: my,
    sqlite: "connector: sqlite\n  path: from.db\n",
  };
  const files: { [path: string]: string } = {
    "project.yml": `name: matrix\nversion: "1"\nengine: { threads: 2 }\n`,
    "connections.yml": `from:\n  ${from[source]}to_duckdb:\n  connector: duckdb\n  path: to.duckdb\n` +
      `to_parquet:\n  connector: localfiles\n  root: out\nto_ndjson:\n  connector: localfiles\n  root: out_json\n` +
      `to_postgres:\n  ${pg}to_sqlite:\n  connector: sqlite\n  path: to.db\n${my === "" ? "" : `to_mysql:\n  ${my}`}`,
  };
  for (const one of cases) {
    for (const sink of sinks) {
      const entity = nameIn(sink, one);
      const format = sink === "parquet" ? "format: 'parquet', " : sink === "ndjson" ? "format: 'json', " : "";
      const options = source === "parquet" ? `, format: 'parquet', path: '${one.name}.parquet'` : "";
      files[`pipelines/${one.name}__${sink}.sql`] =
        `INSERT INTO {{ sink('to_${sink}', '${entity}', ${format}strategy: 'replace') }}\n` +
        `SELECT n, x FROM {{ source('from', '${nameIn(source, one, "from")}'${options}) }}\n`;
    }
  }
  return files;
}

/** Makes each case in its source, with a NULL after its values; gives those that the source can hold. */
async function fill(
  { server, mariadb }: Stage,
  source: AnySystem,
  cases: readonly TypeCase[],
  folder: TempDir,
): Promise<readonly TypeCase[]> {
  if (source === "sqlite" || source === "mysql") {
    const held: TypeCase[] = [];
    await using opened = openDatabase(source, mariadb, folder.join("from.db"));
    for (const one of cases) {
      if (/HUGEINT$/.test(one.duck)) continue; // they are texts there
      const rows = one.values.map((value, index) => `(${index}, CAST(${duckText(value.duck)} AS ${one.duck}))`);
      const { schema, batches } = await fromDuck(
        `SELECT n::BIGINT AS n, x::${one.duck} AS x FROM (VALUES ${
          [...rows, `(${rows.length}, NULL)`].join(", ")
        }) t(n, x)`,
      );
      try {
        await opened.write(output(nameIn(source, one, "from"), "replace"), schema, batches);
        held.push({
          ...one,
          values: one.values.map((value) => value.duck === "-0.0" ? { duck: "0.0", pg: "0" } : value),
        });
      } catch (error) {
        if (!(error instanceof ConnectorError)) throw error;
      }
    }
    return held;
  }
  if (source === "postgres") {
    await server.sql(`DROP SCHEMA IF EXISTS "from" CASCADE; CREATE SCHEMA "from"`);
    for (const { name, pg = "", values } of cases) {
      const rows = values.map((value, index) => `(${index}, ${quoted(value.pg ?? value.duck)}::${pg})`);
      await server.sql(
        `CREATE TABLE "from".${name} (n bigint, x ${pg}); INSERT INTO "from".${name} VALUES ${
          [...rows, `(${values.length}, NULL)`].join(", ")
        }`,
      );
    }
    return cases;
  }
  await Deno.mkdir(folder.join("from"), { recursive: true });
  if (source === "ndjson") {
    for (const one of cases) {
      const texts = [...one.values.map((value) => jsonOf(one, value)), "null"];
      const lines = texts.map((text, index) => `{"n":${index},"x":${text}}\n`);
      await Deno.writeTextFile(folder.join("from", `${one.name}.ndjson`), lines.join(""));
    }
    return cases;
  }
  using duck = await Duck.open();
  await duck.run(`ATTACH '${folder.join("from.duckdb")}' AS origin`);
  for (const { name, duck: type, values } of cases) {
    await duck.run(`CREATE TABLE origin.${name} (n BIGINT, x ${type})`);
    const rows = values.map((value, index) => `(${index}, CAST(${duckText(value.duck)} AS ${type}))`);
    await duck.run(`INSERT INTO origin.${name} VALUES ${[...rows, `(${values.length}, NULL)`].join(", ")}`);
    if (source === "parquet") {
      await duck.run(`COPY origin.${name} TO '${folder.join("from", `${name}.parquet`)}' (FORMAT parquet)`);
    }
  }
  await duck.run("DETACH origin");
  return cases;
}

/** The connector of a database that is read and written by nothing else here. */
export function openDatabase(
  system: "mysql" | "sqlite",
  mariadb: TestMariaDb | undefined,
  path: string,
): OpenedConnector {
  if (system === "sqlite") return new OpenedConnector(sqlite, { path });
  if (mariadb === undefined) throw new Error("there is no MariaDB");
  return new OpenedConnector(mysql, configOf(mariadb));
}

type Place = { readonly duck: Duck; readonly stage: Stage; readonly folder: TempDir };

/** Reads a case back and compares it. */
async function verdict(one: TypeCase, sink: AnySystem, place: Place): Promise<string> {
  let found: { readonly type: string; readonly texts: readonly Text[] };
  try {
    found = await readBack(one, sink, place);
  } catch (error) {
    return `nothing there: ${error instanceof Error ? error.message : String(error)}`;
  }
  const expected = [...one.values.map((value) => spelled(one, value, sink, found.type)), NULL];
  const wrong = found.texts.findIndex((text, index) => text !== expected[index]);
  if (wrong !== -1 || found.texts.length !== expected.length) {
    const [is, was] = [found.texts[wrong], expected[wrong]].map((text) => String(text).slice(0, 60));
    return `CHANGED to ${found.type}: ${found.texts.length} of ${expected.length} rows, ${is} instead of ${was}`;
  }
  const own = sink === "postgres" ? one.pg : sink === "ndjson" ? undefined : one.duck;
  return found.type === own ? "same" : `as ${found.type}`;
}

async function readBack(
  one: TypeCase,
  sink: AnySystem,
  { duck, stage: { server, mariadb }, folder }: Place,
): Promise<{ readonly type: string; readonly texts: readonly Text[] }> {
  const { name } = one;
  switch (sink) {
    case "postgres": {
      const [[type] = []] = await server.sql(
        `SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = '"to".${name}'::regclass AND attname = 'x'`,
      );
      const rows = await server.sql(`SELECT x::text FROM "to".${name} ORDER BY n`);
      return { type: type ?? "", texts: rows.map(([text]) => text ?? NULL) };
    }
    case "mysql":
    case "sqlite": {
      await using opened = openDatabase(sink, mariadb, folder.join("to.db"));
      const spec = { connection: "c", entity: nameIn(sink, one), config: {}, options: {} };
      const { shape, rows } = await staged(opened, spec);
      const sorted = rows.toSorted(([a], [b]) => Number(a) - Number(b));
      return { type: shape[1]?.slice(2) ?? "", texts: sorted.map(([, text]) => text ?? NULL) };
    }
    case "ndjson": {
      const lines = (await Deno.readTextFile(folder.join("out_json", name, `${name}.json`))).split("\n").slice(0, -1);
      const found = lines.map((line) => /^\{"n":(\d+),"x":(.*)\}$/s.exec(line) ?? [line, "0", line]);
      const sorted = found.toSorted(([, a], [, b]) => Number(a) - Number(b)).map(([, , text = ""]) => text);
      const texts = sorted.map((text): Text => text === "null" ? NULL : text);
      const kinds = new Set(sorted.filter((text) => text !== "null").map(jsonKind));
      return { type: [...kinds].join(" or ") || "null", texts };
    }
    default: {
      const relation = sink === "duckdb" ? `made.main.${name}` : `'${folder.join("out", name, `${name}.parquet`)}'`;
      const shape = await duck.shape(`SELECT x FROM ${relation}`);
      const rows = await duck.rows(`SELECT x FROM ${relation} ORDER BY n`);
      return { type: shape[0]?.slice(2) ?? "", texts: rows.map(([text]) => text ?? NULL) };
    }
  }
}

/** The outcomes as a table, a line for each case. */
export function tableOf<System extends string>(
  outcomes: ReadonlyMap<string, ReadonlyMap<System, string>>,
  sinks: readonly System[],
): string[] {
  const rows = [...outcomes].map(([name, cells]) => [name, ...sinks.map((sink) => cells.get(sink) ?? "")]);
  const all = [["", ...sinks.map((sink) => `to ${sink}`)], ...rows];
  const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => Math.min(40, row[column]?.length ?? 0)))) ??
    [];
  return all.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ").trimEnd());
}
