import {
  Binary,
  Bool,
  type DataType,
  DateDay,
  Decimal,
  Field,
  Float32,
  Float64,
  Int16,
  Int32,
  Int64,
  Int8,
  Schema,
  TimeMicrosecond,
  TimestampMicrosecond,
  Uint16,
  Uint32,
  Uint64,
  Uint8,
  Utf8,
} from "../../util/arrow.ts";
import { type ColumnSpec, ConnectorError, duckDbType } from "../contract/mod.ts";

const SIMPLE: { readonly [type: string]: () => DataType } = {
  TINYINT: () => new Int8(),
  SMALLINT: () => new Int16(),
  INTEGER: () => new Int32(),
  BIGINT: () => new Int64(),
  UTINYINT: () => new Uint8(),
  USMALLINT: () => new Uint16(),
  UINTEGER: () => new Uint32(),
  UBIGINT: () => new Uint64(),
  FLOAT: () => new Float32(),
  DOUBLE: () => new Float64(),
  VARCHAR: () => new Utf8(),
  JSON: () => new Utf8(),
  UUID: () => new Utf8(),
  BLOB: () => new Binary(),
  BOOLEAN: () => new Bool(),
  DATE: () => new DateDay(),
  TIME: () => new TimeMicrosecond(),
  TIMESTAMP: () => new TimestampMicrosecond(),
  TIMESTAMPTZ: () => new TimestampMicrosecond("UTC"),
};

/**
 * The Arrow type in which a contract's type travels: decimals as 128 bits, times in microseconds, `timestamptz` in UTC,
 * `uuid` and `json` as text.
 *
 * @throws {ConnectorError} for a type that is unknown or that has no such form
 */
export function arrowType(type: string): DataType {
  const duck = duckDbType(type);
  const decimal = duck === undefined ? null : /^DECIMAL\((\d+),(\d+)\)$/.exec(duck);
  if (decimal !== null) return new Decimal(Number(decimal[2]), Number(decimal[1]), 128);
  const make = duck === undefined ? undefined : SIMPLE[duck];
  if (make !== undefined) return make();
  throw new ConnectorError(`Cannot send values of the type "${type}"`, { transient: false });
}

/** The schema of a contract's columns; every column may be NULL. */
export function arrowSchema(columns: readonly ColumnSpec[]): Schema {
  return new Schema(columns.map(({ name, type }) => new Field(name, arrowType(type), true)));
}
