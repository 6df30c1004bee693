import type { ColumnReader } from "../../sdk/mod.ts";
import { BadValue } from "../shared/bad_value.ts";
import { parseDecimal, plainNumber } from "../shared/decimal_text.ts";
import { dateText, microsOf, timestampText, timeText } from "../shared/moment_text.ts";
import type { SqliteValue } from "./database.ts";
import type { TargetType } from "./write_types.ts";

/** Gives the value of a row as SQLite is to keep it; a text as its bytes, where `isText`. */
export type Encoder = { readonly value: (row: number) => SqliteValue; readonly isText: boolean };

const MICROS_PER_DAY = 86_400_000_000n;
const KEEPS = "a text keeps";

/** Encodes the values of one column, NULL included, whose type `takes` accepted for the target. */
export function encoderOf(reader: ColumnReader, target: TargetType): Encoder {
  const value = valueOf(reader, target);
  return {
    isText: reader.kind === "text" || reader.kind === "json",
    value: (row) => {
      if (!reader.isNull(row)) return value(row);
      if (target.isNullable) return null;
      throw new BadValue("a value is NULL, which the column does not take");
    },
  };
}

function valueOf(reader: ColumnReader, target: TargetType): (row: number) => SqliteValue {
  switch (reader.kind) {
    case "bool":
      return (row) => reader.bool(row) ? 1n : 0n;
    case "int":
    case "long":
      return target.affinity === "text" ? (row) => reader.text(row) : (row) => wholeOf(reader.i64(row), target);
    case "hugeint":
    case "uhugeint":
      return target.affinity === "text" ? (row) => reader.text(row) : (row) => wholeOf(reader.i128(row), target);
    case "decimal":
      return target.affinity === "text" ? textOfDecimal(reader, target) : numberOfDecimal(reader, target);
    case "float":
      return (row) => {
        const value = reader.f64(row);
        if (Number.isNaN(value)) throw new BadValue("a value is NaN, which SQLite would keep as NULL");
        return value;
      };
    case "date":
      return (row) => dateText(reader.i32(row));
    case "time":
      return (row) => {
        const micros = microsOf(reader.i64(row), reader.digits, KEEPS);
        if (micros < 0n || micros > MICROS_PER_DAY) throw new BadValue("a time of day is outside of one day");
        return timeText(Number(micros));
      };
    case "timestamp":
      return (row) => timestampText(microsOf(reader.i64(row), reader.digits, KEEPS));
    case "timestamptz":
      return (row) => `${timestampText(microsOf(reader.i64(row), reader.digits, KEEPS))}+00:00`;
    case "text":
    case "json":
      return (row) => reader.bytes(row);
    case "uuid":
      return (row) => reader.text(row);
    case "blob":
      return (row) => reader.bytes(row);
    default:
      return () => null;
  }
}

function wholeOf(value: bigint, { declared, spelled }: TargetType): bigint {
  if (BigInt.asIntN(64, value) !== value) {
    throw new BadValue("a value is out of the range of SQLite's whole numbers, 64 bits");
  }
  const digits = declared.kind === "decimal" ? declared.precision - declared.scale : 0;
  if (digits > 0 && (value < 0n ? -value : value) >= 10n ** BigInt(digits)) {
    throw new BadValue(`a value has more digits than ${spelled} keeps`);
  }
  return value;
}

function textOfDecimal(reader: ColumnReader, target: TargetType): (row: number) => SqliteValue {
  return (row) => {
    const text = reader.text(row);
    mustFit(text, target);
    return text;
  };
}

/** Where SQLite keeps numbers: whole ones as they are, others in floating point, if that shows the same decimal. */
function numberOfDecimal(reader: ColumnReader, target: TargetType): (row: number) => SqliteValue {
  const unit = 10n ** BigInt(reader.digits);
  return (row) => {
    const unscaled = reader.i128(row);
    if (unscaled % unit === 0n) return wholeOf(unscaled / unit, target);
    const text = reader.text(row);
    mustFit(text, target);
    const number = Number(text);
    if (parseDecimal(plainNumber(number), 38, reader.digits) === unscaled) return number;
    throw new BadValue(
      `a value has more digits than ${target.spelled} keeps as a number; a column of texts keeps them`,
    );
  };
}

/** SQLite itself takes any value for any digits. */
function mustFit(text: string, { declared, spelled }: TargetType): void {
  if (declared.kind !== "decimal" || parseDecimal(text, declared.precision, declared.scale) !== undefined) return;
  throw new BadValue(`a value has more digits than ${spelled} keeps`);
}
