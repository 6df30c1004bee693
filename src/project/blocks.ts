import type { ErrorCode } from "../errors/mod.ts";
import { nearMiss } from "../util/mod.ts";
import { report } from "./problems.ts";
import { didYouMean, type JsonSchema, reportUnexpected, type Scope, scopeOf, type Shape } from "./shapes.ts";
import type { YamlEntry, YamlMap, YamlNode } from "./yaml_node.ts";

/** The keys of a block and what may stand at each. */
export type Fields = { readonly [key: string]: Shape<unknown> };

/** What was read at each key; a key that is absent, empty or wrong is left out. */
export type ValuesOf<F extends Fields> = { readonly [K in keyof F]?: F[K] extends Shape<infer T> ? T : never };

/** A key that was valid once, or is valid elsewhere: what is said about it. */
export type Refusal = {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string | ((entry: YamlEntry, block: YamlMap) => string);
};

export type BlockRules = {
  /** The code of every problem in the block, in place of the one around it. */
  readonly code?: ErrorCode;
  readonly required?: readonly string[];
  readonly refused?: { readonly [key: string]: Refusal };
  /** Values in the block may be secret. */
  readonly secret?: boolean;
};

/** A map with a closed set of keys. Nothing behind its key gives undefined, unless the block has required keys. */
export function block<const F extends Fields>(fields: F, rules: BlockRules = {}): Shape<ValuesOf<F>> {
  return {
    schema: blockSchema(fields, rules, false),
    read(node, scope) {
      const inner = scopeWith(scope, rules);
      const map = mapOrReport(node, inner, rules);
      return map === undefined ? undefined : readFields(map, fields, rules, inner).values;
    },
  };
}

/** The scope with what a block's rules change in it. */
export function scopeWith(scope: Scope, rules: BlockRules): Scope {
  return { ...scope, code: rules.code ?? scope.code, secret: rules.secret ?? scope.secret };
}

/** A node as a map; anything else is reported, and so is an empty node where keys are required. */
export function mapOrReport(node: YamlNode, scope: Scope, rules: BlockRules = {}): YamlMap | undefined {
  if (node.kind === "map") return node;
  const required = rules.required ?? [];
  if (node.kind === "empty" && required.length === 0) return undefined;
  const keys = required.map((key) => `'${key}'`).join(" and ");
  const space = node.kind === "scalar" && !node.quoted && /^[\w.-]+:[^\s/]/.test(node.text);
  // A text in place of a block may be anything, a connection string with a password too.
  reportUnexpected(
    node,
    { ...scope, secret: true },
    required.length === 0 ? "a map" : `a map with ${keys}`,
    space ? "YAML needs a space after the colon: 'key: value'." : undefined,
  );
  return undefined;
}

/**
 * Reads the keys of a block. Keys that it doesn't know are reported, with the nearest known one, unless `open` says that
 * they belong to somebody else: then they are handed back as `rest`, in the order of the file.
 */
export function readFields<const F extends Fields>(
  map: YamlMap,
  fields: F,
  rules: BlockRules,
  scope: Scope,
  open = false,
): { values: ValuesOf<F>; rest: readonly YamlEntry[] } {
  const values: { [key: string]: unknown } = {};
  const rest: YamlEntry[] = [];
  for (const entry of map.entries) {
    const refusal = ownMember(rules.refused, entry.key);
    const field = ownMember<Shape<unknown>>(fields, entry.key);
    if (refusal !== undefined) {
      const hint = typeof refusal.hint === "string"
        ? refusal.hint
        : scope.secret
        ? undefined
        : refusal.hint(entry, map);
      report(scope.problems, refusal.code, refusal.message, entry.position, hint);
    } else if (field !== undefined) {
      const value = field.read(entry.value, scopeOf(scope, entry));
      if (value !== undefined) values[entry.key] = value;
    } else if (open) {
      rest.push(entry);
    } else {
      reportUnknownKey(entry, Object.keys(fields), scope);
    }
  }
  for (const key of rules.required ?? []) {
    if (!map.entries.some((entry) => entry.key === key)) reportMissingKey(map, key, Object.keys(fields), scope, open);
  }
  // Each member was read by the shape of its own key.
  return { values: values as ValuesOf<F>, rest };
}

/** Reports a key that a block doesn't have. */
export function reportUnknownKey(entry: YamlEntry, known: readonly string[], scope: Scope): void {
  const where = scope.path === "" ? "" : ` in '${scope.path}'`;
  const hint = didYouMean(entry.key, known) ?? `Known keys: ${known.join(", ")}.`;
  report(scope.problems, scope.code, `Unknown key '${entry.key}'${where}`, entry.position, hint);
}

/**
 * Reports a required key that is not there, at the key of the block. A misspelt one was reported as unknown in a closed
 * block, and is to blame in an open one.
 */
function reportMissingKey(map: YamlMap, key: string, known: readonly string[], scope: Scope, open: boolean): void {
  const misspelt = map.entries.find((entry) => !known.includes(entry.key) && nearMiss(entry.key, known) === key);
  if (misspelt !== undefined && !open) return;
  const where = scope.path === "" ? "" : ` in '${scope.path}'`;
  const hint = misspelt === undefined ? `Add '${key}:'.` : `Is '${misspelt.key}' a misspelt '${key}'?`;
  report(scope.problems, scope.code, `Missing key '${key}'${where}`, misspelt?.position ?? scope.key, hint);
}

/** The JSON Schema of a block; where nothing is required, nothing may stand behind its key. */
export function blockSchema(fields: Fields, rules: BlockRules, open: boolean): JsonSchema {
  const refused = open ? Object.keys(rules.refused ?? {}).map((key) => [key, false]) : [];
  const known = Object.entries(fields).map(([key, shape]) => [key, shape.schema]);
  const properties = Object.fromEntries([...known, ...refused]);
  const { required = [] } = rules;
  if (required.length === 0) return { type: ["object", "null"], properties, additionalProperties: open };
  return { type: "object", properties, required, additionalProperties: open };
}

function ownMember<T>(record: { readonly [key: string]: T } | undefined, key: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}
