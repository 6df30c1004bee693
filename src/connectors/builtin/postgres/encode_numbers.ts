import { type Data, DataType } from "../../../util/arrow.ts";
import { BadValue } from "./bad_value.ts";
import { bigOf, type Put, wordsOf } from "./encode_parts.ts";
import { encodeDecimal, exactGroups, putExact } from "./numeric.ts";
import { digitsOf } from "./read_types.ts";
import type { TargetType } from "./write_types.ts";

const BITS: { readonly [name: string]: number } = { int2: 16, int4: 32, int8: 64 };
const DIGITS_OF_64_BITS = 20;
const DIGITS_OF_128_BITS = 39;

/** An array of numbers, each a whole number of the last decimal place. */
export type Numbers = {
  readonly valueAt: (row: number) => bigint;
  readonly scale: number;
  /** At most so many digits. */
  readonly digits: number;
  /** The value as a double where that is exact, else NaN. */
  readonly exactAt: (row: number) => number;
  /** Where they are whole and have at most 32 bits. */
  readonly small: ArrayLike<number> | undefined;
  /** Where they are whole and have 64 bits with a sign: two words each, the lower first. */
  readonly longs: Uint32Array | undefined;
  /** Where no value is out of the range of 64 bits with a sign. */
  readonly fitsInt64: boolean;
};

/** The numbers of an array of integers, decimals or 128-bit integers. */
export function numbersOf(type: DataType, data: Data, isUnsigned: boolean): Numbers {
  if (DataType.isInt(type)) {
    const values: ArrayLike<number | bigint> = data.values;
    const isSmall = type.bitWidth < 64;
    return {
      valueAt: (row) => BigInt(values[row] ?? 0),
      scale: 0,
      digits: DIGITS_OF_64_BITS,
      exactAt: (row) => {
        const value = Number(values[row] ?? 0);
        return Number.isSafeInteger(value) ? value : NaN;
      },
      small: isSmall ? data.values : undefined,
      longs: !isSmall && type.isSigned ? wordsOf(data) : undefined,
      fitsInt64: isSmall || type.isSigned,
    };
  }
  const words = wordsOf(data);
  const wide = (row: number) => isUnsigned ? BigInt.asUintN(128, bigOf(words, row * 4, 4)) : bigOf(words, row * 4, 4);
  const exactAt = (row: number) => exactWords(words, row * 4, isUnsigned);
  return {
    valueAt: (row) => {
      const exact = exactAt(row);
      return Number.isNaN(exact) ? wide(row) : BigInt(exact);
    },
    scale: DataType.isDecimal(type) ? type.scale : 0,
    digits: DataType.isDecimal(type) ? type.precision : DIGITS_OF_128_BITS,
    exactAt,
    small: undefined,
    longs: undefined,
    fitsInt64: false,
  };
}

/** Four words as a double where they hold little enough, as most do; else NaN. */
function exactWords(words: Uint32Array, at: number, isUnsigned: boolean): number {
  const low = words[at] ?? 0;
  const second = words[at + 1] ?? 0;
  const third = words[at + 2] ?? 0;
  if (third !== words[at + 3]) return NaN;
  if (third === 0) return second < 0x200000 ? second * 2 ** 32 + low : NaN;
  return !isUnsigned && third === 0xffffffff && second >= 0xffe00001 ? (second - 2 ** 32) * 2 ** 32 + low : NaN;
}

/** Whole numbers in a column of whole numbers; those out of its range are refused. */
export function integerPut({ small, longs, valueAt, fitsInt64 }: Numbers, target: TargetType): Put {
  const bits = BITS[target.name] ?? 0;
  const tooLarge = () => new BadValue(`a value is out of the range of ${target.spelled}`);
  if (small !== undefined && bits < 64) {
    const most = 2 ** (bits - 1) - 1;
    return (row, out) => {
      const value = small[row] ?? 0;
      if (value > most || value < -most - 1) throw tooLarge();
      out.int32(bits >> 3);
      if (bits === 16) out.int16(value);
      else out.int32(value);
    };
  }
  if (longs !== undefined && bits === 64) return (row, out) => out.eight(longs[row * 2 + 1] ?? 0, longs[row * 2] ?? 0);
  const isChecked = bits < 64 || !fitsInt64;
  return (row, out) => {
    const value = valueAt(row);
    if (isChecked && BigInt.asIntN(bits, value) !== value) throw tooLarge();
    out.int32(bits >> 3);
    if (bits === 64) out.int64(value);
    else if (bits === 32) out.int32(Number(value));
    else out.int16(Number(value));
  };
}

/** Numbers in a numeric column; what it would round or refuse is refused. */
export function numericPut(numbers: Numbers, target: TargetType): Put {
  const { valueAt, exactAt, scale } = numbers;
  const check = digitCheck(numbers, target);
  const groups = exactGroups(scale);
  return (row, out) => {
    if (check === undefined && groups !== undefined && putExact(out, exactAt(row), scale, groups)) return;
    const value = valueAt(row);
    check?.(value);
    const bytes = encodeDecimal(value, scale);
    out.int32(bytes.length);
    out.bytes(bytes, 0, bytes.length);
  };
}

function digitCheck({ scale, digits }: Numbers, target: TargetType): ((value: bigint) => void) | undefined {
  if (target.modifier < 0) return undefined;
  const { precision: mostDigits, scale: places } = digitsOf(target.modifier);
  if (scale <= places && digits - scale <= mostDigits - places) return undefined;
  const dropped = 10n ** BigInt(Math.max(0, scale - places));
  const limit = 10n ** BigInt(Math.max(0, mostDigits - places + scale));
  return (value) => {
    if (value % dropped !== 0n) throw new BadValue(`a value has more decimal places than ${target.spelled} keeps`);
    if (value >= limit || value <= -limit) throw new BadValue(`a value has more digits than ${target.spelled} keeps`);
  };
}
