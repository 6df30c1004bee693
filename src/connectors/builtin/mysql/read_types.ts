import type { FieldInfo } from "./wire.ts";

/** The numbers of the protocol's types. */
const TYPE = {
  decimal: 0,
  tiny: 1,
  short: 2,
  long: 3,
  float: 4,
  double: 5,
  null: 6,
  timestamp: 7,
  longlong: 8,
  int24: 9,
  date: 10,
  time: 11,
  datetime: 12,
  year: 13,
  newdate: 14,
  varchar: 15,
  bit: 16,
  timestamp2: 17,
  datetime2: 18,
  time2: 19,
  vector: 242,
  json: 245,
  newdecimal: 246,
  enum: 247,
  set: 248,
  tinyBlob: 249,
  mediumBlob: 250,
  longBlob: 251,
  blob: 252,
  varString: 253,
  string: 254,
  geometry: 255,
} as const;

const UNSIGNED = 0x20;
const ENUM = 0x100;
const SET = 0x800;
/** The collation of what is no text. */
const BYTES = 63;
const MAX_DIGITS = 38;

/** How a value travels in the binary form of a row. */
export type Wire =
  | "bool"
  | "int8"
  | "uint8"
  | "int16"
  | "uint16"
  | "int24"
  | "int32"
  | "uint32"
  | "int64"
  | "float4"
  | "float8"
  | "decimal"
  | "date"
  | "datetime"
  | "time"
  | "bit"
  | "bit1"
  | "uuid"
  | "bytes";

/** How a column is read. */
export type ReadRule = {
  readonly wire: Wire;
  /** The type that it arrives in, as DuckDB spells it. */
  readonly type: string;
  /** Of a decimal. */
  readonly scale: number;
  /** As the manual spells it, for decisions and messages. */
  readonly sort: Sort;
  /** Why the values arrive in another type than they have; undefined: they don't. */
  readonly notice?: string;
};

/** What the column is to the server, as far as comparisons go. */
export type Sort =
  | "bool"
  | "integer"
  | "decimal"
  | "float"
  | "date"
  | "datetime"
  | "timestamp"
  | "text"
  | "bytes"
  | "other";

/** What a contract says of a column; undefined: nothing. */
export type Declared = string | undefined;

/** The rule for a column. `declared`, DuckDB's spelling of a contract's type, decides where the server's type leaves a choice. */
export function readRule(field: FieldInfo, declared: Declared): ReadRule {
  const isUnsigned = (field.flags & UNSIGNED) !== 0;
  switch (field.type) {
    case TYPE.tiny:
      // What the server calls BOOLEAN.
      if (field.length === 1 && !isUnsigned && (declared === undefined || declared === "BOOLEAN")) {
        return rule("bool", "BOOLEAN", "bool");
      }
      return isUnsigned ? rule("uint8", "UTINYINT", "integer") : rule("int8", "TINYINT", "integer");
    case TYPE.short:
      return isUnsigned ? rule("uint16", "USMALLINT", "integer") : rule("int16", "SMALLINT", "integer");
    case TYPE.year:
      return rule("int16", "SMALLINT", "integer");
    case TYPE.int24:
      return isUnsigned ? rule("uint32", "UINTEGER", "integer") : rule("int32", "INTEGER", "integer");
    case TYPE.long:
      return isUnsigned ? rule("uint32", "UINTEGER", "integer") : rule("int32", "INTEGER", "integer");
    case TYPE.longlong:
      return rule("int64", isUnsigned ? "UBIGINT" : "BIGINT", "integer");
    case TYPE.float:
      return rule("float4", "FLOAT", "float");
    case TYPE.double:
      return rule("float8", "DOUBLE", "float");
    case TYPE.decimal:
    case TYPE.newdecimal:
      return decimalRule(field, declared);
    case TYPE.date:
    case TYPE.newdate:
      return rule("date", "DATE", "date");
    case TYPE.datetime:
    case TYPE.datetime2:
      return rule("datetime", "TIMESTAMP", "datetime");
    case TYPE.timestamp:
    case TYPE.timestamp2:
      return rule("datetime", "TIMESTAMPTZ", "timestamp");
    case TYPE.time:
    case TYPE.time2:
      return rule("time", "TIME");
    case TYPE.bit:
      return field.length === 1
        ? rule("bit1", "BOOLEAN", "bool")
        : { ...rule("bit", "UBIGINT"), notice: `whole numbers, since no type of Arrow is like bit(${field.length})` };
    case TYPE.json:
      return rule("bytes", "JSON");
    case TYPE.null:
      return rule("bytes", "VARCHAR", "text");
    case TYPE.geometry:
      return {
        ...rule("bytes", "BLOB"),
        notice:
          "bytes, a number of the reference system and the well-known form; ST_AsText() in the option query gives texts",
      };
    default:
      return textRule(field);
  }
}

function rule(wire: Wire, type: string, sort: Sort = "other"): ReadRule {
  return { wire, type, sort, scale: 0 };
}

function textRule(field: FieldInfo): ReadRule {
  const { extended } = field;
  if (extended === "uuid") return rule("uuid", "UUID");
  if (extended === "json") return rule("bytes", "JSON");
  if (extended === "inet4" || extended === "inet6") {
    return { ...rule("bytes", "VARCHAR"), notice: `the server's text, since DuckDB has nothing like ${extended}` };
  }
  const isLabel = (field.flags & (ENUM | SET)) !== 0 || field.type === TYPE.enum || field.type === TYPE.set;
  if (field.collation !== BYTES || isLabel) return rule("bytes", "VARCHAR", isLabel ? "other" : "text");
  if (field.type === TYPE.vector || extended === "vector") {
    return {
      ...rule("bytes", "BLOB"),
      notice: "bytes, numbers of 32 bits in a row, since the server sends a vector so",
    };
  }
  return rule("bytes", "BLOB", "bytes");
}

function decimalRule(field: FieldInfo, declared: Declared): ReadRule {
  const isUnsigned = (field.flags & UNSIGNED) !== 0;
  const scale = field.decimals;
  // The length counts a sign and a point.
  const precision = field.length - (scale > 0 ? 1 : 0) - (isUnsigned ? 0 : 1);
  if (precision >= 1 && precision <= MAX_DIGITS && scale <= precision) return decimal(precision, scale);
  const parts = /^DECIMAL\((\d+),(\d+)\)$/.exec(declared ?? "");
  if (parts !== null) return decimal(Number(parts[1]), Number(parts[2]));
  return {
    ...rule("bytes", "VARCHAR"),
    notice:
      `exact text, since no decimal of DuckDB holds every decimal(${precision},${scale}); a decimal(p,s) in \`columns\` ` +
      `changes that`,
  };
}

function decimal(precision: number, scale: number): ReadRule {
  return { wire: "decimal", type: `DECIMAL(${precision},${scale})`, sort: "decimal", scale };
}
