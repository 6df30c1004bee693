import type { Field, Schema } from "../../../util/arrow.ts";
import { ConnectorError, type OutputSpec } from "../../contract/mod.ts";
import { keyColumn } from "../shared/column_names.ts";
import { misfitOf } from "../shared/output_table.ts";
import { loadTypes } from "./catalog.ts";
import { ident, isName, literal, MAX_BYTES, qualified, type TableName } from "./name.ts";
import type { CatalogType } from "./read_types.ts";
import type { PgSession } from "./session.ts";
import { stateOf } from "./trouble.ts";
import { LOOSE_TEXTS, newColumnType, takes, type TargetType } from "./write_types.ts";

/** A column that is written: where its values come from, and what the server calls it. */
export type TargetColumn = { readonly name: string; readonly field: Field; readonly type: TargetType };

/** The table that a write goes to, its columns in the order of the written schema. */
export type Target = {
  readonly table: TableName;
  readonly columns: readonly TargetColumn[];
  /** The keys of a merge, as the server spells them. */
  readonly keys: readonly string[];
  readonly isNew: boolean;
};

/** Two sessions that create the table at once: one of them gets one of these. */
const CREATED_MEANWHILE: ReadonlySet<string> = new Set(["23505", "42P07"]);

type ExistingColumn = {
  readonly name: string;
  readonly type: TargetType;
  /** Whether a row needs a value for it. */
  readonly isNeeded: boolean;
  readonly isGenerated: boolean;
};

/**
 * Makes sure, inside of a transaction, that the table is there and takes rows of the schema; a missing one is created.
 * It stays as it is until the transaction ends.
 *
 * @throws {ConnectorError} for a schema that does not fit, naming the column
 */
export async function ensureTarget(
  session: PgSession,
  table: TableName,
  spec: OutputSpec,
  schema: Schema,
): Promise<Target> {
  refuseNames(schema);
  const keyFields = spec.mode === "merge" ? spec.keys.map((key) => keyColumn(schema.fields, key)) : [];
  const isNew = await createIfMissing(session, table, schema, keyFields);
  if (!isNew) await session.query(`LOCK TABLE ${qualified(table)} IN ROW EXCLUSIVE MODE`);
  const existing = await loadColumns(session, table);
  const columns = schema.fields.map((field) => matchColumn(field, existing, table));
  const misfit = misfitOf(columns, existing);
  if (misfit !== undefined) throw mismatch(table, misfit.what, misfit.hint);
  const keys = keyFields.map((field) => columns[schema.fields.indexOf(field)]?.name ?? field.name);
  if (keys.length > 0 && !isNew) await requireUnique(session, table, keys);
  return { table, columns, keys, isNew };
}

function refuseNames(schema: Schema): void {
  const bad = schema.fields.find(({ name }) => !isName(name));
  if (bad === undefined) return;
  throw new ConnectorError(`"${bad.name}" can't be the name of a column`, {
    transient: false,
    hint: `give it another name in the SELECT with AS: PostgreSQL's names have at most ${MAX_BYTES} bytes`,
  });
}

async function createIfMissing(
  session: PgSession,
  table: TableName,
  schema: Schema,
  keys: readonly Field[],
): Promise<boolean> {
  const [row] = await session.query(
    `SELECT c.relkind FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace ` +
      `WHERE n.nspname = ${literal(table.schema)} AND c.relname = ${literal(table.table)}`,
  );
  const sort = row?.[0];
  if (sort === "r" || sort === "p") return false;
  if (sort !== undefined) throw mismatch(table, "it is no table", "name a table, or a name that nothing has yet");
  const columns = schema.fields.map((field) => {
    const type = newColumnType(field);
    if (type === undefined) throw noType(field);
    return `${ident(field.name)} ${type}`;
  });
  const unique = keys.length === 0 ? "" : `, UNIQUE (${keys.map(({ name }) => ident(name)).join(", ")})`;
  try {
    await session.query(`CREATE TABLE ${qualified(table)} (${columns.join(", ")}${unique})`);
  } catch (error) {
    if (!CREATED_MEANWHILE.has(stateOf(error) ?? "")) throw error;
    throw new ConnectorError(`Somebody else has just created "${table.schema}.${table.table}"`, {
      transient: true,
      cause: error,
    });
  }
  return true;
}

function noType(field: Field): ConnectorError {
  return new ConnectorError(`Column "${field.name}" is ${field.type}, for which PostgreSQL has no column type`, {
    transient: false,
    hint: `turn it into JSON in the SELECT: to_json("${field.name}") AS "${field.name}"`,
  });
}

