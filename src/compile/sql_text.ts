/**
 * The offset just after the last character of a SQL text that is neither white space nor comment; 0 if there is none.
 * Knows quoted texts and names, dollar quotes and nested block comments; unclosed ones reach to the end of the text.
 */
export function endOfCode(sql: string): number {
  let end = 0;
  for (let at = 0; at < sql.length;) {
    const blank = skipBlank(sql, at);
    if (blank > at) {
      at = blank;
      continue;
    }
    at = skipToken(sql, at);
    end = at;
  }
  return end;
}

/** The first offset at or after `at` that holds neither white space nor a part of a comment. */
export function skipBlank(sql: string, at: number): number {
  while (at < sql.length) {
    if (isSpace(sql.charCodeAt(at))) at++;
    else if (sql.startsWith("--", at)) at = lineEnd(sql, at);
    else if (sql.startsWith("/*", at)) at = blockCommentEnd(sql, at);
    else break;
  }
  return at;
}

/** Whether a character is white space in SQL. */
export function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}

/** The query of a pipeline: one closing `;`, and all white space and comments at its end, cut. */
export function trimQuery(sql: string): string {
  const end = endOfCode(sql);
  if (end === 0 || sql[end - 1] !== ";") return sql.slice(0, end);
  return sql.slice(0, endOfCode(sql.slice(0, end - 1)));
}

const NAME_REGEXP = /[\p{L}_][\p{L}\p{N}_$]*/yu;

/** The offset of the only place in a SQL text where a name stands, quoted or not, outside comments and quoted texts. */
export function onlyOccurrence(sql: string, name: string): number | undefined {
  const wanted = name.toLowerCase();
  let found: number | undefined;
  for (let at = skipBlank(sql, 0); at < sql.length; at = skipBlank(sql, at)) {
    NAME_REGEXP.lastIndex = at;
    const word = NAME_REGEXP.exec(sql)?.[0];
    const end = word === undefined || sql[at + word.length] === "'" ? skipToken(sql, at) : at + word.length;
    const token = sql.slice(at, end);
    const here = token.startsWith('"') ? token.slice(1, -1).replaceAll('""', '"') : token;
    if (here.toLowerCase() === wanted) {
      if (found !== undefined) return undefined;
      found = at;
    }
    at = end;
  }
  return found;
}

function skipToken(sql: string, at: number): number {
  const char = sql[at];
  if (char === "'") return quotedEnd(sql, at, "'", isEscapeString(sql, at));
  if (char === '"') return quotedEnd(sql, at, '"', false);
  if (char === "$") return dollarEnd(sql, at);
  return at + 1;
}

function lineEnd(sql: string, at: number): number {
  const end = sql.indexOf("\n", at);
  return end < 0 ? sql.length : end + 1;
}

function blockCommentEnd(sql: string, at: number): number {
  let depth = 0;
  while (at < sql.length) {
    if (sql.startsWith("/*", at)) {
      depth++;
      at += 2;
    } else if (sql.startsWith("*/", at)) {
      depth--;
      at += 2;
      if (depth === 0) return at;
    } else at++;
  }
  return sql.length;
}

/** `E'…'`, in which a backslash takes the next character with it. */
function isEscapeString(sql: string, quote: number): boolean {
  const before = sql[quote - 1];
  return (before === "e" || before === "E") && !/[A-Za-z0-9_$]/.test(sql[quote - 2] ?? " ");
}

function quotedEnd(sql: string, at: number, quote: string, escapes: boolean): number {
  for (let i = at + 1; i < sql.length; i++) {
    if (escapes && sql[i] === "\\") i++;
    else if (sql[i] === quote) {
      if (sql[i + 1] !== quote) return i + 1;
      i++;
    }
  }
  return sql.length;
}

function dollarEnd(sql: string, at: number): number {
  if (/[A-Za-z0-9_]/.test(sql[at - 1] ?? " ")) return at + 1;
  const tag = /^\$(?:[A-Za-z_][A-Za-z0-9_]*)?\$/.exec(sql.slice(at, at + 130))?.[0];
  if (tag === undefined) return at + 1;
  const end = sql.indexOf(tag, at + tag.length);
  return end < 0 ? sql.length : end + tag.length;
}
