import type { ErrorCode } from "../errors/mod.ts";
import { nearMiss } from "../util/mod.ts";
import { DURATION_PATTERN, DURATION_TEXT, parseDuration } from "./duration.ts";
import type { SourcePosition } from "./model.ts";
import { type Problems, report } from "./problems.ts";
import { typePlainScalar } from "./scalars.ts";
import type { YamlEntry, YamlNode, YamlScalar } from "./yaml_node.ts";

/** A JSON Schema, as plain data. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** Where a reader stands: the key's path for messages, its place, the code of its problems, and who collects them. */
export type Scope = {
  readonly path: string;
  /** The place of the key, which is to blame where a value is missing. */
  readonly key: SourcePosition;
  readonly code: ErrorCode;
  readonly problems: Problems;
  /** Values under this key may be secret and stand in no message. */
  readonly secret: boolean;
};

/**
 * The one definition of what may stand at a key: `read` checks a node and reports what is wrong with it, `schema` says
 * the same as JSON Schema. `read` gives undefined where the value is wrong, or empty and optional.
 */
export type Shape<T> = { readonly schema: JsonSchema; readonly read: (node: YamlNode, scope: Scope) => T | undefined };

/** The scope of a file's root. */
export function rootScope(key: SourcePosition, code: ErrorCode, problems: Problems): Scope {
  return { path: "", key, code, problems, secret: false };
}

/** The scope of a key inside another. */
export function scopeOf(scope: Scope, entry: YamlEntry): Scope {
  return { ...scope, path: scope.path === "" ? entry.key : `${scope.path}.${entry.key}`, key: entry.position };
}

/** The scope of a list item. */
export function itemScope(scope: Scope, index: number, item: YamlNode): Scope {
  return { ...scope, path: `${scope.path}[${index}]`, key: item.position };
}

/** The shape with a description, which editors show. */
export function about<T>(description: string, shape: Shape<T>): Shape<T> {
  return { ...shape, schema: { description, ...shape.schema } };
}

/** The shape with a code of its own for its problems. */
export function coded<T>(code: ErrorCode, shape: Shape<T>): Shape<T> {
  return { schema: shape.schema, read: (node, scope) => shape.read(node, { ...scope, code }) };
}

/** Reports that a node is not what was expected at this key. */
export function reportUnexpected(node: YamlNode, scope: Scope, expected: string, hint?: string): void {
  if (node.kind === "empty") {
    if (node.reported === true) return;
    report(scope.problems, scope.code, `'${scope.path}' has no value: expected ${expected}`, scope.key, hint);
    return;
  }
  const message = `'${scope.path}' must be ${expected}, not ${describe(node, scope.secret)}`;
  report(
    scope.problems,
    scope.code,
    message,
    node.position,
    repeats(hint, node, scope) ? undefined : hint ?? hintFor(node),
  );
}

/** Whether a hint repeats a value that may be secret. */
function repeats(hint: string | undefined, node: YamlNode, scope: Scope): boolean {
  return scope.secret && node.kind === "scalar" && node.text !== "" && hint?.includes(node.text) === true;
}

/** A node in words, without its content where that may be secret or long. */
export function describe(node: YamlNode, secret: boolean): string {
  if (node.kind === "empty") return "empty";
  if (node.kind === "list") return node.items.length === 0 ? "an empty list" : "a list";
  if (node.kind === "map") return node.entries.length === 0 ? "an empty map" : "a map";
  if (typeof node.value === "string") {
    if (secret || node.text.length > 80 || node.text.includes("\n")) return "a text";
    return node.text === "" ? "an empty text" : `the text '${node.text}'`;
  }
  const kind = typeof node.value === "boolean" ? "the word" : "the number";
  return secret ? (typeof node.value === "boolean" ? "true or false" : "a number") : `${kind} ${node.text}`;
}

