import { exactInteger } from "./values.ts";

/** Powers of ten beyond this one are outside what a double can hold. */
const MAX_EXPONENT = 400n;

/**
 * The number that a text such as `12`, `-0.5` or `1e6` writes: whole numbers of any size, decimals where a double's own
 * text stands for exactly the same number, undefined where it doesn't.
 */
export function readNumber(text: string): number | bigint | undefined {
  if (/^[+-]?\d+$/.test(text)) return exactInteger(BigInt(text.replace("+", "")));
  const value = Number(text);
  return Number.isFinite(value) && sameNumber(text, String(value)) ? value : undefined;
}

function sameNumber(a: string, b: string): boolean {
  const [left, right] = [scaled(a), scaled(b)];
  if (left.digits === 0n || right.digits === 0n) return left.digits === right.digits;
  const shift = left.exponent - right.exponent;
  if (shift > MAX_EXPONENT || shift < -MAX_EXPONENT) return false;
  return shift >= 0n ? left.digits * 10n ** shift === right.digits : left.digits === right.digits * 10n ** -shift;
}

/** A decimal text as a whole number times a power of ten. */
function scaled(text: string): { digits: bigint; exponent: bigint } {
  const [mantissa = "", exponent = "0"] = text.replace("+", "").toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  return { digits: BigInt(whole + fraction), exponent: BigInt(exponent) - BigInt(fraction.length) };
}
