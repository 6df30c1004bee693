import { ident, literal } from "../../../duckdb/mod.ts";
import { readHeader } from "./csv_header.ts";
import { boundName, hiveKeys } from "./hive.ts";

/** Files that one read takes, and the folder that their pattern starts in. */
export type FileSet = { readonly files: readonly string[]; readonly base: string };

/** One file as a text, several as a list. */
export function fileList(files: readonly string[]): string {
  const texts = files.map((file) => literal(plainPattern(file)));
  return texts.length === 1 ? texts.join("") : `[${texts.join(", ")}]`;
}

/** The pattern of DuckDB's that matches one path alone: its readers take every path for a pattern. */
export function plainPattern(path: string): string {
  return path.replaceAll(/[*?[]/g, "[$&]");
}

/** CSV files that share header and folder names, and so are read by one call of DuckDB's reader. */
export type CsvGroup = {
  readonly files: readonly string[];
  /** Undefined for a header that DuckDB must detect. */
  readonly header: readonly string[] | undefined;
  readonly keys: readonly string[];
};

/** Groups in the order of their first files. */
export function groupCsv({ files, base }: FileSet, delimiter: string): readonly CsvGroup[] {
  const groups = new Map<string, CsvGroup & { files: string[] }>();
  for (const file of files) {
    const header = readHeader(file, delimiter);
    const keys = hiveKeys(base, file).filter((key) => header !== undefined && boundName(header, key) === undefined);
    const id = JSON.stringify([header ?? null, keys]);
    const group = groups.get(id);
    if (group === undefined) groups.set(id, { files: [file], header, keys });
    else group.files.push(file);
  }
  return [...groups.values()];
}

/** The call of DuckDB's reader that gives every field of a group as text; an unquoted empty field is NULL. */
export function readCsvText(group: CsvGroup, delimiter: string, more = ""): string {
  const shape = group.header === undefined
    ? "all_varchar = true, union_by_name = true"
    : `auto_detect = false, columns = {${group.header.map((name) => `${ident(name)}: 'VARCHAR'`).join(", ")}}`;
  const hive = group.keys.length > 0 ? ", hive_types_autocast = false" : "";
  return `read_csv(${fileList(group.files)}, ${csvDialect(delimiter, group.keys.length > 0)}${hive}, ${shape}${more})`;
}

/** Options that say how the text of a CSV file is cut into fields. */
export function csvDialect(delimiter: string, hive: boolean): string {
  return `delim = ${literal(delimiter)}, quote = '"', escape = '"', header = true, nullstr = '', ` +
    `allow_quoted_nulls = false, hive_partitioning = ${hive}`;
}
