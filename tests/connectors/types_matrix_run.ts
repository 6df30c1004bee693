import { runPz } from "../harness/cli.ts";
import { Duck } from "../harness/duck.ts";
import type { TestPostgres } from "../harness/postgres.ts";
import { readReceipt } from "../harness/run_files.ts";
import { type Files, TempDir, writeFiles } from "../harness/temp_dir.ts";
import { CASES, type CaseValue, type TypeCase } from "./types_matrix_cases.ts";

/** What rows are read from, and what they are written to. */
export const SYSTEMS = ["duckdb", "parquet", "ndjson", "postgres"] as const;
export type System = typeof SYSTEMS[number];

/** What became of a case in each sink. */
export type Outcomes = ReadonlyMap<string, ReadonlyMap<System, string>>;

const NULL: unique symbol = Symbol("NULL");
type Text = string | typeof NULL;

/** The cases that a system can hold by itself. */
export function casesOf(source: System): readonly TypeCase[] {
  if (source === "postgres") return CASES.filter(({ pg }) => pg !== undefined);
  return CASES.filter(({ notIn }) => notIn?.some((system) => system === source) !== true);
}

/**
 * Takes every case from one system to all, in one run of pz, and reads it back by the target's own means. `same`: type
 * and values are those of the case; `as T`: so are the values, in another type; `refused CODE`: the node failed with a
 * message that names the column; anything else tells what is wrong.
 */
export async function runMatrix(server: TestPostgres, source: System): Promise<Outcomes> {
  await using folder = await TempDir.create();
  const cases = casesOf(source);
  await writeFiles(folder.path, projectFiles(server, source, cases));
  await server.sql(`DROP SCHEMA IF EXISTS "to" CASCADE; CREATE SCHEMA "to"`);
  await fill(server, source, cases, folder);
  const result = await runPz(["run", "--all", "--log-format", "json"], {
    cwd: folder.path,
    env: { PG_SECRET: server.password },
  });
  if (result.code !== 0 && result.code !== 1) throw new Error(result.toString());
  const failures = new Map<string, string>();
  for (const { name, status, error } of readReceipt(folder.path).nodes) {
    if (status === "failed") failures.set(name, `${error?.code} ${error?.message}`);
  }
  using duck = await Duck.open();
  await duck.run(`ATTACH '${folder.join("to.duckdb")}' AS made (READ_ONLY)`);
  const outcomes = new Map<string, Map<System, string>>();
  for (const one of cases) {
    const found = new Map<System, string>();
    outcomes.set(one.name, found);
    for (const sink of SYSTEMS) {
      const failure = failures.get(`to_${sink}.${nameIn(sink, one)}`) ??
        failures.get(`src_from__${nameIn(source, one, "from")}`) ?? failures.get(`${one.name}__${sink}`);
      found.set(sink, failure === undefined ? await verdict(one, sink, { duck, server, folder }) : refusal(failure));
    }
  }
  return outcomes;
}

/** Entities at the server stand in a schema of their own. */
function nameIn(system: System, { name }: TypeCase, schema = "to"): string {
  return system === "postgres" ? `${schema}.${name}` : name;
}

function refusal(failure: string): string {
  const [code = ""] = failure.split(" ");
  return /"x"|\bx\b/.test(failure) ? `refused ${code}` : `refused without the column's name: ${failure}`;
}

function projectFiles(server: TestPostgres, source: System, cases: readonly TypeCase[]): Files {
  const pg = `connector: postgres\n  host: ${server.host}\n  port: ${server.port}\n  database: ${server.database}\n` +
    `  user: ${server.user}\n  password: \${PG_SECRET}\n  ssl_mode: disable\n`;
  const entities = cases.flatMap(({ name, contract }) => {
    if (source !== "ndjson") return [];
    const columns = contract === undefined ? "" : `        columns: { n: bigint, x: "${contract}" }\n`;
    return [`    ${name}:\n      read:\n        format: json\n        path: ${name}.ndjson\n${columns}`];
  });
  const from: { readonly [system in System]: string } = {
    duckdb: "connector: duckdb\n  path: from.duckdb\n",
    parquet: "connector: localfiles\n  root: from\n",
    ndjson: `connector: localfiles\n  root: from\n  entities:\n${entities.join("")}`,
    postgres: pg,
  };
  const files: { [path: string]: string } = {
    "project.yml": `name: matrix\nversion: "1"\nengine: { threads: 2 }\n`,
    "connections.yml": `from:\n  ${from[source]}to_duckdb:\n  connector: duckdb\n  path: to.duckdb\n` +
      `to_parquet:\n  connector: localfiles\n  root: out\nto_ndjson:\n  connector: localfiles\n  root: out_json\n` +
      `to_postgres:\n  ${pg}`,
  };
  for (const one of cases) {
    for (const sink of SYSTEMS) {
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

/** Makes each case in its source, with a NULL after its values. */
async function fill(server: TestPostgres, source: System, cases: readonly TypeCase[], folder: TempDir): Promise<void> {
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
    return;
  }
  await Deno.mkdir(folder.join("from"), { recursive: true });
  if (source === "ndjson") {
    for (const one of cases) {
      const texts = [...one.values.map((value) => jsonOf(one, value)), "null"];
      const lines = texts.map((text, index) => `{"n":${index},"x":${text}}\n`);
      await Deno.writeTextFile(folder.join("from", `${one.name}.ndjson`), lines.join(""));
    }
    return;
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
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A text in DuckDB's SQL, which can't have U+0000 in it. */
function duckText(text: string): string {
  return text.split("\0").map(quoted).join(" || chr(0) || ");
}

function jsonOf({ duck }: TypeCase, { duck: text, json }: CaseValue): string {
  if (json !== undefined) return json;
  return /^(BOOLEAN|U?\w*INT(EGER)?$|DECIMAL|FLOAT|DOUBLE)/.test(duck) ? text : JSON.stringify(text);
}

type Place = { readonly duck: Duck; readonly server: TestPostgres; readonly folder: TempDir };

/** Reads a case back and compares it. */
async function verdict(one: TypeCase, sink: System, place: Place): Promise<string> {
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

/** A value as a column of the type in a sink shows it: where only texts are, as the text that it had. */
function spelled(one: TypeCase, value: CaseValue, sink: System, type: string): Text {
  switch (sink) {
    case "postgres":
      return type === "text" ? value.duck : value.pg ?? value.duck;
    case "ndjson": {
      const text = value.written ?? jsonOf(one, value);
      return text === "null" ? NULL : text;
    }
    default:
      return type.startsWith("STRUCT") ? value.object ?? value.duck : value.duck;
  }
}

async function readBack(
  one: TypeCase,
  sink: System,
  { duck, server, folder }: Place,
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

function jsonKind(text: string): string {
  switch (text[0]) {
    case '"':
      return "text";
    case "{":
      return "object";
    case "[":
      return "array";
    case "t":
    case "f":
      return "boolean";
    default:
      return "number";
  }
}

/** The outcomes as a table, a line for each case. */
export function tableOf(outcomes: Outcomes): string[] {
  const rows = [...outcomes].map(([name, cells]) => [name, ...SYSTEMS.map((sink) => cells.get(sink) ?? "")]);
  const all = [["", ...SYSTEMS.map((sink) => `to ${sink}`)], ...rows];
  const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => Math.min(40, row[column]?.length ?? 0)))) ??
    [];
  return all.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ").trimEnd());
}
