import { BadValue } from "./bad_value.ts";

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
  // March is the first month of a shifted year, so that a leap day is a year's last.
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
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
