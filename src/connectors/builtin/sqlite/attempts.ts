import type { WriteAttempt, WriteResult } from "../../contract/mod.ts";
import type { Database } from "./database.ts";

/** The table beside the target in which appends are recorded with their data. */
export const ATTEMPTS_TABLE = "_pz_attempts";
/** Markers of a node are forgotten when they are older than any run that is retried. */
const KEPT = "-90 days";

/**
 * Looks, in the running transaction, whether an attempt at this write has landed, of this run or of those before it:
 * undefined: none has. Otherwise one has, with this result: whatever its ordinal, the rows are there.
 */
export function landedAttempt(database: Database, { node, run, prior = [] }: WriteAttempt): WriteResult | undefined {
  database.run(
    `CREATE TABLE IF NOT EXISTS ${ATTEMPTS_TABLE} (node TEXT NOT NULL, run TEXT NOT NULL, ordinal INTEGER NOT NULL, ` +
      `at TEXT NOT NULL, rows INTEGER NOT NULL, batches INTEGER NOT NULL, PRIMARY KEY (node, run))`,
  );
  const runs = [...prior.map((one) => one.run), run];
  const [row] = database.rows(
    `SELECT rows, batches FROM ${ATTEMPTS_TABLE} WHERE node = ? AND run IN (${runs.map(() => "?").join(", ")})`,
    node,
    ...runs,
  );
  if (row === undefined) return undefined;
  return { rows: BigInt(String(row[0])), batches: Number(row[1]) };
}

/** Records an attempt in the transaction of its rows, so that it lasts if and only if they do, and forgets old ones. */
export function recordAttempt(
  database: Database,
  { node, run, ordinal }: WriteAttempt,
  { rows, batches }: WriteResult,
): void {
  database.prepare(`INSERT INTO ${ATTEMPTS_TABLE} VALUES (?, ?, ?, datetime('now'), ?, ?)`)
    .run(node, run, BigInt(ordinal), rows, BigInt(batches));
  database.prepare(`DELETE FROM ${ATTEMPTS_TABLE} WHERE node = ? AND at < datetime('now', '${KEPT}')`).run(node);
}
