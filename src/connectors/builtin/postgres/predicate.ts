import type { Predicate, TypedText } from "../../contract/mod.ts";
import { type Dataset, type DatasetColumn, findColumn } from "./dataset.ts";
import { ident, literal } from "./name.ts";

const INTEGER_TYPE = /^U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?$/;
const WHOLE_COLUMNS: ReadonlySet<string> = new Set(["int2", "int4", "int8"]);
const TEXT_COLUMNS: ReadonlySet<string> = new Set(["text", "varchar"]);
const DATE = /^\d{4}-\d\d-\d\d$/;
const MOMENT = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d{1,6})?$/;
const INSTANT = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d(?::?\d\d)?)$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * The parts of a predicate that the server decides exactly as DuckDB does, as SQL; undefined: there is none. Texts are
 * compared for equality only, since their order depends on a collation; floating point never, since NaN is ordered
 * otherwise; all else by its value.
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
      // A row of NULLs is NULL for SQL, though the column has a value.
      if (column.typeName === "c type" || column.typeName === "") return undefined;
      return `${name} IS ${predicate.op === "is_null" ? "" : "NOT "}NULL`;
    case "in": {
      const values = predicate.values.map((value) => renderValue(value, column, true));
      return values.length === 0 || values.some((value) => value === undefined)
        ? undefined
        : `${name} IN (${values.join(", ")})`;
    }
    default: {
      const isEquality = predicate.op === "=" || predicate.op === "<>";
      const value = renderValue(predicate.value, column, isEquality);
      return value === undefined ? undefined : `${name} ${predicate.op} ${value}`;
    }
  }
}

function renderValue({ type, text }: TypedText, column: DatasetColumn, isEquality: boolean): string | undefined {
  const typeName = column.typeName;
  if (WHOLE_COLUMNS.has(typeName) || (typeName === "numeric" && column.rule.kind.kind === "decimal")) {
    const isNumber = INTEGER_TYPE.test(type)
      ? /^-?\d{1,39}$/.test(text)
      : /^DECIMAL/.test(type)
      ? /^-?\d{1,38}(?:\.\d{1,38})?$/.test(text)
      : false;
    return isNumber ? `(${text})` : undefined;
  }
  if (TEXT_COLUMNS.has(typeName)) {
    return isEquality && column.comparesBytes && type === "VARCHAR" && !text.includes("\0") ? literal(text) : undefined;
  }
  switch (typeName) {
    case "bool":
      return type === "BOOLEAN" && /^(?:true|false)$/i.test(text) ? text.toLowerCase() : undefined;
    case "uuid":
      return type === "UUID" && UUID.test(text) ? `${literal(text)}::uuid` : undefined;
    case "date":
    case "timestamp":
      if (type === "DATE" && DATE.test(text)) return `DATE ${literal(text)}`;
      return type === "TIMESTAMP" && MOMENT.test(text) ? `TIMESTAMP ${literal(text)}` : undefined;
    case "timestamptz":
      return /^TIMESTAMP(?:TZ| WITH TIME ZONE)$/.test(type) && INSTANT.test(text)
        ? `TIMESTAMPTZ ${literal(text)}`
        : undefined;
    default:
      return undefined;
  }
}
