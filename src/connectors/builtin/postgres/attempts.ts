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

/** What earlier attempts at a write have done: all of it, or its first rows, perhaps none. */
export type Claim = { readonly landed: WriteResult } | { readonly rows: bigint };

/**
 * Records an attempt in the running transaction, so that it lasts if and only if the data does, and tells what attempts
 * before it have done, of this run or of those before it: whatever their ordinals, those rows are there. An attempt that
 * is still open at the server is waited for.
 */
export async function claimAttempt(session: PgSession, target: TableName, attempt: WriteAttempt): Promise<Claim> {
  const table = attemptsTable(target);
  // The runs before are recorded too: only a key in common with an attempt that is still open waits for its end.
  for (const run of runsOf(attempt)) await insertAttempt(session, table, { ...attempt, run });
  return await readClaim(session, target, attempt);
}

/** What is recorded of an attempt; nobody else can go on with it until the transaction ends. */
async function readClaim(session: PgSession, target: TableName, attempt: WriteAttempt): Promise<Claim> {
  const found = await waiting(() =>
    session.query(
      `SELECT rows, batches FROM ${attemptsTable(target)} WHERE ${whichOf(attempt)} ORDER BY run FOR UPDATE`,
    )
  );
  let least = 0n;
  for (const [rows, batches] of found) {
    if (rows === null || rows === undefined) continue;
    if (batches !== null && batches !== undefined) {
      return { landed: { rows: BigInt(rows), batches: Number(batches) } };
    }
    if (BigInt(rows) > least) least = BigInt(rows);
  }
  return { rows: least };
}

/** At the end of a transaction that does not complete a write: so many rows of it are there. */
export async function saveProgress(
  session: PgSession,
  target: TableName,
  attempt: WriteAttempt,
  rows: bigint,
): Promise<void> {
  await session.query(
    `UPDATE ${attemptsTable(target)} SET rows = ${rows}, batches = NULL, at = now() WHERE ${whichOf(attempt)}`,
  );
}

/**
 * At the start of a transaction that goes on with a write: makes sure that nobody else has gone on with it.
 *
 * @throws {ConnectorError}
 */
export async function holdProgress(
  session: PgSession,
  target: TableName,
  attempt: WriteAttempt,
  rows: bigint,
): Promise<void> {
  const claim = await readClaim(session, target, attempt);
  if ("rows" in claim && claim.rows === rows) return;
  throw new ConnectorError("Another attempt has gone on with this write", { transient: true });
}

async function insertAttempt(session: PgSession, table: string, attempt: WriteAttempt): Promise<void> {
  const { node, run, ordinal } = attempt;
  await waiting(() =>
    session.query(
      `INSERT INTO ${table} (node, run, ordinal, at) VALUES (${literal(node)}, ${literal(run)}, ${ordinal}, now()) ` +
        `ON CONFLICT (node, run) DO NOTHING`,
    )
  );
}

/** Runs what waits for attempts that are still open. */
async function waiting<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (stateOf(error) !== LOCK_TIMEOUT) throw error;
    throw new ConnectorError("An earlier attempt at this write is still open at the server", {
      transient: true,
      cause: error,
    });
  }
}

/** The runs whose attempts are the same write, oldest first. */
function runsOf({ run, prior = [] }: WriteAttempt): readonly string[] {
  return [...new Set([...prior.map((one) => one.run), run])];
}

/** Completes the record of an attempt at the end of its transaction. */
export async function completeAttempt(
  session: PgSession,
  target: TableName,
  attempt: WriteAttempt,
  result: WriteResult,
): Promise<void> {
  await session.query(
    `UPDATE ${attemptsTable(target)} SET rows = ${result.rows}, batches = ${result.batches} WHERE ${whichOf(attempt)}`,
  );
}

function whichOf(attempt: WriteAttempt): string {
  return `node = ${literal(attempt.node)} AND run IN (${runsOf(attempt).map(literal).join(", ")})`;
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
