import type { Data } from "../util/arrow.ts";
import { IngestError } from "./ingest_error.ts";

/** Whether row `row` of a chunk has a value. */
export type HasValue = (row: number) => boolean;

const MAX_INT64 = (1n << 63n) - 1n;
const MICROS_PER_DAY = 86_400_000_000n;
const MILLIS_PER_DAY = 86_400_000n;

type Integers = Int32Array | BigInt64Array;

/** Multiplies 64-bit values; refuses what overflows. */
export function multiplied(
  values: Integers,
  from: number,
  rows: number,
  factor: bigint,
  hasValue: HasValue,
): BigInt64Array {
  const result = new BigInt64Array(rows);
  const limit = MAX_INT64 / factor;
  for (let row = 0; row < rows; row++) {
    if (!hasValue(row)) continue;
    const value = BigInt(values[from + row] ?? 0);
    if (value > limit || value < -limit) throw new IngestError(`${value} is out of range in microseconds`);
    result[row] = value * factor;
  }
  return result;
}

/** Turns nanoseconds into microseconds; refuses what would lose digits. */
export function microsOfNanos(values: BigInt64Array, from: number, rows: number, hasValue: HasValue): BigInt64Array {
  const result = new BigInt64Array(rows);
  for (let row = 0; row < rows; row++) {
    if (!hasValue(row)) continue;
    const value = values[from + row] ?? 0n;
    if (value % 1000n !== 0n) throw new IngestError(`${value} ns has digits below a microsecond, which would be lost`);
    result[row] = value / 1000n;
  }
  return result;
}

/** Checks that values lie within a day of so many units. */
export function checkTimeOfDay(values: BigInt64Array, unitsPerMicro: bigint, hasValue: HasValue): void {
  for (let row = 0; row < values.length; row++) {
    const value = values[row] ?? 0n;
    if (hasValue(row) && (value < 0n || value > MICROS_PER_DAY * unitsPerMicro)) {
      throw new IngestError(`${value} is no time of day`);
    }
  }
}

/** How far from UTC a time of day may be: less than 16 hours. */
const MAX_OFFSET_SECONDS = 16 * 3600 - 1;

/** Checks DuckDB's times with an offset: microseconds of the day, and below them how far the offset is from the largest. */
export function checkZonedTimes(bytes: Uint8Array, from: number, rows: number, hasValue: HasValue): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let row = 0; row < rows; row++) {
    if (!hasValue(row)) continue;
    const value = view.getBigUint64((from + row) * 8, true);
    if (value >> 24n > MICROS_PER_DAY || (value & 0xffffffn) > BigInt(2 * MAX_OFFSET_SECONDS)) {
      throw new IngestError("A value is no time of day with an offset");
    }
  }
}

/** Checks DuckDB's bit strings: how many bits of the first byte are padding, then the bytes, padded with ones. */
export function checkBits(data: Data, from: number, rows: number, hasValue: HasValue): void {
  const offsets: unknown = data.valueOffsets;
  const bytes: unknown = data.values;
  for (let row = from; row < from + rows; row++) {
    if (!hasValue(row - from)) continue;
    const start = offsets instanceof Int32Array ? offsets[row] ?? -1 : -1;
    const end = offsets instanceof Int32Array ? offsets[row + 1] ?? -1 : -1;
    const padding = bytes instanceof Uint8Array && end - start >= 2 ? bytes[start] ?? 8 : 8;
    const first = bytes instanceof Uint8Array ? bytes[start + 1] ?? 0 : 0;
    if (padding > 7 || first >> (8 - padding) !== (1 << padding) - 1) {
      throw new IngestError("A value is no bit string");
    }
  }
}

/** Turns dates in milliseconds into days; refuses what is no whole day. */
export function daysOfMillis(values: BigInt64Array, from: number, rows: number, hasValue: HasValue): Int32Array {
  const result = new Int32Array(rows);
  for (let row = 0; row < rows; row++) {
    if (!hasValue(row)) continue;
    const value = values[from + row] ?? 0n;
    const days = value / MILLIS_PER_DAY;
    if (days * MILLIS_PER_DAY !== value || days !== BigInt.asIntN(32, days)) {
      throw new IngestError(`${value} ms is no date`);
    }
    result[row] = Number(days);
  }
  return result;
}

/**
 * Decimals of 128 bits (four words each) in the width in which DuckDB stores so many digits; refuses values with more
 * digits than declared.
 */
