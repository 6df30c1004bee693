import { ident, literal } from "../../../duckdb/mod.ts";
import type { TypedColumn } from "../shared/exact_cast.ts";

/** Digits that survive the way through a double, whatever they are. */
const SAFE_DIGITS = 15;
const NOTE = " (too many digits for a JSON number: quote it)";

/**
 * The SQL of a JSON value's text, given that text and the value as SQL. DuckDB reads a JSON number with a dot or an
 * exponent as a double, so that one of many digits is no longer what the file says. For an exact type such a text gets a
 * note, which no number has, and so is refused; for a text the statement stops where digits before the dot are in doubt.
 */
export function exactNumber(text: string, value: string, { name, type, lossy }: TypedColumn): string {
  const isText = type === "VARCHAR";
  if (lossy || !isText && !/^(DECIMAL|U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?\b)/.test(type)) return text;
  const pattern = isText ? LONG_WHOLE : [LONG_WHOLE, ...LONG_FRACTIONS].join("|");
  const isLong = `strlen(${text}) > ${SAFE_DIGITS + 1} AND json_type(${value}) = 'DOUBLE' AND ` +
    `regexp_matches(${text}, ${literal(pattern)})`;
  const marked = isText
    ? `error(${literal(`Column ${ident(name)} holds '`)} || ${text} || ${literal(`'${NOTE}`)})`
    : `${text} || ${literal(NOTE)}`;
  return `CASE WHEN ${isLong} THEN ${marked} ELSE ${text} END`;
}

const LONG_WHOLE = `[1-9][0-9]{${SAFE_DIGITS},}\\.`;

/** The digits of a number that is too long, for each number of them before the dot; a last `.0` is DuckDB's own. */
const LONG_FRACTIONS: readonly string[] = [
  `[1-9][0-9]{${SAFE_DIGITS - 1}}\\.([1-9]|0[0-9])`,
  ...Array.from(
    { length: SAFE_DIGITS - 1 },
    (_, more) => `[1-9][0-9]{${more}}\\.[0-9]{${SAFE_DIGITS - more}}`,
  ),
  `0\\.0*[1-9][0-9]{${SAFE_DIGITS}}`,
];
