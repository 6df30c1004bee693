import type { ConfigProblem, NativeScan } from "../../contract/mod.ts";
import type { TypedColumn } from "../shared/exact_cast.ts";
import { ident } from "../../../duckdb/mod.ts";
import { nearMiss } from "../../../util/mod.ts";
import { selectChecked } from "../shared/checked_cast.ts";
import { lineOfRecord } from "./csv_lines.ts";
import { diagnose, type Probe } from "./diagnosis.ts";
import { boundName } from "./hive.ts";
import { listNames } from "./reader_trouble.ts";
import { type CsvGroup, type FileSet, groupCsv, readCsvText } from "./files.ts";

/**
 * The scan of CSV files whose columns are declared: bound by the names in each file's header, or else in its folders'
 * `name=value`, read as text and turned into the declared types with checks. A column that some files lack is NULL
 * there; one that all lack is a problem.
 */
export function scanDeclaredCsv(
  set: FileSet,
  delimiter: string,
  columns: readonly TypedColumn[],
  problems: ConfigProblem[],
): Pick<NativeScan, "fragment" | "diagnose"> | undefined {
  const groups = groupCsv(set, delimiter);
  const missing = findMissing(groups, columns);
  if (missing.length > 0) {
    problems.push(...missing);
    return undefined;
  }
  return checkedCsv(groups, delimiter, columns);
}

/** The scan of grouped files with these columns, none of which is looked for. */
export function checkedCsv(
  groups: readonly CsvGroup[],
  delimiter: string,
  columns: readonly TypedColumn[],
): Pick<NativeScan, "fragment" | "diagnose"> {
  const parts = groups.map((group) =>
    selectChecked(columns, columns.map(({ name }) => sourceOf(group, name)), readCsvText(group, delimiter))
  );
  const fragment = parts.length === 1 ? parts.join("") : `(${parts.map((part) => `FROM ${part}`).join(" UNION ALL ")})`;
  return { fragment, diagnose: (query) => diagnose(query, groups.map((group) => probeOf(group, delimiter)), columns) };
}

function sourceOf(group: CsvGroup, column: string): string {
  if (group.header === undefined) return ident(column);
  const name = boundName(group.header, column) ?? boundName(group.keys, column);
  return name === undefined ? "CAST(NULL AS VARCHAR)" : ident(name);
}

/** A problem for each column that neither headers nor names of folders have. */
export function findMissing(groups: readonly CsvGroup[], columns: readonly TypedColumn[]): ConfigProblem[] {
  if (groups.some(({ header }) => header === undefined)) return []; // DuckDB will say it
  const names = [...new Set(groups.flatMap(({ header, keys }) => [...header ?? [], ...keys]))];
  const other = names.length === 1 && columns.length > 1 ? /[;\t|,]/.exec(names[0] ?? "")?.[0] : undefined;
  if (other !== undefined) {
    const shown = JSON.stringify(other);
    return [{
      code: "PZ0353",
      message: `The header of "${groups[0]?.files[0] ?? ""}" is one name, ${listNames(names)}`,
      hint: `its fields seem to stand between ${shown}: add delimiter: ${shown} to the read`,
    }];
  }
  return columns.filter(({ name }) => boundName(names, name) === undefined).map(({ name }) => {
    const near = nearMiss(name, names);
    const where = groups.length === 1 && groups[0]?.files.length === 1 ? `of "${groups[0].files[0]}"` : "of any file";
    return {
      code: "PZ0353",
      message: `Column "${name}" is not in the header ${where}: it has ${listNames(names)}`,
      missingColumn: name,
      hint: near === undefined ? "columns are bound by the names in the file's first line" : `did you mean "${near}"?`,
    };
  });
}

function probeOf(group: CsvGroup, delimiter: string): Probe {
  const texts = (columns: readonly TypedColumn[]) =>
    columns.map(({ name }, index) => `${sourceOf(group, name)} AS t${index}`).join(", ");
  return {
    all: (columns) => `(SELECT filename, ${texts(columns)} FROM ${readCsvText(group, delimiter, ", filename = true")})`,
    // One thread reads in the order of the file.
    one: (file, columns) =>
      `(SELECT row_number() OVER () AS n, ${texts(columns)} FROM ${
        readCsvText({ ...group, files: [file] }, delimiter, ", parallel = false")
      })`,
    lineOf: async (file, record) =>
      /\.(gz|zst)$/i.test(file) ? undefined : await lineOfRecord(file, record, group.header?.length === 1),
  };
}
