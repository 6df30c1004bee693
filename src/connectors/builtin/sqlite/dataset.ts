import { type Field, Schema } from "../../../util/arrow.ts";
import { ConnectorError, type DatasetSpec } from "../../contract/mod.ts";
import { arrowField } from "../../sdk/mod.ts";
import { checkNames, pruneColumns } from "../shared/column_names.ts";
import { readOptions } from "../shared/read_options.ts";
import type { Database, Query } from "./database.ts";
import { type Affinity, affinityOf } from "./declared.ts";
import { ident, tableOf } from "./name.ts";
import { type ReadRule, readRule } from "./read_types.ts";

/** A column of a table or view. */
export type DatasetColumn = { readonly name: string; readonly rule: ReadRule; readonly affinity: Affinity };

/** A dataset as it was described. */
export type Dataset = {
  /** As it is spelled in the project. */
  readonly table: string;
  readonly columns: readonly DatasetColumn[];
  /** Those that are read, in their order. */
  readonly wanted: readonly DatasetColumn[];
  readonly schema: Schema;
  /** A name of the number by which SQLite knows a row; undefined: rows have none. */
  readonly rowid: string | undefined;
  readonly isUtf8: boolean;
};

/** @throws {ConnectorError} for options or a name that mean no table */
export function tableName(spec: DatasetSpec): string {
  const { table, problems } = tableOf(spec.entity);
  const [problem] = [...readOptions(spec.options).problems, ...problems];
  if (problem !== undefined || table === undefined) {
    throw new ConnectorError(problem?.message ?? `Entity "${spec.entity}" is no table`, {
      transient: false,
      code: problem?.code,
      hint: problem?.hint,
    });
  }
  return table;
}

/** Describes a dataset as the database is just now. */
export function describeDataset(database: Database, spec: DatasetSpec): Dataset {
  const table = tableName(spec);
  const contracts = new Map(spec.columns?.map(({ name, type }) => [name.toLowerCase(), type]));
  const rows = database.rows("SELECT name, type FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid", table);
  if (rows.length === 0) {
    throw new ConnectorError(`There is no table "${table}" in the database`, {
      transient: false,
      hint: "check the spelling; the whole entity is the table's name",
    });
  }
  const columns = rows.map(([name, type]): DatasetColumn => ({
    name: String(name),
    rule: readRule(String(type), contracts.get(String(name).toLowerCase())),
    affinity: affinityOf(String(type)),
  }));
  checkNames(columns, `"${table}"`);
  const wanted = pruneColumns(columns, spec.hints?.columns);
  const fields: Field[] = wanted.map(({ name, rule }) => arrowField(name, rule.type));
  const [encoding] = database.rows("PRAGMA encoding");
  return {
    table,
    columns,
    wanted,
    schema: new Schema(fields),
    rowid: rowidOf(database, table, columns),
    isUtf8: encoding?.[0] === "UTF-8",
  };
}

/** One of its three names that no column has taken. */
function rowidOf(database: Database, table: string, columns: readonly DatasetColumn[]): string | undefined {
  const [row] = database.rows(
    "SELECT type, wr FROM pragma_table_list WHERE schema = 'main' AND name = ? COLLATE NOCASE",
    table,
  );
  if (row?.[0] !== "table" || row[1] !== 0n) return undefined;
  const taken = new Set(columns.map(({ name }) => name.toLowerCase()));
  return ["rowid", "_rowid_", "oid"].find((name) => !taken.has(name));
}

/** The statement that reads the rows that meet all conditions: their number first, then the wanted columns. */
export function selectOf({ table, wanted, rowid, isUtf8 }: Dataset, conditions: readonly string[]): Query {
  const columns = wanted.map(({ name, rule }) => {
    const isText = rule.type === "VARCHAR" || rule.type === "JSON";
    return isText && isUtf8 ? wholeText(ident(name), rowid === undefined) : ident(name);
  });
  const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
  return { columns: [rowid ?? "NULL", ...columns], from: `FROM ${ident(table)}${where}` };
}

/**
 * The runtime cuts a text off at U+0000: such a text is fetched as bytes, or each is. Bytes, which are no text, come as
 * infinity.
 */
function wholeText(name: string, always: boolean): string {
  const bytes = `CAST(${name} AS BLOB)`;
  const text = always ? bytes : `CASE WHEN instr(${bytes}, x'00') > 0 THEN ${bytes} ELSE ${name} END`;
  return `CASE typeof(${name}) WHEN 'text' THEN ${text} WHEN 'blob' THEN 1e999 ELSE ${name} END`;
}
