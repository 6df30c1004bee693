import { type Field, Schema } from "../../../util/arrow.ts";
import { ConnectorError, type DatasetSpec, duckDbType } from "../../contract/mod.ts";
import { checkNames, pruneColumns } from "../shared/column_names.ts";
import { loadTypes } from "./catalog.ts";
import { arrowField, type Kind } from "./kind.ts";
import { ident, literal, qualified, type TableName, tableOf } from "./name.ts";
import { readOptions } from "../shared/read_options.ts";
import { type CatalogType, type Digits, type ReadRule, readRule } from "./read_types.ts";
import type { PgSession } from "./session.ts";

export { findColumn } from "../shared/column_names.ts";

/** What a dataset reads: all rows of a table, or of a query. */
export type Relation = {
  /** To stand after FROM. */
  readonly sql: string;
  /** To be described. */
  readonly query: string;
  readonly table: TableName | undefined;
  /** For messages. */
  readonly name: string;
};

/** A column of the relation. */
export type DatasetColumn = {
  readonly name: string;
  readonly rule: ReadRule;
  readonly oid: number;
  readonly modifier: number;
  /** The name of its type below domains, such as `int4`. */
  readonly typeName: string;
  /** Whether equal texts are equal bytes. */
  readonly comparesBytes: boolean;
};

/** A dataset as it was described. */
export type Dataset = {
  readonly relation: Relation;
  /** All columns of the relation. */
  readonly columns: readonly DatasetColumn[];
  /** Those that are read, in their order. */
  readonly wanted: readonly DatasetColumn[];
  readonly schema: Schema;
  readonly kinds: readonly Kind[];
};

/** @throws {ConnectorError} for options or a name that mean no relation */
export function relationOf(spec: DatasetSpec): Relation {
  const options = readOptions(spec.options);
  const named = options.query === undefined ? tableOf(spec.entity) : { problems: [] };
  const [problem] = [...options.problems, ...named.problems];
  if (problem !== undefined) {
    throw new ConnectorError(problem.message, { transient: false, code: problem.code, hint: problem.hint });
  }
  if (options.query !== undefined) {
    return {
      sql: `(${options.query}\n) AS "pz_query"`,
      query: options.query,
      table: undefined,
      name: `the query of "${spec.entity}"`,
    };
  }
  const { table } = named;
  if (table === undefined) throw new TypeError("an entity without a table and without a problem");
  const sql = qualified(table);
  return { sql, query: `SELECT * FROM ${sql}`, table, name: `"${table.schema}.${table.table}"` };
}

/** Describes a dataset inside a transaction, which keeps the relation as it is until it ends. */
export async function describeDataset(session: PgSession, spec: DatasetSpec): Promise<Dataset> {
  const relation = relationOf(spec);
  const fields = await session.describe(relation.query);
  checkNames(fields, relation.name);
  const types = await loadTypes(session, fields.map(({ dataTypeID }) => dataTypeID));
  const { table } = relation;
  // Only predicates want to know.
  const isAsked = table !== undefined && spec.hints?.predicate !== undefined;
  const foreignOrder = isAsked ? await unorderedTexts(session, table) : undefined;
  const declared = declaredDigits(spec);
  const columns = fields.map((field): DatasetColumn => {
    const { name, dataTypeID: oid, dataTypeModifier: modifier } = field;
    return {
      name,
      oid,
      modifier,
      rule: readRule(oid, modifier, types, declared.get(name.toLowerCase())),
      typeName: baseName(oid, types),
      comparesBytes: foreignOrder !== undefined && !foreignOrder.has(name),
    };
  });
  const wanted = pruneColumns(columns, spec.hints?.columns);
  const schemaFields: Field[] = wanted.map(({ name, rule }) => arrowField(name, rule.kind));
  return { relation, columns, wanted, schema: new Schema(schemaFields), kinds: wanted.map(({ rule }) => rule.kind) };
}

function baseName(oid: number, types: ReadonlyMap<number, CatalogType>): string {
  let type = types.get(oid);
  while (type !== undefined && type.base !== 0) type = types.get(type.base);
  return type === undefined ? "" : type.sort === "b" ? type.name : `${type.sort} type`;
}

/** The digits that a contract declares for its decimals, by column name in lower case. */
function declaredDigits(spec: DatasetSpec): ReadonlyMap<string, Digits> {
  const digits = new Map<string, Digits>();
  for (const { name, type } of spec.columns ?? []) {
    const parts = /^DECIMAL\((\d+),(\d+)\)$/.exec(duckDbType(type) ?? "");
    if (parts !== null) digits.set(name.toLowerCase(), { precision: Number(parts[1]), scale: Number(parts[2]) });
  }
  return digits;
}

/** Columns in whose collation different texts can be equal, which there are since version 12. */
async function unorderedTexts(session: PgSession, table: TableName): Promise<ReadonlySet<string>> {
  const rows = await session.query(
    `SELECT a.attname FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_collation c ON c.oid = a.attcollation ` +
      `WHERE a.attrelid = ${literal(qualified(table))}::regclass AND a.attnum > 0 ` +
      `AND to_jsonb(c)->>'collisdeterministic' = 'false'`,
  );
  return new Set(rows.map(([name]) => name ?? ""));
}

/** The statement that reads a dataset's columns from the rows that meet `condition`. */
export function selectOf({ wanted, relation }: Dataset, condition: string | undefined): string {
  const columns = wanted.map(({ name, rule }) => `${ident(name)}${rule.cast}`).join(", ");
  return `SELECT ${columns} FROM ${relation.sql}${condition === undefined ? "" : ` WHERE ${condition}`}`;
}
