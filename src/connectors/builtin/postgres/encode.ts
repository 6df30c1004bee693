import { type Data, DataType, DateUnit, type Field, IntervalUnit, TimeUnit } from "../../../util/arrow.ts";
import { BadValue } from "./bad_value.ts";
import type { CopyWriter } from "./copy_writer.ts";
import { integerPut, numbersOf, numericPut } from "./encode_numbers.ts";
import { bigOf, bitAt, bytesOf, type Put, wordsOf } from "./encode_parts.ts";
import { microsPer, sortOf, type TargetType } from "./write_types.ts";

const EPOCH_DAYS = 10_957;
const EPOCH_MICROS = 946_684_800_000_000n;
const EPOCH_MICROS_EXACT = Number(EPOCH_MICROS);
const MAX_INT64 = 0x7fffffffffffffffn;
const MIN_INT64 = -0x8000000000000000n;
const MAX_INT32 = 0x7fffffff;
const MIN_INT32 = -0x80000000;
const MILLIS_PER_DAY = 86_400_000n;
const MICROS_PER_DAY = 86_400_000_000n;
/** 4714-11-24 before Christ and 294277, PostgreSQL's first and first impossible moment. */
const FIRST_MICROS = -211_813_488_000_000_000n;
const END_MICROS = 9_223_371_331_200_000_000n;
const FIRST_DAYS = -2_451_545;
const END_DAYS = 2_145_031_949;
/** The modifier of a type with a length is that much larger than the length. */
const MODIFIER_OFFSET = 4;
/** The first two bits of each byte of a character of UTF-8 but its first. */
const CONTINUATION = 0x80;

/** Writes the values of one array, NULL included; `data` is of a type that `takes` accepted for the target. */
export function encoder(field: Field, data: Data, target: TargetType): Put {
  const put = valuePut(field, data, target);
  const bitmap: Uint8Array | undefined = data.nullBitmap;
  if (data.nullCount === 0 || bitmap === undefined || bitmap.length === 0) return put;
  const { offset } = data;
  return (row, out) => {
    if (bitAt(bitmap, offset + row)) put(row, out);
    else out.null();
  };
}

function valuePut(field: Field, data: Data, target: TargetType): Put {
  const type: DataType = field.type;
  const sort = sortOf(field);
  switch (sort) {
    case "integer":
    case "decimal":
    case "hugeint":
    case "uhugeint": {
      const numbers = numbersOf(type, data, sort === "uhugeint");
      return target.name === "numeric" ? numericPut(numbers, target) : integerPut(numbers, target);
    }
    case "float4":
    case "float8":
      return floatPut(data, target);
    case "bool": {
      const bits = bytesOf(data);
      const { offset } = data;
      return (row, out) => {
        out.int32(1);
        out.int8(bitAt(bits, offset + row) ? 1 : 0);
      };
    }
    case "text":
    case "json":
      return textPut(data, target);
    case "bytes":
    case "uuid":
      return DataType.isFixedSizeBinary(type) ? fixedPut(data, type.byteWidth) : bytesPut(data);
    case "date":
      return datePut(type, data);
    case "time":
    case "timestamp":
    case "timestamptz":
      return momentPut(type, data, target);
    case "interval":
      return intervalPut(type, data);
    case "list":
      return listPut(field, data, target);
    default:
      return (_row, out) => out.null();
  }
}

function floatPut(data: Data, target: TargetType): Put {
  const values: ArrayLike<number> = data.values;
  if (target.name === "float4") {
    return (row, out) => {
      out.int32(4);
      out.float32(values[row] ?? 0);
    };
  }
  return (row, out) => {
    out.int32(8);
    out.float64(values[row] ?? 0);
  };
}

