import { ConnectorError, type WriteAttempt, type WriteResult } from "../../contract/mod.ts";
import { literal, qualified, type TableName } from "./name.ts";
import type { PgSession } from "./session.ts";
import { stateOf } from "./trouble.ts";

/** The table beside the target in which appends are recorded with their data. */
export const ATTEMPTS_TABLE = "_pz_attempts";
const NO_RIGHT = "42501";
const LOCK_TIMEOUT = "55P03";
/** Two sessions that create the table at once: one of them gets one of these. */
const CREATED_MEANWHILE: ReadonlySet<string> = new Set(["23505", "42P07"]);
/** Markers of a node are forgotten when they are older than any run that is retried. */
const KEPT = "INTERVAL '90 days'";

/** Makes the table on first use, outside of any transaction; false: the role may not. */
export async function ensureAttempts(session: PgSession, target: TableName): Promise<boolean> {
  const table = attemptsTable(target);
  const exists = () => session.query(`SELECT to_regclass(${literal(table)}) IS NOT NULL`);
  if ((await exists())[0]?.[0] !== "t") {
    try {
      await session.query(
        `CREATE TABLE IF NOT EXISTS ${table} (node text NOT NULL, run text NOT NULL, ordinal integer NOT NULL, ` +
          `at timestamptz NOT NULL, rows bigint, batches integer, PRIMARY KEY (node, run))`,
      );
    } catch (error) {
      const state = stateOf(error) ?? "";
      if (state === NO_RIGHT) return false;
      if (!CREATED_MEANWHILE.has(state)) throw error;
    }
  }
  const [row] = await session.query(
    `SELECT bool_and(has_table_privilege(${literal(table)}, r)) FROM (VALUES ('SELECT'), ('INSERT'), ('UPDATE')) p(r)`,
  );
  return row?.[0] === "t";
}

/**
 * Records an attempt in the running transaction, so that it lasts if and only if the data does. Undefined: no attempt
 * at this write has landed. Otherwise one has, with this result: whatever its ordinal, the rows are there. An attempt
 * that is still open at the server is waited for.
 */
export async function recordAttempt(
  session: PgSession,
  target: TableName,
  attempt: WriteAttempt,
): Promise<WriteResult | undefined> {
  const table = attemptsTable(target);
  const node = literal(attempt.node);
  const run = literal(attempt.run);
  let isNew: boolean;
  try {
    const rows = await session.query(
      `INSERT INTO ${table} (node, run, ordinal, at) VALUES (${node}, ${run}, ${attempt.ordinal}, now()) ` +
        `ON CONFLICT (node, run) DO NOTHING RETURNING 1`,
    );
    isNew = rows.length > 0;
  } catch (error) {
    if (stateOf(error) !== LOCK_TIMEOUT) throw error;
    throw new ConnectorError("An earlier attempt at this write is still open at the server", {
      transient: true,
      cause: error,
    });
  }
  if (isNew) return undefined;
  const [row] = await session.query(`SELECT rows, batches FROM ${table} WHERE node = ${node} AND run = ${run}`);
  return { rows: BigInt(row?.[0] ?? "0"), batches: Number(row?.[1] ?? "0") };
}

/** Completes the record of an attempt at the end of its transaction. */
export async function completeAttempt(
  session: PgSession,
  target: TableName,
  attempt: WriteAttempt,
  result: WriteResult,
): Promise<void> {
  const table = attemptsTable(target);
  const node = literal(attempt.node);
  await session.query(
    `UPDATE ${table} SET rows = ${result.rows}, batches = ${result.batches} ` +
      `WHERE node = ${node} AND run = ${literal(attempt.run)}`,
  );
}

/** Forgets old markers of the same node; whoever may not delete keeps them. */
export async function forgetOldAttempts(session: PgSession, target: TableName, attempt: WriteAttempt): Promise<void> {
  const table = attemptsTable(target);
  const [row] = await session.query(`SELECT has_table_privilege(${literal(table)}, 'DELETE')`);
  if (row?.[0] !== "t") return;
  await session.query(`DELETE FROM ${table} WHERE node = ${literal(attempt.node)} AND at < now() - ${KEPT}`);
}

function attemptsTable({ schema }: TableName): string {
  return qualified({ schema, table: ATTEMPTS_TABLE });
}
