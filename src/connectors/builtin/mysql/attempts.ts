import { ConnectorError, type WriteAttempt, type WriteResult } from "../../contract/mod.ts";
import { sha256Hex } from "../../../util/mod.ts";
import { ident, literal } from "./name.ts";
import type { MysqlSession } from "./session.ts";
import { numberOf } from "./trouble.ts";

/** The table beside the target in which appends are recorded with their data. */
export const ATTEMPTS_TABLE = "_pz_attempts";
const TABLE = ident(ATTEMPTS_TABLE);
/** The user may not do this to the table, or not make tables. */
const NO_RIGHT: ReadonlySet<number> = new Set([1044, 1142, 1143, 1227, 1290, 1836]);
const NO_SUCH_TABLE = 1146;
const DUPLICATE = 1062;
const LOCK_TIMEOUT = 1205;
const MAX_NODE = 190;
/** Markers of a node are forgotten when they are older than any run that is retried. */
const KEPT = "INTERVAL 90 DAY";

/** Makes the table on first use, outside of any transaction; false: the user may not. */
export async function ensureAttempts(session: MysqlSession): Promise<boolean> {
  if (await hasRights(session)) return true;
  try {
    await session.query(
      `CREATE TABLE IF NOT EXISTS ${TABLE} (node varchar(190) NOT NULL, run varchar(190) NOT NULL, ` +
        "ordinal int NOT NULL, at datetime NOT NULL, `rows` bigint, batches int, PRIMARY KEY (node, run)) " +
        "ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
    );
  } catch (error) {
    if (NO_RIGHT.has(numberOf(error) ?? 0)) return false;
    throw error;
  }
  return await hasRights(session);
}

async function hasRights(session: MysqlSession): Promise<boolean> {
  try {
    await session.query(`SELECT 1 FROM ${TABLE} WHERE FALSE`);
    await session.query(`UPDATE ${TABLE} SET batches = batches WHERE FALSE`);
    await session.query(`INSERT INTO ${TABLE} SELECT * FROM ${TABLE} WHERE FALSE`);
    return true;
  } catch (error) {
    const number = numberOf(error) ?? 0;
    if (number === NO_SUCH_TABLE || NO_RIGHT.has(number)) return false;
    throw error;
  }
}

/**
 * Records an attempt in the running transaction, so that it lasts if and only if the data does. Undefined: no attempt
 * at this write has landed, of this run or of those before it. Otherwise one has, with this result: whatever its
 * ordinal, the rows are there. An attempt that is still open at the server is waited for.
 */
export async function recordAttempt(session: MysqlSession, attempt: WriteAttempt): Promise<WriteResult | undefined> {
  for (const run of runsOf(attempt)) {
    // The runs before are recorded too: only a key in common with an attempt that is still open waits for its end.
    if (await insertAttempt(session, { ...attempt, run })) continue;
    const which = `node = ${nodeOf(attempt)} AND run = ${literal(run)}`;
    const [row] = await session.query(`SELECT \`rows\`, batches FROM ${TABLE} WHERE ${which} FOR UPDATE`);
    return { rows: BigInt(row?.[0] ?? "0"), batches: Number(row?.[1] ?? "0") };
  }
  return undefined;
}

/** False: an attempt of the same run is recorded already. */
async function insertAttempt(session: MysqlSession, attempt: WriteAttempt): Promise<boolean> {
  try {
    await session.change(
      `INSERT INTO ${TABLE} (node, run, ordinal, at) VALUES (${nodeOf(attempt)}, ${literal(attempt.run)}, ` +
        `${attempt.ordinal}, UTC_TIMESTAMP())`,
    );
    return true;
  } catch (error) {
    const number = numberOf(error);
    if (number === LOCK_TIMEOUT) {
      throw new ConnectorError("An earlier attempt at this write is still open at the server", {
        transient: true,
        cause: error,
      });
    }
    if (number === DUPLICATE) return false;
    throw error;
  }
}

/** Completes the record of an attempt at the end of its transaction, and forgets old ones of the same node. */
export async function completeAttempt(
  session: MysqlSession,
  attempt: WriteAttempt,
  { rows, batches }: WriteResult,
): Promise<void> {
  await session.change(`UPDATE ${TABLE} SET \`rows\` = ${rows}, batches = ${batches} WHERE ${isOf(attempt)}`);
  try {
    await session.change(
      `DELETE FROM ${TABLE} WHERE node = ${nodeOf(attempt)} AND at < UTC_TIMESTAMP() - ${KEPT}`,
    );
  } catch (error) {
    if (!NO_RIGHT.has(numberOf(error) ?? 0)) throw error;
  }
}

/** The runs whose attempts are the same write, oldest first. */
function runsOf({ run, prior = [] }: WriteAttempt): readonly string[] {
  return [...new Set([...prior.map((one) => one.run), run])];
}

function isOf(attempt: WriteAttempt): string {
  return `node = ${nodeOf(attempt)} AND run IN (${runsOf(attempt).map((run) => literal(run)).join(", ")})`;
}

function nodeOf({ node }: WriteAttempt): string {
  return literal(node.length <= MAX_NODE ? node : sha256Hex(node));
}
