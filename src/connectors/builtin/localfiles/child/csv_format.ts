import type { Field } from "../../../../util/arrow.ts";
import type { ColumnReader } from "../../../sdk/mod.ts";
import type { LineFormat } from "./lines.ts";
import { refused } from "./trouble.ts";
import { textOf } from "./value_text.ts";

/** What numbers and times are made of. */
const IN_NUMBERS = /[\w.:+\- ()]/;

/** CSV as DuckDB writes it: NULL is nothing, an empty text is `""`. */
export function csvFormat(fields: readonly Field[], delimiter: string): LineFormat {
  const special = new RegExp(`["#\\r\\n${delimiter.replace(/[\\\]^-]/, "\\$&")}]`);
  const quoted = (text: string) => text === "" || special.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const cell = (reader: ColumnReader): (row: number) => string => {
    const text = textOf(reader);
    if (text === undefined) throw nested(reader.field.name, reader.kind);
    const isPlain = !["text", "json", "blob"].includes(reader.kind) && !IN_NUMBERS.test(delimiter);
    return isPlain
      ? (row) => reader.isNull(row) ? "" : text(row)
      : (row) => reader.isNull(row) ? "" : quoted(text(row));
  };
  return {
    head: `${fields.map(({ name }) => quoted(name)).join(delimiter)}\n`,
    lines: (readers) => {
      const cells = readers.map(cell);
      return (row) => {
        let line = cells[0]?.(row) ?? "";
        for (let index = 1; index < cells.length; index++) line += delimiter + (cells[index]?.(row) ?? "");
        return `${line}\n`;
      };
    },
  };
}

function nested(column: string, kind: string): Error {
  return refused(
    `Column "${column}" holds values of the kind ${kind}, which only DuckDB itself writes to csv`,
    "cast it to JSON in the pipeline's SELECT, or remove engine.force_universal",
  );
}
