import assert from "node:assert/strict";
import { runPz } from "../harness/cli.ts";
import { Duck } from "../harness/duck.ts";
import { startPostgres } from "../harness/postgres.ts";
import { type Files, TempDir, writeFiles } from "../harness/temp_dir.ts";
import { type System, SYSTEMS } from "./types_matrix_run.ts";

/** A table of whole numbers and texts. */
type Shape = {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (number | string | null)[])[];
};

const WIDE = Array.from({ length: 1000 }, (_, index) => `c${index}`);

const SHAPES: readonly Shape[] = [
  { name: "wide", columns: WIDE, rows: [1, 2, 3].map((row) => WIDE.map((_, index) => wideValue(index, row))) },
  { name: "empty", columns: ["n", "x"], rows: [] },
  {
    name: "Größe日本",
    columns: ["n", `Größe "x" 'y'`, "select", "日本", "a.b", "A b", "ключ; --"],
    rows: [[1, 2, 3, 4, 5, 6, 7], [2, null, null, null, null, null, null]],
  },
];

/** Columns of several types, as DuckDB takes many alike in JSON for the keys of a map. */
function wideValue(index: number, row: number): number | string | null {
  return index > 1 && index % 7 === row ? null : index % 2 === 0 ? `ö${row}` : index * row;
}

const server = await startPostgres();

for (const source of SYSTEMS) {
  Deno.test(`1000 columns, no rows, and odd names go from ${source} into each system as they are`, async () => {
    await using folder = await TempDir.create();
    await writeFiles(folder.path, projectFiles(source));
    await server.sql(`DROP SCHEMA IF EXISTS "to" CASCADE; CREATE SCHEMA "to"`);
    await fill(source, folder);
    const result = await runPz(["run", "--all"], { cwd: folder.path, env: { PG_SECRET: server.password } });
    assert.equal(result.code, 0, result.toString());
    using duck = await Duck.open();
    await duck.run(`ATTACH '${folder.join("to.duckdb")}' AS made (READ_ONLY)`);
    for (const shape of SHAPES) {
      for (const sink of SYSTEMS) {
        const expected = shape.rows.map((row) => row.map((value) => value === null ? null : String(value)));
        const found = await readBack(shape, sink, duck, folder);
        assert.deepEqual(found, { columns: shape.columns, rows: expected }, `${shape.name} to ${sink}`);
      }
    }
  });
}

