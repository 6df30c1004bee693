import { type ColumnSpec, type ConfigProblem, duckDbType } from "../../contract/mod.ts";
import { ident, literal } from "../../../duckdb/mod.ts";
import { nearMiss } from "../../../util/mod.ts";
import { complaint, refusal } from "./checked_cast.ts";

/** A column of a contract with its DuckDB type. */
export type TypedColumn = {
  readonly name: string;
  readonly type: string;
  /** Whether the cast may round, cut or drop a part of the value, as DuckDB does by itself. */
  readonly lossy: boolean;
  /** Whether DuckDB guessed the type, and so may read a number in a notation of its own. */
  readonly guessed?: boolean;
  /** What a reader puts behind a text that is no longer that of the file. */
  readonly mark?: string;
};

/** The columns of a contract with DuckDB's names for their types; unknown types are pushed as problems. */
export function typedColumns(
  columns: readonly ColumnSpec[] | undefined,
  isLossy: (name: string) => boolean,
  problems: ConfigProblem[],
): readonly TypedColumn[] | undefined {
  if (columns === undefined || columns.length === 0) return undefined;
  return columns.flatMap(({ name, type, lossy }) => {
    const duck = duckDbType(type);
    if (duck !== undefined) return [{ name, type: duck, lossy: lossy === "allow" || isLossy(name) }];
    const meant = OTHER_TYPES.get(type.trim().toLowerCase()) ?? nearMiss(type, OWN_TYPES);
    problems.push({
      code: "PZ0301",
      message: `Column "${name}" has the unknown type "${type}"`,
      column: name,
      hint: meant === undefined
        ? `the types are ${OWN_TYPES.slice(0, -1).join(", ")} and ${OWN_TYPES.at(-1)}`
        : `did you mean "${meant}"?`,
    });
    return [];
  });
}

const OWN_TYPES = ["int", "bigint", "double", "decimal", "varchar", "boolean", "date", "timestamp"];

/** What other systems call types. */
const OTHER_TYPES: ReadonlyMap<string, string> = new Map([
  ...["int1"].map((name) => [name, "tinyint"] as const),
  ...["int2", "short"].map((name) => [name, "smallint"] as const),
  ...["int4", "int32", "mediumint", "serial"].map((name) => [name, "int"] as const),
  ...["int8", "int64", "long", "bigserial"].map((name) => [name, "bigint"] as const),
  ...["float4", "float32", "single"].map((name) => [name, "float"] as const),
  ...["float8", "float64", "double precision"].map((name) => [name, "double"] as const),
  ...["number", "money", "currency", "bigdecimal"].map((name) => [name, "decimal(18,2)"] as const),
  ...["str", "char", "nvarchar", "character varying", "object"].map((name) => [name, "varchar"] as const),
  ...["datetime", "datetime2", "timestamp_ntz", "timestamp without time zone"].map((name) =>
    [name, "timestamp"] as const
  ),
  ...["datetimeoffset", "timestamp_tz"].map((name) => [name, "timestamptz"] as const),
  ...["bytes", "bytea", "binary", "varbinary"].map((name) => [name, "blob"] as const),
]);

/**
 * `(SELECT …)` of columns of a typed relation (as SQL) as their declared types. A value that changes with its type stops
 * the statement; texts get the checks of text files, and an empty one is no number.
 */
export function selectExact(columns: readonly TypedColumn[], relation: string): string {
  const list = columns.map((column) => {
    const { name, type, lossy } = column;
    const value = `CAST(${ident(name)} AS ${type})`;
    if (lossy || type === "VARCHAR") return `${value} AS ${ident(name)}`;
    const failure = `error(${literal(`Column ${ident(name)} holds a value that ${type} can't hold exactly`)})`;
    const text = `CAST(${ident(name)} AS VARCHAR)`;
    const refused = refusal(text, `TRY_CAST(${ident(name)} AS ${type})`, column);
    // DuckDB knows typeof() before it runs, so that only one of the two checks is left.
    return `CASE WHEN typeof(${ident(name)}) = 'VARCHAR' THEN CASE WHEN ${refused} THEN ${complaint(text, column)} ` +
      `ELSE TRY_CAST(${ident(name)} AS ${type}) END ` +
      `WHEN ${value} <> ${ident(name)} THEN ${failure} ELSE ${value} END AS ${ident(name)}`;
  });
  return `(SELECT ${list.join(", ")} FROM ${relation})`;
}
