import { DataType, DateUnit, type Field, IntervalUnit } from "../../util/arrow.ts";
import { type FixedMeaning, TextBuilder, WideBuilder } from "./byte_builders.ts";
import type { ColumnBuilder } from "./column_builder.ts";
import { readableExtension } from "./extension.ts";
import { BoolBuilder, FloatBuilder, IntBuilder, IntervalBuilder, LongBuilder } from "./fixed_builders.ts";
import { FixedListBuilder, ListBuilder, MapBuilder, StructBuilder } from "./nested_builders.ts";

/**
 * The builder for the values of a field.
 *
 * @throws {TypeError} for an Arrow type that has none
 */
export function makeBuilder(field: Field): ColumnBuilder {
  const type: DataType = field.type;
  if (DataType.isUtf8(type) || DataType.isBinary(type)) return new TextBuilder(type);
  if (DataType.isBool(type)) return new BoolBuilder(type);
  if (DataType.isInt(type)) {
    return type.bitWidth === 64
      ? new LongBuilder(type, type.isSigned)
      : new IntBuilder(type, type.bitWidth, type.isSigned);
  }
  if (DataType.isFloat(type)) return new FloatBuilder(type, type.precision);
  if (DataType.isDate(type) && type.unit === DateUnit.DAY) return new IntBuilder(type, 32, true);
  if (DataType.isTime(type)) return type.bitWidth === 32 ? new IntBuilder(type, 32, true) : new LongBuilder(type, true);
  if (DataType.isTimestamp(type) || DataType.isDuration(type)) return new LongBuilder(type, true);
  if (DataType.isDecimal(type) && type.bitWidth === 128) return new WideBuilder(type, 16, "decimal");
  if (DataType.isFixedSizeBinary(type)) return new WideBuilder(type, type.byteWidth, meaningOf(field));
  if (DataType.isInterval(type) && type.unit === IntervalUnit.MONTH_DAY_NANO) return new IntervalBuilder(type);
  if (DataType.isList(type)) return new ListBuilder(type, makeBuilder(childOf(field, 0)));
  if (DataType.isFixedSizeList(type)) return new FixedListBuilder(type, makeBuilder(childOf(field, 0)), type.listSize);
  if (DataType.isStruct(type)) {
    return new StructBuilder(type, type.children.map(({ name }) => name), type.children.map(makeBuilder));
  }
  if (DataType.isMap(type)) {
    const entry = childOf(field, 0);
    return new MapBuilder(type, entry.type, makeBuilder(childOf(entry, 0)), makeBuilder(childOf(entry, 1)));
  }
  throw new TypeError(`There is no builder for columns of the type ${type}`);
}

/** A child of a nested field. */
export function childOf(field: Field, index: number): Field {
  const child = field.type.children[index];
  if (child === undefined) throw new TypeError(`Column "${field.name}" has an incomplete type`);
  return child;
}

/** What the bytes of a field of fixed width stand for. */
export function meaningOf(field: Field): FixedMeaning {
  const extension = readableExtension(field);
  if (extension?.name === "arrow.uuid") return "uuid";
  return extension?.name !== "arrow.opaque" ? "bytes" : extension.typeName === "uhugeint" ? "uhugeint" : "hugeint";
}
