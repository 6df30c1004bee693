import {
  type Data,
  DataType,
  DateUnit,
  type Field,
  IntervalUnit,
  Precision,
  type RecordBatch,
  TimeUnit,
} from "../../util/arrow.ts";
import {
  BoolReader,
  FloatReader,
  IntervalReader,
  IntReader,
  LongReader,
  NullReader,
  WideReader,
} from "./fixed_readers.ts";
import type { ColumnKind, ColumnReader } from "./column_reader.ts";
import { readableExtension } from "./extension.ts";
import { childOf, meaningOf } from "./make_builder.ts";
import { LabelReader, ListReader, MapReader, StructReader, TextReader } from "./nested_readers.ts";

/**
 * Readers for the columns of a batch, in its order; they stay valid as long as the batch.
 *
 * @throws {TypeError} for an Arrow type that has none
 */
export function columnReaders(batch: RecordBatch): readonly ColumnReader[] {
  return batch.schema.fields.map((field, index) => {
    const data = batch.data.children[index];
    if (data === undefined) throw new TypeError(`A batch without the column "${field.name}"`);
    return columnReader(field, data);
  });
}

/** The reader for one column. */
export function columnReader(field: Field, data: Data): ColumnReader {
  const type: DataType = field.type;
  if (DataType.isNull(type)) return new NullReader(field, data);
  if (DataType.isBool(type)) return new BoolReader(field, data);
  if (DataType.isInt(type)) {
    return type.bitWidth === 64 ? new LongReader(field, data, "long", 0) : new IntReader(field, data, "int");
  }
  if (DataType.isFloat(type)) return new FloatReader(field, data, type.precision === Precision.HALF);
  if (DataType.isDate(type)) {
    return type.unit === DateUnit.DAY
      ? new IntReader(field, data, "date")
      : new LongReader(field, data, "timestamp", 3);
  }
  if (DataType.isTime(type)) {
    const digits = digitsOf(type.unit);
    return type.bitWidth === 32
      ? new IntReader(field, data, "time", digits)
      : new LongReader(field, data, "time", digits);
  }
  if (DataType.isTimestamp(type)) {
    const kind = typeof type.timezone === "string" && type.timezone !== "" ? "timestamptz" : "timestamp";
    return new LongReader(field, data, kind, digitsOf(type.unit));
  }
  if (DataType.isDecimal(type) && type.bitWidth === 128) return new WideReader(field, data, "decimal", 16, type.scale);
  if (DataType.isInterval(type) && type.unit === IntervalUnit.MONTH_DAY_NANO) return new IntervalReader(field, data);
  if (DataType.isFixedSizeBinary(type)) return new WideReader(field, data, wideKind(field), type.byteWidth);
  if (DataType.isUtf8(type) || DataType.isLargeUtf8(type)) {
    return new TextReader(field, data, readableExtension(field)?.name === "arrow.json" ? "json" : "text");
  }
  if (DataType.isBinary(type) || DataType.isLargeBinary(type)) {
    readableExtension(field);
    return new TextReader(field, data, "blob");
  }
  if (DataType.isDictionary(type) && DataType.isUtf8(type.dictionary)) return new LabelReader(field, data);
  return nestedReader(field, data, type);
}

function nestedReader(field: Field, data: Data, type: DataType): ColumnReader {
  const child = (index: number) => columnReader(childOf(field, index), childData(data, index));
  if (DataType.isList(type)) return new ListReader(field, data, child(0));
  if (DataType.isFixedSizeList(type)) return new ListReader(field, data, child(0), type.listSize);
  if (DataType.isStruct(type)) return new StructReader(field, data, type.children.map((_, index) => child(index)));
  if (DataType.isMap(type)) {
    const entry = childOf(field, 0);
    const entries = childData(data, 0);
    const part = (index: number) => columnReader(childOf(entry, index), childData(entries, index));
    return new MapReader(field, data, part(0), part(1));
  }
  throw new TypeError(`Column "${field.name}" has the Arrow type ${type}, which can't be read`);
}

function childData(data: Data, index: number): Data {
  const child = data.children[index];
  if (child === undefined) throw new TypeError("a nested column without its parts");
  return child;
}

function wideKind(field: Field): ColumnKind {
  const meaning = meaningOf(field);
  return meaning === "hugeint" || meaning === "uhugeint" || meaning === "uuid" ? meaning : "blob";
}

function digitsOf(unit: TimeUnit): number {
  return unit === TimeUnit.SECOND ? 0 : unit === TimeUnit.MILLISECOND ? 3 : unit === TimeUnit.MICROSECOND ? 6 : 9;
}
