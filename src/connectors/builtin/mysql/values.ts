import type { ColumnBuilder } from "../../sdk/mod.ts";
import { BadValue } from "../shared/bad_value.ts";
import { daysOf } from "../shared/moment_parse.ts";
import type { ReadRule } from "./read_types.ts";

/** What becomes of dates whose day, month or year is zero. */
export type ZeroDates = "fail" | "null";

/** A place in the bytes of a row. */
export type Cursor = { bytes: Uint8Array; view: DataView; at: number };

/** Takes one value that is not NULL and moves the cursor behind it. */
export type Take = (column: ColumnBuilder, cursor: Cursor) => void;

const SECONDS_PER_DAY = 86_400;
const SPLIT = 2 ** 32;
/** Seconds from 1970 whose microseconds a double holds exactly. */
const EXACT_SECONDS = 9e9;

/** How values of a rule are taken. */
export function takerOf(rule: ReadRule, zeroDates: ZeroDates): Take {
  switch (rule.wire) {
    case "bool":
      return takeBool;
    case "int8":
      return (column, cursor) => column.appendI32(cursor.view.getInt8(cursor.at++));
    case "uint8":
      return (column, cursor) => column.appendI32(cursor.view.getUint8(cursor.at++));
    case "int16":
      return (column, cursor) => column.appendI32(cursor.view.getInt16(moved(cursor, 2), true));
    case "uint16":
      return (column, cursor) => column.appendI32(cursor.view.getUint16(moved(cursor, 2), true));
    case "int24":
    case "int32":
      return (column, cursor) => column.appendI32(cursor.view.getInt32(moved(cursor, 4), true));
    case "uint32":
      return (column, cursor) => column.appendI32(cursor.view.getUint32(moved(cursor, 4), true));
    case "int64":
      return (column, cursor) => {
        const at = moved(cursor, 8);
        column.appendI64Parts(cursor.view.getInt32(at, true), cursor.view.getInt32(at + 4, true));
      };
    case "float4":
      return (column, cursor) => column.appendF64(cursor.view.getFloat32(moved(cursor, 4), true));
    case "float8":
      return (column, cursor) => column.appendF64(cursor.view.getFloat64(moved(cursor, 8), true));
    case "decimal":
      return decimalTaker(rule);
    case "date":
      return (column, cursor) => takeDate(column, cursor, zeroDates);
    case "datetime":
      return (column, cursor) => takeDatetime(column, cursor, zeroDates);
    case "time":
      return takeTime;
    case "bit":
      return (column, cursor) => column.appendI64(bits(cursor));
    case "bit1":
      return (column, cursor) => column.appendBool(bits(cursor) !== 0n);
    case "uuid":
      return (column, cursor) => {
        const size = lengthOf(cursor);
        column.append(new TextDecoder().decode(cursor.bytes.subarray(moved(cursor, size), cursor.at)));
      };
    case "bytes":
      return (column, cursor) => {
        const size = lengthOf(cursor);
        column.appendBytes(cursor.bytes, moved(cursor, size), cursor.at);
      };
  }
}

/** Moves the cursor on and gives where it was. */
function moved(cursor: Cursor, bytes: number): number {
  const at = cursor.at;
  cursor.at = at + bytes;
  return at;
}

/** The length of a value that tells its own. */
function lengthOf(cursor: Cursor): number {
  const { view } = cursor;
  const first = view.getUint8(cursor.at++);
  if (first < 0xfb) return first;
  if (first === 0xfc) return view.getUint16(moved(cursor, 2), true);
  if (first === 0xfd) {
    const low = view.getUint16(moved(cursor, 2), true);
    return low | (view.getUint8(cursor.at++) << 16);
  }
  const low = view.getUint32(moved(cursor, 4), true);
  return low + view.getUint32(moved(cursor, 4), true) * SPLIT;
}

function takeBool(column: ColumnBuilder, cursor: Cursor): void {
  const value = cursor.view.getInt8(cursor.at++);
  if (value !== 0 && value !== 1) {
    throw new BadValue(
      `a value is ${value}, and tinyint(1) is read as a truth value; declare the column as tinyint in \`columns\``,
    );
  }
  column.appendBool(value === 1);
}

function bits(cursor: Cursor): bigint {
  const size = lengthOf(cursor);
  const from = moved(cursor, size);
  let value = 0n;
  for (let at = from; at < cursor.at; at++) value = (value << 8n) | BigInt(cursor.bytes[at] ?? 0);
  return value;
}

