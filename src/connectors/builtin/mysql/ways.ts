import { sha256Hex } from "../../../util/mod.ts";
import { ConnectorError } from "../../contract/mod.ts";
import { ident, literal } from "./name.ts";
import type { MysqlSession } from "./session.ts";
import type { Target } from "./target.ts";

/** How the rows of a write come into its table. */
export type Way = {
  /** The table that rows are inserted into, and the column for their number, if they have one. */
  readonly into: string;
  readonly number?: string;
  /** Makes everything ready for the first row, the transaction included. */
  begin(): Promise<void>;
  /** Everything up to the statement after which the rows are there. */
  finish(): Promise<void>;
  /** The statement itself. */
  publish(): Promise<void>;
  /** After the rows are there; a failure of it harms nothing. */
  tidy(): Promise<void>;
  /** Whether a table is left if nothing but the connection's end takes the write back. */
  readonly leavesTable: boolean;
  /** Takes everything back, on the write's own connection or, once that has ended, on another. */
  undo(on: MysqlSession): Promise<void>;
};

/** Rows go straight into the table, inside of a transaction; with `empty`, all that is there goes first. */
export function directWay(
  session: MysqlSession,
  table: string,
  { isNew, empty }: { readonly isNew: boolean; readonly empty: boolean },
): Way {
  return {
    into: table,
    begin: async () => {
      await session.beginWrite();
      if (empty) await session.change(`DELETE FROM ${ident(table)}`);
    },
    finish: () => Promise.resolve(),
    publish: async () => void await session.query("COMMIT"),
    tidy: () => Promise.resolve(),
    leavesTable: isNew,
    undo: async (on) => {
      await on.query("ROLLBACK");
      if (isNew) await dropIfEmpty(on, table);
    },
  };
}

/** Drops a table that a write has made and not filled, unless another write has filled it meanwhile. */
async function dropIfEmpty(session: MysqlSession, table: string): Promise<void> {
  await session.query(`LOCK TABLES ${ident(table)} WRITE`);
  const rows = await session.query(`SELECT 1 FROM ${ident(table)} LIMIT 1`);
  if (rows.length === 0) await session.query(`DROP TABLE ${ident(table)}`);
  await session.query("UNLOCK TABLES");
}

/**
 * Rows go into a table beside the target, which whoever calls makes, and which then takes the target's place in one step. Tables that writes left behind that
 * were killed are dropped by the next write of the same target.
 */
export async function swapWay(session: MysqlSession, table: string): Promise<Way> {
  const hash = sha256Hex(table).slice(0, 12);
  const own = crypto.randomUUID().slice(0, 8);
  const fresh = `pz_new_${hash}_${own}`;
  const old = `pz_old_${hash}_${own}`;
  await dropAbandoned(session, hash);
  // Held as long as the connection is: tells other writes that somebody still works on it.
  await session.query(`SELECT GET_LOCK(${literal(fresh)}, 0)`);
  const stood = async () =>
    (await session.query(
      `SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ${literal(table)}`,
    )).length > 0;
  let replaces = false;
  return {
    into: fresh,
    begin: () => session.beginWrite(),
    finish: async () => {
      await session.query("COMMIT");
      replaces = await stood();
    },
    publish: async () => {
      const swap = `${ident(fresh)} TO ${ident(table)}`;
      await session.query(`RENAME TABLE ${replaces ? `${ident(table)} TO ${ident(old)}, ` : ""}${swap}`);
    },
    tidy: async () => void await session.query(`DROP TABLE IF EXISTS ${ident(old)}`),
    leavesTable: true,
    undo: async (on) => {
      await on.query("ROLLBACK");
      await on.query(`DROP TABLE IF EXISTS ${ident(fresh)}`);
    },
  };
}

