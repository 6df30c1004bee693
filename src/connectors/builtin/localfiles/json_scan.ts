import type { NativeScan } from "../../contract/mod.ts";
import type { TypedColumn } from "../shared/exact_cast.ts";
import { ident, literal } from "../../../duckdb/mod.ts";
import { selectChecked } from "../shared/checked_cast.ts";
import { diagnose, type Probe } from "./diagnosis.ts";
import { fileList, type FileSet, hiveKeys } from "./files.ts";

/** The call of DuckDB's reader for JSON files with guessed types. */
export function readInferredJson({ files, base }: FileSet, array: boolean): string {
  return `read_json(${fileList(files)}, format = ${layoutOf(array)}${manyFiles(files, base)})`;
}

/** Options for several files: columns by name, and those in the names of the folders below the base. */
export function manyFiles(files: readonly string[], base: string): string {
  const hive = files.some((file) => hiveKeys(base, file).length > 0);
  return `, hive_partitioning = ${hive}${files.length > 1 ? ", union_by_name = true" : ""}`;
}

/**
 * The scan of JSON files whose top-level keys are declared: other keys are ignored, an absent key and null are NULL, and
 * each value is turned into its type from its text, with the checks of text files.
 */
export function scanDeclaredJson(
  files: readonly string[],
  array: boolean,
  columns: readonly TypedColumn[],
): Pick<NativeScan, "fragment" | "diagnose"> {
  const read = readDeclared(files, array, columns, "");
  return {
    fragment: selectChecked(columns, columns.map(sourceOf), read),
    diagnose: (query) => diagnose(query, [probeOf(files, array)], columns),
  };
}

function readDeclared(files: readonly string[], array: boolean, columns: readonly TypedColumn[], more: string): string {
  const shape = columns.map(({ name }) => `${ident(name)}: 'JSON'`).join(", ");
  const options = `format = ${layoutOf(array)}, hive_partitioning = false, columns = {${shape}}${more}`;
  return `read_json(${fileList(files)}, ${options})`;
}

/** A value's text: that of a JSON string without its quotes, anything else as JSON. */
function sourceOf({ name, type }: TypedColumn): string {
  return type === "JSON" ? `CAST(${ident(name)} AS VARCHAR)` : `(${ident(name)} ->> '$')`;
}

function probeOf(files: readonly string[], array: boolean): Probe {
  return {
    all: (columns) => {
      const texts = columns.map((column, index) => `${sourceOf(column)} AS t${index}`);
      return `(SELECT filename, ${texts.join(", ")} FROM ${readDeclared(files, array, columns, ", filename = true")})`;
    },
    one: array ? undefined : linesOf,
    lineOf: (_file, record) => Promise.resolve(Number(record)),
  };
}

/** A newline-delimited file line by line, in order: a record's number is its line's. */
function linesOf(file: string, columns: readonly TypedColumn[]): string {
  const texts = columns.map(({ name, type }, index) => {
    const pointer = literal(`/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`);
    return type === "JSON"
      ? `CAST(json_extract(line, ${pointer}) AS VARCHAR) AS t${index}`
      : `json_extract_string(line, ${pointer}) AS t${index}`;
  });
  const read = `read_csv(${literal(file)}, auto_detect = false, header = false, columns = {line: 'VARCHAR'}, ` +
    `delim = '\u0001', quote = '', escape = '', nullstr = '', max_line_size = 67108864, parallel = false)`;
  return `(SELECT row_number() OVER () AS n, ${texts.join(", ")} FROM ${read})`;
}

function layoutOf(array: boolean): string {
  return literal(array ? "array" : "newline_delimited");
}
