import type { GuessedDates, QueryRows } from "../../contract/mod.ts";
import type { TypedColumn } from "../shared/exact_cast.ts";
import { csvDialect, type CsvGroup, fileList } from "./files.ts";

/** The places of DateFormat and TimestampFormat in the answer. */
const FAMILIES = [["DATE", 0], ["TIMESTAMP", 1]] as const;

/**
 * The forms by which DuckDB's detection reads columns of days and times, where day and month stand before the year: the
 * texts alone need not tell which is which. Columns keep their order. Nothing where DuckDB can't say its form.
 */
export async function guessedDates(
  query: QueryRows,
  groups: readonly CsvGroup[],
  delimiter: string,
  columns: readonly TypedColumn[],
): Promise<readonly GuessedDates[]> {
  const group = groups[0];
  const file = group?.files[0];
  if (group === undefined || file === undefined || columns.length === 0) return [];
  let formats: readonly (string | null)[] = [];
  try {
    const dialect = csvDialect(delimiter, group.keys.length > 0);
    const sniff = `SELECT DateFormat, TimestampFormat FROM sniff_csv(${fileList([file])}, ${dialect})`;
    formats = (await query(sniff))[0] ?? [];
  } catch {
    return [];
  }
  return FAMILIES.flatMap(([family, index]) => {
    const names = columns.filter(({ type }) => type === family).map(({ name }) => name);
    const format = formats[index] ?? "";
    return names.length === 0 || !isGuess(format) ? [] : [{ columns: names, format }];
  });
}

function isGuess(format: string): boolean {
  return format.includes("%d") && format.includes("%m") && !format.startsWith("%Y");
}
