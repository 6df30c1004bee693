import { type Field, Schema } from "../../../util/arrow.ts";
import { ConnectorError, type DatasetSpec, duckDbType } from "../../contract/mod.ts";
import { arrowField } from "../../sdk/mod.ts";
import { checkNames, pruneColumns } from "../shared/column_names.ts";
import { ident, tableOf } from "./name.ts";
import { readOptions } from "./options.ts";
import { type ReadRule, readRule } from "./read_types.ts";
import type { MysqlSession } from "./session.ts";
import type { FieldInfo } from "./wire.ts";

/** What a dataset reads: all rows of a table, or of a query. */
export type Relation = {
  /** To stand after FROM. */
  readonly sql: string;
  readonly table: string | undefined;
  /** For messages. */
  readonly name: string;
};

/** A column of the relation. */
export type DatasetColumn = { readonly name: string; readonly rule: ReadRule };

/** A dataset as it was described. */
export type Dataset = {
  readonly relation: Relation;
  /** All columns of the relation. */
  readonly columns: readonly DatasetColumn[];
  /** Those that are read, in their order. */
  readonly wanted: readonly DatasetColumn[];
  readonly schema: Schema;
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
    return { sql: `(${options.query}\n) AS \`pz_query\``, table: undefined, name: `the query of "${spec.entity}"` };
  }
  const { table } = named;
  if (table === undefined) throw new TypeError("an entity without a table and without a problem");
  return { sql: ident(table), table, name: `"${table}"` };
}

/** Describes a dataset, of which the server reads no rows for that. */
export async function describeDataset(session: MysqlSession, spec: DatasetSpec): Promise<Dataset> {
  const relation = relationOf(spec);
  const { fields } = await session.prepare(`SELECT * FROM ${relation.sql}`);
  checkNames(fields, relation.name);
  const columns = columnsOf(fields, spec);
  const wanted = pruneColumns(columns, spec.hints?.columns);
  return { relation, columns, wanted, schema: schemaOf(wanted) };
}

/** The columns that the server has described, with the rules to read them by. */
export function columnsOf(fields: readonly FieldInfo[], spec: DatasetSpec): readonly DatasetColumn[] {
  const declared = new Map(spec.columns?.map(({ name, type }) => [name.toLowerCase(), duckDbType(type)]));
  return fields.map((field) => ({ name: field.name, rule: readRule(field, declared.get(field.name.toLowerCase())) }));
}

/** The columns as they arrive. */
export function schemaOf(columns: readonly DatasetColumn[]): Schema {
  const fields: Field[] = columns.map(({ name, rule }) => arrowField(name, rule.type));
  return new Schema(fields);
}

/** The statement that reads a dataset's columns from the rows that meet all conditions. */
export function selectOf({ wanted, relation }: Dataset, conditions: readonly string[]): string {
  const columns = wanted.map(({ name }) => ident(name)).join(", ");
  return `SELECT ${columns} FROM ${relation.sql}${conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`}`;
}
