import { DataType, type Field } from "../../../util/arrow.ts";
import { sortOf, type ValueSort } from "../shared/value_sort.ts";

/** A column's type at the server. */
export type TargetType = {
  /** Such as `int`, in lower case. */
  readonly name: string;
  /** As SQL spells it, such as `int(11) unsigned`. */
  readonly spelled: string;
  /** Characters of a text, bits of a `bit`; undefined: neither. */
  readonly length: number | undefined;
  /** Bytes of a text or blob. */
  readonly octets: number | undefined;
  readonly precision: number | undefined;
  /** Decimal places, also of a `float` or `double` that was declared with them. */
  readonly scale: number | undefined;
  /** Digits of a second. */
  readonly fraction: number;
  readonly charset: string | undefined;
  readonly isNullable: boolean;
};

/** What of the server decides which types it has. */
export type ServerFacts = { readonly isMariaDb: boolean; readonly hasUuid: boolean };

const WHOLE: readonly string[] = ["tinyint", "smallint", "mediumint", "int", "bigint"];
const TEXTS: readonly string[] = ["char", "varchar", "tinytext", "text", "mediumtext", "longtext"];

/**
 * The column types that take values of a sort as they are. Narrower numbers, texts and times are taken too: each value
 * is checked, by the connector or by the server in its strict mode, and refused where it would change.
 */
const TAKES: { readonly [sort in Exclude<ValueSort, "list" | "null" | "interval">]: readonly string[] } = {
  integer: [...WHOLE, "decimal", "year", "bit"],
  decimal: ["decimal"],
  hugeint: [...WHOLE, "decimal"],
  uhugeint: [...WHOLE, "decimal"],
  float4: ["float", "double"],
  float8: ["double"],
  bool: ["tinyint", "bit"],
  text: [...TEXTS, "enum", "json"],
  json: ["json", ...TEXTS],
  bytes: ["binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"],
  uuid: ["uuid", "char", "varchar"],
  date: ["date"],
  time: ["time"],
  timestamp: ["datetime"],
  timestamptz: ["timestamp", "datetime"],
};

const KEY_BYTES = 3072;
/** What of an index other key columns than texts may take. */
const FIXED_KEY_BYTES = 64;
const BYTES_PER_CHARACTER = 4;
const MOST_PLACES = 30;

/** Whether a column of the type takes the field's values. */
export function takes(field: Field, target: TargetType): boolean {
  const sort = sortOf(field);
  if (sort === undefined || sort === "list" || sort === "interval") return false;
  if (sort === "null") return true;
  // Those round to their places.
  if ((target.name === "float" || target.name === "double") && target.scale !== undefined) return false;
  if (target.name === "bit" && sort === "bool" && target.precision !== 1) return false;
  if (sort === "uuid" && target.name !== "uuid" && (target.length ?? 0) < 36) return false;
  if (sort === "decimal" && DataType.isDecimal(field.type) && field.type.scale === 0 && WHOLE.includes(target.name)) {
    return true;
  }
  return TAKES[sort].includes(target.name);
}

/** What a column of a new table is to be. */
export type ColumnUse = {
  readonly facts: ServerFacts;
  /** Undefined: it is no key. Otherwise how many keys are texts or bytes, which share the room of an index. */
  readonly longKeys?: number;
};

/** The column type that a new table gets for a field; undefined: there is none. */
export function newColumnType(field: Field, { facts, longKeys }: ColumnUse): string | undefined {
  const type: DataType = field.type;
  const sort = sortOf(field);
  const isKey = longKeys !== undefined;
  switch (sort) {
    case undefined:
    case "list":
    case "interval":
      return undefined;
    case "integer":
      return DataType.isInt(type) ? integerType(type.bitWidth, type.isSigned) : undefined;
    case "decimal":
      if (!DataType.isDecimal(type) || (!facts.isMariaDb && type.scale > MOST_PLACES)) return undefined;
      return `decimal(${type.precision},${type.scale})`;
    case "hugeint":
    case "uhugeint":
      return "decimal(39,0)";
    case "float4":
      return "float";
    case "float8":
      return "double";
    case "bool":
      return "tinyint(1)";
    case "text":
      // Keys that differ are to stay different keys.
      return isKey ? `varchar(${keyRoom(longKeys, BYTES_PER_CHARACTER)}) COLLATE utf8mb4_bin` : "longtext";
    case "bytes":
      return isKey ? `varbinary(${keyRoom(longKeys, 1)})` : "longblob";
    case "json":
      return isKey ? undefined : "json";
    case "null":
      return isKey ? undefined : "longtext";
    case "uuid":
      return facts.hasUuid ? "uuid" : "char(36) CHARACTER SET ascii COLLATE ascii_bin";
    case "date":
      return "date";
    case "time":
      return "time(6)";
    case "timestamp":
      return "datetime(6)";
    case "timestamptz":
      return "timestamp(6)";
  }
}

/** Whether a key column takes as much room in an index as it is given. */
export function isLong(field: Field): boolean {
  const sort = sortOf(field);
  return sort === "text" || sort === "bytes";
}

function keyRoom(longKeys: number, bytesEach: number): number {
  return Math.floor((KEY_BYTES - FIXED_KEY_BYTES) / longKeys / bytesEach);
}

function integerType(bits: number, isSigned: boolean): string {
  const name = bits === 8 ? "tinyint" : bits === 16 ? "smallint" : bits === 32 ? "int" : "bigint";
  return isSigned ? name : `${name} unsigned`;
}
