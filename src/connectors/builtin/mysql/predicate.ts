import type { Predicate, TypedText } from "../../contract/mod.ts";
import { findColumn } from "../shared/column_names.ts";
import type { Dataset, DatasetColumn } from "./dataset.ts";
import { ident, literal } from "./name.ts";

const INTEGER_TYPE = /^U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?$/;
const DATE = /^\d{4}-\d\d-\d\d$/;
const MOMENT = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d{1,6})?)$/;
const INSTANT = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d{1,6})?)(?:Z|\+00(?::?00)?)$/;

/**
 * The parts of a predicate that the server decides exactly as DuckDB does, as SQL; undefined: there is none. Texts are
 * compared for equality only, and then as bytes, since collations take different texts for equal; floating point never;
 * all else by its value.
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
  const { sort } = column.rule;
  switch (predicate.op) {
    case "is_null":
    case "is_not_null":
      // A zero date is something for the server, and may be NULL for the reader.
      return isMoment(column) ? undefined : `${name} IS ${predicate.op === "is_null" ? "" : "NOT "}NULL`;
    case "in": {
      const values = predicate.values.map((value) => renderValue(value, column));
      if (values.length === 0 || values.some((value) => value === undefined)) return undefined;
      const list = `${name} IN (${values.join(", ")})`;
      if (sort !== "text") return list;
      return `${list} AND ${bytesOf(name)} IN (${values.map((value) => bytesOf(value ?? "")).join(", ")})`;
    }
    default: {
      const value = renderValue(predicate.value, column);
      if (value === undefined) return undefined;
      if (sort !== "text") return `${name} ${predicate.op} ${value}`;
      // The first part may use an index; the second one is exact.
      if (predicate.op === "=") return `${name} = ${value} AND ${bytesOf(name)} = ${bytesOf(value)}`;
      return predicate.op === "<>" ? `${bytesOf(name)} <> ${bytesOf(value)}` : undefined;
    }
  }
}

/** A text as the bytes that DuckDB would compare, whatever character set it is kept in. */
function bytesOf(text: string): string {
  return `CAST(CONVERT(${text} USING utf8mb4) AS BINARY)`;
}

function isMoment({ rule: { sort } }: DatasetColumn): boolean {
  return sort === "date" || sort === "datetime" || sort === "timestamp";
}

function renderValue({ type, text }: TypedText, { rule: { sort } }: DatasetColumn): string | undefined {
  switch (sort) {
    case "integer":
    case "decimal": {
      const isNumber = INTEGER_TYPE.test(type)
        ? /^-?\d{1,39}$/.test(text)
        : /^DECIMAL/.test(type)
        ? /^-?\d{1,38}(?:\.\d{1,30})?$/.test(text)
        : false;
      return isNumber ? `(${text})` : undefined;
    }
    case "bool":
      return type === "BOOLEAN" && /^(?:true|false)$/i.test(text) ? (/^t/i.test(text) ? "1" : "0") : undefined;
    case "text":
      return type === "VARCHAR" && !text.includes("\0") ? literal(text) : undefined;
    case "date":
    case "datetime": {
      if (type === "DATE" && DATE.test(text)) return `DATE '${text}'`;
      const [, day, time] = MOMENT.exec(text) ?? [];
      return type === "TIMESTAMP" && day !== undefined ? `TIMESTAMP '${day} ${time}'` : undefined;
    }
    case "timestamp": {
      const [, day, time] = INSTANT.exec(text) ?? [];
      return /^TIMESTAMP(?:TZ| WITH TIME ZONE)$/.test(type) && day !== undefined
        ? `TIMESTAMP '${day} ${time}'`
        : undefined;
    }
    default:
      return undefined;
  }
}
