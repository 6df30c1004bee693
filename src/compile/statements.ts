import { type DuckDbConnection, DuckDbError, type SqlAst } from "../duckdb/mod.ts";

/**
 * DuckDB's tree of a query, or undefined where the text is not exactly one query that it has a tree for. A top-level
 * PIVOT gets the tree of a SELECT from it, whose positions are off by the length of what `wrapQuery` puts in front.
 */
export async function queryTree(connection: DuckDbConnection, sql: string): Promise<QueryTree | undefined> {
  return await treeOf(connection, sql, 0) ?? await treeOf(connection, wrapQuery(sql), WRAP_START.length);
}

/**
 * Whether a text that DuckDB counts as several statements is one query all the same: a PIVOT over all values of a
 * column counts as two.
 */
export async function isOneQuery(connection: DuckDbConnection, sql: string): Promise<boolean> {
  try {
    return await connection.statementCount(wrapQuery(sql)) > 0;
  } catch (error) {
    if (error instanceof DuckDbError) return false;
    throw error;
  }
}

export type QueryTree = {
  readonly statement: SqlAst;
  /** UTF-8 bytes that stand before the text in what was parsed. */
  readonly shift: number;
};

/** What stands before a query that is wrapped. */
export const WRAP_START = "SELECT * FROM (\n";

/** A query as a subquery of a SELECT; a comment may end it. */
export function wrapQuery(sql: string): string {
  return `${WRAP_START}${sql}\n)`;
}

async function treeOf(connection: DuckDbConnection, sql: string, shift: number): Promise<QueryTree | undefined> {
  try {
    const { statements } = await connection.serializeSql(sql);
    if (!Array.isArray(statements) || statements.length !== 1) return undefined;
    const statement: SqlAst | undefined = statements[0];
    return statement === undefined ? undefined : { statement, shift };
  } catch (error) {
    if (error instanceof DuckDbError) return undefined;
    throw error;
  }
}
