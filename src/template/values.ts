import { Drop } from "liquidjs";
import type { Value } from "../project/mod.ts";
import { Styled } from "./literal.ts";

/** Texts to replace in a value, each by another. */
export type Replacements = ReadonlyMap<string, string>;

/**
 * A project's value as templates see it: whole numbers that a number holds exactly become numbers, so that they compare
 * with the numbers in a template; maps have no prototype.
 */
export function toTemplateValue(value: Value): unknown {
  if (typeof value === "bigint") return exactInteger(value);
  if (value === null || typeof value !== "object") return value;
  if (isList(value)) return value.map(toTemplateValue);
  const map: { [key: string]: unknown } = Object.create(null);
  for (const [key, member] of Object.entries(value)) map[key] = toTemplateValue(member);
  return map;
}

/** A whole number as a number where that is exact, else as it is. */
export function exactInteger(value: bigint): number | bigint {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}

/** Why a value can't be an argument's. */
export class NotAnOption extends Error {
  override readonly name = "NotAnOption";
}

/**
 * A template's value as the project has it: whole numbers are exact.
 *
 * @throws {NotAnOption} for infinities and for what is no value, such as `empty`
 */
export function toProjectValue(value: unknown): Value {
  if (value === null || typeof value === "string" || typeof value === "boolean" || typeof value === "bigint") {
    return value;
  }
  if (value instanceof Styled) return value.toString();
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new NotAnOption(`the number ${value} has no exact form`);
    return Number.isInteger(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? BigInt(value) : value;
  }
  if (Array.isArray(value)) return value.map(toProjectValue);
  if (typeof value !== "object" || value instanceof Drop) {
    throw new NotAnOption("it is no value that an option can have");
  }
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, toProjectValue(member)]));
}

/** The value with texts in it replaced, longest first. */
export function replaceTexts(value: unknown, replacements: Replacements): unknown {
  if (replacements.size === 0) return value;
  if (typeof value === "string") return replaceIn(value, replacements);
  if (value instanceof Styled) return new Styled(value.style, replaceIn(value.text, replacements));
  return Array.isArray(value) ? value.map((item) => replaceTexts(item, replacements)) : value;
}

function replaceIn(text: string, replacements: Replacements): string {
  const found = [...replacements.keys()].filter((key) => text.includes(key)).sort((a, b) => b.length - a.length);
  if (found.length === 0) return text;
  // One pass, so that what was put in is not replaced again.
  let result = "";
  for (let index = 0; index < text.length;) {
    const hit = found.find((key) => text.startsWith(key, index));
    result += hit === undefined ? text.charAt(index) : replacements.get(hit);
    index += hit?.length ?? 1;
  }
  return result;
}

function isList(value: readonly Value[] | { readonly [key: string]: Value }): value is readonly Value[] {
  return Array.isArray(value);
}
