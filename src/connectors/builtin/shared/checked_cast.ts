import { ident, literal } from "../../../duckdb/mod.ts";
import type { TypedColumn } from "./exact_cast.ts";

const INFINITE = String.raw`\s*[+-]?inf(inity)?\s*`;
const ZERO_OFFSET = String.raw`(Z| UTC|[+-]00(:?00){0,2})?`;
/** A day, at most with a time of zero behind it. */
const DAY = String
  .raw`\s*[+-]?(inf(inity)?|\d+[-/\\ ]\d{1,2}[-/\\ ]\d{1,2}( \(BC\))?([ T]00?:00?(:00?(\.0*)?)?${ZERO_OFFSET})?)\s*`;
/** A day and a time of at most microseconds, in UTC or without an offset. */
const MOMENT = String.raw`\s*[^:]+(:\d{1,2}(:\d{1,2}(\.\d{0,6}0*)?)?${ZERO_OFFSET})?\s*`;
const TIME = String.raw`\s*\d{1,2}:\d{1,2}(:\d{1,2}(\.\d{0,6}0*)?)?${ZERO_OFFSET}\s*`;
/** An integer in another base than ten. */
const BASED = String.raw`\s*0[xXbB].*`;
const INTEGER_REGEXP = /^U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$/;
/** A second's fraction of more than microseconds. */
const FINE = String.raw`\.\d{6}0*[1-9]`;

/**
 * SQL that is true for a text (as SQL) whose value (as SQL) is not what it says: a fraction cut, an offset or a time of
 * day dropped, a number grown infinite. Undefined where the type's cast changes nothing. What stands first is cheap and
 * false for nearly every value; only the rest meets a regular expression.
 */
function lossyCondition(text: string, value: string, type: string): string | undefined {
  const decimal = /^DECIMAL\(\d+,(\d+)\)$/.exec(type);
  if (decimal !== null) {
    const scale = Number(decimal[1]);
    const behindDot = `strlen(${text}) - instr(${text}, '.')`;
    // So few characters hold neither too many digits nor an exponent.
    const suspicious = `${behindDot} > ${Math.min(scale, 2)}`;
    return `${suspicious} AND ${lossyDecimal(text, scale, `${behindDot} > ${scale} AND contains(${text}, '.')`)}`;
  }
  switch (type) {
    case "TINYINT":
    case "SMALLINT":
    case "INTEGER":
    case "BIGINT":
    case "HUGEINT":
    case "UTINYINT":
    case "USMALLINT":
    case "UINTEGER":
    case "UBIGINT":
      return `${isNotAllDigits(text, value)} AND ${lossyDecimal(text, 0, `contains(${text}, '.')`)}`;
    case "FLOAT":
    case "DOUBLE":
      return `isinf(${value}) AND NOT ${matches(text, INFINITE, "i")}`;
    case "DATE":
      return `(${text} NOT LIKE '____-__-__' OR day(${value}) < 10 AND ${text} NOT LIKE '____-__-0_') AND NOT ${
        matches(text, DAY, "i")
      }`;
    case "TIME":
      return `${text} <> CAST(${value} AS VARCHAR) AND NOT ${matches(text, TIME)}`;
    case "TIMESTAMP":
      return `${text} NOT LIKE '____-__-_____:__:__' AND NOT ${matches(text, MOMENT)}`;
    case "TIMESTAMPTZ":
      return `contains(${text}, '.') AND regexp_matches(${text}, ${literal(FINE)})`;
    default:
      return undefined;
  }
}

/**
 * True unless an integer is so large that all the characters of its text must be its digits: a text of n characters
 * with a fraction or an exponent gives at most 10^(n-2), which is less than 2^((n-1)*53/16), and n digits give more.
 */
function isNotAllDigits(text: string, value: string): string {
  return `(${value} >> ((strlen(${text}) * 53 - 53) >> 4)) < 1`;
}

/**
 * Fraction digits that the scale has no room for; an exponent moves the dot before they are counted.
 */
function lossyDecimal(text: string, scale: number, hasManyDigits: string): string {
  const few = String.raw`\s*[+-]?[0-9_]*\.?[0-9]{0,${scale}}0*\s*`;
  const digits = `length(regexp_extract(${text}, '\\.([0-9]*?)0*[eE]', 1))`;
  const exponent = `TRY_CAST(regexp_extract(${text}, '[eE]([+-]?[0-9]+)', 1) AS INTEGER)`;
  const hasExponent = `instr(${text}, '-') > 0 AND (contains(${text}, 'e-') OR contains(${text}, 'E-'))`;
  return `(${hasManyDigits} OR ${hasExponent}) AND NOT ${
    matches(text, few)
  } AND coalesce(${digits} - ${exponent} > ${scale}, true)`;
}

