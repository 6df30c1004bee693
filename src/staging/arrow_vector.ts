import { type Numbers, type VectorWriter } from "../duckdb/mod.ts";
import { type Data, DataType, DateUnit, type Field, IntervalUnit, Precision, TimeUnit } from "../util/arrow.ts";
import { isInstant, isUuid, opaqueOf } from "./arrow_columns.ts";
import { IngestError } from "./ingest_error.ts";
import {
  checkBits,
  checkTimeOfDay,
  checkZonedTimes,
  daysOfMillis,
  floatsOfHalves,
  type HasValue,
  microsOfNanos,
  multiplied,
  narrowDecimals,
  uuidWords,
} from "./arrow_convert.ts";
import { writeDictionary, writeFixedBytes, writeTexts } from "./arrow_texts.ts";

/** A run of rows of one Arrow array. */
export type Run = { readonly field: Field; readonly data: Data; readonly from: number; readonly rows: number };

/**
 * Writes a run of rows into a vector from row 0 on. `inherited` marks the rows whose parent has a value: DuckDB wants
 * NULL in every field of a NULL struct, which Arrow leaves open.
 *
 * @throws {IngestError} for a value that DuckDB's type can't hold
 * @throws {RangeError} for arrays that are shorter than they say
 */
export function writeRun(writer: VectorWriter, run: Run, inherited?: Uint8Array): void {
  const { field, data, from, rows } = run;
  if (rows === 0) return;
  if (from + rows > data.length) throw new RangeError(`Expected ${from + rows} rows, got ${data.length}`);
  const type: DataType = field.type;
  const valid = DataType.isNull(type) ? new Uint8Array((rows + 7) >> 3) : validBits(data, from, rows, inherited);
  if (valid !== undefined) writer.validity(valid, rows);
  const hasValue: HasValue = valid === undefined
    ? () => true
    : (row) => ((valid[row >> 3] ?? 0) & (1 << (row & 7))) !== 0;

  if (DataType.isNull(type)) return;
  if (DataType.isUtf8(type) || DataType.isLargeUtf8(type)) return writeTexts(writer, run, true);
  if (DataType.isBinary(type) || DataType.isLargeBinary(type)) {
    if (opaqueOf(field) === "bit") checkBits(data, from, rows, hasValue);
    return writeTexts(writer, run, false);
  }
  if (DataType.isBool(type)) return writer.values(unpackBits(data, from, rows), 0, rows);
  if (DataType.isDecimal(type)) {
    return whole(writer, narrowDecimals(wordsOf(data, run, 4), from, rows, type.precision, hasValue));
  }
  if (DataType.isFixedSizeBinary(type)) {
    const width = type.byteWidth;
    const opaque = opaqueOf(field);
    if (opaque === undefined && !isUuid(field)) return writeFixedBytes(writer, run, width);
    const bytes = valuesOf(data);
    if (!(bytes instanceof Uint8Array) || bytes.length < (from + rows) * width) throw malformed(field);
    if (opaque === undefined) return whole(writer, uuidWords(bytes, from, rows));
    if (opaque === "time_tz") checkZonedTimes(bytes, from, rows, hasValue);
    return writer.values(bytes, from * width, rows * width);
  }
  if (DataType.isDictionary(type)) return writeDictionary(writer, run, hasValue);
  if (DataType.isList(type) || DataType.isMap(type)) {
    const offsets: unknown = data.valueOffsets;
    if (!(offsets instanceof Int32Array)) throw malformed(field);
    const start = offsets[from] ?? 0;
    const end = offsets[from + rows] ?? -1;
    const items = child(run, 0);
    if (end > items.data.length) throw malformed(field);
    return writeRun(writer.lists(offsets, from, rows), { ...items, from: start, rows: end - start });
  }
  if (DataType.isFixedSizeList(type)) {
    const { listSize } = type;
    const items = { ...child(run, 0), from: from * listSize, rows: rows * listSize };
    return writeRun(writer.elements(), items, spread(hasValue, rows, listSize, valid));
  }
  if (DataType.isStruct(type)) {
    type.children.forEach((_, index) => writeRun(writer.field(index), { ...child(run, index), from, rows }, valid));
    return;
  }
  if (DataType.isFloat(type) && type.precision === Precision.HALF) {
    const halves = valuesOf(data);
    if (!(halves instanceof Uint16Array)) throw malformed(field);
    return whole(writer, floatsOfHalves(halves, from, rows));
  }
  if (DataType.isInt(type) || DataType.isFloat(type)) return writer.values(valuesOf(data), from, rows);
  writeTemporal(writer, run, hasValue);
}

