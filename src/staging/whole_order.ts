import { type DuckDbConnection, ident, qualified } from "../duckdb/mod.ts";

/**
 * SQL to stand behind ORDER BY, by which the rows of table `staging.<relation>` come in an order that is the same for the
 * same rows. DuckDB gives the column that it sorts by back as the key has it, where a zero has no sign: columns that may
 * hold a negative one are sorted by what is computed from them.
 */
export async function wholeOrder(connection: DuckDbConnection, relation: string): Promise<string> {
  const columns = await connection.rows(
    `SELECT column_name, column_type FROM (DESCRIBE ${qualified("staging", relation)})`,
  );
  return columns.map(([name, type]) => keysOf(ident(name ?? ""), type ?? "")).join(", ");
}

function keysOf(column: string, type: string): string {
  if (type === "FLOAT" || type === "DOUBLE") return `${column} + 0, signbit(${column})`;
  return /FLOAT|DOUBLE/.test(type) ? `ROW(${column})` : column;
}
