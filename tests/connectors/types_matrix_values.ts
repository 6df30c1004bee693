import type { CaseValue, TypeCase } from "./types_matrix_cases.ts";
import type { AnySystem } from "./types_matrix_run.ts";

/** Stands for NULL among texts. */
export const NULL: unique symbol = Symbol("NULL");
export type Text = string | typeof NULL;

/** A failure as the table tells it, which must name the column. */
export function refusal(failure: string, column = "x"): string {
  const [code = ""] = failure.split(" ");
  return new RegExp(`\\b${column}\\b`).test(failure)
    ? `refused ${code}`
    : `refused without the column's name: ${failure}`;
}

/** A text of SQL. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A text in DuckDB's SQL, which can't have U+0000 in it. */
export function duckText(text: string): string {
  return text.split("\0").map(quoted).join(" || chr(0) || ");
}

/** A value as a line of JSON has it. */
export function jsonOf({ duck }: TypeCase, { duck: text, json }: CaseValue): string {
  if (json !== undefined) return json;
  if (duck === "JSON") return text;
  return /^(BOOLEAN|U?\w*INT(EGER)?$|DECIMAL|FLOAT|DOUBLE)/.test(duck) ? text : JSON.stringify(text);
}

/** A value as a column of the type in a sink shows it: where only texts are, as the text that it had. */
export function spelled(one: TypeCase, value: CaseValue, sink: AnySystem, type: string): Text {
  // A number of 32 bits is another text as one of 64 bits.
  if (one.duck === "FLOAT" && /^double/i.test(type) && value.written !== undefined) return value.written;
  switch (sink) {
    case "mysql":
    case "sqlite":
      // Neither has a negative zero.
      return value.duck === "-0.0" ? "0.0" : value.duck;
    case "postgres":
      return type === "text" ? value.duck : value.pg ?? value.duck;
    case "ndjson": {
      const text = value.written ?? jsonOf(one, value);
      return text === "null" ? NULL : text;
    }
    default:
      return type.startsWith("STRUCT") ? value.object ?? value.duck : value.duck;
  }
}

/** The kind of a JSON value that is not null. */
export function jsonKind(text: string): string {
  switch (text[0]) {
    case '"':
      return "text";
    case "{":
      return "object";
    case "[":
      return "array";
    case "t":
    case "f":
      return "boolean";
    default:
      return "number";
  }
}
