import type { Field, Schema } from "../../../util/arrow.ts";
import { ConnectorError, type OutputSpec } from "../../contract/mod.ts";
import { findColumn, keyColumn } from "../shared/column_names.ts";
import { misfitOf } from "../shared/output_table.ts";
import type { Database } from "./database.ts";
import { ident } from "./name.ts";
import { newColumnType, takes, type TargetType, targetType } from "./write_types.ts";

/** A column that is written: where its values come from, and what the database calls it. */
export type TargetColumn = { readonly name: string; readonly field: Field; readonly type: TargetType };

/** The table that a write goes to, its columns in the order of the written schema. */
export type Target = {
  readonly table: string;
  readonly columns: readonly TargetColumn[];
  /** The keys of a merge, as the database spells them. */
  readonly keys: readonly string[];
};

type ExistingColumn = {
  readonly name: string;
  readonly type: TargetType;
  /** Whether a row needs a value for it. */
  readonly isNeeded: boolean;
  readonly isGenerated: boolean;
};

/**
 * Makes sure, inside of a transaction, that the table is there and takes rows of the schema; a missing one is created.
 *
 * @throws {ConnectorError} for a schema that does not fit, naming the column
 */
export function ensureTarget(database: Database, table: string, spec: OutputSpec, schema: Schema): Target {
  const keys = spec.mode === "merge" ? spec.keys.map((key) => keyColumn(schema.fields, key)) : [];
  const isNew = createIfMissing(database, table, schema, keys);
  const existing = loadColumns(database, table);
  const columns = schema.fields.map((field) => matchColumn(field, existing, table));
  const misfit = misfitOf(columns, existing);
  if (misfit !== undefined) throw mismatch(table, misfit.what, misfit.hint);
  const keyNames = keys.map((field) => columns[schema.fields.indexOf(field)]?.name ?? field.name);
  if (keyNames.length > 0 && !isNew) requireUnique(database, table, keyNames);
  if (spec.mode === "replace" && !isNew) refuseReferred(database, table);
  return { table, columns, keys: keyNames };
}

function createIfMissing(database: Database, table: string, schema: Schema, keys: readonly Field[]): boolean {
  const [row] = database.rows("SELECT type FROM sqlite_master WHERE name = ? COLLATE NOCASE", table);
  if (row?.[0] === "table") return false;
  if (row !== undefined) throw mismatch(table, "it is no table", "name a table, or a name that nothing has yet");
  const columns = newColumns(schema);
  const unique = keys.length === 0 ? "" : `, UNIQUE (${keys.map(({ name }) => ident(name)).join(", ")})`;
  database.run(`CREATE TABLE ${ident(table)} (${columns.join(", ")}${unique})`);
  return true;
}

/**
 * The columns of a new table for rows of a schema, as SQL.
 *
 * @throws {ConnectorError} for a column that there is no type for, naming it
 */
export function newColumns(schema: Schema): readonly string[] {
  return schema.fields.map((field) => {
    const type = newColumnType(field);
    if (type === undefined || field.name.includes("\0") || field.name === "") throw noColumn(field);
    return `${ident(field.name)} ${type}`;
  });
}

function noColumn(field: Field): ConnectorError {
  return new ConnectorError(`Column "${field.name}" is ${field.type}, for which SQLite has no column type`, {
    transient: false,
    hint: `turn it into JSON in the SELECT: to_json("${field.name}") AS "${field.name}", or into text`,
  });
}

function mismatch(table: string, what: string, hint: string): ConnectorError {
  return new ConnectorError(`Table "${table}" can't take the rows: ${what}`, { transient: false, hint });
}

function matchColumn(field: Field, existing: readonly ExistingColumn[], table: string): TargetColumn {
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
  const own = newColumnType(field);
  if (own === undefined) throw noColumn(field);
  if (takes(field, column.type)) return { name: column.name, field, type: column.type };
  throw mismatch(
    table,
    `its column "${column.name}" is ${column.type.spelled}, and the rows have ${own} (${field.type})`,
    "cast the column in the SELECT, or change the table",
  );
}

function loadColumns(database: Database, table: string): readonly ExistingColumn[] {
  const rows = database.rows(
    `SELECT name, type, "notnull", dflt_value IS NOT NULL, pk, hidden FROM pragma_table_xinfo(?) ORDER BY cid`,
    table,
  );
  const keyColumns = rows.filter(([, , , , pk]) => pk !== 0n).length;
  return rows.map(([name, type, notNull, hasDefault, pk, hidden]) => {
    // Such a column is the number of the row, which SQLite makes up where it is NULL.
    const isRowid = keyColumns === 1 && pk === 1n && String(type).toUpperCase() === "INTEGER";
    const isGenerated = hidden === 2n || hidden === 3n;
    return {
      name: String(name),
      type: targetType(String(type), notNull === 0n && !isRowid),
      isNeeded: notNull !== 0n && hasDefault === 0n && !isRowid && !isGenerated,
      isGenerated,
    };
  });
}

/** A merge needs an index that makes its keys unique, and that tells them apart as DuckDB does. */
function requireUnique(database: Database, table: string, keys: readonly string[]): void {
  const rows = database.rows(
    `SELECT l.name, x.name, x.coll FROM pragma_index_list(?) l, pragma_index_xinfo(l.name) x ` +
      `WHERE l."unique" = 1 AND l.partial = 0 AND x.key = 1`,
    table,
  );
  const indexes = new Map<string, Map<string, string>>();
  for (const [index, column, collation] of rows) {
    const columns = indexes.get(String(index)) ?? new Map<string, string>();
    indexes.set(String(index), columns.set(String(column), String(collation)));
  }
  const [primary, ...more] = database.rows("SELECT name, type FROM pragma_table_xinfo(?) WHERE pk > 0", table);
  if (primary !== undefined && more.length === 0 && String(primary[1]).toUpperCase() === "INTEGER") {
    indexes.set("", new Map([[String(primary[0]), "BINARY"]]));
  }
  const fitting = [...indexes.values()].filter((columns) =>
    columns.size === keys.length && keys.every((key) => columns.has(key))
  );
  if (fitting.some((columns) => [...columns.values()].every((collation) => collation === "BINARY"))) return;
  const list = keys.map(ident).join(", ");
  const [blind] = fitting;
  throw mismatch(
    table,
    blind === undefined
      ? `a merge needs a unique index on exactly (${list}), and it has none`
      : `its unique index on (${list}) takes different texts for one, by the collation ${
        [...blind.values()].find((collation) => collation !== "BINARY")
      }`,
    `run: CREATE UNIQUE INDEX ${ident(`${table}_key`)} ON ${ident(table)} (${
      keys.map((key) => `${ident(key)} COLLATE BINARY`).join(", ")
    })`,
  );
}

/** Rows that others refer to can't go, or would take those along. */
function refuseReferred(database: Database, table: string): void {
  const [row] = database.rows(
    `SELECT m.name FROM sqlite_master m, pragma_foreign_key_list(m.name) f WHERE m.type = 'table' ` +
      `AND f."table" = ? COLLATE NOCASE AND m.name <> ? COLLATE NOCASE LIMIT 1`,
    table,
    table,
  );
  if (row === undefined) return;
  throw mismatch(
    table,
    `it can't be replaced, since foreign keys of "${row[0]}" refer to it`,
    "use the strategy merge, or drop the foreign keys",
  );
}
