import type { SegmentMap } from "../template/mod.ts";
import { ephemeralRelation } from "./names.ts";
import { isSpace, skipBlank } from "./sql_text.ts";

/** SQL with the way back from its offsets to the templates. */
export type MappedSql = { readonly sql: string; readonly map: SegmentMap };

type Part = { readonly start: number; readonly end: number; readonly map: SegmentMap; readonly from: number };

/** A query and the name of its pipeline. */
export type NamedQuery = MappedSql & { readonly name: string };

/**
 * A query with its ephemerals as its first CTEs, in the given order. Both texts stay as they are, so that comments,
 * hints, column names and positions survive.
 */
export function inlineEphemerals(query: MappedSql, ephemerals: readonly NamedQuery[]): MappedSql {
  if (ephemerals.length === 0) return { sql: query.sql, map: query.map };
  const parts: Part[] = [];
  let sql = "";
  const add = (text: string, map: SegmentMap, from: number) => {
    parts.push({ start: sql.length, end: sql.length + text.length, map, from });
    sql += text;
  };
  const split = listStart(query.sql);
  add(query.sql.slice(0, split), query.map, 0);
  if (split === 0) sql += "WITH ";
  for (const [index, { name, sql: text, map }] of ephemerals.entries()) {
    sql += `${index === 0 ? "" : ",\n"}${ephemeralRelation(name)} AS (\n`;
    add(text, map, 0);
    // A comment may end the query, so the bracket stands on a line of its own.
    sql += "\n)";
  }
  sql += split === 0 ? "\n" : ",\n";
  add(query.sql.slice(split), query.map, split);
  return { sql, map: { positionAt: (offset) => positionIn(parts, query.map, offset) } };
}

/** Where a query's own list of CTEs starts, behind `WITH` or `WITH RECURSIVE`; 0 if it has none. */
function listStart(sql: string): number {
  const after = wordEnd(sql, skipBlank(sql, 0), "with");
  if (after === undefined) return 0;
  return wordEnd(sql, skipBlank(sql, after), "recursive") ?? after;
}

/** The offset behind a word and the white space or comments that end it, or undefined where another word stands. */
function wordEnd(sql: string, at: number, word: string): number | undefined {
  const end = at + word.length;
  if (sql.slice(at, end).toLowerCase() !== word) return undefined;
  if (isSpace(sql.charCodeAt(end))) return end + 1;
  const next = skipBlank(sql, end);
  return next > end ? next : undefined;
}

function positionIn(parts: readonly Part[], otherwise: SegmentMap, offset: number) {
  const part = parts.find(({ start, end }) => offset >= start && offset < end) ??
    parts.find(({ start, end }) => start < end && start > offset) ?? parts.at(-1);
  if (part === undefined) return otherwise.positionAt(0);
  const within = Math.min(Math.max(offset, part.start), part.end) - part.start;
  return part.map.positionAt(part.from + within);
}