function matches(text: string, pattern: string, options?: string): string {
  const more = options === undefined ? "" : `, ${literal(options)}`;
  return `regexp_full_match(${text}, ${literal(pattern)}${more})`;
}

/**
 * SQL that is true for a text that the column refuses: unreadable, or not what its value says. An empty text is NULL only
 * where the column may change values.
 */
export function refusal(text: string, value: string, column: TypedColumn): string {
  if (column.type === "VARCHAR") {
    return column.mark === undefined ? "false" : `suffix(${text}, ${literal(column.mark)})`;
  }
  const unreadable = `${value} IS NULL AND ${text} ${column.lossy ? "<> ''" : "IS NOT NULL"}`;
  const foreign = column.guessed === true ? undefined : foreignInteger(text, value, column.type);
  const lossy = column.lossy ? undefined : lossyCondition(text, value, column.type);
  return [unreadable, foreign, lossy].filter((condition) => condition !== undefined).join(" OR ");
}

/**
 * SQL that is true for an integer that DuckDB understands and other programs do not, as 1_000, 0x10 or 0b11. An
 * underscore leaves a digit fewer than there are characters, which the value shows: of n characters it is below
 * 10^(n-1), and so below 2.3 * 2^((n-1)*53/16). What stands first is cheap, as above.
 */
function foreignInteger(text: string, value: string, type: string): string | undefined {
  if (!INTEGER_REGEXP.test(type)) return undefined;
  const underscore = `(${value} >> ((strlen(${text}) * 53 - 53) >> 4)) < 3 AND contains(${text}, '_')`;
  return `${underscore} OR ${text} < '1' AND ${text} NOT LIKE '-%' AND ${matches(text, BASED)}`;
}

/**
 * SQL that is cheaper than `refusal` and true wherever that is, so that hardly a value meets all of its conditions: DuckDB
 * tries those of an AND in changing orders. Undefined where nothing cheaper is known.
 */
function suspicion(text: string, value: string, type: string): string | undefined {
  if (type === "TIMESTAMP") return `${text} NOT LIKE '____-__-_____:__:__' OR ${value} IS NULL`;
  if (!INTEGER_REGEXP.test(type)) return undefined;
  return `(${value} >> ((strlen(${text}) * 53 - 53) >> 4)) < 3 OR ${text} < '1' OR ${value} IS NULL`;
}

/** SQL that stops the statement with a text that the column refuses. */
export function complaint(text: string, { name, type }: TypedColumn): string {
  return `error(${literal(`Column ${ident(name)} can't hold '`)} || left(${text}, 80) || ${literal(`' as ${type}`)})`;
}

/**
 * `(SELECT …)` that turns text columns of a relation (as SQL) into typed ones. `sources` holds the SQL of each column's
 * text. A text that its type can't hold exactly, an empty one too, stops the statement with an error that names column,
 * text and type.
 */
export function selectChecked(columns: readonly TypedColumn[], sources: readonly string[], relation: string): string {
  const inner = columns.flatMap((column, index) => {
    const text = sources[index] ?? "NULL";
    if (column.type === "VARCHAR") return [`${text} AS t${index}`];
    return [`${text} AS t${index}`, `TRY_CAST(${text} AS ${column.type}) AS v${index}`];
  });
  const outer = columns.map((column, index) => {
    if (column.type === "VARCHAR" && column.mark === undefined) return `t${index} AS ${ident(column.name)}`;
    const text = `t${index}`;
    const value = column.type === "VARCHAR" ? text : `v${index}`;
    const checked = `CASE WHEN ${refusal(text, value, column)} THEN ${complaint(text, column)} ELSE ${value} END`;
    const suspicious = suspicion(text, value, column.type);
    const whole = suspicious === undefined ? checked : `CASE WHEN ${suspicious} THEN ${checked} ELSE ${value} END`;
    return `${whole} AS ${ident(column.name)}`;
  });
  return `(SELECT ${outer.join(", ")} FROM (SELECT ${inner.join(", ")} FROM ${relation}))`;
}
