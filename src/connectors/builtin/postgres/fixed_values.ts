import { BadValue } from "./bad_value.ts";
import type { Cells } from "./cells.ts";
import { type Decimals, putDecimal } from "./numeric.ts";

/** The room of a column's values, as bytes and as words. */
export type Target = { readonly bytes: Uint8Array; readonly words: Uint32Array; readonly view: DataView };

/** Puts a run of values, of which NULLs are left out, into the rows from `row` on. */
export type Put = (target: Target, row: number, cells: Cells) => void;

/** 2000-01-01, from which PostgreSQL counts, from 1970-01-01 on. */
const EPOCH_DAYS = 10_957;
const EPOCH_MICROS = 946_684_800_000_000;
const EPOCH_HIGH = Math.floor(EPOCH_MICROS / 2 ** 32);
const EPOCH_LOW = EPOCH_MICROS % 2 ** 32;
const MAX_INT64 = 0x7fffffffffffffffn;
const MIN_INT64 = -0x8000000000000000n;
const MAX_INT32 = 0x7fffffff;
const MIN_INT32 = -0x80000000;
const MAX_UINT32 = 0xffffffff;
const NANOS_PER_MICRO = 1000n;

export function putTwoBytes({ view: target }: Target, row: number, { view, places, from, rows }: Cells): void {
  for (let index = 0; index < rows; index++) {
    const at = places[from + index] ?? -1;
    if (at >= 0) target.setUint16((row + index) * 2, view.getUint16(at), true);
  }
}

export function putFourBytes({ words }: Target, row: number, { view, places, from, rows }: Cells): void {
  for (let index = 0; index < rows; index++) {
    const at = places[from + index] ?? -1;
    if (at >= 0) words[row + index] = view.getUint32(at);
  }
}

export function putEightBytes({ words }: Target, row: number, { view, places, from, rows }: Cells): void {
  for (let index = 0, word = row * 2; index < rows; index++, word += 2) {
    const at = places[from + index] ?? -1;
    if (at < 0) continue;
    words[word] = view.getUint32(at + 4);
    words[word + 1] = view.getUint32(at);
  }
}

export function putSixteenBytes({ bytes: target }: Target, row: number, cells: Cells): void {
  const { bytes, places, from, rows } = cells;
  for (let index = 0; index < rows; index++) {
    const at = places[from + index] ?? -1;
    if (at < 0) continue;
    const start = (row + index) * 16;
    for (let byte = 0; byte < 16; byte++) target[start + byte] = bytes[at + byte] ?? 0;
  }
}

/** Infinite dates stay infinite: the greatest value in both systems, the least one but one in DuckDB. */
export function putDates({ words }: Target, row: number, { view, places, from, rows }: Cells): void {
  for (let index = 0; index < rows; index++) {
    const at = places[from + index] ?? -1;
    if (at < 0) continue;
    const days = view.getInt32(at);
    words[row + index] = days === MAX_INT32 ? MAX_INT32 : days === MIN_INT32 ? -MAX_INT32 : days + EPOCH_DAYS;
  }
}

/** Infinite ones stay infinite, as with dates. */
export function putTimestamps({ words }: Target, row: number, { view, places, from, rows }: Cells): void {
  for (let index = 0, word = row * 2; index < rows; index++, word += 2) {
    const at = places[from + index] ?? -1;
    if (at < 0) continue;
    const high = view.getInt32(at);
    const low = view.getUint32(at + 4);
    if (high === MAX_INT32 && low === MAX_UINT32) {
      words[word] = low;
      words[word + 1] = high;
    } else if (high === MIN_INT32 && low === 0) {
      words[word] = 1;
      words[word + 1] = high;
    } else {
      const sum = low + EPOCH_LOW;
      const upper = high + EPOCH_HIGH + (sum > MAX_UINT32 ? 1 : 0);
      if (upper > MAX_INT32 || (upper === MAX_INT32 && sum >>> 0 === MAX_UINT32)) {
        throw new BadValue("a timestamp is past the year 294246, DuckDB's last");
      }
      words[word] = sum;
      words[word + 1] = upper;
    }
  }
}

export function putIntervals({ view: target }: Target, row: number, { view, places, from, rows }: Cells): void {
  for (let index = 0; index < rows; index++) {
    const at = places[from + index] ?? -1;
    if (at < 0) continue;
    const days = view.getInt32(at + 8);
    const months = view.getInt32(at + 12);
    if ((months === MAX_INT32 && days === MAX_INT32) || (months === MIN_INT32 && days === MIN_INT32)) {
      throw new BadValue("an interval is infinite, which DuckDB can't hold");
    }
    const nanos = view.getBigInt64(at) * NANOS_PER_MICRO;
    if (nanos > MAX_INT64 || nanos < MIN_INT64) {
      throw new BadValue("an interval has more than 292 years in hours, minutes and seconds");
    }
    const start = (row + index) * 16;
    target.setInt32(start, months, true);
    target.setInt32(start + 4, days, true);
    target.setBigInt64(start + 8, nanos, true);
  }
}

/** Whole numbers of the last decimal place, of 128 bits. */
export function decimalsPut(decimals: Decimals): Put {
  return ({ words }, row, { view, places, from, rows }) => {
    for (let index = 0; index < rows; index++) {
      const at = places[from + index] ?? -1;
      if (at >= 0) putDecimal(words, (row + index) * 4, view, at, decimals);
    }
  };
}