function textPut(data: Data, target: TargetType): Put {
  const bytes = bytesOf(data);
  const offsets: Int32Array = data.valueOffsets;
  const first = offsets[0] ?? 0;
  const last = offsets[data.length] ?? first;
  const zero = bytes.subarray(first, last).indexOf(0);
  // The version that jsonb puts before its text.
  const prefix = target.name === "jsonb" ? 1 : 0;
  const most = mostCharacters(target);
  return (row, out) => {
    const from = offsets[row] ?? 0;
    const to = offsets[row + 1] ?? from;
    if (zero >= 0 && bytes.subarray(from, to).includes(0)) {
      throw new BadValue("a text holds the character U+0000, which PostgreSQL can't store");
    }
    if (to - from > most && characters(bytes, from, to) > most) {
      throw new BadValue(`a text is longer than ${target.spelled} holds`);
    }
    out.int32(to - from + prefix);
    if (prefix === 1) out.int8(1);
    out.bytes(bytes, from, to);
  };
}

/** How many characters a column keeps: what is longer by blanks alone the server would cut without a word. */
function mostCharacters({ name, modifier }: TargetType): number {
  return (name === "varchar" || name === "bpchar") && modifier >= MODIFIER_OFFSET
    ? modifier - MODIFIER_OFFSET
    : Infinity;
}

function characters(bytes: Uint8Array, from: number, to: number): number {
  let count = 0;
  for (let index = from; index < to; index++) if (((bytes[index] ?? 0) & 0xc0) !== CONTINUATION) count++;
  return count;
}

function bytesPut(data: Data): Put {
  const bytes = bytesOf(data);
  const offsets: Int32Array = data.valueOffsets;
  return (row, out) => {
    const from = offsets[row] ?? 0;
    const to = offsets[row + 1] ?? from;
    out.int32(to - from);
    out.bytes(bytes, from, to);
  };
}

function fixedPut(data: Data, width: number): Put {
  const bytes = bytesOf(data);
  return (row, out) => {
    out.int32(width);
    out.bytes(bytes, row * width, (row + 1) * width);
  };
}

function datePut(type: DataType, data: Data): Put {
  const values: ArrayLike<number | bigint> = data.values;
  const inMillis = DataType.isDate(type) && type.unit === DateUnit.MILLISECOND;
  return (row, out) => {
    const value = values[row] ?? 0;
    const days = inMillis ? Number(BigInt(value) / MILLIS_PER_DAY) : Number(value);
    out.int32(4);
    if (days === MAX_INT32 || days === -MAX_INT32) out.int32(days > 0 ? MAX_INT32 : MIN_INT32);
    else if (days - EPOCH_DAYS < FIRST_DAYS || days - EPOCH_DAYS >= END_DAYS) {
      throw new BadValue("a date is outside of PostgreSQL's range, 4713 BC to 5874897");
    } else out.int32(days - EPOCH_DAYS);
  };
}

function momentPut(type: DataType, data: Data, target: TargetType): Put {
  const put = anyMomentPut(type, data, target);
  const isPlain = DataType.isTimestamp(type) && type.unit === TimeUnit.MICROSECOND && target.name !== "time" &&
    (target.modifier < 0 || target.modifier >= 6);
  if (!isPlain) return put;
  const words = wordsOf(data);
  return (row, out) => {
    const micros = ((words[row * 2 + 1] ?? 0) | 0) * 2 ** 32 + (words[row * 2] ?? 0);
    if (Math.abs(micros) > Number.MAX_SAFE_INTEGER / 2) return put(row, out);
    // Doubles hold every moment of three centuries exactly.
    const moment = micros - EPOCH_MICROS_EXACT;
    const high = Math.floor(moment / 2 ** 32);
    out.eight(high, moment - high * 2 ** 32);
  };
}

