import { type DuckDbConnection, DuckDbError, type SqlAst } from "../duckdb/mod.ts";

/**
 * DuckDB's trees of queries, in their order; undefined for a text that is not exactly one query that it has a tree for.
 * A top-level PIVOT gets the tree of a SELECT from it, whose positions are off by the length of what `wrapQuery` puts in
 * front.
 */
export async function queryTrees(
  connection: DuckDbConnection,
  texts: readonly string[],
): Promise<readonly (QueryTree | undefined)[]> {
  const trees = await treesOf(connection, texts, 0);
  const others = texts.filter((_, index) => trees[index] === undefined);
  if (others.length === 0) return trees;
  const wrapped = await treesOf(connection, others.map(wrapQuery), WRAP_START.length);
  let next = 0;
  return trees.map((tree) => tree ?? wrapped[next++]);
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

async function treesOf(
  connection: DuckDbConnection,
  texts: readonly string[],
  shift: number,
): Promise<readonly (QueryTree | undefined)[]> {
  return (await connection.serializeEachSql(texts)).map((tree) => {
    const statements = tree instanceof DuckDbError ? undefined : tree["statements"];
    if (!Array.isArray(statements) || statements.length !== 1) return undefined;
    const statement: SqlAst | undefined = statements[0];
    return statement === undefined ? undefined : { statement, shift };
  });
}
