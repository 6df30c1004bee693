import type { Field, Schema } from "../../../util/arrow.ts";
import { ConnectorError, type OutputSpec } from "../../contract/mod.ts";
import { findColumn, keyColumn } from "../shared/column_names.ts";
import { misfitOf } from "../shared/output_table.ts";
import { ident, isName, literal, MAX_CHARACTERS } from "./name.ts";
import type { MysqlSession } from "./session.ts";
import { numberOf } from "./trouble.ts";
import { isLong, newColumnType, type ServerFacts, takes, type TargetType } from "./write_types.ts";

/** A column that is written: where its values come from, and what the server calls it. */
export type TargetColumn = { readonly name: string; readonly field: Field; readonly type: TargetType };

/** The table that a write goes to, its columns in the order of the written schema. */
export type Target = {
  readonly table: string;
  readonly columns: readonly TargetColumn[];
  /** The keys of a merge, as the server spells them. */
  readonly keys: readonly string[];
};

const TABLE_EXISTS = 1050;

type ExistingColumn = {
  readonly name: string;
  readonly type: TargetType;
  /** Whether a row needs a value for it. */
  readonly isNeeded: boolean;
  readonly isGenerated: boolean;
};

/** What stands where a table is to be written, and the engine that keeps it. */
export type Standing = {
  readonly kind: "nothing" | "table" | "other";
  readonly engine: string;
  readonly isTransactional: boolean;
};

/** What stands at a name. */
export async function standingAt(session: MysqlSession, table: string): Promise<Standing> {
  const [row] = await session.query(
    `SELECT t.TABLE_TYPE, t.ENGINE, e.TRANSACTIONS FROM information_schema.TABLES t ` +
      `LEFT JOIN information_schema.ENGINES e ON e.ENGINE = t.ENGINE ` +
      `WHERE t.TABLE_SCHEMA = DATABASE() AND t.TABLE_NAME = ${literal(table)}`,
  );
  if (row === undefined) return { kind: "nothing", engine: "", isTransactional: true };
  const [type, engine, transactions] = row;
  const isTable = type === "BASE TABLE" || type === "SYSTEM VERSIONED";
  return { kind: isTable ? "table" : "other", engine: engine ?? "", isTransactional: transactions === "YES" };
}

/** @throws {ConnectorError} for a schema with names that the server can't keep */
export function refuseNames(schema: Schema): void {
  const bad = schema.fields.find(({ name }) => !isName(name));
  if (bad === undefined) return;
  throw new ConnectorError(`"${bad.name}" can't be the name of a column`, {
    transient: false,
    hint:
      `give it another name in the SELECT with AS: MySQL's names have at most ${MAX_CHARACTERS} characters, do not end ` +
      "in a blank, and hold no emoji",
  });
}

/** The columns of a merge's keys. */
export function keyFields(schema: Schema, spec: OutputSpec): readonly Field[] {
  return spec.mode === "merge" ? spec.keys.map((key) => keyColumn(schema.fields, key)) : [];
}

/**
 * Creates a table for rows of a schema, the keys unique.
 *
 * @throws {ConnectorError} for a column that there is no type for, naming it; transient when the table is there already
 */
export async function createTable(
  session: MysqlSession,
  table: string,
  { schema, keys, facts }: { readonly schema: Schema; readonly keys: readonly Field[]; readonly facts: ServerFacts },
): Promise<void> {
  const longKeys = keys.filter(isLong).length;
  const columns = schema.fields.map((field) => {
    const type = newColumnType(field, keys.includes(field) ? { facts, longKeys } : { facts });
    if (type === undefined) throw noType(field, keys.includes(field));
    return `${ident(field.name)} ${type} NULL`;
  });
  const unique = keys.length === 0 ? "" : `, UNIQUE (${keys.map(({ name }) => ident(name)).join(", ")})`;
  try {
    await session.query(
      `CREATE TABLE ${ident(table)} (${columns.join(", ")}${unique}) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4`,
    );
  } catch (error) {
    if (numberOf(error) !== TABLE_EXISTS) throw error;
    throw new ConnectorError(`Somebody else has just created "${table}"`, { transient: true, cause: error });
  }
}

function noType(field: Field, isKey: boolean): ConnectorError {
  const what = isKey ? "for which MySQL has no type that a key may have" : "for which MySQL has no column type";
  return new ConnectorError(`Column "${field.name}" is ${field.type}, ${what}`, {
    transient: false,
    hint: isKey
      ? `merge by other keys, or cast the column in the SELECT`
      : `turn it into JSON in the SELECT: to_json("${field.name}") AS "${field.name}", or into text`,
  });
}

