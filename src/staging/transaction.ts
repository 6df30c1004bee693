import type { DuckDbConnection } from "../duckdb/mod.ts";

/**
 * Does work as one transaction of the connection: all of it lasts, or nothing. A commit that was begun is not
 * interrupted.
 *
 * @throws what the work throws, or the commit
 */
export async function transaction<T>(connection: DuckDbConnection, work: () => Promise<T>): Promise<T> {
  await connection.run("BEGIN TRANSACTION");
  try {
    const result = await work();
    await connection.run("COMMIT");
    return result;
  } catch (error) {
    try {
      await connection.run("ROLLBACK");
    } catch {
      // DuckDB has already ended the transaction, or the connection is closed, which ends it too.
    }
    throw error;
  }
}
