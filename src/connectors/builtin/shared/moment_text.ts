import { BadValue } from "./bad_value.ts";
import { calendarDay } from "./calendar.ts";

const MICROS_PER_DAY = 86_400_000_000n;
const MICROS_PER_SECOND = 1_000_000;
const FIRST_DAY = -719_528; // 0000-01-01
const LAST_DAY = 2_932_896; // 9999-12-31

/**
 * `YYYY-MM-DD` of a day counted from 1970-01-01.
 *
 * @throws {BadValue} for a day before the year 0 or after 9999, infinity among them
 */
export function dateText(days: number): string {
  if (days < FIRST_DAY || days > LAST_DAY) throw new BadValue("a date is outside of the years 0000 to 9999");
  const { year, month, day } = calendarDay(days);
  return `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}`;
}

/** `HH:MM:SS.ffffff` of microseconds since midnight; the fraction only where there is one. */
export function timeText(micros: number): string {
  const seconds = Math.floor(micros / MICROS_PER_SECOND);
  const fraction = micros - seconds * MICROS_PER_SECOND;
  const clock = `${padded(Math.floor(seconds / 3600), 2)}:${padded(Math.floor(seconds / 60) % 60, 2)}:${
    padded(seconds % 60, 2)
  }`;
  return fraction === 0 ? clock : `${clock}.${padded(fraction, 6)}`;
}

/**
 * `YYYY-MM-DD HH:MM:SS.ffffff` of microseconds from 1970 on.
 *
 * @throws {BadValue} like `dateText`
 */
export function timestampText(micros: bigint): string {
  const rest = ((micros % MICROS_PER_DAY) + MICROS_PER_DAY) % MICROS_PER_DAY;
  return `${dateText(Number((micros - rest) / MICROS_PER_DAY))} ${timeText(Number(rest))}`;
}

/**
 * Microseconds of a value with so many digits of a second.
 *
 * @throws {BadValue} for nanoseconds that are no whole microseconds
 */
export function microsOf(value: bigint, digits: number, keeps: string): bigint {
  if (digits <= 6) return value * 10n ** BigInt(6 - digits);
  if (value % 1000n !== 0n) throw new BadValue(`a value has nanoseconds, and ${keeps} microseconds`);
  return value / 1000n;
}

function padded(number: number, digits: number): string {
  return String(number).padStart(digits, "0");
}
