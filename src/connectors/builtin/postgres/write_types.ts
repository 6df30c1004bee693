import {
  DataType,
  type Extension,
  extensionOf,
  type Field,
  isOpaque,
  Precision,
  TimeUnit,
} from "../../../util/arrow.ts";

/** A column's type at the server, domains resolved. */
export type TargetType = {
  /** Such as `int4`. */
  readonly name: string;
  /** `b` base, `e` enum, and so on. */
  readonly sort: string;
  /** -1: none. */
  readonly modifier: number;
  readonly oid: number;
  /** As SQL spells it. */
  readonly spelled: string;
  /** Of an array. */
  readonly element?: TargetType | undefined;
};

/** What a column's values are, as far as the choice of a column type goes. */
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

/**
 * The column types that take values of a sort as they are. Narrower whole numbers, decimals and times are taken too:
 * each value is checked, and refused where it would change.
 */
const TAKES: { readonly [sort in Exclude<ValueSort, "list" | "null">]: readonly string[] } = {
  integer: ["int2", "int4", "int8", "numeric"],
  decimal: ["numeric"],
  hugeint: ["int2", "int4", "int8", "numeric"],
  uhugeint: ["int2", "int4", "int8", "numeric"],
  float4: ["float4", "float8"],
  float8: ["float8"],
  bool: ["bool"],
  text: ["text", "varchar", "bpchar", "citext", "json", "jsonb", "xml"],
  json: ["json", "jsonb", "text", "varchar"],
  bytes: ["bytea"],
  uuid: ["uuid"],
  date: ["date"],
  time: ["time"],
  timestamp: ["timestamp"],
  timestamptz: ["timestamptz"],
  interval: ["interval"],
};

const WHOLE = ["int2", "int4", "int8"];

/** The sort of a field's values; undefined: PostgreSQL has no column type for them. */
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

/** Of DuckDB's types that Arrow has none for: those that PostgreSQL can hold. */
function opaqueSort(extension: Extension | undefined): ValueSort | undefined {
  const name = extension?.name === "arrow.opaque" ? extension.typeName : undefined;
  return name === "hugeint" || name === "uhugeint" ? name : undefined;
}

/** Whether a column of the type takes the field's values. */
export function takes(field: Field, target: TargetType): boolean {
  const sort = sortOf(field);
  if (sort === undefined) return false;
  if (sort === "null") return true;
  if (sort === "list") {
    const item: Field | undefined = field.type.children[0];
    return item !== undefined && target.element !== undefined && takes(item, target.element);
  }
  if (target.element !== undefined) return false;
  if (target.sort === "e") return sort === "text";
  if (target.name === "interval" && target.modifier >= 0) return false;
  if (sort === "decimal" && DataType.isDecimal(field.type) && field.type.scale === 0 && WHOLE.includes(target.name)) {
    return true;
  }
  return target.sort === "b" && TAKES[sort].includes(target.name);
}

/** The column type that a new table gets for a field; undefined: there is none. */
export function newColumnType(field: Field): string | undefined {
  const type: DataType = field.type;
  const sort = sortOf(field);
  switch (sort) {
    case undefined:
      return undefined;
    case "integer":
      return DataType.isInt(type) ? integerType(type.bitWidth, type.isSigned) : undefined;
    case "decimal":
      return DataType.isDecimal(type) ? `numeric(${type.precision},${type.scale})` : undefined;
    case "hugeint":
    case "uhugeint":
      return "numeric(39,0)";
    case "float4":
      return "real";
    case "float8":
      return "double precision";
    case "bool":
      return "boolean";
    case "bytes":
      return "bytea";
    case "null":
      return "text";
    case "list": {
      const item: Field | undefined = type.children[0];
      const items = item === undefined ? undefined : newColumnType(item);
      return items === undefined ? undefined : `${items}[]`;
    }
    default:
      return sort;
  }
}

function integerType(bits: number, isSigned: boolean): string {
  if (isSigned) return bits <= 16 ? "smallint" : bits === 32 ? "integer" : "bigint";
  return bits === 8 ? "smallint" : bits === 16 ? "integer" : bits === 32 ? "bigint" : "numeric(20,0)";
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
