import { findConnector } from "../connectors/mod.ts";
import { DuckDbError } from "../duckdb/mod.ts";
import { PzError } from "../errors/mod.ts";
import type { Connection } from "../project/mod.ts";
import type { NodeContext } from "./run_context.ts";

/**
 * Runs a connector's setup statements, once for each text in a run. They may hold secrets, and so may DuckDB's words
 * about them: only what the connector makes of them is told, or else the kind of the failure.
 *
 * @throws {PzError} PZ0311
 */
export async function setUp(
  { run, signal }: NodeContext,
  { name, connector, config }: Connection,
  statements: readonly string[],
): Promise<void> {
  if (statements.length === 0) return;
  signal.throwIfAborted();
  try {
    await run.staging.setup(statements);
  } catch (error) {
    const known = findConnector(connector);
    const trouble = error instanceof DuckDbError && known !== undefined && known !== "planned"
      ? known.setupTrouble?.(error.message, config)
      : undefined;
    if (trouble !== undefined) {
      throw new PzError("PZ0311", `Connection '${name}': ${trouble.message}`, { hint: trouble.hint });
    }
    const kind = error instanceof DuckDbError ? `DuckDB error of kind '${error.kind}'` : "the statement failed";
    throw new PzError("PZ0311", `Connection '${name}' can't be set up for connector '${connector}': ${kind}`);
  }
}
