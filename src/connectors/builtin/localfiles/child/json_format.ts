import type { Field } from "../../../../util/arrow.ts";
import { type ColumnReader, ListReader, MapReader, StructReader } from "../../../sdk/mod.ts";
import type { LineFormat } from "./lines.ts";
import { doubleText } from "./number_text.ts";
import { isoTimestampText } from "./time_text.ts";
import { refused } from "./trouble.ts";
import { textOf } from "./value_text.ts";

type ToJson = (row: number) => string;

/**
 * One JSON object a line, every column in it. Timestamps are `yyyy-MM-ddTHH:mm:ss.ffffffZ`; a number that is not finite
 * is null, of which `onLost` is told the column.
 */
export function jsonFormat(fields: readonly Field[], onLost: (column: string) => void): LineFormat {
  const names = fields.map(({ name }, index) => `${index === 0 ? "{" : ","}${JSON.stringify(name)}:`);
  return {
    head: "",
    lines: (readers) => {
      const cells = readers.map((reader) => json(reader, () => onLost(reader.field.name)));
      return (row) => {
        let line = "";
        for (let index = 0; index < cells.length; index++) line += `${names[index]}${cells[index]?.(row)}`;
        return `${line}}\n`;
      };
    },
  };
}

function json(reader: ColumnReader, onLost: () => void): ToJson {
  const value = present(reader, onLost);
  return (row) => reader.isNull(row) ? "null" : value(row);
}

function present(reader: ColumnReader, onLost: () => void): ToJson {
  switch (reader.kind) {
    case "float":
      return (row) => {
        const value = reader.f64(row);
        if (Number.isFinite(value)) return doubleText(value);
        onLost();
        return "null";
      };
    case "timestamp":
    case "timestamptz":
      return (row) => JSON.stringify(isoTimestampText(reader.i64(row), reader.digits));
    case "json":
      return (row) => oneLine(reader.text(row), reader.field.name);
  }
  if (reader instanceof ListReader) return list(reader, onLost);
  if (reader instanceof StructReader) return struct(reader, onLost);
  if (reader instanceof MapReader) return map(reader, onLost);
  const text = textOf(reader);
  if (text === undefined) throw unknown(reader.field.name, reader.kind);
  return ["bool", "int", "long", "decimal", "hugeint", "uhugeint"].includes(reader.kind)
    ? text
    : (row) => JSON.stringify(text(row));
}

function list(reader: ListReader, onLost: () => void): ToJson {
  const item = json(reader.items, onLost);
  return (row) => `[${range(reader.start(row), reader.end(row), item)}]`;
}

function struct(reader: StructReader, onLost: () => void): ToJson {
  const members = reader.members.map((member) => ({
    name: JSON.stringify(member.field.name),
    value: json(member, onLost),
  }));
  return (row) => `{${members.map(({ name, value }) => `${name}:${value(row)}`).join(",")}}`;
}

function map(reader: MapReader, onLost: () => void): ToJson {
  const key = textOf(reader.keys);
  if (key === undefined) throw unknown(reader.field.name, `map with keys of the kind ${reader.keys.kind}`);
  const value = json(reader.values, onLost);
  const entry = (at: number) => `${JSON.stringify(key(at))}:${value(at)}`;
  return (row) => `{${range(reader.start(row), reader.end(row), entry)}}`;
}

function range(start: number, end: number, item: ToJson): string {
  let text = "";
  for (let at = start; at < end; at++) text += at === start ? item(at) : `,${item(at)}`;
  return text;
}

/** A JSON value as DuckDB holds it, which may take several lines and may hold numbers that JSON does not know. */
function oneLine(text: string, column: string): string {
  if (/nan|inf/i.test(text) && /nan|inf/i.test(text.replaceAll(/"(?:\\.|[^"\\])*"/g, ""))) {
    throw refused(
      `Column "${column}" holds ${JSON.stringify(text.slice(0, 80))}, and JSON has no such number`,
      "cast it to VARCHAR, or make it NULL",
    );
  }
  return text.replaceAll(/[\r\n]/g, " ");
}

function unknown(column: string, kind: string): Error {
  return refused(
    `Column "${column}" holds values of the kind ${kind}, which only DuckDB itself writes to json`,
    "cast it to VARCHAR in the pipeline's SELECT, or remove engine.force_universal",
  );
}