function hintFor(node: YamlNode): string | undefined {
  if (node.kind !== "scalar" || typeof node.value !== "string") return undefined;
  if (/\$\{[A-Za-z_]/.test(node.text)) return "Environment variables are not filled in at this key.";
  return undefined;
}

/** A hint for a value that would be right without its quotes. */
function unquoteHint(node: YamlNode, isWanted: (value: unknown) => boolean): string | undefined {
  if (node.kind !== "scalar" || !node.quoted) return undefined;
  return isWanted(typePlainScalar(node.text).value) ? `Write ${node.text} without quotes.` : undefined;
}

function isWhole(value: unknown): value is bigint {
  return typeof value === "bigint";
}

function isFlag(value: unknown): value is boolean {
  return typeof value === "boolean";
}

/** Any scalar, as the text that was written; not empty. */
export function text(expected = "a text"): Shape<string> {
  return {
    schema: { type: ["string", "number", "boolean"], minLength: 1 },
    read(node, scope) {
      if (node.kind === "scalar" && node.text !== "") return node.text;
      reportUnexpected(node, scope, expected);
      return undefined;
    },
  };
}

/** A whole number within bounds, both included; at most 2^53. */
export function whole(min: number, max = 2_147_483_647): Shape<number> {
  const expected = max === 2_147_483_647 ? `a whole number of at least ${min}` : `a whole number from ${min} to ${max}`;
  return {
    schema: { type: "integer", minimum: min, maximum: max },
    read(node, scope) {
      if (node.kind === "scalar" && typeof node.value === "bigint" && node.value >= min && node.value <= max) {
        return Number(node.value);
      }
      reportUnexpected(node, scope, expected, unquoteHint(node, isWhole) ?? digitsHint(node, scope));
      return undefined;
    },
  };
}

/** For a number that is written as a word, or with something behind it. */
function digitsHint(node: YamlNode, { path }: Scope): string | undefined {
  const key = path.slice(path.lastIndexOf(".") + 1);
  const isText = node.kind === "scalar" && typeof node.value === "string" && !node.text.includes("${");
  return isText ? `Write it in digits, such as '${key}: 10'.` : undefined;
}

/** A whole number of any size. */
export function integer(): Shape<bigint> {
  return {
    schema: { type: "integer" },
    read(node, scope) {
      if (node.kind === "scalar" && typeof node.value === "bigint") return node.value;
      reportUnexpected(node, scope, "a whole number", unquoteHint(node, isWhole));
      return undefined;
    },
  };
}

/** `true` or `false`, lowercase and unquoted. */
export function flag(): Shape<boolean> {
  return {
    schema: { type: "boolean" },
    read(node, scope) {
      if (node.kind === "scalar" && typeof node.value === "boolean") return node.value;
      reportUnexpected(node, scope, "true or false", unquoteHint(node, isFlag) ?? flagHint(node));
      return undefined;
    },
  };
}

/** Words that other YAML readers take for true or false. */
function flagHint(node: YamlNode): string | undefined {
  if (node.kind !== "scalar") return undefined;
  if (/^(?:yes|on|true|y|1)$/i.test(node.text)) return "Write true, in small letters.";
  return /^(?:no|off|false|n|0)$/i.test(node.text) ? "Write false, in small letters." : undefined;
}

/** A duration longer than nothing, in milliseconds. */
export function duration(): Shape<number> {
  return {
    schema: { type: "string", pattern: DURATION_PATTERN },
    read(node, scope) {
      const milliseconds = node.kind === "scalar" ? parseDuration(node.text) : undefined;
      if (milliseconds !== undefined && milliseconds > 0) return milliseconds;
      const expected = milliseconds === 0 ? "a duration longer than 0" : DURATION_TEXT;
      reportUnexpected(node, scope, expected);
      return undefined;
    },
  };
}

/** One of some words. */
export function word<const W extends readonly string[]>(...words: W): Shape<W[number]> {
  const expected = words.length === 1 ? `'${words[0]}'` : `one of ${words.join(", ")}`;
  return {
    schema: { enum: words },
    read(node, scope) {
      const found = node.kind === "scalar" ? words.find((candidate) => candidate === node.text) : undefined;
      if (found !== undefined) return found;
      reportUnexpected(node, scope, expected, node.kind === "scalar" ? didYouMean(node.text, words) : undefined);
      return undefined;
    },
  };
}

/** `Did you mean 'x'?`, or undefined where nothing is near. */
export function didYouMean(wrong: string, candidates: Iterable<string>): string | undefined {
  const near = nearMiss(wrong, candidates);
  return near === undefined ? undefined : `Did you mean '${near}'?`;
}

/** A list; wrong items are reported and left out. Nothing behind the key gives undefined. */
export function listOf<T>(item: Shape<T>, expected = "a list"): Shape<readonly T[]> {
  return {
    schema: { type: ["array", "null"], items: item.schema },
    read(node, scope) {
      if (node.kind === "empty") return undefined;
      if (node.kind !== "list") {
        reportUnexpected(node, scope, expected, listHint(node));
        return undefined;
      }
      return readItems(node.items, item, scope);
    },
  };
}

/** A list, or one item without the list around it. Nothing behind the key gives undefined. */
export function oneOrList<T>(item: Shape<T>): Shape<readonly T[]> {
  return {
    schema: { anyOf: [item.schema, { type: ["array", "null"], items: item.schema }] },
    read(node, scope) {
      if (node.kind === "empty") return undefined;
      if (node.kind === "list") return readItems(node.items, item, scope);
      const value = item.read(node, scope);
      return value === undefined ? undefined : [value];
    },
  };
}

function readItems<T>(items: readonly YamlNode[], item: Shape<T>, scope: Scope): T[] {
  return items.flatMap((node, index) => {
    const value = item.read(node, itemScope(scope, index, node));
    return value === undefined ? [] : [value];
  });
}

function listHint(node: YamlNode): string | undefined {
  return node.kind === "scalar" && isShortWord(node) ? `Write [${node.text}].` : undefined;
}

function isShortWord(node: YamlScalar): boolean {
  return /^[\w.]{1,60}$/.test(node.text);
}
