/** DuckDB's words that can't be the name of a column without quotes, or not everywhere. */
export const RESERVED_WORDS: ReadonlySet<string> = new Set(
  ("all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create default " +
    "deferrable desc describe distinct do else end except false fetch for foreign from group having in initially " +
    "intersect into lambda lateral leading limit not null offset on only or order pivot pivot_longer pivot_wider " +
    "placing primary qualify references returning select show some summarize symmetric table then to trailing true " +
    "union unique unpivot using variadic when where window with anti asof at authorization binary by collation columns " +
    "concurrently cross freeze full generated glob ilike inner is isnull join left like map natural notnull outer " +
    "overlaps positional right semi similar struct tablesample try_cast unpack verbose").split(" "),
);

/** Words that begin or join parts of a query so often that they stand for nothing else. */
const CLAUSES: ReadonlySet<string> = new Set(
  ("select from where with and or not case when then else in is null true false distinct by having using on join " +
    "union except intersect as").split(" "),
);

/** What stands before an expression. */
const BEFORE_REGEXP =
  /(?:[,(.=<>+*/%|-]|(?<![\w"])(?:select|distinct|by|where|and|or|not|having|on|when|then|else))\s*$/i;

/**
 * What to write where a reserved word stands as a name and made DuckDB stumble at an offset: on the word itself, or on
 * what follows it.
 */
export function reservedWordHint(sql: string, offset: number): string | undefined {
  const before = sql.slice(0, offset);
  const rest = sql.slice(offset);
  const [, earlier = "", previous = ""] = /^(.*?)([A-Za-z_]\w*)\s*$/s.exec(before) ?? [];
  const [, own = "", after = ""] = /^([A-Za-z_]\w*)\s*(.*)/s.exec(rest) ?? [];
  if (isName(previous, earlier, rest)) return hintFor(previous);
  return isName(own, before, after) ? hintFor(own) : undefined;
}

/** Whether a word that can't be a name stands where one does. */
function isName(word: string, before: string, after: string): boolean {
  const name = word.toLowerCase();
  return RESERVED_WORDS.has(name) && !CLAUSES.has(name) && BEFORE_REGEXP.test(before) && !/^(?:by\b|\d)/i.test(after);
}

function hintFor(word: string): string {
  return `'${word}' is a reserved word: as the name of a column it stands in quotes, "${word}"`;
}
