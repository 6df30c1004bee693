import {
  Binary,
  Bool,
  DataType,
  DateDay,
  Decimal,
  type Extension,
  extensionMetadata,
  Field,
  FixedSizeBinary,
  FixedSizeList,
  Float32,
  Float64,
  Int16,
  Int32,
  Int64,
  Int8,
  IntervalMonthDayNano,
  List,
  Map_,
  Schema,
  Struct,
  TimeMicrosecond,
  TimeNanosecond,
  TimestampMicrosecond,
  TimestampMillisecond,
  TimestampNanosecond,
  TimestampSecond,
  Uint16,
  Uint32,
  Uint64,
  Uint8,
  Utf8,
} from "../../util/arrow.ts";
import { type ColumnSpec, ConnectorError } from "../contract/mod.ts";
import { type TypeTree, typeTree } from "./type_text.ts";

const SIMPLE: { readonly [type: string]: () => DataType } = {
  TINYINT: () => new Int8(),
  SMALLINT: () => new Int16(),
  INTEGER: () => new Int32(),
  BIGINT: () => new Int64(),
  UTINYINT: () => new Uint8(),
  USMALLINT: () => new Uint16(),
  UINTEGER: () => new Uint32(),
  UBIGINT: () => new Uint64(),
  HUGEINT: () => new FixedSizeBinary(16),
  UHUGEINT: () => new FixedSizeBinary(16),
  FLOAT: () => new Float32(),
  DOUBLE: () => new Float64(),
  VARCHAR: () => new Utf8(),
  JSON: () => new Utf8(),
  UUID: () => new FixedSizeBinary(16),
  BLOB: () => new Binary(),
  BOOLEAN: () => new Bool(),
  DATE: () => new DateDay(),
  TIME: () => new TimeMicrosecond(),
  TIME_NS: () => new TimeNanosecond(),
  TIMESTAMP: () => new TimestampMicrosecond(),
  TIMESTAMP_S: () => new TimestampSecond(),
  TIMESTAMP_MS: () => new TimestampMillisecond(),
  TIMESTAMP_NS: () => new TimestampNanosecond(),
  TIMESTAMPTZ: () => new TimestampMicrosecond("UTC"),
  INTERVAL: () => new IntervalMonthDayNano(),
};

const EXTENSIONS: { readonly [type: string]: Extension } = {
  HUGEINT: { name: "arrow.opaque", typeName: "hugeint" },
  UHUGEINT: { name: "arrow.opaque", typeName: "uhugeint" },
  JSON: { name: "arrow.json" },
  UUID: { name: "arrow.uuid" },
};

/**
 * The Arrow type in which a contract's or DuckDB's type travels, nested ones included: decimals as 128 bits, times in
 * microseconds where the name says nothing else, `timestamptz` in UTC, UUIDs and 128-bit integers as 16 bytes.
 *
 * @throws {ConnectorError} for a type that is unknown or that has no such form
 */
export function arrowType(type: string): DataType {
  return arrowField("", type).type;
}

/**
 * The Arrow field for a column of such a type, which may be NULL; its metadata tell JSON, UUIDs and 128-bit integers.
 *
 * @throws {ConnectorError} like `arrowType`
 */
export function arrowField(name: string, type: string): Field {
  const tree = typeTree(type);
  const field = tree === undefined ? undefined : fieldOf(name, tree);
  if (field !== undefined) return field;
  throw new ConnectorError(`Cannot send values of the type "${type}"`, { transient: false });
}

/** The schema of a contract's columns; every column may be NULL. */
export function arrowSchema(columns: readonly ColumnSpec[]): Schema {
  return new Schema(columns.map(({ name, type }) => arrowField(name, type)));
}

function fieldOf(name: string, tree: TypeTree, isNullable = true): Field | undefined {
  switch (tree.kind) {
    case "plain":
      return plainField(name, tree.name, isNullable);
    case "list": {
      const item = fieldOf("item", tree.item);
      return item && new Field(name, new List(item), isNullable);
    }
    case "array": {
      const item = fieldOf("item", tree.item);
      return item && new Field(name, new FixedSizeList(tree.length, item), isNullable);
    }
    case "struct": {
      const members = tree.members.flatMap((member) => fieldOf(member.name, member.type) ?? []);
      return members.length < tree.members.length ? undefined : new Field(name, new Struct(members), isNullable);
    }
    case "map": {
      const key = fieldOf("key", tree.key, false);
      const value = fieldOf("value", tree.value);
      if (key === undefined || value === undefined) return undefined;
      const entries = new Struct<{ key: DataType; value: DataType }>([key, value]);
      return new Field(name, new Map_(new Field("entries", entries, false)), isNullable);
    }
  }
}

function plainField(name: string, type: string, isNullable: boolean): Field | undefined {
  const decimal = /^DECIMAL\((\d+),(\d+)\)$/.exec(type);
  if (decimal !== null) return new Field(name, new Decimal(Number(decimal[2]), Number(decimal[1]), 128), isNullable);
  const make = SIMPLE[type];
  if (make === undefined) return undefined;
  const extension = EXTENSIONS[type];
  return new Field(name, make(), isNullable, extension === undefined ? null : extensionMetadata(extension));
}

/** The type of a field for a message: DuckDB's name and, in parentheses, Arrow's; Arrow's alone where that says all. */
export function shownType({ type, metadata }: Field): string {
  const arrow = String(type);
  if (DataType.isDecimal(type)) return `DECIMAL(${type.precision},${type.scale}) (${arrow})`;
  const told = JSON.stringify([...metadata]);
  const name = Object.keys(SIMPLE).find((candidate) => {
    const simple = plainField("", candidate, true);
    return simple !== undefined && String(simple.type) === arrow && JSON.stringify([...simple.metadata]) === told;
  });
  return name === undefined ? arrow : `${name} (${arrow})`;
}
