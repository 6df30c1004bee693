import type { NativeScan } from "../../contract/mod.ts";
import type { TypedColumn } from "../shared/exact_cast.ts";
import { ident, literal } from "../../../duckdb/mod.ts";
import { selectChecked } from "../shared/checked_cast.ts";
import { diagnose, type Probe } from "./diagnosis.ts";
import type { JsonLayout } from "./json_layout.ts";
import { exactNumber, NUMBER_MARK } from "./json_number.ts";
import { fileList, type FileSet } from "./files.ts";
import { hiveKeys } from "./hive.ts";

/** The call of DuckDB's reader for JSON files with guessed types. */
export function readInferredJson({ files, base }: FileSet, layout: JsonLayout): string {
  return `read_json(${fileList(files)}, format = ${literal(layout)}${manyFiles(files, base)})`;
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
  layout: JsonLayout,
  declared: readonly TypedColumn[],
): Pick<NativeScan, "fragment" | "diagnose"> {
  const columns = declared.map((column) =>
    column.type === "VARCHAR" && !column.lossy ? { ...column, mark: NUMBER_MARK } : column
  );
  const read = readDeclared(files, layout, columns, "");
  return {
    fragment: selectChecked(columns, columns.map(sourceOf), read),
    diagnose: (query) => diagnose(query, [probeOf(files, layout)], columns),
  };
}

function readDeclared(
  files: readonly string[],
  layout: JsonLayout,
  columns: readonly TypedColumn[],
  more: string,
): string {
  const shape = columns.map(({ name, type }) => `${ident(name)}: '${FROM_TEXT.has(type) ? "VARCHAR" : "JSON"}'`).join(
    ", ",
  );
  const options = `format = ${literal(layout)}, hive_partitioning = false, columns = {${shape}}${more}`;
  return `read_json(${fileList(files)}, ${options})`;
}

/** Types for which a number in quotes is as good as one without, so that DuckDB may give the text at once, for less. */
const FROM_TEXT: ReadonlySet<string> = new Set([
  "BOOLEAN",
  "FLOAT",
  "DOUBLE",
  "DATE",
  "TIME",
  "TIMESTAMP",
  "TIMESTAMPTZ",
  "UUID",
]);

/** The SQL of a value's text: that of a JSON string without its quotes, anything else as JSON. */
function sourceOf(column: TypedColumn): string {
  const value = ident(column.name);
  if (FROM_TEXT.has(column.type)) return value;
  return column.type === "JSON" ? `CAST(${value} AS VARCHAR)` : exactNumber(`(${value} ->> '$')`, value, column);
}

function probeOf(files: readonly string[], layout: JsonLayout): Probe {
  return {
    all: (columns) => {
      const texts = columns.map((column, index) => `${sourceOf(column)} AS t${index}`);
      return `(SELECT filename, ${texts.join(", ")} FROM ${readDeclared(files, layout, columns, ", filename = true")})`;
    },
    one: layout === "newline_delimited" ? linesOf : undefined,
    lineOf: (_file, record) => Promise.resolve(Number(record)),
  };
}

/** A newline-delimited file line by line, in order: a record's number is its line's. */
function linesOf(file: string, columns: readonly TypedColumn[]): string {
  const texts = columns.map((column, index) => {
    const { name, type } = column;
    const pointer = literal(`/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`);
    return type === "JSON"
      ? `CAST(json_extract(line, ${pointer}) AS VARCHAR) AS t${index}`
      : `${
        exactNumber(`json_extract_string(line, ${pointer})`, `json_extract(line, ${pointer})`, column)
      } AS t${index}`;
  });
  const read = `read_csv(${fileList([file])}, auto_detect = false, header = false, columns = {line: 'VARCHAR'}, ` +
    `delim = '\u0001', quote = '', escape = '', nullstr = '', max_line_size = 67108864, parallel = false)`;
  return `(SELECT row_number() OVER () AS n, ${texts.join(", ")} FROM ${read})`;
}
