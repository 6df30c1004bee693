import type { ColumnReader } from "../../sdk/mod.ts";
import { BadValue } from "../shared/bad_value.ts";
import { dateText, microsOf, timestampText, timeText } from "../shared/moment_text.ts";
import type { SqlWriter } from "./sql_writer.ts";
import type { TargetType } from "./write_types.ts";

/** Writes the value of a row as a literal. */
export type Put = (row: number, out: SqlWriter) => void;

const MICROS_PER_DAY = 86_400_000_000n;
const CONTINUATION = 0x80;
const BLANK = 0x20;
const MAX_INT64 = 0x7fffffffffffffffn;
const KEEPS = "MySQL keeps";

/** Writes the values of one column, NULL included, whose type `takes` accepted for the target. */
export function encoder(reader: ColumnReader, target: TargetType): Put {
  const put = valuePut(reader, target);
  return (row, out) => {
    if (!reader.isNull(row)) put(row, out);
    else if (target.isNullable) out.ascii("NULL");
    else throw new BadValue("a value is NULL, which the column does not take");
  };
}

function valuePut(reader: ColumnReader, target: TargetType): Put {
  switch (reader.kind) {
    case "bool":
      return (row, out) => out.ascii(reader.bool(row) ? "1" : "0");
    case "int":
    case "long":
      if (target.name === "year") return yearPut(reader);
      return (row, out) => out.ascii(reader.text(row));
    case "hugeint":
    case "uhugeint":
      return (row, out) => out.ascii(reader.text(row));
    case "decimal":
      return decimalPut(reader, target);
    case "float":
      return (row, out) => {
        const value = reader.f64(row);
        if (!Number.isFinite(value)) throw new BadValue(`a value is ${value}, and MySQL has finite numbers only`);
        const text = String(value);
        // With an exponent the server takes it as floating point from the start.
        out.ascii(text.includes("e") ? text : `${text}e0`);
      };
    case "date":
      return (row, out) => out.ascii(`'${dateText(reader.i32(row))}'`);
    case "time":
      return timePut(reader, target);
    case "timestamp":
    case "timestamptz":
      return timestampPut(reader, target);
    case "text":
    case "json":
      return textPut(reader, target);
    case "uuid":
      return (row, out) => out.ascii(`'${reader.text(row)}'`);
    case "blob":
      return bytesPut(reader, target);
    default:
      return (_row, out) => out.ascii("NULL");
  }
}

/** The server takes 70 for 1970, and other short years alike. */
function yearPut(reader: ColumnReader): Put {
  return (row, out) => {
    const text = reader.text(row);
    const year = Number(text);
    if (year !== 0 && (year < 1901 || year > 2155)) throw new BadValue("a value is no year from 1901 to 2155, nor 0");
    out.ascii(year === 0 ? "'0000'" : text);
  };
}

/** The server rounds away places without an error; digits before the point it refuses by itself. */
function decimalPut(reader: ColumnReader, target: TargetType): Put {
  const places = target.name === "decimal" ? target.scale ?? 0 : 0;
  const dropped = 10n ** BigInt(Math.max(0, reader.digits - places));
  return (row, out) => {
    if (dropped !== 1n && reader.i128(row) % dropped !== 0n) {
      throw new BadValue(`a value has more decimal places than ${target.spelled} keeps`);
    }
    out.ascii(reader.text(row));
  };
}

function timePut(reader: ColumnReader, target: TargetType): Put {
  const step = stepOf(target);
  return (row, out) => {
    const micros = microsOf(reader.i64(row), reader.digits, KEEPS);
    if (micros < 0n || micros > MICROS_PER_DAY) throw new BadValue("a time of day is outside of one day");
    if (micros % step !== 0n) throw tooFine(target);
    out.ascii(`'${timeText(Number(micros))}'`);
  };
}

function timestampPut(reader: ColumnReader, target: TargetType): Put {
  const step = stepOf(target);
  const isInstant = target.name === "timestamp";
  return (row, out) => {
    const value = reader.i64(row);
    if (value === MAX_INT64 || value === -MAX_INT64) throw new BadValue("a timestamp is infinite, which MySQL has not");
    const micros = microsOf(value, reader.digits, KEEPS);
    if (micros % step !== 0n) throw tooFine(target);
    const text = timestampText(micros);
    if (isInstant && micros < 1_000_000n) {
      throw new BadValue(`a value is before 1970-01-01 00:00:01, where ${target.spelled} begins; a datetime holds it`);
    }
    out.ascii(`'${text}'`);
  };
}

/** Microseconds in the least that the column tells apart; the server rounds to it without an error. */
function stepOf({ fraction }: TargetType): bigint {
  return 10n ** BigInt(6 - fraction);
}

function tooFine({ spelled }: TargetType): BadValue {
  return new BadValue(`a value has more digits of a second than ${spelled} keeps`);
}

function textPut(reader: ColumnReader, target: TargetType): Put {
  const check = textCheck(target);
  return (row, out) => {
    const bytes = reader.bytes(row);
    check?.(bytes);
    out.quoted(bytes);
  };
}

/** What the server would change without an error: blanks that it cuts off, and labels that it takes for others. */
function textCheck(target: TargetType): ((bytes: Uint8Array) => void) | undefined {
  const { name, length, octets, spelled, charset } = target;
  if (name === "enum") {
    const labels = labelsOf(spelled);
    const decoder = new TextDecoder();
    return (bytes) => {
      if (!labels.has(decoder.decode(bytes))) throw new BadValue(`a value is none of the labels of ${spelled}`);
    };
  }
  if ((name === "char" || name === "varchar") && length !== undefined) {
    return (bytes) => {
      if (bytes.length > length && characters(bytes) > length) {
        throw new BadValue(`a text is longer than ${spelled} holds`);
      }
      if (name === "char" && bytes.at(-1) === BLANK) {
        throw new BadValue(`a text ends in a blank, which ${spelled} does not keep`);
      }
    };
  }
  if (octets === undefined) return undefined;
  const isUtf8 = charset?.startsWith("utf8") === true;
  return (bytes) => {
    // In other character sets a character takes at least one byte.
    if (bytes.length > octets && (isUtf8 || characters(bytes) > octets)) {
      throw new BadValue(`a text is longer than the ${octets} bytes that ${spelled} holds`);
    }
  };
}

/** The labels of `enum('a','b')`, a quote in one of them being doubled. */
function labelsOf(spelled: string): ReadonlySet<string> {
  return new Set(
    [...spelled.matchAll(/'((?:[^']|'')*)'/g)].map(([, label = ""]) => label.replaceAll("''", "'")),
  );
}

function characters(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) if ((byte & 0xc0) !== CONTINUATION) count++;
  return count;
}

function bytesPut(reader: ColumnReader, { name, octets, spelled }: TargetType): Put {
  return (row, out) => {
    const bytes = reader.bytes(row);
    if (octets !== undefined && (bytes.length > octets || (name === "binary" && bytes.length < octets))) {
      throw new BadValue(
        name === "binary"
          ? `a value has ${bytes.length} bytes, and ${spelled} keeps exactly ${octets}`
          : `a value has more bytes than ${spelled} holds`,
      );
    }
    out.ascii("_binary");
    out.quoted(bytes);
  };
}
