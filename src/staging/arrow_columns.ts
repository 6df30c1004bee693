import {
  DataType,
  type Decimal,
  extensionOf,
  type Field,
  type OpaqueType,
  Precision,
  type Schema,
  TimeUnit,
} from "../util/arrow.ts";
import { ident, literal } from "../duckdb/mod.ts";
import { IngestError } from "./ingest_error.ts";

/** A staged column: `type` is that of the table, `feedType` that in which Arrow's values are handed over. */
export type StagedColumn = { readonly name: string; readonly type: string; readonly feedType: string };

/** The types of a value: in the table, and as it is handed over. DuckDB casts where they differ. */
type Types = { readonly type: string; readonly feed: string };

/**
 * The columns that an Arrow schema becomes. A zone only says that a timestamp is an instant: instants are kept in UTC
 * microseconds. Dictionaries of texts become VARCHAR, the Null type INTEGER, as in DuckDB's own import. Extension
 * metadata bring back JSON, UUID, ENUM and what is DuckDB's own.
 *
 * @throws {IngestError} for a type without a faithful DuckDB type, and for a schema without columns
 */
export function stagedColumns(schema: Schema): readonly StagedColumn[] {
  if (schema.fields.length === 0) throw new IngestError("The data has no columns");
  return schema.fields.map((field) => {
    const { type, feed } = typesOf(field, field.name);
    return { name: field.name, type, feedType: feed };
  });
}

/** The type of DuckDB's own that a field holds in DuckDB's bytes. */
export function opaqueOf(field: Field): OpaqueType | undefined {
  const extension = extensionOf(field);
  if (extension?.name !== "arrow.opaque") return undefined;
  const { typeName } = extension;
  const fits = typeName === "bit"
    ? DataType.isBinary(field.type)
    : widthOf(field) === (typeName === "time_tz" ? 8 : 16);
  return fits ? typeName : undefined;
}

/** Whether 16 bytes of fixed width are a UUID. */
export function isUuid(field: Field): boolean {
  return widthOf(field) === 16 && extensionOf(field)?.name === "arrow.uuid";
}

function widthOf(field: Field): number | undefined {
  const type: DataType = field.type;
  return DataType.isFixedSizeBinary(type) ? type.byteWidth : undefined;
}

const OPAQUE: { readonly [name in OpaqueType]: string } = {
  hugeint: "HUGEINT",
  uhugeint: "UHUGEINT",
  time_tz: "TIME WITH TIME ZONE",
  bit: "BIT",
};

function typesOf(field: Field, column: string): Types {
  const type: DataType = field.type;
  if (DataType.isUtf8(type) || DataType.isLargeUtf8(type)) return { type: textType(field), feed: "VARCHAR" };
  if (DataType.isList(type)) return over([child(0)], ([item]) => `${item}[]`);
  if (DataType.isFixedSizeList(type)) return over([child(0)], ([item]) => `${item}[${type.listSize}]`);
  if (DataType.isStruct(type) && type.children.length > 0) {
    const names = type.children.map(({ name }) => ident(name));
    const members = type.children.map((_, index) => child(index));
    return over(members, (texts) => `STRUCT(${texts.map((text, index) => `${names[index]} ${text}`).join(", ")})`);
  }
  if (DataType.isMap(type)) {
    const entry = childOf(field, 0);
    const parts = [typesOf(childOf(entry, 0), column), typesOf(childOf(entry, 1), column)];
    return over(parts, ([key, value]) => `MAP(${key}, ${value})`);
  }
  const plain = plainType(field, column);
  return { type: plain, feed: plain };

  function child(index: number): Types {
    return typesOf(childOf(field, index), column);
  }
}

function over(parts: readonly Types[], text: (parts: readonly string[]) => string): Types {
  return { type: text(parts.map(({ type }) => type)), feed: text(parts.map(({ feed }) => feed)) };
}

function textType(field: Field): string {
  const extension = extensionOf(field);
  if (extension?.name === "arrow.json") return "JSON";
  if (extension?.name !== "pz.enum" || extension.labels.some((label) => label.includes("\0"))) return "VARCHAR";
  return `ENUM(${extension.labels.map(literal).join(", ")})`;
}

function plainType(field: Field, column: string): string {
  const type: DataType = field.type;
  const opaque = opaqueOf(field);
  if (opaque !== undefined) return OPAQUE[opaque];
  if (DataType.isInt(type)) return `${type.isSigned ? "" : "U"}${integerName(type.bitWidth)}`;
  if (DataType.isFloat(type)) return type.precision === Precision.DOUBLE ? "DOUBLE" : "FLOAT";
  if (DataType.isBool(type)) return "BOOLEAN";
  if (DataType.isBinary(type) || DataType.isLargeBinary(type)) return "BLOB";
  if (DataType.isFixedSizeBinary(type)) return isUuid(field) ? "UUID" : "BLOB";
  if (DataType.isDecimal(type)) return decimalType(type, column);
  if (DataType.isDate(type)) return "DATE";
  if (DataType.isTime(type)) return type.unit === TimeUnit.NANOSECOND ? "TIME_NS" : "TIME";
  if (DataType.isTimestamp(type)) return isInstant(type) ? "TIMESTAMP WITH TIME ZONE" : timestampName(type.unit);
  if (DataType.isInterval(type) || DataType.isDuration(type)) return "INTERVAL";
  if (DataType.isNull(type)) return "INTEGER";
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