function writeTemporal(writer: VectorWriter, run: Run, hasValue: HasValue): void {
  const { field, data, from, rows } = run;
  const type: DataType = field.type;
  if (DataType.isInterval(type)) return whole(writer, intervals(run, type.unit, hasValue));
  const values = valuesOf(data);
  if (from + rows > values.length || !(values instanceof Int32Array || values instanceof BigInt64Array)) {
    throw malformed(field);
  }
  if (DataType.isDate(type)) {
    if (type.unit === DateUnit.DAY) return writer.values(values, from, rows);
    return whole(writer, daysOfMillis(wide(values), from, rows, hasValue));
  }
  if (DataType.isTime(type)) {
    const isNanos = type.unit === TimeUnit.NANOSECOND;
    const times = multiplied(values, from, rows, isNanos ? 1n : microsPer(type.unit), hasValue);
    checkTimeOfDay(times, isNanos ? 1000n : 1n, hasValue);
    return whole(writer, times);
  }
  if (DataType.isDuration(type)) {
    const micros = type.unit === TimeUnit.NANOSECOND
      ? microsOfNanos(wide(values), from, rows, hasValue)
      : multiplied(values, from, rows, microsPer(type.unit), hasValue);
    const result = new BigInt64Array(rows * 2);
    for (let row = 0; row < rows; row++) result[row * 2 + 1] = micros[row] ?? 0n;
    return whole(writer, result);
  }
  if (!DataType.isTimestamp(type)) throw malformed(field);
  if (!isInstant(type) || type.unit === TimeUnit.MICROSECOND) return writer.values(values, from, rows);
  if (type.unit === TimeUnit.NANOSECOND) return whole(writer, microsOfNanos(wide(values), from, rows, hasValue));
  whole(writer, multiplied(values, from, rows, microsPer(type.unit), hasValue));
}

/** DuckDB's intervals: months and days in 32 bits each, then microseconds in 64. */
function intervals(run: Run, unit: IntervalUnit, hasValue: HasValue): Int32Array {
  const { from, rows } = run;
  const stride = unit === IntervalUnit.YEAR_MONTH ? 1 : unit === IntervalUnit.DAY_TIME ? 2 : 4;
  const parts = wordsOf(run.data, run, stride);
  const result = new Int32Array(rows * 4);
  const micros = new BigInt64Array(result.buffer);
  for (let row = 0, part = from * stride; row < rows; row++, part += stride) {
    if (!hasValue(row)) continue;
    if (unit === IntervalUnit.YEAR_MONTH) {
      result[row * 4] = parts[part] ?? 0;
    } else if (unit === IntervalUnit.DAY_TIME) {
      result[row * 4 + 1] = parts[part] ?? 0;
      micros[row * 2 + 1] = BigInt((parts[part + 1] ?? 0) | 0) * 1000n;
    } else {
      result[row * 4] = parts[part] ?? 0;
      result[row * 4 + 1] = parts[part + 1] ?? 0;
      const nanos = BigInt.asIntN(64, (BigInt(parts[part + 3] ?? 0) << 32n) | BigInt(parts[part + 2] ?? 0));
      if (nanos % 1000n !== 0n) {
        throw new IngestError("An interval has digits below a microsecond, which would be lost");
      }
      micros[row * 2 + 1] = nanos / 1000n;
    }
  }
  return result;
}

