import type { ConfigProblem, NativeDiagnosis, NativeScan, QueryRows } from "../../contract/mod.ts";
import type { TypedColumn } from "../shared/exact_cast.ts";
import { ident } from "../../../duckdb/mod.ts";
import { nearMiss, ordinal } from "../../../util/mod.ts";
import { refusal, selectChecked } from "./checked_cast.ts";
import { lineOfRecord } from "./csv_lines.ts";
import { boundName, type CsvGroup, type FileSet, groupCsv, readCsvText } from "./files.ts";

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
  return { fragment, diagnose: (query) => diagnose(query, groups, delimiter, columns) };
}

function sourceOf(group: CsvGroup, column: string): string {
  if (group.header === undefined) return ident(column);
  const name = boundName(group.header, column) ?? boundName(group.keys, column);
  return name === undefined ? "CAST(NULL AS VARCHAR)" : ident(name);
}

function findMissing(groups: readonly CsvGroup[], columns: readonly TypedColumn[]): ConfigProblem[] {
  if (groups.some(({ header }) => header === undefined)) return []; // DuckDB will say it
  const names = [...new Set(groups.flatMap(({ header, keys }) => [...header ?? [], ...keys]))];
  return columns.filter(({ name }) => boundName(names, name) === undefined).map(({ name }) => {
    const near = nearMiss(name, names);
    const where = groups.length === 1 && groups[0]?.files.length === 1 ? `of "${groups[0].files[0]}"` : "of any file";
    return {
      code: "PZ0353",
      message: `Column "${name}" is not in the header ${where}: it has ${quoteNames(names)}`,
      hint: near === undefined ? "columns are bound by the names in the file's first line" : `did you mean "${near}"?`,
    };
  });
}

function quoteNames(names: readonly string[]): string {
  const shown = names.slice(0, 12).map((name) => `"${name}"`).join(", ");
  return names.length > 12 ? `${shown} and ${names.length - 12} more` : shown;
}

/** Finds the first refused value in the first file, by path, that has one. */
async function diagnose(
  query: QueryRows,
  groups: readonly CsvGroup[],
  delimiter: string,
  columns: readonly TypedColumn[],
): Promise<NativeDiagnosis | undefined> {
  const checked = columns.filter(({ type }) => type !== "VARCHAR");
  if (checked.length === 0) return undefined;
  const found = new Map<string, CsvGroup>();
  for (const group of groups) {
    const relation = flagged(group, delimiter, checked, true);
    for (const [file] of await query(`SELECT DISTINCT filename FROM ${relation} WHERE bad IS NOT NULL`)) {
      if (typeof file === "string") found.set(file, { ...group, files: [file] });
    }
  }
  const [file] = [...found.keys()].sort(ordinal);
  const group = file === undefined ? undefined : found.get(file);
  if (file === undefined || group === undefined) return undefined;
  const relation = flagged(group, delimiter, checked, false);
  const [row] = await query(`SELECT n, bad, texts[bad] FROM ${relation} WHERE bad IS NOT NULL ORDER BY n LIMIT 1`);
  const column = checked[Number(row?.[1]) - 1];
  if (row === undefined || column === undefined) return undefined;
  const record = BigInt(row[0] ?? "1");
  const line = /\.(gz|zst)$/i.test(file) ? undefined : await lineOfRecord(file, record, group.header?.length === 1);
  const text = JSON.stringify(shorten(row[2] ?? ""));
  return {
    message: `Column "${column.name}" holds ${text}, which can't become ${column.type} without a change` +
      (line === undefined ? ` (record ${record})` : ""),
    file,
    line,
    column: column.name,
    hint: `correct the file, declare another type, or allow the change with the option lossy: {${column.name}: allow}`,
  };
}

/**
 * A relation of every record's texts and the place of the first refused one (from 1) as `bad`; of many files with their
 * names, or of one with each record's number `n`, for which it is read by one thread.
 */
function flagged(group: CsvGroup, delimiter: string, columns: readonly TypedColumn[], many: boolean): string {
  const inner = columns.flatMap((column, index) => {
    const text = sourceOf(group, column.name);
    return [`${text} AS t${index}`, `TRY_CAST(${text} AS ${column.type}) AS v${index}`];
  });
  const cases = columns.map((column, index) => `WHEN ${refusal(`t${index}`, `v${index}`, column)} THEN ${index + 1}`);
  const texts = columns.map((_, index) => `t${index}`).join(", ");
  const [key, from, option] = many
    ? ["filename", "filename", ", filename = true"]
    : ["n", "row_number() OVER () AS n", ", parallel = false"];
  return `(SELECT ${key}, [${texts}] AS texts, CASE ${cases.join(" ")} END AS bad FROM (SELECT ${from}, ` +
    `${inner.join(", ")} FROM ${readCsvText(group, delimiter, option)}))`;
}

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
