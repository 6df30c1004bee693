import type { ErrorCode } from "../errors/mod.ts";
import { editDistance } from "../util/mod.ts";
import { type BlockRules, type Fields, mapOrReport, readFields, type Refusal, type ValuesOf } from "./blocks.ts";
import type { ValueMap } from "./model.ts";
import { warn } from "./problems.ts";
import type { Scope } from "./shapes.ts";
import { entryOf, valueMapOf, type YamlEntry, type YamlMap, type YamlNode } from "./yaml_node.ts";

/** Where a side is written: in connections.yml, or as the named arguments of a call. */
export type Surface = "file" | "call";

/** One side of an entity: pz's own keys, old names of them, and the code of a warning at a near miss in a call. */
export type SideRules<F extends Fields> = {
  readonly fields: F;
  readonly rules: BlockRules;
  /** Options that are documented for all connectors, which a near miss may also mean. */
  readonly passedOn: readonly string[];
  readonly nearMissCode: ErrorCode;
};

/** A side as read: pz's own values, and all other keys as options of the connector. */
export type Side<F extends Fields> = {
  readonly values: ValuesOf<F>;
  readonly options: ValueMap;
  readonly map: YamlMap;
};

/** Reads one side of an entity; nothing behind its key declares it with defaults. Undefined where it is no map. */
export function readSide<const F extends Fields>(
  node: YamlNode,
  side: SideRules<F>,
  scope: Scope,
  surface: Surface,
): Side<F> | undefined {
  const map: YamlMap | undefined = node.kind === "empty"
    ? { kind: "map", entries: [], position: node.position }
    : mapOrReport(node, scope);
  if (map === undefined) return undefined;
  const { values, rest } = readFields(map, side.fields, side.rules, scope, true);
  for (const entry of rest) warnOfNearMiss(entry, side, scope, surface);
  return { values, options: valueMapOf(rest, scope.problems), map };
}

/** An option one edit away from a key of pz's is most likely that key, yet it may be the connector's own. */
function warnOfNearMiss(entry: YamlEntry, side: SideRules<Fields>, scope: Scope, surface: Surface): void {
  const own = Object.keys(side.fields);
  const known = [...own, ...side.passedOn];
  if (known.includes(entry.key)) return;
  const near = known.find((key) => editDistance(entry.key.toLowerCase(), key) <= 1);
  if (near === undefined) return;
  const code = surface === "file" ? "PZ0101" : side.nearMissCode;
  const message = `'${entry.key}' goes to the connector as an option of its own`;
  warn(scope.problems, code, message, entry.position, `Did you mean '${near}'?`);
}

/** Keys that neither side of an entity takes. */
export const MISPLACED: { readonly [key: string]: Refusal } = {
  rate_limit: {
    code: "PZ0318",
    message: "'rate_limit' belongs to the connection, since all its entities share it",
    hint: "Move it to the connection in connections.yml.",
  },
  max_concurrency: {
    code: "PZ0122",
    message: "'max_concurrency' belongs to the connection, since all its entities share it",
    hint: "Move it to the connection in connections.yml.",
  },
  schema: { code: "PZ0348", message: "'schema' is part of the entity's name", hint: joinedNameHint },
  table: { code: "PZ0348", message: "'table' is part of the entity's name", hint: joinedNameHint },
};

function joinedNameHint(_entry: YamlEntry, block: YamlMap): string {
  return `Name the entity '${textAt(block, "schema") ?? "<schema>"}.${textAt(block, "table") ?? "<table>"}'.`;
}

/** A short text at a key, for hints. */
export function textAt(map: YamlMap, key: string): string | undefined {
  const node = entryOf(map, key)?.value;
  return node?.kind === "scalar" && /^[^\s]{1,80}$/.test(node.text) ? node.text : undefined;
}
