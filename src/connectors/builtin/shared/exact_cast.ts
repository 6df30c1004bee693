import { type ColumnSpec, type ConfigProblem, duckDbType } from "../../contract/mod.ts";
import { ident, literal } from "../../../duckdb/mod.ts";
import { complaint, refusal } from "./checked_cast.ts";

/** A column of a contract with its DuckDB type. */
export type TypedColumn = {
  readonly name: string;
  readonly type: string;
  /** Whether the cast may round, cut or drop a part of the value, as DuckDB does by itself. */
  readonly lossy: boolean;
  /** Whether DuckDB guessed the type, and so may read a number in a notation of its own. */
  readonly guessed?: boolean;
};

/** The columns of a contract with DuckDB's names for their types; unknown types are pushed as problems. */
export function typedColumns(
  columns: readonly ColumnSpec[] | undefined,
  isLossy: (name: string) => boolean,
  problems: ConfigProblem[],
): readonly TypedColumn[] | undefined {
  if (columns === undefined || columns.length === 0) return undefined;
  return columns.flatMap(({ name, type }) => {
    const duck = duckDbType(type);
    if (duck !== undefined) return [{ name, type: duck, lossy: isLossy(name) }];
    problems.push({
      code: "PZ0301",
      message: `Column "${name}" has the unknown type "${type}"`,
      hint: "the types are int, bigint, double, decimal, varchar, boolean, date and timestamp",
    });
    return [];
  });
}

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
    const refused = refusal(text, `TRY_CAST(${ident(name)} AS ${type})`, column, "refused");
    // DuckDB knows typeof() before it runs, so that only one of the two checks is left.
    return `CASE WHEN typeof(${ident(name)}) = 'VARCHAR' THEN CASE WHEN ${refused} THEN ${complaint(text, column)} ` +
      `ELSE TRY_CAST(${ident(name)} AS ${type}) END ` +
      `WHEN ${value} <> ${ident(name)} THEN ${failure} ELSE ${value} END AS ${ident(name)}`;
  });
  return `(SELECT ${list.join(", ")} FROM ${relation})`;
}
