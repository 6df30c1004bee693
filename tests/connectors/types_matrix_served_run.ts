import { runPz } from "../harness/cli.ts";
import { Duck } from "../harness/duck.ts";
import { readReceipt } from "../harness/run_files.ts";
import { type Files, TempDir, writeFiles } from "../harness/temp_dir.ts";
import {
  columnOf,
  entityOf,
  fillTables,
  type HeldCase,
  heldCases,
  type MatrixSystem,
  type ServedStage,
  type Table,
} from "./types_matrix_served.ts";
import { type Column, readColumns, verdictOn, type Written } from "./types_matrix_served_back.ts";
import { refusal } from "./types_matrix_values.ts";

/** What becomes of each case in each sink. */
export type Cells = ReadonlyMap<string, ReadonlyMap<MatrixSystem, string>>;

/** Rows from a table of the source to an entity of a sink. */
type Flow = {
  readonly name: string;
  readonly table: Table;
  readonly sink: MatrixSystem;
  readonly entity: string;
  readonly cases: readonly HeldCase[];
};

/**
 * Takes the cases from one system to all sinks in one run of pz, and reads them back by the targets' own means. Cases
 * that are expected to pass go side by side in one table, those to be refused by themselves. An outcome is `same` (type
 * and values are those of the case), `as T` (so are the values, in another type), `refused CODE` (with a message that
 * names the column); anything else tells what is wrong. Cases that `expected` does not have are left out of a database.
 */
export async function runServed(
  stage: ServedStage,
  source: MatrixSystem,
  sinks: readonly MatrixSystem[],
  expected: Cells,
): Promise<Cells> {
  const { postgres, mariadb, store, lines } = stage;
  await using folder = await TempDir.create();
  await postgres.sql(`DROP SCHEMA IF EXISTS "to" CASCADE; CREATE SCHEMA "to"`);
  await mariadb?.sql("CREATE OR REPLACE DATABASE d");
  lines.clear();
  const prefix = `matrix-${source}`;
  const isDatabase = source === "mysql" || source === "sqlite";
  const cases = heldCases(source).filter(({ one }) => !isDatabase || expected.has(one.name));
  const tables = tablesOf(source, cases, sinks, expected);
  const flows = flowsOf(tables, sinks, expected);
  await fillTables(stage, source, tables, folder, prefix);
  await writeFiles(folder.path, projectFiles(stage, source, { tables, flows, sinks, prefix }));
  const result = await runPz(["run", "--all", "--log-format", "json"], {
    cwd: folder.path,
    env: { PG_SECRET: postgres.password, MY_SECRET: mariadb?.password ?? "none", S3_SECRET: store?.secret ?? "none" },
  });
  if (result.code !== 0 && result.code !== 1) throw new Error(result.toString());
  const failures = new Map<string, string>();
  for (const { name, status, error } of readReceipt(folder.path).nodes) {
    if (status === "failed") failures.set(name, `${error?.code} ${error?.message}`);
  }
  using duck = await Duck.open();
  if (sinks.includes("duckdb")) await duck.run(`ATTACH '${folder.join("to.duckdb")}' AS made (READ_ONLY)`);
  const cells = new Map(cases.map(({ one }) => [one.name, new Map<MatrixSystem, string>()]));
  const written = { stage, duck, folder, prefix };
  for (const flow of flows) {
    const failure = failures.get(`to_${flow.sink}.${entityOf(flow.sink, flow.entity)}`) ??
      failures.get(`src_from__${entityOf(source, flow.table.name, "from")}`) ?? failures.get(flow.name);
    const found = failure === undefined ? await outcomeOf(flow, written) : failure;
    for (const [at, held] of flow.cases.entries()) {
      const column = typeof found === "string" ? undefined : found[at];
      const told = column === undefined
        ? refusal(String(found), columnOf(held.one))
        : verdictOn(held, flow.sink, column, `${result.stdout}${result.stderr}`);
      cells.get(held.one.name)?.set(flow.sink, told);
    }
  }
  return cells;
}

