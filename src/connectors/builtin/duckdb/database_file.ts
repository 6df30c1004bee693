import { relative, resolve } from "node:path";
import type { ConfigMap, ConfigProblem, ConnectorContext } from "../../contract/mod.ts";
import { literal, qualified } from "../../../duckdb/mod.ts";
import { sha256Hex } from "../../../util/mod.ts";

/** The absolute path of a connection's database, whatever stands there; undefined without a usable `path`. */
export function databasePath(config: ConfigMap, context: ConnectorContext): string | undefined {
  const path = config["path"];
  if (typeof path !== "string" || path.trim() === "" || path.includes("\0")) return undefined;
  return resolve(context.projectRoot, path);
}

/** The database of a connection; problems are pushed, and then the result is undefined. */
export function checkDatabase(
  config: ConfigMap,
  context: ConnectorContext,
  problems: ConfigProblem[],
): string | undefined {
  const path = databasePath(config, context);
  if (path === undefined) {
    problems.push({ code: "PZ0301", message: `A duckdb connection needs "path", the path of its database file` });
    return undefined;
  }
  if (relative(context.projectRoot, path).split(/[\\/]/)[0] === ".pz") {
    problems.push({
      code: "PZ0301",
      message: `Setting "path" leads to "${path}", inside the folder .pz, which belongs to pz`,
      hint: "choose a file outside of .pz",
    });
    return undefined;
  }
  return path;
}

/** The name under which a connection's database is attached, one for reads and writes. */
export function aliasOf(connection: string): string {
  return `pz_duckdb_${connection.replaceAll(/[^A-Za-z0-9_]/g, "_")}_${sha256Hex(connection).slice(0, 8)}`;
}

/** The statement that attaches a connection's database. */
export function attachment(connection: string, path: string): string {
  return `ATTACH IF NOT EXISTS ${literal(path)} AS ${qualified(aliasOf(connection))} (TYPE duckdb)`;
}

/** A table of a connection's database, `schema` being `main` unless the entity says otherwise. */
export type TableName = { readonly alias: string; readonly schema: string; readonly table: string };

/** The table that an entity names as `table` or `schema.table`; anything else is pushed as a problem. */
export function tableOf(connection: string, entity: string, problems: ConfigProblem[]): TableName | undefined {
  const parts = entity.split(".");
  const [first, second] = parts;
  if (first === undefined || parts.length > 2 || parts.includes("")) {
    problems.push({
      code: "PZ0353",
      message: `Entity "${entity}" is no table of a DuckDB database: expected "table" or "schema.table"`,
    });
    return undefined;
  }
  const alias = aliasOf(connection);
  return second === undefined ? { alias, schema: "main", table: first } : { alias, schema: first, table: second };
}

/** A table's name as SQL. */
export function tableSql({ alias, schema, table }: TableName): string {
  return qualified(alias, schema, table);
}
