import type { NativeScan } from "../../contract/mod.ts";
import type { TypedColumn } from "../shared/exact_cast.ts";
import { ident, literal } from "../../../duckdb/mod.ts";
import { selectChecked } from "./checked_cast.ts";
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
): Pick<NativeScan, "fragment"> {
  const shape = columns.map(({ name }) => `${ident(name)}: 'JSON'`).join(", ");
  const read = `read_json(${fileList(files)}, format = ${
    layoutOf(array)
  }, hive_partitioning = false, columns = {${shape}})`;
  const sources = columns.map(({ name, type }) =>
    type === "JSON" ? `CAST(${ident(name)} AS VARCHAR)` : `(${ident(name)} ->> '$')`
  );
  return { fragment: selectChecked(columns, sources, read) };
}

function layoutOf(array: boolean): string {
  return literal(array ? "array" : "newline_delimited");
}