/** The same for all units, precisions and ages. */
function anyMomentPut(type: DataType, data: Data, target: TargetType): Put {
  const micros = microsOf(type, data);
  const isTime = target.name === "time";
  const places = target.modifier < 0 ? 6 : Math.min(6, target.modifier);
  const step = 10n ** BigInt(6 - places);
  return (row, out) => {
    const value = micros(row);
    out.int32(8);
    if (isTime) {
      if (value < 0n || value > MICROS_PER_DAY) throw new BadValue("a time of day is outside of one day");
      if (value % step !== 0n) throw tooFine(target);
      out.int64(value);
    } else if (value === MAX_INT64 || value === -MAX_INT64) out.int64(value > 0n ? MAX_INT64 : MIN_INT64);
    else {
      const moment = value - EPOCH_MICROS;
      if (moment < FIRST_MICROS || moment >= END_MICROS) {
        throw new BadValue("a timestamp is outside of PostgreSQL's range, 4713 BC to 294276");
      }
      if (moment % step !== 0n) throw tooFine(target);
      out.int64(moment);
    }
  };
}

function tooFine(target: TargetType): BadValue {
  return new BadValue(`a value has more digits of a second than ${target.spelled} keeps`);
}

function microsOf(type: DataType, data: Data): (row: number) => bigint {
  const values: ArrayLike<number | bigint> = data.values;
  const unit = DataType.isTime(type) || DataType.isTimestamp(type) || DataType.isDuration(type) ? type.unit : undefined;
  const factor = unit === undefined ? undefined : microsPer(unit);
  if (factor === undefined) {
    return (row) => {
      const nanos = BigInt(values[row] ?? 0);
      if (nanos === MAX_INT64 || nanos === -MAX_INT64) return nanos;
      if (nanos % 1000n !== 0n) throw new BadValue("a value has nanoseconds, and PostgreSQL keeps microseconds");
      return nanos / 1000n;
    };
  }
  if (factor === 1n && values instanceof BigInt64Array) return (row) => values[row] ?? 0n;
  return (row) => {
    const value = BigInt(values[row] ?? 0);
    return value === MAX_INT64 || value === -MAX_INT64 ? value : value * factor;
  };
}

function intervalPut(type: DataType, data: Data): Put {
  if (DataType.isDuration(type)) {
    const micros = microsOf(type, data);
    return (row, out) => putInterval(out, 0, 0, micros(row));
  }
  const words = wordsOf(data);
  const unit = DataType.isInterval(type) ? type.unit : IntervalUnit.YEAR_MONTH;
  if (unit === IntervalUnit.YEAR_MONTH) return (row, out) => putInterval(out, (words[row] ?? 0) | 0, 0, 0n);
  if (unit === IntervalUnit.DAY_TIME) {
    return (row, out) => {
      putInterval(out, 0, (words[row * 2] ?? 0) | 0, BigInt((words[row * 2 + 1] ?? 0) | 0) * 1000n);
    };
  }
  return (row, out) => {
    const at = row * 4;
    const nanos = bigOf(words, at + 2, 2);
    if (nanos % 1000n !== 0n) throw new BadValue("an interval has nanoseconds, and PostgreSQL keeps microseconds");
    putInterval(out, (words[at] ?? 0) | 0, (words[at + 1] ?? 0) | 0, nanos / 1000n);
  };
}

function putInterval(out: CopyWriter, months: number, days: number, micros: bigint): void {
  out.int32(16);
  out.int64(micros);
  out.int32(days);
  out.int32(months);
}

function listPut(field: Field, data: Data, target: TargetType): Put {
  const item: Field | undefined = field.type.children[0];
  const items: Data | undefined = data.children[0];
  const { element } = target;
  if (item === undefined || items === undefined || element === undefined) throw new TypeError("an incomplete list");
  const offsets: Int32Array = data.valueOffsets;
  const put = encoder(item, items, element);
  return (row, out) => {
    const from = offsets[row] ?? 0;
    const to = offsets[row + 1] ?? from;
    const opened = out.open();
    out.int32(to > from ? 1 : 0);
    out.int32(items.nullCount > 0 ? 1 : 0);
    out.int32(element.oid);
    if (to > from) {
      out.int32(to - from);
      out.int32(1);
      for (let index = from; index < to; index++) put(index, out);
    }
    out.close(opened);
  };
}
