import { literal } from "../../../duckdb/mod.ts";
import type { TypedColumn } from "../shared/exact_cast.ts";

/** Digits that survive the way through a double, whatever they are. */
const SAFE_DIGITS = 15;
const LONG_MARK = " (too many digits for a JSON number: quote it)";

/** What stands behind the text of a JSON number with a dot or an exponent in a column of texts. */
export const NUMBER_MARK = " (a JSON number, of which only the value is known)";

/**
 * The SQL of a JSON value's text, given that text and the value as SQL. DuckDB reads a JSON number with a dot or an
 * exponent as a double, so that one of many digits is no longer what the file says, and 1.10 is 1.1. Such a text gets a
 * mark, by which the column refuses it: for an exact type where it has many digits, for a text always.
 */
export function exactNumber(text: string, value: string, { type, lossy }: TypedColumn): string {
  if (lossy) return text;
  if (type === "VARCHAR") {
    const isFraction = `contains(${value}, '.') OR contains(${value}, 'e')`;
    const isDouble = `NOT prefix(${value}, '"') AND (${isFraction}) AND json_type(${value}) = 'DOUBLE'`;
    return `CASE WHEN ${isDouble} THEN ${text} || ${literal(NUMBER_MARK)} ELSE ${text} END`;
  }
  if (!/^(DECIMAL|U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?\b)/.test(type)) return text;
  const isLong = `strlen(${text}) > ${SAFE_DIGITS + 1} AND json_type(${value}) = 'DOUBLE' AND ` +
    `regexp_matches(${text}, ${literal(LONG_NUMBERS.join("|"))})`;
  return `CASE WHEN ${isLong} THEN ${text} || ${literal(LONG_MARK)} ELSE ${text} END`;
}

/** The digits of a number that is too long, for each number of them before the dot; a last `.0` is DuckDB's own. */
const LONG_NUMBERS: readonly string[] = [
  `[1-9][0-9]{${SAFE_DIGITS},}\\.`,
  `[1-9][0-9]{${SAFE_DIGITS - 1}}\\.([1-9]|0[0-9])`,
  ...Array.from(
    { length: SAFE_DIGITS - 1 },
    (_, more) => `[1-9][0-9]{${more}}\\.[0-9]{${SAFE_DIGITS - more}}`,
  ),
  `0\\.0*[1-9][0-9]{${SAFE_DIGITS}}`,
];
