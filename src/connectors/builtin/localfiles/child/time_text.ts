import type { Interval } from "../../../sdk/cell.ts";
import { calendarDay } from "../../shared/calendar.ts";

const DAY_SECONDS = 86_400n;
const MAX_I32 = 2_147_483_647;
const MAX_I64 = 9_223_372_036_854_775_807n;

/** Days since 1970 as DuckDB's text of a DATE, years before 1 marked `(BC)`. */
export function dateText(days: number): string {
  if (days === MAX_I32) return "infinity";
  if (days === -MAX_I32) return "-infinity";
  const { text, era } = dayText(days);
  return text + era;
}

/** A time of day in a unit of so many digits behind the second, as DuckDB's text: fractions without zeros at their end. */
export function timeText(value: bigint, digits: number): string {
  const unit = 10n ** BigInt(digits);
  return clockText(value / unit) + fractionText(value % unit, digits);
}

/** A moment since 1970 as DuckDB's text of a TIMESTAMP. */
export function timestampText(value: bigint, digits: number): string {
  return infinityText(value) ?? momentText(value, digits, " ", (rest) => fractionText(rest, digits));
}

/** The same as `yyyy-MM-ddTHH:mm:ss.ffffffZ`, with nanoseconds only where there are any. */
export function isoTimestampText(value: bigint, digits: number): string {
  return infinityText(value) ?? `${
    momentText(value, digits, "T", (rest) => {
      const all = rest.toString().padStart(digits, "0").slice(0, digits).padEnd(9, "0");
      return `.${all.endsWith("000") ? all.slice(0, 6) : all}`;
    })
  }Z`;
}

/** An interval as DuckDB's text, such as `1 year -2 days 00:00:03.5`; nothing finer than microseconds. */
export function intervalText({ months, days, nanos }: Interval): string {
  const parts: string[] = [];
  const add = (count: number, unit: string) => {
    if (count !== 0) parts.push(`${count} ${unit}${Math.abs(count) === 1 ? "" : "s"}`);
  };
  add(Math.trunc(months / 12), "year");
  add(months % 12, "month");
  add(days, "day");
  const micros = nanos / 1000n;
  if (micros !== 0n || parts.length === 0) {
    const size = micros < 0n ? -micros : micros;
    const clock = clockText(size / 1_000_000n) + fractionText(size % 1_000_000n, 6);
    parts.push(`${micros < 0n ? "-" : ""}${clock}`);
  }
  return parts.join(" ");
}

/** DuckDB's two infinities in whatever unit. */
function infinityText(value: bigint): string | undefined {
  return value === MAX_I64 ? "infinity" : value === -MAX_I64 ? "-infinity" : undefined;
}

function momentText(value: bigint, digits: number, between: string, fraction: (rest: bigint) => string): string {
  const unit = 10n ** BigInt(digits);
  const rest = ((value % unit) + unit) % unit;
  const seconds = (value - rest) / unit;
  const second = ((seconds % DAY_SECONDS) + DAY_SECONDS) % DAY_SECONDS;
  const { text, era } = dayText(Number((seconds - second) / DAY_SECONDS));
  return `${text}${era}${between}${clockText(second)}${fraction(rest)}`;
}

function clockText(seconds: bigint): string {
  const all = Number(seconds);
  return `${two(Math.floor(all / 3600))}:${two(Math.floor(all / 60) % 60)}:${two(all % 60)}`;
}

function fractionText(rest: bigint, digits: number): string {
  return rest === 0n ? "" : `.${rest.toString().padStart(digits, "0").replace(/0+$/, "")}`;
}

function dayText(days: number): { readonly text: string; readonly era: string } {
  const { year, month, day } = calendarDay(days);
  const shown = year <= 0 ? 1 - year : year;
  return { text: `${String(shown).padStart(4, "0")}-${two(month)}-${two(day)}`, era: year <= 0 ? " (BC)" : "" };
}

function two(number: number): string {
  return number < 10 ? `0${number}` : String(number);
}
