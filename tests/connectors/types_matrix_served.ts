import { TestHttp } from "../harness/http_server.ts";
import { Duck } from "../harness/duck.ts";
import type { TestMariaDb } from "../harness/mariadb.ts";
import type { TestPostgres } from "../harness/postgres.ts";
import type { TestStore } from "../harness/s3_store.ts";
import type { TempDir } from "../harness/temp_dir.ts";
import { fromDuck, output } from "./database_support.ts";
import { CASES, type CaseValue, type TypeCase } from "./types_matrix_cases.ts";
import { type AnySystem, openDatabase } from "./types_matrix_run.ts";
import { duckText, jsonOf, quoted } from "./types_matrix_values.ts";

/** Systems behind HTTP: objects of a store by their format, and an API. */
export const SERVED = ["s3_parquet", "s3_csv", "s3_json", "http"] as const;
export type ServedSystem = typeof SERVED[number];
export type MatrixSystem = AnySystem | ServedSystem;

/** What the systems of a run are on; `lines` are the records that the API holds, by their path. */
export type ServedStage = {
  readonly postgres: TestPostgres;
  /** Undefined where the machine has none; then nothing may go there or come from there. */
  readonly mariadb: TestMariaDb | undefined;
  readonly store: TestStore | undefined;
  readonly api: TestHttp;
  readonly lines: Map<string, string[]>;
};

/** A case, and what it is in the source, where that has no such type. */
export type HeldCase = { readonly one: TypeCase; readonly held: TypeCase };

/** Cases side by side, each in a column `x_` and its name, with NULL below its values. */
export type Table = { readonly name: string; readonly cases: readonly HeldCase[]; readonly isTyped: boolean };

/** An API that keeps each line that is posted to a path, and gives the records of a path back as an array. */
export function openApi(lines: Map<string, string[]>): TestHttp {
  return new TestHttp((request, url) => {
    const known = lines.get(url.pathname) ?? [];
    if (request.method === "GET") {
      return new Response(`[${known.join(",")}]`, { headers: { "content-type": "application/json" } });
    }
    lines.set(url.pathname, [...known, ...request.body.split("\n").filter((line) => line !== "")]);
    return new Response(null, { status: 202 });
  });
}

export function columnOf({ name }: TypeCase): string {
  return `x_${name}`;
}

/** The cases that a system can hold by itself, as it holds them. */
export function heldCases(source: MatrixSystem): readonly HeldCase[] {
  const like = source === "s3_parquet" ? "parquet" : source === "s3_json" ? "ndjson" : source;
  const cases = CASES.filter(({ notIn }) => notIn?.some((system) => system === like) !== true);
  switch (source) {
    case "postgres":
      return cases.filter(({ pg }) => pg !== undefined).map((one) => ({ one, held: one }));
    case "mysql":
      return cases.map((one) => ({ one, held: withoutSign(one) }));
    case "sqlite":
      return cases.map((one) => ({ one, held: withoutSign(one.duck === "FLOAT" ? asDouble(one) : one) }));
    case "ndjson":
    case "s3_json":
      return cases.map((one) => ({ one, held: guessed(one) }));
    case "s3_csv":
      return cases.map((one) => ({ one, held: one.contract === undefined ? asText(one) : one }));
    case "http":
      // Null is no value of JSON's there, but the lack of one.
      return cases.filter(({ name }) => name !== "json_null").map((one) => ({ one, held: asRecord(one) }));
    default:
      return cases.map((one) => ({ one, held: one }));
  }
}

/** Neither MySQL nor SQLite has a negative zero. */
function withoutSign(one: TypeCase): TypeCase {
  return { ...one, values: one.values.map((value) => value.duck === "-0.0" ? { duck: "0.0", pg: "0" } : value) };
}

function asDouble(one: TypeCase): TypeCase {
  return { ...one, duck: "DOUBLE", values: one.values.map(({ duck, written }) => ({ duck: written ?? duck })) };
}

/** What DuckDB makes of JSON without a contract. */
function guessed(one: TypeCase): TypeCase {
  if (one.contract !== undefined) return one;
  // It knows no text of a moment with nanoseconds.
  if (one.name === "timestamp_ns") return { ...one, duck: "VARCHAR" };
  return { ...one, values: one.values.map((value) => ({ ...value, duck: value.object ?? value.duck })) };
}

function asText(one: TypeCase): TypeCase {
  const values = one.values.map(({ duck }) => ({ duck }));
  return { name: one.name, duck: "VARCHAR", pg: "text", contract: "varchar", values };
}