async function dropAbandoned(session: MysqlSession, hash: string): Promise<void> {
  const rows = await session.query(
    `SELECT TABLE_NAME, IS_FREE_LOCK(TABLE_NAME) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ` +
      `AND TABLE_NAME RLIKE '^pz_(new|old)_${hash}_[0-9a-f]{8}$'`,
  );
  for (const [name, isFree] of rows) {
    if (name !== null && name !== undefined && isFree === "1") {
      await session.query(`DROP TABLE IF EXISTS ${ident(name)}`);
    }
  }
}

/** Rows go into a temporary table; at the end those that are there already change, and the others are added. */
export async function mergeWay(session: MysqlSession, target: Target, isNew: boolean): Promise<Way> {
  const own = crypto.randomUUID().slice(0, 8);
  const rows = `pz_rows_${own}`;
  const last = `pz_last_${own}`;
  const names = new Set(target.columns.map(({ name }) => name.toLowerCase()));
  let number = "pz_n";
  while (names.has(number)) number += "_";
  const columns = target.columns.map(({ name }) => ident(name));
  const list = columns.join(", ");
  const table = ident(target.table);
  const keys = target.keys.map(ident);
  const others = columns.filter((column) => !keys.includes(column));
  const matches = keys.map((key) => `t.${key} = s.${key}`).join(" AND ");
  await session.query(
    `CREATE TEMPORARY TABLE ${ident(rows)} (${ident(number)} bigint unsigned NULL) ENGINE=InnoDB ` +
      `AS SELECT ${list} FROM ${table} LIMIT 0`,
  );
  return {
    into: rows,
    number,
    begin: () => Promise.resolve(),
    finish: async () => {
      await session.change(
        `CREATE TEMPORARY TABLE ${
          ident(last)
        } ENGINE=InnoDB AS SELECT ${list} FROM (SELECT ${list}, ROW_NUMBER() OVER (` +
          `PARTITION BY ${exactKeys(target)} ORDER BY ${ident(number)} DESC) AS pz_place FROM ${ident(rows)}) s ` +
          `WHERE pz_place = 1`,
      );
      await refuseAlikeKeys(session, target, last);
      await session.beginWrite();
      if (others.length > 0) {
        const changes = others.map((column) => `t.${column} = s.${column}`).join(", ");
        await session.change(`UPDATE ${table} t JOIN ${ident(last)} s ON ${matches} SET ${changes}`);
      }
      await session.change(
        `INSERT INTO ${table} (${list}) SELECT ${list} FROM ${ident(last)} s ` +
          `WHERE NOT EXISTS (SELECT 1 FROM ${table} t WHERE ${matches})`,
      );
    },
    publish: async () => void await session.query("COMMIT"),
    tidy: () => Promise.resolve(),
    leavesTable: isNew,
    undo: async (on) => {
      await on.query("ROLLBACK");
      if (isNew) await dropIfEmpty(on, target.table);
    },
  };
}

/** Keys as DuckDB tells them apart: texts by their bytes. */
function exactKeys({ columns, keys }: Target): string {
  return keys.map((key) => {
    const isText = columns.find(({ name }) => name === key)?.type.charset !== undefined;
    return isText ? `CAST(${ident(key)} AS BINARY)` : ident(key);
  }).join(", ");
}

/** Different texts may be one key for the column's collation, and then one of two rows would be lost. */
async function refuseAlikeKeys(session: MysqlSession, { table, keys, columns }: Target, rows: string): Promise<void> {
  if (!columns.some(({ name, type }) => keys.includes(name) && type.charset !== undefined)) return;
  const list = keys.map(ident).join(", ");
  const alike = await session.scan(`SELECT 1 FROM ${ident(rows)} GROUP BY ${list} HAVING COUNT(*) > 1 LIMIT 1`);
  if (alike.length === 0) return;
  throw new ConnectorError(
    `Two rows have different keys (${list}) that are one and the same to the collation of the columns of "${table}"`,
    {
      transient: false,
      hint: "bring the keys into one form in the SELECT, such as lower(…), or give the key columns a binary collation",
    },
  );
}