function ident(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A text between single quotes in a call of a template, and in SQL. */
function doubled(text: string): string {
  return text.replaceAll("'", "''");
}

/** Names of entities; in files, and so in the paths of all systems, only the index of a shape stands. */
function entityOf(system: System, shape: Shape): string {
  if (system === "parquet" || system === "ndjson") return `t${SHAPES.indexOf(shape)}`;
  return shape.name;
}

function projectFiles(source: System): Files {
  const pg = (options: string) =>
    `connector: postgres\n  host: ${server.host}\n  port: ${server.port}\n  database: ${server.database}\n` +
    `  user: ${server.user}\n  password: \${PG_SECRET}\n  ssl_mode: disable\n${options}`;
  const from: { readonly [system in System]: string } = {
    duckdb: "connector: duckdb\n  path: from.duckdb\n",
    parquet: "connector: localfiles\n  root: from\n",
    ndjson: `connector: localfiles\n  root: from\n  entities:\n${SHAPES.map(ndjsonEntity).join("")}`,
    postgres: pg(""),
  };
  const files: { [path: string]: string } = {
    "project.yml": `name: shapes\nversion: "1"\nengine: { threads: 2 }\n`,
    "connections.yml": `from:\n  ${from[source]}to_duckdb:\n  connector: duckdb\n  path: to.duckdb\n` +
      `to_parquet:\n  connector: localfiles\n  root: out\nto_ndjson:\n  connector: localfiles\n  root: out_json\n` +
      `to_postgres:\n  ${pg("")}`,
  };
  for (const [index, shape] of SHAPES.entries()) {
    for (const sink of SYSTEMS) {
      const format = sink === "parquet" ? "format: 'parquet', " : sink === "ndjson" ? "format: 'json', " : "";
      const place = { duckdb: "", postgres: "", parquet: `, format: 'parquet', path: 't${index}.parquet'` };
      const options = source === "ndjson" ? "" : place[source];
      const to = entityOf(sink, sink === "postgres" ? { ...shape, name: `to.${shape.name}` } : shape);
      files[`pipelines/p${index}_${sink}.sql`] =
        `INSERT INTO {{ sink('to_${sink}', '${doubled(to)}', ${format}strategy: 'replace') }}\n` +
        `SELECT * FROM {{ source('from', '${doubled(entityOf(source, shape))}'${options}) }}\n`;
    }
  }
  return files;
}

/** Without rows, only a contract says which columns there are. */
function ndjsonEntity({ rows, columns }: Shape, index: number): string {
  const contract = rows.length > 0 ? "" : `        columns: { ${columns.map((name) => `${name}: int`).join(", ")} }\n`;
  return `    t${index}:\n      read:\n        format: json\n        path: t${index}.ndjson\n${contract}`;
}

function sqlValue(value: number | string | null): string {
  return value === null ? "NULL" : typeof value === "string" ? `'${doubled(value)}'` : String(value);
}

async function fill(source: System, folder: TempDir): Promise<void> {
  using duck = await Duck.open();
  await Deno.mkdir(folder.join("from"), { recursive: true });
  if (source === "duckdb") await duck.run(`ATTACH '${folder.join("from.duckdb")}' AS origin`);
  for (const [index, { name, columns, rows }] of SHAPES.entries()) {
    const values = rows.map((row) => `(${row.map(sqlValue).join(", ")})`);
    const filling = values.length === 0 ? "" : `; INSERT INTO TABLE_NAME VALUES ${values.join(", ")}`;
    const making = `DROP TABLE IF EXISTS TABLE_NAME; CREATE TABLE TABLE_NAME (${
      columns.map((column, at) =>
        `${ident(column)} ${rows.some((row) => typeof row[at] === "string") ? "text" : "integer"}`
      ).join(", ")
    })${filling}`;
    switch (source) {
      case "postgres":
        await server.sql(making.replaceAll("TABLE_NAME", ident(name)));
        break;
      case "ndjson":
        await Deno.writeTextFile(
          folder.join("from", `t${index}.ndjson`),
          rows.map((row) => `${JSON.stringify(Object.fromEntries(columns.map((c, at) => [c, row[at]])))}\n`).join(""),
        );
        break;
      default: {
        const table = source === "duckdb" ? `origin.${ident(name)}` : ident(name);
        await duck.run(making.replaceAll("TABLE_NAME", table));
        if (source === "parquet") {
          await duck.run(`COPY ${table} TO '${folder.join("from", `t${index}.parquet`)}' (FORMAT parquet)`);
        }
      }
    }
  }
  if (source === "duckdb") await duck.run("DETACH origin");
}

type Found = { readonly columns: readonly string[]; readonly rows: readonly (readonly (string | null)[])[] };

async function readBack(shape: Shape, sink: System, duck: Duck, folder: TempDir): Promise<Found> {
  const index = SHAPES.indexOf(shape);
  switch (sink) {
    case "postgres": {
      const table = `"to".${ident(shape.name)}`;
      const names = await server.sql(
        `SELECT attname FROM pg_attribute WHERE attrelid = '${
          doubled(table)
        }'::regclass AND attnum > 0 ORDER BY attnum`,
      );
      const columns = names.map(([name]) => name ?? "");
      return {
        columns,
        rows: await server.sql(`SELECT * FROM ${table} ORDER BY ${ident(columns[1] ?? "")} NULLS LAST`),
      };
    }
    case "ndjson": {
      const text = await Deno.readTextFile(folder.join("out_json", `t${index}`, `t${index}.json`));
      const lines = text.split("\n").slice(0, -1).map((line): { [name: string]: number | string | null } =>
        JSON.parse(line)
      );
      const columns = lines[0] === undefined ? shape.columns : Object.keys(lines[0]);
      const rows = lines.map((line) => columns.map((name) => line[name] === null ? null : String(line[name])));
      return { columns, rows: rows.toSorted(byId) };
    }
    default: {
      const table = sink === "duckdb"
        ? `made.main.${ident(shape.name)}`
        : `'${folder.join("out", `t${index}`, `t${index}.parquet`)}'`;
      const described = await duck.rows(`SELECT column_name FROM (DESCRIBE FROM ${table})`);
      return {
        columns: described.map(([name]) => name ?? ""),
        rows: (await duck.rows(`FROM ${table}`)).toSorted(byId),
      };
    }
  }
}

/** The first rows have the smallest second values; NULL stands last. */
function byId(a: readonly (string | null)[], b: readonly (string | null)[]): number {
  return Number(a[1] ?? Infinity) - Number(b[1] ?? Infinity);
}
