import type { Liquid } from "liquidjs";
import { describe, Styled, UnwritableValue } from "./literal.ts";
import { PipelineContext } from "./pipeline_context.ts";
import { exactInteger } from "./values.ts";

/** Liquid's own filters that pipelines may use: those that depend on their arguments only. */
const KEPT: readonly string[] = [
  "append",
  "prepend",
  "upcase",
  "downcase",
  "capitalize",
  "strip",
  "lstrip",
  "rstrip",
  "replace",
  "replace_first",
  "remove",
  "remove_first",
  "truncate",
  "slice",
  "split",
  "join",
  "first",
  "last",
  "size",
  "reverse",
  "uniq",
  "compact",
  "concat",
  "map",
  "default",
];

type Arithmetic = (left: bigint, right: bigint) => bigint;

const ARITHMETIC: { readonly [name: string]: Arithmetic } = {
  plus: (left, right) => left + right,
  minus: (left, right) => left - right,
  times: (left, right) => left * right,
  divided_by: (left, right) => (left - floorModulo(left, right)) / right,
  modulo: floorModulo,
  at_least: (left, right) => left > right ? left : right,
  at_most: (left, right) => left < right ? left : right,
};

/** Every filter's name. */
export const FILTERS: readonly string[] = [...KEPT, ...Object.keys(ARITHMETIC), "ident", "raw"];

/** Leaves an engine with the filters of pipelines only. */
export function installFilters(liquid: Liquid): void {
  const kept = KEPT.map((name) => [name, liquid.filters[name]] as const);
  for (const name of Object.keys(liquid.filters)) liquid.unregisterFilter(name);
  for (const [name, filter] of kept) {
    const handler = typeof filter === "function" ? filter : filter?.handler;
    if (handler === undefined) continue;
    liquid.registerFilter(name, function (value: unknown, ...args: unknown[]) {
      const result: unknown = handler.call(this, value, ...args);
      if (this.context instanceof PipelineContext) noteSecrets(this.context, [value, ...args], result);
      return result;
    });
  }
  for (const [name, compute] of Object.entries(ARITHMETIC)) {
    liquid.registerFilter(name, (left: unknown, right: unknown) => {
      const [a, b] = [wholeNumber(left, name), wholeNumber(right, name)];
      if (b === 0n && (name === "divided_by" || name === "modulo")) {
        throw new UnwritableValue(`The filter '${name}' can't divide by 0`, "Check the divisor with {% if %} first.");
      }
      return exactInteger(compute(a, b));
    });
  }
  liquid.registerFilter("ident", (value: unknown) => new Styled("ident", textOf(value, "ident")));
  liquid.registerFilter("raw", (value: unknown) => new Styled("raw", textOf(value, "raw")));
}

/** A text made of a secret is a secret too. */
function noteSecrets(context: PipelineContext, inputs: readonly unknown[], result: unknown): void {
  const { secrets } = context.rendering;
  if (secrets.size === 0) return;
  const texts = inputs.flat().filter((input): input is string => typeof input === "string");
  if (!texts.some((text) => [...secrets].some((secret) => text.includes(secret)))) return;
  for (const made of [result].flat()) if (typeof made === "string") context.rendering.addSecret(made);
}

function textOf(value: unknown, filter: string): string {
  if (value instanceof Styled) return value.text;
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") return String(value);
  throw new UnwritableValue(`The filter '${filter}' takes a text, not ${describe(value)}`, "Pick one of its members.");
}

function wholeNumber(value: unknown, filter: string): bigint {
  if (typeof value === "bigint") return value;
  if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
  if (typeof value === "string" && /^[+-]?\d+$/.test(value.trim())) return BigInt(value.trim().replace("+", ""));
  throw new UnwritableValue(
    `The filter '${filter}' takes whole numbers, not ${typeof value === "number" ? value : describe(value)}`,
    "Compute it in SQL instead.",
  );
}

/** The rest of a division that rounds down, so with the sign of the divisor. */
function floorModulo(left: bigint, right: bigint): bigint {
  const rest = left % right;
  return rest !== 0n && (rest < 0n) !== (right < 0n) ? rest + right : rest;
}