export function narrowDecimals(
  words: Uint32Array,
  from: number,
  rows: number,
  precision: number,
  hasValue: HasValue,
): Int16Array | Int32Array | Uint32Array {
  const bound = 10n ** BigInt(precision);
  if (precision > 9 && precision <= 18) return twoWordDecimals(words, from, rows, precision, hasValue);
  const lanes = precision > 18 ? 4 : 1;
  const result = lanes === 1
    ? (precision > 4 ? new Int32Array(rows) : new Int16Array(rows))
    : new Uint32Array(rows * lanes);
  const highBound = Number(bound >> 64n);
  for (let row = 0, word = from * 4; row < rows; row++, word += 4) {
    if (!hasValue(row)) continue;
    const high = ((words[word + 3] ?? 0) | 0) * 2 ** 32 + (words[word + 2] ?? 0);
    // Far from the bound the upper half decides; else the exact value does.
    const isFar = high > -highBound && high < highBound - 1 && highBound > 2 ** 20;
    if (!isFar) checkDigits(words, word, bound, precision);
    for (let lane = 0; lane < lanes; lane++) result[row * lanes + lane] = words[word + lane] ?? 0;
  }
  return result;
}

/** The same for the 10 to 18 digits that fit 64 bits. */
function twoWordDecimals(
  words: Uint32Array,
  from: number,
  rows: number,
  precision: number,
  hasValue: HasValue,
): Uint32Array {
  const bound = 10n ** BigInt(precision);
  const limit = Number(bound) / 2;
  const result = new Uint32Array(rows * 2);
  for (let row = 0, word = from * 4; row < rows; row++, word += 4) {
    if (!hasValue(row)) continue;
    const low = words[word] ?? 0;
    const high = words[word + 1] ?? 0;
    const sign = (words[word + 3] ?? 0) | 0;
    const value = (high | 0) * 2 ** 32 + low;
    // Far from the bound the value's size as a double decides; else the exact one does.
    const isPlain = words[word + 2] === words[word + 3] && sign === (high | 0) >> 31;
    if (!isPlain || value >= limit || value <= -limit) checkDigits(words, word, bound, precision);
    result[row * 2] = low;
    result[row * 2 + 1] = high;
  }
  return result;
}

function checkDigits(words: Uint32Array, word: number, bound: bigint, precision: number): void {
  const low = words[word] ?? 0;
  const second = words[word + 1] ?? 0;
  const sign = (words[word + 3] ?? 0) | 0;
  if (words[word + 2] === sign >>> 0 && (sign === 0 || sign === -1)) {
    // Small values stay below 2^53 in magnitude, where doubles are exact.
    const value = (sign === 0 ? second : second - 2 ** 32) * 2 ** 32 + low;
    if (Math.abs(value) < Math.min(Number(bound), 2 ** 53)) return;
  }
  const value = BigInt.asIntN(
    128,
    (BigInt(words[word + 3] ?? 0) << 96n) | (BigInt(words[word + 2] ?? 0) << 64n) | (BigInt(second) << 32n) |
      BigInt(low),
  );
  if (value >= bound || value <= -bound) {
    throw new IngestError(`A decimal has more than its declared ${precision} digits`);
  }
}

/** DuckDB's form of UUIDs: 128-bit integers whose top bit is flipped, so that they sort as their text does. */
export function uuidWords(bytes: Uint8Array, from: number, rows: number): Uint32Array {
  const result = new Uint32Array(rows * 4);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let row = 0; row < rows; row++) {
    for (let word = 0; word < 4; word++) {
      result[row * 4 + 3 - word] = view.getUint32((from + row) * 16 + word * 4, false);
    }
    result[row * 4 + 3] = (result[row * 4 + 3] ?? 0) ^ 0x80000000;
  }
  return result;
}

/** Half-precision floats in single precision, which holds each of them exactly. */
export function floatsOfHalves(values: Uint16Array, from: number, rows: number): Float32Array {
  const result = new Float32Array(rows);
  for (let row = 0; row < rows; row++) {
    const half = values[from + row] ?? 0;
    const exponent = (half >> 10) & 0x1f;
    const fraction = half & 0x3ff;
    const magnitude = exponent === 0
      ? fraction * 2 ** -24
      : exponent === 31
      ? (fraction === 0 ? Infinity : NaN)
      : (1 + fraction / 1024) * 2 ** (exponent - 15);
    result[row] = half & 0x8000 ? -magnitude : magnitude;
  }
  return result;
}

/** Offsets of 64 bits, counted from the first one, so that they fit 32. */
export function rebased(offsets: BigInt64Array, from: number, rows: number): { base: number; offsets: Int32Array } {
  const base = offsets[from] ?? 0n;
  const result = new Int32Array(rows + 1);
  for (let row = 0; row <= rows; row++) {
    const offset = (offsets[from + row] ?? -1n) - base;
    if (offset < 0n || offset > 0x7fffffffn) throw new RangeError("Text offsets do not ascend");
    result[row] = Number(offset);
  }
  return { base: Number(base), offsets: result };
}
