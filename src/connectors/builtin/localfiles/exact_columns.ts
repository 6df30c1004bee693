import { PzError } from "../../../errors/mod.ts";
import { ident, literal } from "../../../duckdb/mod.ts";
import type { ColumnSpec } from "../../contract/mod.ts";
import type { FileFormat } from "./format.ts";

/** How one column is written: its value as SQL, and when that value would not be what the file says. */
type Written = {
  readonly value: string;
  readonly bad?: string;
  /** What is said of a bad value, behind the column's name. */
  readonly complaint?: string;
};

const PARQUET_INTEGER = "DECIMAL(38,0)";
const QUOTED = String.raw`"(?:[^"]|"")*"|'(?:[^']|'')*'`;
/** Parquet keeps an interval's time as milliseconds in 32 bits. */
const MAX_INTERVAL_MS = 4294967295;

/**
 * `SELECT …` of a relation (as SQL) whose columns DuckDB writes to a file of the format without a silent change. Parquet
 * has no 128-bit integers: they become DECIMAL(38,0). A single value that the format can't hold stops the statement with
 * an error that names the column.
 *
 * @throws PzError PZ0501 for a column whose type the format can't hold at all
 */
export function selectWritable(relation: string, columns: readonly ColumnSpec[], format: FileFormat): string {
  const replaced = columns.flatMap((column) => {
    const written = format === "parquet" ? toParquet(column) : format === "json" ? toJson(column) : undefined;
    return written === undefined ? [] : [`${checked(column, written)} AS ${ident(column.name)}`];
  });
  return replaced.length === 0
    ? `SELECT * FROM ${relation}`
    : `SELECT * REPLACE (${replaced.join(", ")}) FROM ${relation}`;
}

function checked({ name }: ColumnSpec, { value, bad, complaint = "" }: Written): string {
  if (bad === undefined) return value;
  const text = `left(CAST(${ident(name)} AS VARCHAR), 80)`;
  const message = `${literal(`Column ${ident(name)} holds '`)} || ${text} || ${literal(`', ${complaint}`)}`;
  return `CASE WHEN ${bad} THEN error(${message}) ELSE ${value} END`;
}

function toParquet({ name, type }: ColumnSpec): Written | undefined {
  const column = ident(name);
  switch (type) {
    case "HUGEINT":
    case "UHUGEINT": {
      const value = `TRY_CAST(${column} AS ${PARQUET_INTEGER})`;
      const complaint = `which has more digits than Parquet's ${PARQUET_INTEGER} can hold: cast it to VARCHAR`;
      return { value, bad: `${value} IS NULL AND ${column} IS NOT NULL`, complaint };
    }
    case "TIME WITH TIME ZONE":
      return {
        value: column,
        bad: `date_part('timezone', ${column}) <> 0`,
        complaint: "whose offset Parquet can't hold: cast it to VARCHAR",
      };
    case "INTERVAL": {
      const ms = `date_part('hour', ${column}) * 3600000 + date_part('minute', ${column}) * 60000 + ` +
        `date_part('millisecond', ${column})`;
      return {
        value: column,
        bad: `contains(CAST(${column} AS VARCHAR), '-') OR date_part('microsecond', ${column}) % 1000 <> 0 OR ` +
          `${ms} > ${MAX_INTERVAL_MS}`,
        complaint: "which Parquet can't hold (negative, finer than milliseconds or more than 49 days of hours): " +
          "cast it to VARCHAR",
      };
    }
    case "TIMESTAMP_S":
    case "TIMESTAMP_MS":
      // DuckDB's writer refuses their infinities, which a TIMESTAMP holds.
      return { value: `CAST(${column} AS TIMESTAMP)` };
  }
  refuse(name, type, "Parquet", ["UNION", "TIME WITH TIME ZONE", "INTERVAL"]);
  const target = replaceType(type, "U?HUGEINT", PARQUET_INTEGER);
  if (target === type) return undefined;
  const value = `TRY_CAST(${column} AS ${target})`;
  const complaint = `with an integer of more digits than Parquet's ${PARQUET_INTEGER} can hold: cast it to VARCHAR`;
  return { value, bad: `CAST(${value} AS ${type}) IS DISTINCT FROM ${column}`, complaint };
}

function toJson({ name, type }: ColumnSpec): Written | undefined {
  const column = ident(name);
  const complaint = "and JSON has no such number: cast it to VARCHAR, or make it NULL";
  if (type === "FLOAT" || type === "DOUBLE") return { value: column, bad: `NOT isfinite(${column})`, complaint };
  if (type !== "VARIANT") refuse(name, type, "JSON", ["VARIANT"]);
  const value = type === "VARIANT" ? `CAST(${column} AS JSON)` : column;
  if (!["VARIANT", "JSON"].includes(type) && !hasType(type, "FLOAT|DOUBLE|JSON")) return undefined;
  const text = type === "VARIANT" || type === "JSON"
    ? `CAST(${value} AS VARCHAR)`
    : `CAST(to_json(${column}) AS VARCHAR)`;
  const low = `lower(${text})`;
  const bad = `(contains(${low}, 'nan') OR contains(${low}, 'inf')) AND regexp_matches(${
    outsideTexts(low)
  }, 'nan|inf')`;
  return { value: type === "JSON" ? checked({ name, type }, sameDigits(column, text)) : value, bad, complaint };
}

/** DuckDB writes the numbers of JSON that have a dot or an exponent as doubles. */
function sameDigits(column: string, text: string): Written {
  const written = `CAST(json(${column}) AS VARCHAR)`;
  return {
    value: column,
    bad: `regexp_matches(${text}, '[0-9.]{17}') AND ${longFractions(text)} <> ${longFractions(written)}`,
    complaint: "with a number of more digits than are written: cast it to VARCHAR",
  };
}

/** The numbers in a text of JSON whose digits may be too many for a double. */
function longFractions(text: string): string {
  const numbers = `regexp_extract_all(${outsideTexts(`lower(${text})`)}, '[0-9]+[.]?[0-9]*(e[-+]?[0-9]+)?')`;
  return `list_filter(${numbers}, lambda n: strlen(n) > 16 AND regexp_matches(n, '[.e]'))`;
}

/** A text of JSON, as SQL, without what stands in quotes. */
function outsideTexts(text: string): string {
  return `regexp_replace(${text}, ${literal(String.raw`"(\\.|[^"\\])*"`)}, '', 'g')`;
}

/** Stops where a type, or one inside it, has no form in the format. */
function refuse(name: string, type: string, format: string, types: readonly string[]): void {
  const found = types.find((one) => hasType(type, one));
  if (found === undefined) return;
  throw new PzError("PZ0501", `Column ${ident(name)} is ${type}: ${format} can't hold ${found} there unchanged`, {
    hint: `cast it in the pipeline's SELECT, to ${found === "UNION" || found === "VARIANT" ? "JSON" : "VARCHAR"}`,
  });
}

function hasType(type: string, pattern: string): boolean {
  return replaceType(type, pattern, "") !== type;
}

/** A type's text with some of its types replaced; the names of fields and the values of an ENUM are left alone. */
function replaceType(type: string, pattern: string, replacement: string): string {
  const found = new RegExp(String.raw`${QUOTED}|\b(?:${pattern})(?=[\[,)]|$|\()`, "g");
  return type.replaceAll(found, (text) => /^["']/.test(text) ? text : replacement);
}
