import { type DuckDbConnection, literal } from "../duckdb/mod.ts";
import { sha256Hex } from "../util/mod.ts";

const HASH_LENGTH = 16;

/** The table of schema `staging` for the first rows of one partition of a node. No id can be read in its name. */
export function partTable(nodeId: string, partitionId: string): string {
  return `${prefix(nodeId)}${sha256Hex(partitionId).slice(0, HASH_LENGTH)}`;
}

/** The tables of a node's partitions that are there. */
export async function partTablesOf(connection: DuckDbConnection, nodeId: string): Promise<readonly string[]> {
  const rows = await connection.rows(
    `SELECT table_name FROM duckdb_tables() WHERE schema_name = 'staging' AND database_name = current_database() ` +
      `AND starts_with(table_name, ${literal(prefix(nodeId))}) ORDER BY table_name`,
  );
  return rows.map(([name]) => name ?? "");
}

function prefix(nodeId: string): string {
  return `__pz_part__${nodeId.replaceAll(/[^A-Za-z0-9]/g, "")}__`;
}