async function outcomeOf({ sink, entity, cases }: Flow, written: Written): Promise<readonly Column[] | string> {
  try {
    return await readColumns(sink, entity, cases.map(({ one }) => one), written);
  } catch (error) {
    return `nothing there: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function isRefused(expected: Cells, name: string, sink: MatrixSystem): boolean {
  return expected.get(name)?.get(sink)?.startsWith("refused") !== false;
}

/** One table of those that have a type in the source, one of those that it guesses, and one of each that no sink takes. */
function tablesOf(
  source: MatrixSystem,
  cases: readonly HeldCase[],
  sinks: readonly MatrixSystem[],
  expected: Cells,
): readonly Table[] {
  const guesses = source === "ndjson" || source === "s3_json";
  const isTyped = ({ held }: HeldCase) => !guesses || held.contract !== undefined;
  const isAlone = ({ one }: HeldCase) => sinks.every((sink) => isRefused(expected, one.name, sink));
  const together = cases.filter((held) => !isAlone(held));
  return [
    { name: "typed", cases: together.filter(isTyped), isTyped: true },
    { name: "guessed", cases: together.filter((held) => !isTyped(held)), isTyped: false },
    ...cases.filter(isAlone).map((held) => ({
      name: `alone_${held.one.name}`,
      cases: [held],
      isTyped: isTyped(held),
    })),
  ].filter(({ cases }) => cases.length > 0);
}

function flowsOf(tables: readonly Table[], sinks: readonly MatrixSystem[], expected: Cells): readonly Flow[] {
  return tables.flatMap((table) =>
    sinks.flatMap((sink) => {
      const flow = (entity: string, cases: readonly HeldCase[]) => ({
        name: `${entity}__${sink}`,
        table,
        sink,
        entity,
        cases,
      });
      const [refused, passing] = [true, false].map((wanted) =>
        table.cases.filter(({ one }) => isRefused(expected, one.name, sink) === wanted)
      );
      return [
        ...(passing ?? []).length === 0 ? [] : [flow(table.name, passing ?? [])],
        ...(refused ?? []).map((held) => flow(`one_${held.one.name}`, [held])),
      ];
    })
  );
}

type Plan = {
  readonly tables: readonly Table[];
  readonly flows: readonly Flow[];
  readonly sinks: readonly MatrixSystem[];
  readonly prefix: string;
};

function projectFiles(
  { postgres, mariadb, store, api }: ServedStage,
  source: MatrixSystem,
  { tables, flows, sinks, prefix }: Plan,
): Files {
  const pg = `  connector: postgres\n  host: ${postgres.host}\n  port: ${postgres.port}\n` +
    `  database: ${postgres.database}\n  user: ${postgres.user}\n  password: \${PG_SECRET}\n  ssl_mode: disable\n`;
  const my = `  connector: mysql\n  host: ${mariadb?.host}\n  port: ${mariadb?.port}\n  database: d\n  user: pz\n` +
    "  password: ${MY_SECRET}\n  ssl_mode: disable\n";
  const objects = (root: string) => store?.yaml(root) ?? "";
  const http = `  connector: http\n  base_url: ${api.origin}\n`;
  const places: { readonly [system in MatrixSystem]: readonly [from: string, to: string] } = {
    duckdb: ["  connector: duckdb\n  path: from.duckdb\n", "  connector: duckdb\n  path: to.duckdb\n"],
    parquet: ["  connector: localfiles\n  root: from\n", "  connector: localfiles\n  root: out\n"],
    ndjson: ["  connector: localfiles\n  root: from\n", "  connector: localfiles\n  root: out_json\n"],
    postgres: [pg, pg],
    mysql: [my, my],
    sqlite: ["  connector: sqlite\n  path: from.db\n", "  connector: sqlite\n  path: to.db\n"],
    s3_parquet: [objects(`${prefix}/from`), objects(`${prefix}/out_parquet`)],
    s3_csv: [objects(`${prefix}/from`), objects(`${prefix}/out_csv`)],
    s3_json: [objects(`${prefix}/from`), objects(`${prefix}/out_json`)],
    http: [http, http],
  };
  const from = `from:\n${places[source][0]}${entities(source, tables)}`;
  const files: { [path: string]: string } = {
    "project.yml": `name: matrix\nversion: "1"\nengine: { threads: 2 }\n`,
    "connections.yml": from + sinks.map((sink) => `to_${sink}:\n${places[sink][1]}`).join(""),
  };
  for (const { name, table, sink, entity, cases } of flows) {
    const format = /(parquet|json|csv)$/.exec(sink)?.[1];
    const options = sink === "http"
      ? `path: '/to/${entity}', strategy: 'append', body_format: 'ndjson'`
      : `${format === undefined ? "" : `format: '${format}', `}strategy: 'replace'`;
    const columns = ["n", ...cases.map(({ one }) => columnOf(one))].join(", ");
    files[`pipelines/${name}.sql`] = `INSERT INTO {{ sink('to_${sink}', '${entityOf(sink, entity)}', ${options}) }}\n` +
      `SELECT ${columns} FROM {{ source('from', '${entityOf(source, table.name, "from")}') }}\n`;
  }
  return files;
}

/** How the entities of files and records are read; those of databases need no word. */
function entities(source: MatrixSystem, tables: readonly Table[]): string {
  const format = /(parquet|json|csv)$/.exec(source)?.[1];
  if (format === undefined && source !== "http") return "";
  const extension = source === "ndjson" ? "ndjson" : format;
  const reads = tables.map(({ name, cases, isTyped }) => {
    const place = source === "http" ? `path: /from/${name}` : `format: ${format}\n        path: ${name}.${extension}`;
    const columns = cases.map(({ one, held }) => `          ${columnOf(one)}: "${held.contract ?? "varchar"}"\n`);
    const typed = format === "parquet" || !isTyped ? "" : `        columns:\n          n: bigint\n${columns.join("")}`;
    return `    ${name}:\n      read:\n        ${place}\n${typed}`;
  });
  return `  entities:\n${reads.join("")}`;
}

/** The cells of a table as text, whose columns are these sinks. */
export function cellsOf(text: string, sinks: readonly MatrixSystem[]): Cells {
  const [, ...rows] = text.replaceAll(/^\n|\n$/g, "").split("\n").map((line) =>
    line.split("|").map((cell) => cell.trim())
  );
  return new Map(
    rows.map(([name = "", ...cells]) => [name, new Map(sinks.map((sink, at) => [sink, cells[at] ?? ""]))]),
  );
}
