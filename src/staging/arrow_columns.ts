import { DataType, type Decimal, type Field, Precision, type Schema, TimeUnit } from "../util/arrow.ts";
import { ident } from "../duckdb/mod.ts";
import { IngestError } from "./ingest_error.ts";

/** A staged column: `type` is that of the table, `feedType` that in which Arrow's values are handed over. */
export type StagedColumn = { readonly name: string; readonly type: string; readonly feedType: string };

/**
 * The columns that an Arrow schema becomes. A zone only says that a timestamp is an instant: instants are kept in UTC
 * microseconds. Dictionaries of texts become VARCHAR, the Null type INTEGER, as in DuckDB's own import.
 *
 * @throws {IngestError} for a type without a faithful DuckDB type, and for a schema without columns
 */
export function stagedColumns(schema: Schema): readonly StagedColumn[] {
  if (schema.fields.length === 0) throw new IngestError("The data has no columns");
  return schema.fields.map((field) => {
    const feedType = duckDbType(field, field.name);
    const isJson = feedType === "VARCHAR" && extensionOf(field) === "arrow.json";
    return { name: field.name, type: isJson ? "JSON" : feedType, feedType };
  });
}

/** Whether 16 bytes of fixed width are a UUID. */
export function isUuid(field: Field): boolean {
  return DataType.isFixedSizeBinary(field.type) && field.type.byteWidth === 16 && extensionOf(field) === "arrow.uuid";
}

function extensionOf(field: Field): string | undefined {
  return field.metadata.get("ARROW:extension:name");
}

function duckDbType(field: Field, column: string): string {
  const type: DataType = field.type;
  if (DataType.isInt(type)) return `${type.isSigned ? "" : "U"}${integerName(type.bitWidth)}`;
  if (DataType.isFloat(type)) return type.precision === Precision.DOUBLE ? "DOUBLE" : "FLOAT";
  if (DataType.isBool(type)) return "BOOLEAN";
  if (DataType.isUtf8(type) || DataType.isLargeUtf8(type)) return "VARCHAR";
  if (DataType.isBinary(type) || DataType.isLargeBinary(type)) return "BLOB";
  if (DataType.isFixedSizeBinary(type)) return isUuid(field) ? "UUID" : "BLOB";
  if (DataType.isDecimal(type)) return decimalType(type, column);
  if (DataType.isDate(type)) return "DATE";
  if (DataType.isTime(type)) return type.unit === TimeUnit.NANOSECOND ? "TIME_NS" : "TIME";
  if (DataType.isTimestamp(type)) return isInstant(type) ? "TIMESTAMP WITH TIME ZONE" : timestampName(type.unit);
  if (DataType.isInterval(type) || DataType.isDuration(type)) return "INTERVAL";
  if (DataType.isNull(type)) return "INTEGER";
  if (DataType.isList(type)) return `${duckDbType(childOf(field, 0), column)}[]`;
  if (DataType.isFixedSizeList(type)) return `${duckDbType(childOf(field, 0), column)}[${type.listSize}]`;
  if (DataType.isStruct(type)) {
    const members = type.children.map((child) => `${ident(child.name)} ${duckDbType(child, column)}`);
    if (members.length > 0) return `STRUCT(${members.join(", ")})`;
  }
  if (DataType.isMap(type)) {
    const entry = childOf(field, 0);
    return `MAP(${duckDbType(childOf(entry, 0), column)}, ${duckDbType(childOf(entry, 1), column)})`;
  }
  if (DataType.isDictionary(type) && DataType.isUtf8(type.dictionary)) return "VARCHAR";
  throw new IngestError(`Column "${column}" has the Arrow type ${type}, which can't be staged`);
}

/** Whether a timestamp is a point in time rather than the reading of some clock. */
export function isInstant(type: { readonly timezone?: string | null | undefined }): boolean {
  return typeof type.timezone === "string" && type.timezone !== "";
}

function childOf(field: Field, index: number): Field {
  const child = field.type.children[index];
  if (child === undefined) throw new IngestError(`Column "${field.name}" has an incomplete Arrow type`);
  return child;
}

function integerName(bits: number): string {
  return bits === 8 ? "TINYINT" : bits === 16 ? "SMALLINT" : bits === 32 ? "INTEGER" : "BIGINT";
}

function timestampName(unit: TimeUnit): string {
  switch (unit) {
    case TimeUnit.SECOND:
      return "TIMESTAMP_S";
    case TimeUnit.MILLISECOND:
      return "TIMESTAMP_MS";
    case TimeUnit.MICROSECOND:
      return "TIMESTAMP";
    case TimeUnit.NANOSECOND:
      return "TIMESTAMP_NS";
  }
}

function decimalType({ precision, scale, bitWidth }: Decimal, column: string): string {
  if (bitWidth !== 128 || precision < 1 || precision > 38 || scale < 0 || scale > precision) {
    throw new IngestError(
      `Column "${column}" has the Arrow type Decimal${bitWidth}(${precision}, ${scale}); DuckDB's decimals have 1 to 38 digits`,
    );
  }
  return `DECIMAL(${precision},${scale})`;
}
