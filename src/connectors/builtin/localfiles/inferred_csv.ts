import type { NativeScan, QueryRows } from "../../contract/mod.ts";
import type { TypedColumn } from "../shared/exact_cast.ts";
import { ident, literal } from "../../../duckdb/mod.ts";
import { refusal, selectChecked } from "../shared/checked_cast.ts";
import { checkedCsv } from "./csv_scan.ts";
import { guessedDates } from "./guessed_dates.ts";
import { csvDialect, type CsvGroup, fileList, type FileSet, groupCsv, readCsvText } from "./files.ts";

type Reading = Pick<NativeScan, "fragment" | "diagnose" | "guessedDates">;
type InferredScan = Reading & { readonly infer: (query: QueryRows) => Promise<Reading> };

/** Files of one header that DuckDB looks into for their types. */
const SAMPLE_FILES = 10;
const SAMPLE_ROWS = 20_480;
const TEMPORAL: ReadonlySet<string> = new Set(["DATE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"]);

/**
 * The scan of CSV files whose types DuckDB guesses. `fragment` reads them with the guess as it is. `infer` asks DuckDB
 * for the guess first and reads the files as text with the same checks that declared types get, since the guess comes
 * from a sample and a later value may not fit it. Days and times in another form than ISO 8601 stay with DuckDB, which
 * then reads them by the one form that it found.
 */
export function scanInferredCsv(set: FileSet, delimiter: string): InferredScan {
  const groups = groupCsv(set, delimiter);
  const fragment = sniffed(groups, delimiter, set.files, "");
  return {
    fragment,
    infer: async (query) => {
      const sample = groups.flatMap(({ files }) => files.slice(0, SAMPLE_FILES));
      const rows = await query(`DESCRIBE SELECT * FROM ${sniffed(groups, delimiter, sample, "")}`);
      const columns = rows.map(([name, type]) => ({
        name: name ?? "",
        type: shortType(type ?? ""),
        lossy: false,
        guessed: true,
      }));
      const foreign = await foreignForms(query, groups, delimiter, columns);
      if (foreign.size === 0) return checkedCsv(groups, delimiter, columns);
      const types = columns.filter(({ name }) => !foreign.has(name)).map(({ name }) => `${ident(name)}: 'VARCHAR'`);
      const more = types.length === 0 ? "" : `, types = {${types.join(", ")}}`;
      const passed = columns.map((column) => foreign.has(column.name) ? { ...column, type: "VARCHAR" } : column);
      const read = sniffed(groups, delimiter, set.files, more);
      return {
        fragment: selectChecked(passed, columns.map(({ name }) => ident(name)), read),
        guessedDates: await guessedDates(query, groups, delimiter, columns.filter(({ name }) => foreign.has(name))),
      };
    },
  };
}

function sniffed(groups: readonly CsvGroup[], delimiter: string, files: readonly string[], more: string): string {
  const union = groups.length > 1 ? ", union_by_name = true" : "";
  const hive = groups.some(({ keys }) => keys.length > 0);
  return `read_csv(${fileList(files)}, ${csvDialect(delimiter, hive)}${union}${more})`;
}

function shortType(type: string): string {
  return type === "TIMESTAMP WITH TIME ZONE" ? "TIMESTAMPTZ" : type;
}

/** The columns of days and times whose sampled texts the cast of their type refuses. */
async function foreignForms(
  query: QueryRows,
  groups: readonly CsvGroup[],
  delimiter: string,
  columns: readonly TypedColumn[],
): Promise<ReadonlySet<string>> {
  const temporal = columns.filter(({ type }) => TEMPORAL.has(type) || type === "TIMESTAMPTZ");
  const foreign = new Set<string>();
  if (temporal.length === 0) return foreign;
  for (const group of groups) {
    const known = temporal.filter(({ name }) => group.header === undefined || group.header.includes(name));
    if (known.length === 0) continue;
    const inner = known.flatMap(({ name, type }, index) => [
      `${ident(name)} AS t${index}`,
      `TRY_CAST(${ident(name)} AS ${type}) AS v${index}`,
    ]);
    const flags = known.map((column, index) =>
      `coalesce(bool_or(${refusal(`t${index}`, `v${index}`, column)}), false)`
    );
    const read = readCsvText({ ...group, files: group.files.slice(0, 1) }, delimiter);
    const [row] = await query(
      `SELECT ${flags.join(", ")} FROM (SELECT ${inner.join(", ")} FROM (FROM ${read} LIMIT ${
        literal(String(SAMPLE_ROWS))
      }))`,
    );
    known.forEach(({ name }, index) => {
      if (row?.[index] === "true") foreign.add(name);
    });
  }
  return foreign;
}
