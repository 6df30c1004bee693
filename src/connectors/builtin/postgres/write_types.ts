import { DataType, type Field } from "../../../util/arrow.ts";
import { sortOf, type ValueSort } from "../shared/value_sort.ts";

export { microsPer, sortOf } from "../shared/value_sort.ts";

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
  /** Whether it takes different texts for one, by its nature or its collation. */
  readonly isLoose?: boolean;
  /** Of an array. */
  readonly element?: TargetType | undefined;
};

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

/** Types whose values are texts, as far as an equality of bytes goes. */
export const TEXTS: readonly string[] = ["text", "varchar", "bpchar", "citext"];
/** Those that take texts for one that differ in blanks at their end, or in case. */
export const LOOSE_TEXTS: readonly string[] = ["bpchar", "citext"];
const WHOLE = ["int2", "int4", "int8"];

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
