import { BadValue } from "./bad_value.ts";
import type { CopyWriter } from "./copy_writer.ts";

/** PostgreSQL keeps numerics as digits to the base of 10000: so many, the power of the first one, sign, decimal places. */
const BASE = 10_000n;
const NEGATIVE = 0x4000;
const SPECIAL: { readonly [sign: number]: string } = { 0xc000: "NaN", 0xd000: "Infinity", 0xf000: "-Infinity" };
const EXACT_POWERS = [1, 10, 100, 1000, 10_000];
const MAX_EXACT_DIGITS = 4;

/** A decimal type, with what its values are compared with. */
export type Decimals = {
  readonly precision: number;
  readonly scale: number;
  /** What values that doubles hold exactly must be below. */
  readonly limit: number;
};

export function decimalsOf(precision: number, scale: number): Decimals {
  return { precision, scale, limit: Math.min(10 ** precision, 2 ** 53) };
}

/**
 * Reads a numeric as a whole number of the last decimal place into four words, lowest first.
 *
 * @throws {BadValue} for NaN, an infinity, and a value with more digits or places
 */
export function putDecimal(words: Uint32Array, slot: number, view: DataView, at: number, type: Decimals): void {
  const count = view.getUint16(at);
  const sign = view.getUint16(at + 4);
  if (sign > NEGATIVE) {
    throw new BadValue(`${SPECIAL[sign] ?? "it"} is no value of DECIMAL(${type.precision},${type.scale})`);
  }
  if (count === 0) {
    words[slot] =
      words[slot + 1] =
      words[slot + 2] =
      words[slot + 3] =
        0;
    return;
  }
  // Digits of the value stand from 4 * weight + 3 places before the point down to 4 * (count - 1 - weight) after it.
  const shift = type.scale - 4 * (count - 1 - view.getInt16(at + 2));
  if (count <= MAX_EXACT_DIGITS && shift <= 4 && shift >= -4) {
    let value = 0;
    for (let digit = 0; digit < count; digit++) value = value * 10_000 + view.getUint16(at + 8 + digit * 2);
    const factor = EXACT_POWERS[shift < 0 ? -shift : shift] ?? 1;
    const isExact = value < 2 ** 53 && (shift >= 0 || value % factor === 0);
    const scaled = shift >= 0 ? value * factor : value / factor;
    if (isExact && scaled < type.limit) {
      putSmall(words, slot, sign === NEGATIVE ? -scaled : scaled);
      return;
    }
  }
  putLarge(words, slot, view, at, type);
}

/** The same for any value. */
function putLarge(
  words: Uint32Array,
  slot: number,
  view: DataView,
  at: number,
  { precision, scale }: Decimals,
): void {
  const count = view.getUint16(at);
  let value = 0n;
  for (let digit = 0; digit < count; digit++) value = value * BASE + BigInt(view.getUint16(at + 8 + digit * 2));
  const shift = scale - 4 * (count - 1 - view.getInt16(at + 2));
  if (shift >= 0) value *= 10n ** BigInt(shift);
  else {
    const factor = 10n ** BigInt(-shift);
    if (value % factor !== 0n) throw misfit(precision, scale, "decimal places");
    value /= factor;
  }
  if (value >= 10n ** BigInt(precision)) throw misfit(precision, scale, "digits");
  putBig(words, slot, view.getUint16(at + 4) === NEGATIVE ? -value : value);
}

function misfit(precision: number, scale: number, what: string): BadValue {
  return new BadValue(`a value has more ${what} than DECIMAL(${precision},${scale})`);
}

function putSmall(words: Uint32Array, slot: number, value: number): void {
  const magnitude = Math.abs(value);
  const low = magnitude >>> 0;
  const high = (magnitude - low) / 2 ** 32;
  if (value >= 0) {
    words[slot] = low;
    words[slot + 1] = high;
    words[slot + 2] = words[slot + 3] = 0;
  } else {
    words[slot] = -low;
    words[slot + 1] = low === 0 ? -high : ~high;
    words[slot + 2] = words[slot + 3] = 0xffffffff;
  }
}

function putBig(words: Uint32Array, slot: number, value: bigint): void {
  let rest = BigInt.asUintN(128, value);
  for (let word = 0; word < 4; word++) {
    words[slot + word] = Number(rest & 0xffffffffn);
    rest >>= 32n;
  }
}

/** A whole number of the last decimal place in the server's form, after its length. */
export function encodeDecimal(value: bigint, scale: number): Uint8Array {
  const magnitude = value < 0n ? -value : value;
  // Whole groups of four places, so that the point stands between two groups.
  const after = (scale + 3) >> 2;
  let rest = magnitude * 10n ** BigInt(after * 4 - scale);
  const digits: number[] = [];
  while (rest > 0n) {
    digits.push(Number(rest % BASE));
    rest /= BASE;
  }
  digits.reverse();
  const weight = digits.length - after - 1;
  while (digits.length > 0 && digits[digits.length - 1] === 0) digits.pop();
  const bytes = new Uint8Array(8 + digits.length * 2);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, digits.length);
  view.setInt16(2, digits.length === 0 ? 0 : weight);
  view.setUint16(4, value < 0n ? NEGATIVE : 0);
  view.setUint16(6, scale);
  digits.forEach((digit, index) => view.setUint16(8 + index * 2, digit));
  return bytes;
}

const GROUP = 10_000;
const MAX_GROUPS = 4;
const groupsOfValue = new Uint16Array(MAX_GROUPS);

/** How the places of a scale fall into groups of four: how many groups, and by what a value is multiplied to fill them. */
export type Groups = { readonly after: number; readonly factor: number };

/** The groups of a scale; undefined: too many for doubles. */
export function exactGroups(scale: number): Groups | undefined {
  const after = (scale + 3) >> 2;
  return after >= MAX_GROUPS ? undefined : { after, factor: 10 ** (after * 4 - scale) };
}

/** Writes a value that a double holds exactly, with its length before it; false: it is none, and nothing was written. */
export function putExact(out: CopyWriter, value: number, scale: number, { after, factor }: Groups): boolean {
  let rest = Math.abs(value) * factor;
  if (!(rest < 2 ** 53)) return false;
  let count = 0;
  let zeros = 0;
  while (rest > 0) {
    const next = Math.floor(rest / GROUP);
    const group = rest - next * GROUP;
    // Groups of nothing but zeros at the end are not stored.
    if (count === 0 && group === 0) zeros++;
    else groupsOfValue[count++] = group;
    rest = next;
  }
  out.int32(8 + count * 2);
  out.int16(count);
  out.int16(count === 0 ? 0 : count + zeros - after - 1);
  out.int16(value < 0 ? NEGATIVE : 0);
  out.int16(scale);
  for (let index = count - 1; index >= 0; index--) out.int16(groupsOfValue[index] ?? 0);
  return true;
}
