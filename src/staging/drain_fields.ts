import type { DuckType, TypedColumn } from "../duckdb/mod.ts";
import {
  Binary,
  Bool,
  type DataType,
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
} from "../util/arrow.ts";
import { DrainError } from "./drain_error.ts";

type Form = { readonly type: DataType; readonly extension?: Extension };

/** The Arrow form of each of DuckDB's plain types that has one; the others are refused. */
const PLAIN: { readonly [name: string]: () => Form } = {
  BOOLEAN: () => ({ type: new Bool() }),
  TINYINT: () => ({ type: new Int8() }),
  SMALLINT: () => ({ type: new Int16() }),
  INTEGER: () => ({ type: new Int32() }),
  BIGINT: () => ({ type: new Int64() }),
  UTINYINT: () => ({ type: new Uint8() }),
  USMALLINT: () => ({ type: new Uint16() }),
  UINTEGER: () => ({ type: new Uint32() }),
  UBIGINT: () => ({ type: new Uint64() }),
  HUGEINT: () => ({ type: new FixedSizeBinary(16), extension: { name: "arrow.opaque", typeName: "hugeint" } }),
  UHUGEINT: () => ({ type: new FixedSizeBinary(16), extension: { name: "arrow.opaque", typeName: "uhugeint" } }),
  FLOAT: () => ({ type: new Float32() }),
  DOUBLE: () => ({ type: new Float64() }),
  DATE: () => ({ type: new DateDay() }),
  TIME: () => ({ type: new TimeMicrosecond() }),
  TIME_NS: () => ({ type: new TimeNanosecond() }),
  TIME_TZ: () => ({ type: new FixedSizeBinary(8), extension: { name: "arrow.opaque", typeName: "time_tz" } }),
  TIMESTAMP_S: () => ({ type: new TimestampSecond() }),
  TIMESTAMP_MS: () => ({ type: new TimestampMillisecond() }),
  TIMESTAMP: () => ({ type: new TimestampMicrosecond() }),
  TIMESTAMP_NS: () => ({ type: new TimestampNanosecond() }),
  TIMESTAMP_TZ: () => ({ type: new TimestampMicrosecond("UTC") }),
  INTERVAL: () => ({ type: new IntervalMonthDayNano() }),
  VARCHAR: () => ({ type: new Utf8() }),
  BLOB: () => ({ type: new Binary() }),
  BIT: () => ({ type: new Binary(), extension: { name: "arrow.opaque", typeName: "bit" } }),
  UUID: () => ({ type: new FixedSizeBinary(16), extension: { name: "arrow.uuid" } }),
};

/**
 * The fields that staged columns become. Every field may be NULL; what Arrow has no type for says in its metadata what
 * it is.
 *
 * @throws {DrainError} naming the column and the type that Arrow can't carry
 */
export function drainFields(columns: readonly TypedColumn[]): Field[] {
  return columns.map(({ name, type, tree }) => {
    const field = fieldOf(name, tree);
    if (field === undefined) throw new DrainError(`Column "${name}" has the type ${type}, which Arrow can't carry`);
    return field;
  });
}

function fieldOf(name: string, type: DuckType, nullable = true): Field | undefined {
  const form = formOf(type);
  if (form === undefined) return undefined;
  return new Field(name, form.type, nullable, form.extension === undefined ? null : extensionMetadata(form.extension));
}

function formOf(type: DuckType): Form | undefined {
  switch (type.kind) {
    case "plain":
      if (type.name === "VARCHAR" && type.alias === "JSON") {
        return { type: new Utf8(), extension: { name: "arrow.json" } };
      }
      return Object.hasOwn(PLAIN, type.name) ? PLAIN[type.name]?.() : undefined;
    case "decimal":
      return { type: new Decimal(type.scale, type.width, 128) };
    case "enum":
      return { type: new Utf8(), extension: { name: "pz.enum", labels: type.labels } };
    case "list": {
      const item = fieldOf("item", type.item);
      return item && { type: new List(item) };
    }
    case "array": {
      const item = fieldOf("item", type.item);
      return item && { type: new FixedSizeList(type.length, item) };
    }
    case "struct": {
      const fields: Field[] = [];
      for (const { name, type: of } of type.fields) {
        const field = fieldOf(name, of);
        if (field === undefined) return undefined;
        fields.push(field);
      }
      return { type: new Struct(fields) };
    }
    case "map": {
      const key = fieldOf("key", type.key, false);
      const value = fieldOf("value", type.value);
      if (key === undefined || value === undefined) return undefined;
      return {
        type: new Map_(new Field("entries", new Struct<{ key: DataType; value: DataType }>([key, value]), false)),
      };
    }
  }
}