function mismatch(table: TableName, what: string, hint: string): ConnectorError {
  return new ConnectorError(`Table "${table.schema}.${table.table}" can't take the rows: ${what}`, {
    transient: false,
    hint,
  });
}

function matchColumn(field: Field, existing: readonly ExistingColumn[], table: TableName): TargetColumn {
  const alike = existing.filter(({ name }) => name.toLowerCase() === field.name.toLowerCase());
  const column = existing.find(({ name }) => name === field.name) ?? (alike.length === 1 ? alike[0] : undefined);
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
  if (newColumnType(field) === undefined) throw noType(field);
  if (takes(field, column.type)) return { name: column.name, field, type: column.type };
  throw mismatch(
    table,
    `its column "${column.name}" is ${column.type.spelled}, and the rows have ${newColumnType(field)} (${field.type})`,
    "cast the column in the SELECT, or change the table",
  );
}

async function loadColumns(session: PgSession, table: TableName): Promise<readonly ExistingColumn[]> {
  const rows = await session.query(
    `SELECT a.attname, a.atttypid, a.atttypmod, pg_catalog.format_type(a.atttypid, a.atttypmod),
            a.attnotnull AND NOT a.atthasdef AND a.attidentity = '', coalesce(to_jsonb(a)->>'attgenerated', '') <> '',
            coalesce((SELECT to_jsonb(c)->>'collisdeterministic' = 'false' FROM pg_catalog.pg_collation c
                      WHERE c.oid = a.attcollation), false)
     FROM pg_catalog.pg_attribute a
     WHERE a.attrelid = ${literal(qualified(table))}::regclass AND a.attnum > 0 AND NOT a.attisdropped
     ORDER BY a.attnum`,
  );
  const types = await loadTypes(session, rows.map(([, oid]) => Number(oid)));
  return rows.map(([name, oid, modifier, spelled, isNeeded, isGenerated, isBlind]) => {
    const type = targetType(Number(oid), Number(modifier), spelled ?? "", types);
    return {
      name: name ?? "",
      type: { ...type, isLoose: isBlind === "t" || LOOSE_TEXTS.includes(type.name) },
      isNeeded: isNeeded === "t",
      isGenerated: isGenerated === "t",
    };
  });
}

function targetType(
  oid: number,
  modifier: number,
  spelled: string,
  types: ReadonlyMap<number, CatalogType>,
): TargetType {
  const type = types.get(oid);
  if (type !== undefined && type.base !== 0) {
    return targetType(type.base, modifier >= 0 ? modifier : type.modifier, spelled, types);
  }
  const element = type === undefined || type.element === 0
    ? undefined
    : targetType(type.element, modifier, elementSpelled(spelled) ?? types.get(type.element)?.spelled ?? "", types);
  return { name: type?.name ?? "", sort: type?.sort ?? "", modifier, oid, spelled, element };
}

/** `varchar(2)` of `varchar(2)[]`. */
function elementSpelled(spelled: string): string | undefined {
  return spelled.endsWith("[]") ? spelled.slice(0, -2) : undefined;
}

/** A merge needs an index that makes its keys unique, or rows could be doubled. */
async function requireUnique(session: PgSession, table: TableName, keys: readonly string[]): Promise<void> {
  const rows = await session.query(
    `SELECT i.indexrelid, a.attname
     FROM pg_catalog.pg_index i
     CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY part(attnum, place)
     JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = part.attnum
     WHERE i.indrelid = ${literal(qualified(table))}::regclass AND i.indisunique AND i.indisvalid AND i.indimmediate
       AND i.indpred IS NULL AND i.indexprs IS NULL
       AND part.place <= coalesce((to_jsonb(i)->>'indnkeyatts')::int, i.indnatts)`,
  );
  const indexes = new Map<string, Set<string>>();
  for (const [index, column] of rows) {
    const columns = indexes.get(index ?? "") ?? new Set<string>();
    indexes.set(index ?? "", columns.add(column ?? ""));
  }
  const wanted = new Set(keys);
  if ([...indexes.values()].some((columns) => columns.size === wanted.size && keys.every((key) => columns.has(key)))) {
    return;
  }
  const list = keys.map(ident).join(", ");
  throw mismatch(
    table,
    `a merge needs a unique index on exactly (${list}), and it has none`,
    `run: CREATE UNIQUE INDEX ON ${qualified(table)} (${list})`,
  );
}
