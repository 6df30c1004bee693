import type { ColumnBuilder } from "../../sdk/mod.ts";
import { BadValue } from "../shared/bad_value.ts";
import { parseDecimal, plainNumber } from "../shared/decimal_text.ts";
import { parseDate, parseInstant, parseTime, parseTimestamp } from "../shared/moment_parse.ts";
import type { SqliteValue } from "./database.ts";
import type { ReadRule } from "./read_types.ts";

/** Puts a value that is not NULL into its column. */
export type Put = (column: ColumnBuilder, value: Exclude<SqliteValue, null>) => void;

const UUID = /^[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i;
const BITS: { readonly [name: string]: number } = { TINYINT: 8, SMALLINT: 16, INTEGER: 32, BIGINT: 64 };

/** How values of a rule are put: each arrives exactly, or is refused. */
export function putterOf(rule: ReadRule): Put {
  const { type } = rule;
  const whole = /^(U?)(TINYINT|SMALLINT|INTEGER|BIGINT)$/.exec(type);
  if (whole !== null) return wholePutter(type, BITS[whole[2] ?? ""] ?? 64, whole[1] === "");
  const digits = /^DECIMAL\((\d+),(\d+)\)$/.exec(type);
  if (digits !== null) return decimalPutter(type, Number(digits[1]), Number(digits[2]));
  switch (type) {
    case "BOOLEAN":
      return (column, value) => {
        if (value !== 0n && value !== 1n) throw misfit(value, "0 or 1, for false or true");
        column.appendBool(value === 1n);
      };
    case "DOUBLE":
    case "FLOAT":
      return floatPutter(type);
    case "VARCHAR":
    case "JSON":
      return textPutter(rule);
    case "UUID":
      return (column, value) => {
        if (typeof value !== "string" || !UUID.test(value)) throw misfit(value, "a UUID");
        column.append(dashed(value));
      };
    case "BLOB":
      return (column, value) => {
        if (!(value instanceof Uint8Array)) throw misfit(value, "bytes");
        column.append(value);
      };
    case "DATE":
      return (column, value) => column.appendI32(parsed(value, parseDate, "a date like 2024-01-31"));
    case "TIME":
      return momentPutter(parseTime, "a time of day like 23:59:59.999999");
    case "TIMESTAMP":
      return momentPutter(parseTimestamp, "a time like 2024-01-31 23:59:59.999999, without an offset");
    case "TIMESTAMPTZ":
      return momentPutter(parseInstant, "a time like 2024-01-31 23:59:59+00:00, with its offset");
    default:
      throw new TypeError(`no values of the type ${type}`);
  }
}

function momentPutter(parse: (text: string) => bigint | undefined, wanted: string): Put {
  return (column, value) => column.appendI64(parsed(value, parse, wanted));
}

function parsed<T>(value: SqliteValue, parse: (text: string) => T | undefined, wanted: string): T {
  const result = typeof value === "string" ? parse(value) : undefined;
  if (result === undefined) throw misfit(value, wanted);
  return result;
}

function wholePutter(type: string, bits: number, isSigned: boolean): Put {
  const isLong = bits === 64;
  return (column, value) => {
    const whole = typeof value === "string" && /^[+-]?\d{1,20}$/.test(value) ? BigInt(value) : value;
    if (typeof whole !== "bigint") throw misfit(value, "a whole number");
    const kept = isSigned ? BigInt.asIntN(bits, whole) : BigInt.asUintN(bits, whole);
    if (kept !== whole) throw new BadValue(`a value is out of the range of ${type}`);
    if (isLong) column.appendI64(whole);
    else column.appendI32(Number(whole));
  };
}

/** A number in floating point stands for the decimal that it is shown as. */
function decimalPutter(type: string, precision: number, scale: number): Put {
  return (column, value) => {
    const text = typeof value === "bigint" ? String(value) : typeof value === "number" ? plainNumber(value) : value;
    const unscaled = typeof text === "string" ? parseDecimal(text.trim(), precision, scale) : undefined;
    if (unscaled === undefined) throw misfit(value, `a decimal that ${type} holds`);
    column.appendI128(unscaled);
  };
}

function floatPutter(type: "DOUBLE" | "FLOAT"): Put {
  return (column, value) => {
    const number = typeof value === "bigint" && BigInt(Number(value)) === value ? Number(value) : value;
    if (typeof number !== "number") throw misfit(value, "a number in floating point");
    if (type === "FLOAT" && Math.fround(number) !== number) {
      throw new BadValue("a value has more digits than FLOAT keeps");
    }
    column.appendF64(number);
  };
}

/** Numbers are texts only where the column is not declared to hold texts. */
function textPutter({ declared }: ReadRule): Put {
  const takesNumbers = declared.kind !== "text";
  return (column, value) => {
    if (typeof value === "string") column.append(value);
    // A text that is no string is one that holds U+0000.
    else if (value instanceof Uint8Array) column.appendBytes(value, 0, value.length);
    else if (takesNumbers && typeof value === "bigint") column.append(String(value));
    else if (takesNumbers && Number.isFinite(value)) column.append(plainNumber(Number(value)));
    else throw misfit(value, "a text");
  };
}

function dashed(text: string): string {
  const digits = text.replaceAll("-", "");
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join(
    "-",
  );
}

function misfit(value: SqliteValue, wanted: string): BadValue {
  const what = typeof value === "bigint"
    ? "a whole number"
    : typeof value === "number"
    ? value === Infinity ? "infinite, or bytes" : "a number in floating point"
    : typeof value === "string"
    ? "a text"
    : "bytes";
  return new BadValue(`a value is ${what}, where ${wanted} is expected`);
}
