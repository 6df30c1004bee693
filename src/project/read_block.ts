import type { PzError } from "../errors/mod.ts";
import { blockSchema } from "./blocks.ts";
import { columnsShape } from "./columns.ts";
import type { ReadBlock, SourcePosition, ValueMap } from "./model.ts";
import { deepFreeze, withoutUndefined } from "./optional.ts";
import { noProblems } from "./problems.ts";
import { retryShape } from "./retry_block.ts";
import { about, rootScope, type Scope, type Shape } from "./shapes.ts";
import { MISPLACED, readSide, type SideRules, type Surface, textAt } from "./side_block.ts";
import { syncShape } from "./sync_block.ts";
import { mapOfValues, type YamlEntry, type YamlNode } from "./yaml_node.ts";

const FIELDS = {
  columns: about("The columns to read and their types.", columnsShape()),
  sync: about("How much each run reads.", syncShape()),
  retry: about("Overrides the connection's retry, field by field.", retryShape()),
};

/** The keys of a read that pz owns. */
export const READ_KEYS: readonly string[] = Object.keys(FIELDS);

const READ_SIDE: SideRules<typeof FIELDS> = {
  fields: FIELDS,
  rules: {
    refused: {
      ...MISPLACED,
      incremental: { code: "PZ0332", message: "'incremental' is now part of 'sync'", hint: syncHint },
    },
  },
  passedOn: ["partition_column", "partitions"],
  nearMissCode: "PZ0201",
};

function syncHint(entry: YamlEntry): string {
  const cursor = entry.value.kind === "map" ? textAt(entry.value, "cursor") : undefined;
  return `Write sync: { mode: incremental, cursor: ${cursor ?? "<column>"} }.`;
}

/** The `read:` block of an entity. */
export function readShape(): Shape<ReadBlock> {
  return {
    schema: blockSchema(FIELDS, READ_SIDE.rules, true),
    read: (node, scope) => readBlock(node, scope, "file"),
  };
}

/** What a call's named arguments say, or why they can't be used; warnings come either way. */
export type CallBlock<T> = {
  /** Undefined where there are errors. */
  readonly value: T | undefined;
  readonly errors: readonly PzError[];
  readonly warnings: readonly PzError[];
};

export type CallOptions = {
  /** The arguments hold a value of the environment, so that no message may repeat one. */
  readonly secret?: boolean;
};

/** The named arguments of `source()` as a read block, by the same rules as `read:` in connections.yml. */
export function readBlockFromCall(
  kwargs: ValueMap,
  position: SourcePosition,
  options: CallOptions = {},
): CallBlock<ReadBlock> {
  return fromCall(kwargs, position, options, (node, scope) => readBlock(node, scope, "call"));
}

/** Runs a reader over the named arguments of a call. */
export function fromCall<T>(
  kwargs: ValueMap,
  position: SourcePosition,
  { secret = false }: CallOptions,
  read: (node: YamlNode, scope: Scope) => T | undefined,
): CallBlock<T> {
  const problems = noProblems();
  const value = read(mapOfValues(kwargs, position), { ...rootScope(position, "PZ0101", problems), secret });
  const usable = problems.errors.length === 0 ? value : undefined;
  return { value: deepFreeze(usable), errors: problems.errors, warnings: problems.warnings };
}

function readBlock(node: YamlNode, scope: Scope, surface: Surface): ReadBlock | undefined {
  const side = readSide(node, READ_SIDE, scope, surface);
  if (side === undefined) return undefined;
  const { columns, sync, retry } = side.values;
  return { ...withoutUndefined({ columns, sync, retry }), options: side.options };
}