/** What a contract for records has no name for is JSON where it is nested, else a text. */
function asRecord(one: TypeCase): TypeCase {
  if (one.contract !== undefined) return one;
  const isNested = one.duck === "JSON" || one.values.some(({ json }) => json !== undefined && /^[[{]/.test(json));
  if (!isNested) return asText(one);
  const values = one.values.map((value) => ({ duck: value.json ?? value.duck, json: value.json ?? value.duck }));
  return { name: one.name, duck: "JSON", pg: "json", contract: "json", values };
}

/** The rows of a table: the value of each case, undefined for NULL. */
function rowsOf({ cases }: Table): readonly (readonly (CaseValue | undefined)[])[] {
  const most = Math.max(...cases.map(({ held }) => held.values.length));
  return Array.from({ length: most + 1 }, (_, index) => cases.map(({ held }) => held.values[index]));
}

/** The table as DuckDB makes it, with the types of its cases or all as texts. */
function duckSelect(table: Table): string {
  const rows = rowsOf(table).map((values, index) =>
    `(${
      [
        String(index),
        ...values.map((value, at) => {
          const type = table.cases[at]?.held.duck ?? "VARCHAR";
          return value === undefined ? `NULL::${type}` : `CAST(${duckText(value.duck)} AS ${type})`;
        }),
      ].join(", ")
    })`
  );
  const names = table.cases.map(({ one }) => columnOf(one));
  const columns = table.cases.map(({ held }, at) => `${names[at]}::${held.duck} AS ${names[at]}`);
  return `SELECT ${["n::BIGINT AS n", ...columns].join(", ")} FROM (VALUES ${rows.join(", ")}) t(${
    ["n", ...names].join(", ")
  })`;
}

function jsonLines(table: Table): string[] {
  return rowsOf(table).map((values, index) => {
    const members = values.map((value, at) => {
      const known = table.cases[at];
      return `"${known === undefined ? "" : columnOf(known.one)}":${
        value === undefined || known === undefined ? "null" : jsonOf(known.held, value)
      }`;
    });
    return `{${[`"n":${index}`, ...members].join(",")}}`;
  });
}

/** Makes the tables in their source. */
export async function fillTables(
  { postgres, mariadb, store, lines }: ServedStage,
  source: MatrixSystem,
  tables: readonly Table[],
  folder: TempDir,
  prefix: string,
): Promise<void> {
  await Deno.mkdir(folder.join("from"), { recursive: true });
  if (source === "postgres") await postgres.sql(`DROP SCHEMA IF EXISTS "from" CASCADE; CREATE SCHEMA "from"`);
  using duck = await Duck.open();
  if (source === "duckdb") await duck.run(`ATTACH '${folder.join("from.duckdb")}' AS origin`);
  for (const table of tables) {
    const { name } = table;
    switch (source) {
      case "postgres": {
        const columns = table.cases.map(({ one, held }) => `, ${columnOf(one)} ${held.pg}`).join("");
        const rows = rowsOf(table).map((values, index) =>
          `(${[index, ...values.map((value) => value === undefined ? "NULL" : quoted(value.pg ?? value.duck))].join()})`
        );
        await postgres.sql(`CREATE TABLE "from".${name} (n bigint${columns})`);
        // One row each: values of several rows would need a common type first.
        for (const row of rows) await postgres.sql(`INSERT INTO "from".${name} VALUES ${row}`);
        break;
      }
      case "mysql":
      case "sqlite": {
        const { schema, batches } = await fromDuck(duckSelect(table));
        await using opened = openDatabase(source, mariadb, folder.join("from.db"));
        await opened.write(output(entityOf(source, name, "from"), "replace"), schema, batches);
        break;
      }
      case "ndjson":
        await Deno.writeTextFile(folder.join("from", `${name}.ndjson`), `${jsonLines(table).join("\n")}\n`);
        break;
      case "s3_json":
        await store?.put(`${prefix}/from/${name}.json`, `${jsonLines(table).join("\n")}\n`);
        break;
      case "http":
        lines.set(`/from/${name}`, jsonLines(table));
        break;
      case "duckdb":
        await duck.run(`CREATE TABLE origin.${name} AS ${duckSelect(table)}`);
        break;
      default: {
        const format = source === "s3_csv" ? "csv" : "parquet";
        const file = folder.join("from", `${name}.${format}`);
        await duck.run(`COPY (${duckSelect(table)}) TO '${file}' (FORMAT ${format})`);
        if (source !== "parquet") await store?.put(`${prefix}/from/${name}.${format}`, await Deno.readFile(file));
      }
    }
  }
}

/** Entities at a server of a database have a schema, or names, of their own. */
export function entityOf(system: MatrixSystem, name: string, schema = "to"): string {
  return system === "postgres" ? `${schema}.${name}` : system === "mysql" ? `${schema}_${name}` : name;
}