/** The bits of the rows that have a value, from bit 0 on; undefined: all have one. */
function validBits(data: Data, from: number, rows: number, inherited: Uint8Array | undefined): Uint8Array | undefined {
  const bitmap: Uint8Array | undefined = data.nullBitmap;
  if (data.nullCount === 0 || bitmap === undefined || bitmap.length === 0) return inherited;
  const bits = alignBits(bitmap, data.offset + from, rows);
  if (inherited !== undefined) {
    for (let index = 0; index < bits.length; index++) bits[index] = (bits[index] ?? 0) & (inherited[index] ?? 0);
  }
  return bits;
}

function alignBits(bitmap: Uint8Array, firstBit: number, rows: number): Uint8Array {
  if (firstBit + rows > bitmap.length * 8) throw new RangeError("A validity bitmap is shorter than its array");
  const bits = new Uint8Array((rows + 7) >> 3);
  const first = firstBit >> 3;
  const shift = firstBit & 7;
  for (let index = 0; index < bits.length; index++) {
    bits[index] = ((bitmap[first + index] ?? 0) >>> shift) | ((bitmap[first + index + 1] ?? 0) << (8 - shift));
  }
  return bits;
}

function unpackBits(data: Data, from: number, rows: number): Uint8Array {
  const bits = alignBits(bytesOf(data), data.offset + from, rows);
  const result = new Uint8Array(rows);
  for (let row = 0; row < rows; row++) result[row] = ((bits[row >> 3] ?? 0) >> (row & 7)) & 1;
  return result;
}

/** Hands the validity of fixed-size lists down to their elements. */
function spread(hasValue: HasValue, rows: number, size: number, valid: Uint8Array | undefined): Uint8Array | undefined {
  if (valid === undefined) return undefined;
  const bits = new Uint8Array((rows * size + 7) >> 3);
  for (let index = 0; index < rows * size; index++) {
    if (hasValue(Math.floor(index / size))) bits[index >> 3] = (bits[index >> 3] ?? 0) | (1 << (index & 7));
  }
  return bits;
}

function child({ field, data }: Run, index: number): { readonly field: Field; readonly data: Data } {
  const childField: Field | undefined = field.type.children[index];
  const childData = data.children[index];
  if (childField === undefined || childData === undefined) throw malformed(field);
  return { field: childField, data: childData };
}

function whole(writer: VectorWriter, values: Numbers): void {
  writer.values(values, 0, values.length);
}

/** The stored values of an array, in whatever form they are. */
function valuesOf(data: Data): Numbers {
  const values: unknown = data.values;
  if (ArrayBuffer.isView(values) && !(values instanceof DataView)) {
    // The only views that are no typed arrays are ruled out above.
    return values as Numbers;
  }
  throw new RangeError("An array has no values");
}

function bytesOf(data: Data): Uint8Array {
  const values = valuesOf(data);
  return values instanceof Uint8Array ? values : new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

/** The values as words of 32 bits, `perRow` for each row. */
function wordsOf(data: Data, { field, from, rows }: Run, perRow: number): Uint32Array {
  const values = valuesOf(data);
  if (values.byteLength < (from + rows) * perRow * 4) throw malformed(field);
  if (values instanceof Uint32Array) return values;
  return new Uint32Array(values.buffer, values.byteOffset, values.byteLength >> 2);
}

function wide(values: Int32Array | BigInt64Array): BigInt64Array {
  return values instanceof BigInt64Array ? values : BigInt64Array.from(values, BigInt);
}

function microsPer(unit: TimeUnit): bigint {
  return unit === TimeUnit.SECOND ? 1_000_000n : unit === TimeUnit.MILLISECOND ? 1000n : 1n;
}

function malformed(field: Field): RangeError {
  return new RangeError(`The Arrow array of "${field.name}" does not fit its type`);
}
