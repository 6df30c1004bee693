import type { Predicate, TypedText } from "../../contract/mod.ts";
import { findColumn } from "../shared/column_names.ts";
import { parseDate } from "../shared/moment_parse.ts";
import type { Dataset, DatasetColumn } from "./dataset.ts";
import { ident, literal } from "./name.ts";

const INTEGER_TYPE = /^U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?$/;
const WHOLE = /^U?(?:TINYINT|SMALLINT|INTEGER|BIGINT)$/;

/**
 * The parts of a predicate that SQLite decides exactly as DuckDB does, as SQL; undefined: there is none. Texts and dates,
 * which are texts of one form, are compared by their bytes; floating point and decimals never.
 */
export function renderPredicate(predicate: Predicate | undefined, dataset: Dataset): string | undefined {
  if (predicate === undefined) return undefined;
  if (predicate.op === "and") {
    const parts = predicate.args.map((part) => renderPredicate(part, dataset)).filter((part) => part !== undefined);
    return parts.length === 0 ? undefined : parts.join(" AND ");
  }
  const column = findColumn(dataset.columns, predicate.column);
  if (column === undefined) return undefined;
  const name = ident(column.name);
  switch (predicate.op) {
    case "is_null":
    case "is_not_null":
      return `${name} IS ${predicate.op === "is_null" ? "" : "NOT "}NULL`;
    case "in": {
      const values = predicate.values.map((value) => renderValue(value, column, true));
      return values.length === 0 || values.some((value) => value === undefined)
        ? undefined
        : `(${values.map((value) => `${name} = ${value}`).join(" OR ")})`;
    }
    default: {
      const isEquality = predicate.op === "=" || predicate.op === "<>";
      const value = renderValue(predicate.value, column, isEquality || dataset.isUtf8);
      return value === undefined ? undefined : `${name} ${predicate.op} ${value}`;
    }
  }
}

/** `bytesTell`: whether the comparison comes out as that of UTF-8's bytes. */
function renderValue({ type, text }: TypedText, column: DatasetColumn, bytesTell: boolean): string | undefined {
  const { rule: { type: own, declared }, affinity } = column;
  if (WHOLE.test(own) && affinity === "integer") {
    const fits = INTEGER_TYPE.test(type) && /^-?\d{1,19}$/.test(text) &&
      BigInt.asIntN(64, BigInt(text)) === BigInt(text);
    // The least number has no literal of its own.
    return fits && text !== "-9223372036854775808" ? `(${text})` : undefined;
  }
  if (own === "BOOLEAN" && declared.kind === "bool") {
    return type === "BOOLEAN" && /^(?:true|false)$/i.test(text) ? (/^t/i.test(text) ? "1" : "0") : undefined;
  }
  if (!bytesTell || text.includes("\0")) return undefined;
  if (own === "VARCHAR" && declared.kind === "text" && affinity === "text") {
    return type === "VARCHAR" ? `${literal(text)} COLLATE BINARY` : undefined;
  }
  if (own === "DATE" && declared.kind === "date") {
    return type === "DATE" && parseDate(text) !== undefined ? `${literal(text)} COLLATE BINARY` : undefined;
  }
  return undefined;
}
