const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const TIME = /^(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?$/;
const MOMENT = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?))?$/;
const OFFSET = /(?:Z|([+-])(\d\d)(?::?(\d\d))?)$/i;
const MICROS_PER_DAY = 86_400_000_000n;
const MICROS_PER_MINUTE = 60_000_000n;

/** Days from 1970-01-01 of a day of the Gregorian calendar, which is taken to have been in force always. */
export function daysOf(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

/** Days from 1970-01-01 of `YYYY-MM-DD`; undefined: it is no such day. */
export function parseDate(text: string): number | undefined {
  const parts = DATE.exec(text);
  if (parts === null) return undefined;
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month) ? daysOf(year, month, day) : undefined;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/** Microseconds since midnight of `HH:MM[:SS[.ffffff]]` up to 24:00:00; undefined: it is none, or finer. */
export function parseTime(text: string): bigint | undefined {
  const parts = TIME.exec(text);
  if (parts === null) return undefined;
  const [, hours = "", minutes = "", seconds = "0", fraction = ""] = parts;
  if (Number(minutes) > 59 || Number(seconds) > 59) return undefined;
  const nanos = fraction.padEnd(9, "0");
  if (!nanos.endsWith("000")) return undefined;
  const micros = BigInt(Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1_000_000n +
    BigInt(nanos.slice(0, 6));
  return micros <= MICROS_PER_DAY ? micros : undefined;
}

/** Microseconds from 1970 of a day with or without a time of day; undefined: it is none, or one with an offset. */
export function parseTimestamp(text: string): bigint | undefined {
  const [, day = "", time = "00:00"] = MOMENT.exec(text) ?? [];
  const days = parseDate(day);
  const micros = parseTime(time);
  return days === undefined || micros === undefined ? undefined : BigInt(days) * MICROS_PER_DAY + micros;
}

/** Microseconds from 1970 of a day and time with an offset from UTC, or `Z`; undefined: it is none. */
export function parseInstant(text: string): bigint | undefined {
  const offset = OFFSET.exec(text);
  if (offset === null || !text.includes(":")) return undefined;
  const [all, sign, hours = "0", minutes = "0"] = offset;
  const local = parseTimestamp(text.slice(0, text.length - all.length).trimEnd());
  if (local === undefined || Number(minutes) > 59) return undefined;
  const shift = BigInt(Number(hours) * 60 + Number(minutes)) * MICROS_PER_MINUTE;
  return sign === "-" ? local + shift : local - shift;
}
