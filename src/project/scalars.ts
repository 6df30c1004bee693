/** A plain scalar's value; `exact` is false where a number can't hold all the digits that were written. */
export type TypedScalar = { readonly value: bigint | number | boolean | string; readonly exact: boolean };

const INTEGER_REGEXP = /^[-+]?(?:0|[1-9][0-9]*)$/;
const DECIMAL_REGEXP = /^[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/**
 * Types the text of an unquoted scalar: a whole number, a decimal number, lowercase `true` or `false`, else text.
 * A number with leading zeros stays text, since as a number it would lose them.
 */
export function typePlainScalar(text: string): TypedScalar {
  if (text === "true" || text === "false") return { value: text === "true", exact: true };
  if (INTEGER_REGEXP.test(text)) return { value: BigInt(text.replace(/^\+/, "")), exact: true };
  if (DECIMAL_REGEXP.test(text)) {
    const value = Number(text);
    return { value, exact: isExactNumber(text, value) };
  }
  return { value: text, exact: true };
}

/**
 * Types the text that environment variables put into an unquoted scalar: only where the value's own text is the same
 * again, so that `0123`, `1.10` and `1e5` stay text, as do integers beyond 64 bits.
 */
export function typeInterpolated(text: string): bigint | number | boolean | string {
  const { value } = typePlainScalar(text);
  if (String(value) !== text) return text;
  if (typeof value === "bigint" && (value < INT64_MIN || value > INT64_MAX)) return text;
  return value;
}

/** Whether a number's shortest text stands for exactly the decimal digits in `text`. */
export function isExactNumber(text: string, value: number): boolean {
  if (!Number.isFinite(value)) return false;
  const written = significantDigits(text);
  const kept = significantDigits(String(value));
  return written.digits === kept.digits && written.exponent === kept.exponent;
}

/** Digits without zeros at either end, and the power of ten of the last one. */
function significantDigits(text: string): { digits: string; exponent: number } {
  const [mantissa = "", power = "0"] = text.toLowerCase().replace(/^[-+]/, "").split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const digits = (whole + fraction).replace(/^0+/, "");
  const trimmed = digits.replace(/0+$/, "");
  if (trimmed === "") return { digits: "", exponent: 0 };
  return { digits: trimmed, exponent: Number(power) - fraction.length + digits.length - trimmed.length };
}
