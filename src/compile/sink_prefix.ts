import type { SinkCall } from "../template/mod.ts";
import { isSpace, skipBlank } from "./sql_text.ts";

export type SinkPrefix =
  | { readonly ok: true; readonly start: number }
  | { readonly ok: false; readonly message: string; readonly hint: string; readonly at?: number };

/** How comments are written, for those who write them otherwise. */
export const COMMENTS = "write -- …, /* … */ or {% comment %}…{% endcomment %}";

const FORM = "begin with `INSERT INTO {{ sink(…) }} SELECT …`, or with `INSERT INTO [{{ sink(…) }}, {{ sink(…) }}] " +
  "SELECT …` for several outputs; WITH comes after the sink call";

const SECOND = "give it a file of its own; or where both outputs get the same rows, begin with " +
  "`INSERT INTO [{{ sink(…) }}, {{ sink(…) }}] SELECT …`";

/**
 * Finds where the query starts behind `INSERT INTO <marker>` or `INSERT INTO [<marker>, <marker>]`. Comments and white
 * space may stand before and inside the prefix. A text without sink calls starts at 0.
 */
export function cutSinkPrefix(sql: string, sinks: readonly SinkCall[]): SinkPrefix {
  if (sinks.length === 0) return { ok: true, start: 0 };
  let at = skipBlank(sql, 0);
  for (const word of ["insert", "into"]) {
    if (sql.slice(at, at + word.length).toLowerCase() !== word) return misplaced(sql, sinks);
    const next = skipBlank(sql, at + word.length);
    if (next === at + word.length && sql[next] !== "[") return misplaced(sql, sinks);
    at = next;
  }
  const end = sql[at] === "[" ? listEnd(sql, at, sinks) : singleEnd(sql, at, sinks);
  if (end === undefined || sql[skipBlank(sql, end)] === ",") return misplaced(sql, sinks);
  if (end < sql.length && !isSpace(sql.charCodeAt(end)) && skipBlank(sql, end) === end) {
    return { ok: false, message: "white space is missing between the sink and the query", hint: FORM, at: end };
  }
  const start = skipSpace(sql, end);
  if (skipBlank(sql, start) >= sql.length) {
    return { ok: false, message: "the query behind `INSERT INTO` is missing", hint: FORM };
  }
  if (startsWithColumns(sql, skipBlank(sql, start))) {
    return {
      ok: false,
      message: "a list of columns behind the sink is not understood",
      hint: "rows are written by the names of the query's columns; remove the list",
      at: start,
    };
  }
  for (const sink of sinks) {
    const again = sql.indexOf(sink.marker, start);
    if (again < 0) continue;
    const insert = /\binsert\s+into\s*\[?\s*$/i.exec(sql.slice(start, again));
    return insert === null
      ? { ok: false, message: "sink() may stand only behind the leading `INSERT INTO`", hint: FORM, at: again }
      : { ok: false, message: "a second `INSERT INTO` in one pipeline", hint: SECOND, at: start + insert.index };
  }
  return { ok: true, start };
}

function misplaced(sql: string, sinks: readonly SinkCall[]): SinkPrefix {
  const first = skipBlank(sql, 0);
  if (sql.startsWith("{#", first)) return { ok: false, message: "{# … #} is no comment", hint: COMMENTS, at: first };
  const at = sinks[0] === undefined ? -1 : sql.indexOf(sinks[0].marker);
  return {
    ok: false,
    message: "sink() may stand only behind a leading `INSERT INTO`",
    hint: FORM,
    ...(at < 0 ? {} : { at }),
  };
}

function singleEnd(sql: string, at: number, sinks: readonly SinkCall[]): number | undefined {
  const sink = sinks[0];
  if (sink === undefined || !sql.startsWith(sink.marker, at)) return undefined;
  return at + sink.marker.length;
}

/** The end of `[m1, m2, …]` with the markers in the order of their calls. */
function listEnd(sql: string, at: number, sinks: readonly SinkCall[]): number | undefined {
  at = skipBlank(sql, at + 1);
  for (const [index, sink] of sinks.entries()) {
    if (index > 0) {
      if (sql[at] !== ",") return undefined;
      at = skipBlank(sql, at + 1);
    }
    if (!sql.startsWith(sink.marker, at)) return undefined;
    at = skipBlank(sql, at + sink.marker.length);
  }
  return sql[at] === "]" ? at + 1 : undefined;
}

const QUERY_WORDS = new Set(["select", "with", "from", "values", "table", "pivot", "unpivot"]);

/** Whether a bracket opens that holds no query. */
function startsWithColumns(sql: string, at: number): boolean {
  if (sql[at] !== "(") return false;
  const inside = skipBlank(sql, at + 1);
  const word = /^[A-Za-z_]*/.exec(sql.slice(inside, inside + 10))?.[0] ?? "";
  return sql[inside] !== "(" && !QUERY_WORDS.has(word.toLowerCase());
}

function skipSpace(sql: string, at: number): number {
  while (at < sql.length && isSpace(sql.charCodeAt(at))) at++;
  return at;
}
