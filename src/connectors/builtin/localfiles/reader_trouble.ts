import type { NativeDiagnosis, QueryRows } from "../../contract/mod.ts";
import { nearMiss } from "../../../util/mod.ts";
import type { TypedColumn } from "../shared/exact_cast.ts";
import { boundName } from "./hive.ts";

const OTHER_FORMAT = "name what it is with format:, one of csv, tsv, json and parquet";

/**
 * What is wrong with a file that DuckDB can't read, from its message, without the options of its readers, which pz does
 * not have. Undefined for any other message.
 */
export function readerTrouble(message: string, files: readonly string[]): NativeDiagnosis | undefined {
  const first = files[0] ?? "";
  if (/too small to be a Parquet file|No magic bytes found/.test(message)) {
    const file = files.find((name) => message.includes(name)) ?? first;
    return { message: "This is no Parquet file", file, line: undefined, column: "", hint: OTHER_FORMAT };
  }
  const json = /^Malformed JSON in file "(.*)", at byte \d+ in (line|record\/value) (\d+): ([^.]*)/.exec(message);
  if (json !== null) {
    const [, file = first, unit, place, what] = json;
    const line = unit === "line" ? Number(place) : undefined;
    const where = line === undefined ? ` (value ${place})` : "";
    return { message: `This is no JSON: ${what}${where}`, file, line, column: "", hint: "correct the file" };
  }
  const csv = /^CSV Error on Line: (\d+)/.exec(message);
  if (csv === null && !message.startsWith("Error when sniffing file")) return undefined;
  const file = /^\s*file = (.*)$/m.exec(message)?.[1] ?? files.find((name) => message.includes(name)) ?? first;
  const line = csv === null ? undefined : Number(csv[1]);
  return { ...csvTrouble(message), file, line, column: "" };
}

function csvTrouble(message: string): { readonly message: string; readonly hint: string } {
  const fields = /Expected Number of Columns: (\d+) Found: (\d+)/.exec(message);
  if (fields !== null) {
    return {
      message: `A record has ${fields[2]} fields where the first line has ${fields[1]}`,
      hint: "put a text that holds the delimiter in quotes, or name another delimiter with delimiter:",
    };
  }
  if (/not utf-8/i.test(message)) {
    return { message: "This is no CSV file in UTF-8", hint: `convert the text to UTF-8, or ${OTHER_FORMAT}` };
  }
  if (/unterminated quote/i.test(message)) {
    return { message: "A quoted text has no end", hint: "close the quote; a quote inside a text is written twice" };
  }
  return { message: "This can't be read as a CSV file", hint: `correct the file, or ${OTHER_FORMAT}` };
}

/** The first declared column that a relation (as SQL) of these files lacks. */
export async function findMissingColumn(
  query: QueryRows,
  relation: string,
  files: readonly string[],
  columns: readonly TypedColumn[],
): Promise<NativeDiagnosis | undefined> {
  const names = (await query(`DESCRIBE SELECT * FROM ${relation}`)).map(([name]) => name ?? "");
  const missing = columns.find(({ name }) => boundName(names, name) === undefined);
  if (missing === undefined) return undefined;
  const near = nearMiss(missing.name, names);
  return {
    message: `Column "${missing.name}" is not in ${files.length === 1 ? "the file" : "any file"}: it has ${
      listNames(names)
    }`,
    file: files[0] ?? "",
    line: undefined,
    column: missing.name,
    hint: near === undefined ? "declare columns by the names that the file has" : `did you mean "${near}"?`,
  };
}

/** The first names of a list, in quotes. */
export function listNames(names: readonly string[]): string {
  const shown = names.slice(0, 12).map((name) => `"${name}"`).join(", ");
  return names.length > 12 ? `${shown} and ${names.length - 12} more` : shown;
}
