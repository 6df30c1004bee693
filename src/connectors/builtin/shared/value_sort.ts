import {
  DataType,
  type Extension,
  extensionOf,
  type Field,
  isOpaque,
  Precision,
  TimeUnit,
} from "../../../util/arrow.ts";

/** What a column's values are, as far as the choice of a column type at a database goes. */
export type ValueSort =
  | "integer"
  | "decimal"
  | "hugeint"
  | "uhugeint"
  | "float4"
  | "float8"
  | "bool"
  | "text"
  | "json"
  | "bytes"
  | "uuid"
  | "date"
  | "time"
  | "timestamp"
  | "timestamptz"
  | "interval"
  | "null"
  | "list";

/** The sort of a field's values; undefined: structs, maps, lists of lists, and types whose bytes only DuckDB knows. */
export function sortOf(field: Field): ValueSort | undefined {
  const type: DataType = field.type;
  const extension = extensionOf(field);
  if (isOpaque(field)) return opaqueSort(extension);
  if (DataType.isInt(type)) return "integer";
  if (DataType.isDecimal(type)) return type.bitWidth === 128 ? "decimal" : undefined;
  if (DataType.isFloat(type)) {
    return type.precision === Precision.DOUBLE ? "float8" : type.precision === Precision.SINGLE ? "float4" : undefined;
  }
  if (DataType.isBool(type)) return "bool";
  if (DataType.isUtf8(type)) return extension?.name === "arrow.json" ? "json" : "text";
  if (DataType.isBinary(type)) return "bytes";
  if (DataType.isFixedSizeBinary(type)) {
    return type.byteWidth === 16 && extension?.name === "arrow.uuid" ? "uuid" : "bytes";
  }
  if (DataType.isDate(type)) return "date";
  if (DataType.isTime(type)) return "time";
  if (DataType.isTimestamp(type)) {
    return typeof type.timezone === "string" && type.timezone !== "" ? "timestamptz" : "timestamp";
  }
  if (DataType.isInterval(type) || DataType.isDuration(type)) return "interval";
  if (DataType.isNull(type)) return "null";
  if (DataType.isList(type)) {
    const item: Field | undefined = type.children[0];
    const items = item === undefined ? undefined : sortOf(item);
    return items === undefined || items === "list" ? undefined : "list";
  }
  return undefined;
}

/** Of DuckDB's types that Arrow has none for: the whole numbers of 128 bits. */
function opaqueSort(extension: Extension | undefined): ValueSort | undefined {
  const name = extension?.name === "arrow.opaque" ? extension.typeName : undefined;
  return name === "hugeint" || name === "uhugeint" ? name : undefined;
}

/** Microseconds in a unit of a time or timestamp; undefined: the unit is finer. */
export function microsPer(unit: TimeUnit): bigint | undefined {
  switch (unit) {
    case TimeUnit.SECOND:
      return 1_000_000n;
    case TimeUnit.MILLISECOND:
      return 1000n;
    case TimeUnit.MICROSECOND:
      return 1n;
    case TimeUnit.NANOSECOND:
      return undefined;
  }
}