const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
/** Digits that a double holds exactly. */
const CHUNK_DIGITS = 15;

/** Decimals come as texts; those with fewer places than the column are filled up, more places are refused. */
function decimalTaker({ scale, type }: ReadRule): Take {
  const limit = 10n ** BigInt(/\d+/.exec(type)?.[0] ?? "38");
  return (column, cursor) => {
    const size = lengthOf(cursor);
    const { bytes } = cursor;
    let at = moved(cursor, size);
    const isNegative = bytes[at] === MINUS;
    if (isNegative) at++;
    let high = 0n;
    let chunk = 0;
    let digits = 0;
    let places = -1;
    for (; at < cursor.at; at++) {
      const byte = bytes[at] ?? 0;
      if (byte === POINT) {
        places = 0;
        continue;
      }
      if (places >= 0) {
        if (places === scale) {
          if (byte !== ZERO) throw new BadValue(`a value has more decimal places than ${type} holds`);
          continue;
        }
        places++;
      }
      chunk = chunk * 10 + byte - ZERO;
      if (++digits === CHUNK_DIGITS) {
        high = high * 10n ** BigInt(CHUNK_DIGITS) + BigInt(chunk);
        chunk = digits = 0;
      }
    }
    let value = high === 0n ? BigInt(chunk) : high * 10n ** BigInt(digits) + BigInt(chunk);
    const missing = scale - Math.max(0, places);
    if (missing > 0) value *= 10n ** BigInt(missing);
    if (value >= limit) throw new BadValue(`a value has more digits than ${type} holds`);
    column.appendI128(isNegative ? -value : value);
  };
}

function zero(column: ColumnBuilder, zeroDates: ZeroDates): void {
  if (zeroDates === "null") return column.appendNull();
  throw new BadValue(
    "a date whose year, month or day is zero, such as 0000-00-00, is none; zero_dates: null in the read makes it NULL",
  );
}

function takeDate(column: ColumnBuilder, cursor: Cursor, zeroDates: ZeroDates): void {
  const { view } = cursor;
  const size = view.getUint8(cursor.at++);
  const at = moved(cursor, size);
  if (size < 4) return zero(column, zeroDates);
  const month = view.getUint8(at + 2);
  const day = view.getUint8(at + 3);
  if (month === 0 || day === 0) return zero(column, zeroDates);
  column.appendI32(daysOf(view.getUint16(at, true), month, day));
}

function takeDatetime(column: ColumnBuilder, cursor: Cursor, zeroDates: ZeroDates): void {
  const { view } = cursor;
  const size = view.getUint8(cursor.at++);
  const at = moved(cursor, size);
  if (size < 4) return zero(column, zeroDates);
  const month = view.getUint8(at + 2);
  const day = view.getUint8(at + 3);
  if (month === 0 || day === 0) return zero(column, zeroDates);
  let seconds = daysOf(view.getUint16(at, true), month, day) * SECONDS_PER_DAY;
  if (size >= 7) seconds += view.getUint8(at + 4) * 3600 + view.getUint8(at + 5) * 60 + view.getUint8(at + 6);
  appendMicros(column, seconds, size >= 11 ? view.getUint32(at + 7, true) : 0);
}

function appendMicros(column: ColumnBuilder, seconds: number, micros: number): void {
  if (Math.abs(seconds) > EXACT_SECONDS) column.appendI64(BigInt(seconds) * 1_000_000n + BigInt(micros));
  else {
    const value = seconds * 1e6 + micros;
    const high = Math.floor(value / SPLIT);
    column.appendI64Parts(value - high * SPLIT, high);
  }
}

function takeTime(column: ColumnBuilder, cursor: Cursor): void {
  const { view } = cursor;
  const size = view.getUint8(cursor.at++);
  const at = moved(cursor, size);
  if (size === 0) return appendMicros(column, 0, 0);
  const isNegative = view.getUint8(at) === 1;
  const seconds = view.getUint32(at + 1, true) * SECONDS_PER_DAY + view.getUint8(at + 5) * 3600 +
    view.getUint8(at + 6) * 60 + view.getUint8(at + 7);
  const micros = size >= 12 ? view.getUint32(at + 8, true) : 0;
  if (isNegative || seconds > SECONDS_PER_DAY || (seconds === SECONDS_PER_DAY && micros > 0)) {
    throw new BadValue("a time is outside of one day, 00:00:00 to 24:00:00, where DuckDB's times end");
  }
  appendMicros(column, seconds, micros);
}
