import type { ColumnSpec } from "../connectors/mod.ts";
import { qualified } from "../duckdb/mod.ts";
import type { NodeContext } from "./run_context.ts";

/** Runs statements on the node's connection. */
export async function run({ connection, signal }: NodeContext, sql: string): Promise<void> {
  await connection.run(sql, { signal });
}

/** The rows of a query as DuckDB's text of each value. */
export async function rows(
  { connection, signal }: NodeContext,
  sql: string,
): Promise<readonly (readonly (string | null)[])[]> {
  return await connection.rows(sql, { signal });
}

/** The columns of a relation (as SQL) with DuckDB's names for their types. */
export async function columnsOf(context: NodeContext, relation: string): Promise<readonly ColumnSpec[]> {
  const described = await rows(context, `DESCRIBE SELECT * FROM ${relation}`);
  return described.map(([name, type]) => ({ name: name ?? "", type: type ?? "" }));
}

/** A query's one number, such as a count. */
export async function integer({ connection, signal }: NodeContext, sql: string): Promise<bigint> {
  return await connection.integer(sql, { signal });
}

/** How many rows a staged relation holds. */
export async function countRows(context: NodeContext, relation: string): Promise<number> {
  return Number(await integer(context, `SELECT count(*) FROM ${qualified("staging", relation)}`));
}

/** Removes a staged table, if it is there, whatever happened before. */
export async function dropTable({ connection }: NodeContext, relation: string): Promise<void> {
  try {
    await connection.run(`DROP TABLE IF EXISTS ${qualified("staging", relation)}`);
  } catch { /* the error that brought us here says more */ }
}