/** An error that says why a table can't take the rows. */
export function mismatch(table: string, what: string, hint: string): ConnectorError {
  return new ConnectorError(`Table "${table}" can't take the rows: ${what}`, { transient: false, hint });
}

/**
 * Looks at the table that is there and at what of it the rows go to.
 *
 * @throws {ConnectorError} for a schema that does not fit, naming the column
 */
export async function describeTarget(
  session: MysqlSession,
  table: string,
  { schema, keys, facts }: { readonly schema: Schema; readonly keys: readonly Field[]; readonly facts: ServerFacts },
): Promise<Target> {
  const existing = await loadColumns(session, table);
  const columns = schema.fields.map((field) => matchColumn(field, existing, { table, facts }));
  const misfit = misfitOf(columns, existing);
  if (misfit !== undefined) throw mismatch(table, misfit.what, misfit.hint);
  const keyNames = keys.map((field) => columns[schema.fields.indexOf(field)]?.name ?? field.name);
  if (keyNames.length > 0) await requireUnique(session, table, keyNames);
  return { table, columns, keys: keyNames };
}

function matchColumn(
  field: Field,
  existing: readonly ExistingColumn[],
  { table, facts }: { readonly table: string; readonly facts: ServerFacts },
): TargetColumn {
  const column = findColumn(existing, field.name);
  if (column === undefined) {
    throw mismatch(
      table,
      `it has no column "${field.name}"`,
      `add the column to the table or leave it out of the SELECT; the table's columns are ${
        existing.map(({ name }) => name).join(", ")
      }`,
    );
  }
  if (column.isGenerated) {
    throw mismatch(table, `its column "${column.name}" is generated`, `leave "${field.name}" out of the SELECT`);
  }
  const own = newColumnType(field, { facts });
  if (takes(field, column.type)) return { name: column.name, field, type: column.type };
  if (own === undefined) throw noType(field, false);
  throw mismatch(
    table,
    `its column "${column.name}" is ${column.type.spelled}, and the rows have ${own} (${field.type})`,
    "cast the column in the SELECT, or change the table",
  );
}

async function loadColumns(session: MysqlSession, table: string): Promise<readonly ExistingColumn[]> {
  const rows = await session.query(
    "SELECT COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT IS NOT NULL OR EXTRA LIKE '%auto_increment%', " +
      "CHARACTER_MAXIMUM_LENGTH, CHARACTER_OCTET_LENGTH, NUMERIC_PRECISION, NUMERIC_SCALE, DATETIME_PRECISION, " +
      "CHARACTER_SET_NAME, EXTRA LIKE '%GENERATED%' AND EXTRA NOT LIKE '%DEFAULT_GENERATED%' FROM information_schema.COLUMNS " +
      `WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ${literal(table)} ORDER BY ORDINAL_POSITION`,
  );
  return rows.map((row) => {
    const [name, type, spelled, nullable, hasDefault, length, octets, precision, scale, fraction, charset, generated] =
      row;
    return {
      name: name ?? "",
      type: {
        name: (type ?? "").toLowerCase(),
        spelled: spelled ?? "",
        length: numberOrNone(length),
        octets: numberOrNone(octets),
        precision: numberOrNone(precision),
        scale: numberOrNone(scale),
        fraction: Number(fraction ?? 0),
        charset: charset ?? undefined,
        isNullable: nullable === "YES",
      },
      isNeeded: nullable !== "YES" && hasDefault !== "1" && generated !== "1",
      isGenerated: generated === "1",
    };
  });
}

function numberOrNone(text: string | null | undefined): number | undefined {
  return text === null || text === undefined ? undefined : Number(text);
}

/** A merge needs an index that makes its keys unique, or rows could be doubled. */
async function requireUnique(session: MysqlSession, table: string, keys: readonly string[]): Promise<void> {
  const rows = await session.query(
    `SELECT INDEX_NAME, COLUMN_NAME, SUB_PART IS NULL FROM information_schema.STATISTICS ` +
      `WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ${literal(table)} AND NON_UNIQUE = 0`,
  );
  const indexes = new Map<string, Set<string>>();
  for (const [index, column, isWhole] of rows) {
    const columns = indexes.get(index ?? "") ?? new Set<string>();
    indexes.set(index ?? "", columns.add(isWhole === "1" ? column ?? "" : ""));
  }
  const wanted = new Set(keys);
  if ([...indexes.values()].some((columns) => columns.size === wanted.size && keys.every((key) => columns.has(key)))) {
    return;
  }
  const list = keys.map(ident).join(", ");
  throw mismatch(
    table,
    `a merge needs a unique index on exactly (${list}), and it has none`,
    `run: ALTER TABLE ${ident(table)} ADD UNIQUE (${list})`,
  );
}
