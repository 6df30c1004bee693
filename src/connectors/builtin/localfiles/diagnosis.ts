import type { NativeDiagnosis, QueryRows } from "../../contract/mod.ts";
import { literal } from "../../../duckdb/mod.ts";
import { ordinal } from "../../../util/mod.ts";
import type { TypedColumn } from "../shared/exact_cast.ts";
import { refusal } from "../shared/checked_cast.ts";

/** How the texts of some files can be looked at again; a column's text is called `t` and its place in the columns. */
export type Probe = {
  /** A relation of `filename` and the columns' texts, of all files. */
  readonly all: (columns: readonly TypedColumn[]) => string;
  /** A relation of each record's number as `n` and the columns' texts, of one file. Undefined: records have no number. */
  readonly one: ((file: string, columns: readonly TypedColumn[]) => string) | undefined;
  /** The line on which a record starts. */
  readonly lineOf: (file: string, record: bigint) => Promise<number | undefined>;
};

/** Finds the first refused value in the first file, by path, that has one. */
export async function diagnose(
  query: QueryRows,
  probes: readonly Probe[],
  columns: readonly TypedColumn[],
): Promise<NativeDiagnosis | undefined> {
  const checked = columns.filter(({ type, mark }) => type !== "VARCHAR" || mark !== undefined);
  if (checked.length === 0) return undefined;
  const found = new Map<string, Probe>();
  for (const probe of probes) {
    const relation = flagged("filename", probe.all(checked), checked);
    for (const [file] of await query(`SELECT DISTINCT filename FROM ${relation} WHERE bad IS NOT NULL`)) {
      if (typeof file === "string") found.set(file, probe);
    }
  }
  const [file] = [...found.keys()].sort(ordinal);
  const probe = file === undefined ? undefined : found.get(file);
  return file === undefined || probe === undefined ? undefined : await locate(query, probe, file, checked);
}

async function locate(
  query: QueryRows,
  probe: Probe,
  file: string,
  columns: readonly TypedColumn[],
): Promise<NativeDiagnosis | undefined> {
  const relation = probe.one === undefined
    ? flagged("filename", probe.all(columns), columns)
    : flagged("n", probe.one(file, columns), columns);
  const rest = probe.one === undefined ? `AND filename = ${literal(file)} LIMIT 1` : "ORDER BY n LIMIT 1";
  const key = probe.one === undefined ? "NULL" : "n";
  const [row] = await query(
    `SELECT ${key}, bad, texts[bad], unreadable[bad] FROM ${relation} WHERE bad IS NOT NULL ${rest}`,
  );
  const column = columns[Number(row?.[1]) - 1];
  if (row === undefined || column === undefined) return undefined;
  const [record, , text, unreadable] = row;
  const line = typeof record === "string" ? await probe.lineOf(file, BigInt(record)) : undefined;
  const place = line === undefined && typeof record === "string" ? ` (record ${record})` : "";
  return { ...trouble(column, text ?? "", unreadable === "true", place), file, line, column: column.name };
}

/** What is wrong with a refused text, and the next step. */
function trouble(
  { name, type, mark }: TypedColumn,
  text: string,
  isUnreadable: boolean,
  place: string,
): Pick<NativeDiagnosis, "message" | "hint"> {
  const allow = `allow the change with the option lossy: {${name}: allow}`;
  if (mark !== undefined) {
    return {
      message:
        `Column "${name}" holds the number ${text.slice(0, -mark.length)}, whose text in the file may be another, ` +
        `such as 1.10 for 1.1${place}`,
      hint: `put such numbers in quotes, declare ${name} as decimal or double, or ${allow}`,
    };
  }
  if (text === "") {
    return {
      message: `Column "${name}" holds an empty text, which is no ${type}${place}`,
      hint: `leave the field empty without quotes, or read it as NULL with the option lossy: {${name}: allow}`,
    };
  }
  const holds = `Column "${name}" holds ${JSON.stringify(shorten(text))}, which`;
  return isUnreadable ? { message: `${holds} is no ${type}${place}`, hint: foreignForm(name, type, text) } : {
    message: `${holds} can't become ${type} without a change${place}`,
    hint: `correct the file, declare another type, or ${allow}`,
  };
}

/** The relation with the place of the first refused column (from 1) as `bad`, and lists of what to say about it. */
function flagged(key: string, relation: string, columns: readonly TypedColumn[]): string {
  const values = columns.map(({ type }, index) => `TRY_CAST(t${index} AS ${type}) AS v${index}`);
  const cases = columns.map((column, index) => `WHEN ${refusal(`t${index}`, `v${index}`, column)} THEN ${index + 1}`);
  const texts = columns.map((_, index) => `t${index}`).join(", ");
  const unreadable = columns.map((_, index) => `v${index} IS NULL`).join(", ");
  return `(SELECT ${key}, [${texts}] AS texts, [${unreadable}] AS unreadable, CASE ${cases.join(" ")} END AS bad ` +
    `FROM (SELECT *, ${values.join(", ")} FROM ${relation}))`;
}

/** The next step for a text that other programs read as the type. */
function foreignForm(name: string, type: string, text: string): string {
  const declare = `correct the file, or declare ${name} as varchar and write in the pipeline`;
  if (/^(DATE|TIMESTAMP)/.test(type) && /^\d{1,2}[./-]\d{1,2}[./-]\d{4}/.test(text)) {
    const separator = /[./-]/.exec(text)?.[0] ?? "";
    return `${declare} strptime(${name}, '%d${separator}%m${separator}%Y')::${type}, or with %m before %d`;
  }
  if (/^(DECIMAL|DOUBLE|FLOAT)/.test(type)) {
    if (/^[+-]?\d+,\d+$/.test(text)) return `${declare} replace(${name}, ',', '.')::${type}`;
    if (/^[+-]?\d{1,3}(,\d{3})+\.\d+$/.test(text)) return `${declare} replace(${name}, ',', '')::${type}`;
    if (/^[+-]?\d{1,3}(\.\d{3})+,\d+$/.test(text)) {
      return `${declare} replace(replace(${name}, '.', ''), ',', '.')::${type}`;
    }
  }
  return "correct the file or declare another type";
}

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
