import { parseDuration } from "../../project/mod.ts";

/** The contract types that a cursor may have. */
export const CURSOR_TYPES = ["int", "bigint", "decimal", "date", "timestamp"] as const;
export type CursorType = typeof CURSOR_TYPES[number];

export function isCursorType(type: string): type is CursorType {
  return CURSOR_TYPES.some((known) => known === type);
}

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME = /^(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,6}))?Z?$/;
const MS_PER_DAY = 86_400_000;

/**
 * The one text of a cursor value that is stored and compared: plain digits, `yyyy-MM-dd` or
 * `yyyy-MM-ddTHH:mm:ss.ffffff`; undefined where the text is no value of the type.
 */
export function canonicalCursor(type: CursorType, text: string): string | undefined {
  switch (type) {
    case "int":
    case "bigint":
      return /^-?\d+$/.test(text) ? BigInt(text).toString() : undefined;
    case "decimal":
      return canonicalDecimal(text);
    case "date":
      return isDate(text) ? text : undefined;
    case "timestamp": {
      const [day = "", time, more] = text.split(/[T ]/);
      if (!isDate(day) || more !== undefined) return undefined;
      return time === undefined ? `${day}T00:00:00.000000` : canonicalTime(day, time);
    }
  }
}

function canonicalDecimal(text: string): string | undefined {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text);
  if (match === null) return undefined;
  const [, sign = "", whole = "", fraction] = match;
  const digits = `${BigInt(whole)}${fraction === undefined ? "" : `.${fraction}`}`;
  return /^[0.]*$/.test(digits) ? digits : `${sign}${digits}`;
}

function canonicalTime(day: string, time: string): string | undefined {
  const [, hour = "", minute = "", second = "", fraction = ""] = TIME.exec(time) ?? [];
  if (hour === "" || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  return `${day}T${hour}:${minute}:${second}.${fraction.padEnd(6, "0")}`;
}

function isDate(text: string): boolean {
  const [, year, month, day] = DATE.exec(text) ?? [];
  if (year === undefined || month === undefined || day === undefined) return false;
  const days = [31, isLeap(Number(year)) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  return Number(day) >= 1 && Number(day) <= (days[Number(month) - 1] ?? 0);
}

function isLeap(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
}

/** Negative, zero or positive as one canonical value lies before, at or behind another of its type. */
export function compareCursors(type: CursorType, a: string, b: string): number {
  if (type === "date" || type === "timestamp") return a < b ? -1 : a > b ? 1 : 0;
  const scale = Math.max(fractionLength(a), fractionLength(b));
  const difference = scaled(a, scale) - scaled(b, scale);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

function fractionLength(text: string): number {
  return text.split(".")[1]?.length ?? 0;
}

function scaled(text: string, scale: number): bigint {
  const [whole = "", fraction = ""] = text.split(".");
  return BigInt(whole + fraction.padEnd(scale, "0"));
}

/** Whether a text is a step of a cursor: a whole number above 0, whole days, or any duration above 0. */
export function isStep(type: CursorType, text: string): boolean {
  if (type === "date" || type === "timestamp") {
    const duration = parseDuration(text);
    return duration !== undefined && duration > 0 && (type === "timestamp" || duration % MS_PER_DAY === 0);
  }
  return /^\d+$/.test(text) && BigInt(text) > 0n;
}

/** What `isStep` accepts, for messages. */
export function stepText(type: CursorType): string {
  return type === "date"
    ? "a number of days such as 7d"
    : type === "timestamp"
    ? "a duration such as 6h"
    : "a whole number above 0";
}

/** What `canonicalCursor` accepts, for messages. */
export function valueText(type: CursorType): string {
  switch (type) {
    case "int":
    case "bigint":
      return "a whole number";
    case "decimal":
      return "a decimal number";
    case "date":
      return "a date such as 2026-01-31";
    case "timestamp":
      return "a timestamp such as 2026-01-31T08:30:00";
  }
}
