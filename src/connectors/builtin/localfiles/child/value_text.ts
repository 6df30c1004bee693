import { DataType, Precision } from "../../../../util/arrow.ts";
import { type ColumnReader, IntervalReader, TextReader } from "../../../sdk/mod.ts";
import { doubleText, floatText } from "./number_text.ts";
import { dateText, intervalText, timestampText, timeText } from "./time_text.ts";

const HEX = "0123456789ABCDEF";
const BEYOND_ASCII = /\P{ASCII}/u;

/**
 * What gives the value of a row, which is not NULL, as the text that DuckDB casts it to; undefined for lists, structs and
 * maps.
 */
export function textOf(reader: ColumnReader): ((row: number) => string) | undefined {
  const { kind, digits } = reader;
  switch (kind) {
    case "null":
      return () => "";
    case "bool":
      return (row) => reader.bool(row) ? "true" : "false";
    case "int":
    case "long":
    case "decimal":
    case "hugeint":
    case "uhugeint":
    case "uuid":
      return (row) => reader.text(row);
    case "text":
    case "json":
      return reader instanceof TextReader ? textsOf(reader) : (row) => reader.text(row);
    case "float":
      return isSingle(reader) ? (row) => floatText(reader.f64(row)) : (row) => doubleText(reader.f64(row));
    case "date":
      return (row) => dateText(reader.i32(row));
    case "time":
      return (row) => timeText(reader.i64(row), digits);
    case "timestamp":
      return (row) => timestampText(reader.i64(row), digits);
    case "timestamptz":
      return (row) => {
        const text = timestampText(reader.i64(row), digits);
        return text.endsWith("y") ? text : `${text}+00`; // infinity has no offset
      };
    case "interval":
      return reader instanceof IntervalReader ? (row) => intervalText(reader.interval(row)) : undefined;
    case "blob":
      return (row) => blobText(reader.bytes(row));
    default:
      return undefined;
  }
}

/** Decoding a column as a whole costs far less than each of its texts; those beyond ASCII are decoded again. */
function textsOf(reader: TextReader): (row: number) => string {
  if (reader.length === 0) return () => "";
  const first = reader.start(0);
  const all = new TextDecoder("windows-1252").decode(reader.data.subarray(first, reader.end(reader.length - 1)));
  return (row) => {
    const text = all.slice(reader.start(row) - first, reader.end(row) - first);
    return BEYOND_ASCII.test(text) ? reader.text(row) : text;
  };
}

function isSingle({ field }: ColumnReader): boolean {
  const type: DataType = field.type;
  return DataType.isFloat(type) && type.precision === Precision.SINGLE;
}

/** Printable ASCII as it is, but for quotes and the backslash; any other byte as `\xNN`. */
function blobText(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) {
    const isPlain = byte >= 0x20 && byte < 0x7f && byte !== 0x5c && byte !== 0x27 && byte !== 0x22;
    text += isPlain ? String.fromCharCode(byte) : `\\x${HEX.charAt(byte >> 4)}${HEX.charAt(byte & 15)}`;
  }
  return text;
}
