import { type BlockRules, blockSchema, type Fields } from "./blocks.ts";
import type { SourcePosition, ValueMap, WriteBlock } from "./model.ts";
import { withoutUndefined } from "./optional.ts";
import { report } from "./problems.ts";
import { type CallBlock, type CallOptions, fromCall } from "./read_block.ts";
import { retryShape } from "./retry_block.ts";
import {
  about,
  coded,
  flag,
  listOf,
  oneOrList,
  reportUnexpected,
  type Scope,
  type Shape,
  text,
  whole,
  word,
} from "./shapes.ts";
import { MISPLACED, readSide, type SideRules, type Surface } from "./side_block.ts";
import { entryOf, type YamlNode } from "./yaml_node.ts";

const STRATEGIES = ["replace", "append", "merge"] as const;

const FIELDS = {
  strategy: about("How rows land: append unless set.", vocabulary(strategyShape())),
  keys: about("The columns that a merge matches rows by.", keysShape()),
  duplicates: about("Accepts that a repeated run may append rows again.", vocabulary(word("accept"))),
  on_delete: about("What a merge does with deleted rows.", vocabulary(word("delete", "soft", "ignore"))),
  schema_policy: about(
    "What happens where the target's columns differ; fail_on_change unless set.",
    vocabulary(word("fail_on_change", "additive", "evolve")),
  ),
  retry: about("Overrides the connection's retry, field by field.", retryShape()),
  order_by: about(
    "Which of several rows with equal keys a merge keeps: the first in this order.",
    vocabulary(oneOrList(text("a column"))),
  ),
  skip_unchanged: about("Leave rows of the target alone that would not change.", vocabulary(flag())),
  checkpoint_rows: about("Rows after which a long write saves how far it is.", vocabulary(whole(1))),
} satisfies Fields;

/** The keys of a write that pz owns. */
export const WRITE_KEYS: readonly string[] = Object.keys(FIELDS);

const OLD_STRATEGY: BlockRules["refused"] = {
  mode: { code: "PZ0333", message: "'mode' is now 'strategy'", hint: "Write strategy: append, replace or merge." },
  write: { code: "PZ0333", message: "'write' is now 'strategy'", hint: "Write strategy: append, replace or merge." },
  accept_duplicates: {
    code: "PZ0333",
    message: "'accept_duplicates' is now 'duplicates'",
    hint: "Write duplicates: accept.",
  },
  input: {
    code: "PZ0112",
    message: "'input' is gone: a sink takes the pipeline that it stands in",
    hint: "Start the pipeline with INSERT INTO {{ sink('connection', 'entity') }}.",
  },
};

const WRITE_SIDE: SideRules<typeof FIELDS> = {
  fields: FIELDS,
  rules: { refused: { ...MISPLACED, ...OLD_STRATEGY } },
  passedOn: ["partition_by"],
  nearMissCode: "PZ0208",
};

/** The `write:` block of an entity. */
export function writeShape(): Shape<WriteBlock> {
  return {
    schema: blockSchema(FIELDS, WRITE_SIDE.rules, true),
    read: (node, scope) => writeBlock(node, scope, "file"),
  };
}

/** The named arguments of `sink()` as a write block, by the same rules as `write:` in connections.yml. */
export function writeBlockFromCall(
  kwargs: ValueMap,
  position: SourcePosition,
  options: CallOptions = {},
): CallBlock<WriteBlock> {
  return fromCall(kwargs, position, options, (node, scope) => writeBlock(node, scope, "call"));
}

function writeBlock(node: YamlNode, scope: Scope, surface: Surface): WriteBlock | undefined {
  const side = readSide(node, WRITE_SIDE, scope, surface);
  if (side === undefined) return undefined;
  const { strategy = "append", keys = [], duplicates, schema_policy: schemaPolicy = "fail_on_change" } = side.values;
  const { on_delete: onDelete, retry, order_by: orderBy } = side.values;
  const { skip_unchanged: skipUnchanged, checkpoint_rows: checkpointRows } = side.values;
  const deletion = entryOf(side.map, "on_delete");
  if (onDelete !== undefined && strategy !== "merge" && deletion !== undefined) {
    const message = `'on_delete' needs strategy 'merge', not '${strategy}'`;
    report(
      scope.problems,
      "PZ0334",
      message,
      deletion.position,
      "Write strategy: merge with 'keys', or remove 'on_delete'.",
    );
  }
  return {
    strategy,
    keys,
    acceptDuplicates: duplicates === "accept",
    schemaPolicy,
    ...withoutUndefined({ onDelete, retry, orderBy, skipUnchanged, checkpointRows }),
    options: side.options,
  };
}

/** Other tools' words for a strategy. */
const SYNONYMS: ReadonlyMap<string, typeof STRATEGIES[number]> = new Map([
  ["overwrite", "replace"],
  ["truncate", "replace"],
  ["full-refresh", "replace"],
  ["full_refresh", "replace"],
  ["insert", "append"],
  ["incremental", "merge"],
  ["upsert", "merge"],
  ["delete+insert", "merge"],
]);

function strategyShape(): Shape<typeof STRATEGIES[number]> {
  const shape = word(...STRATEGIES);
  return {
    schema: shape.schema,
    read(node, scope) {
      const meant = node.kind === "scalar" ? SYNONYMS.get(node.text.toLowerCase()) : undefined;
      if (meant === undefined) return shape.read(node, scope);
      reportUnexpected(node, scope, `one of ${STRATEGIES.join(", ")}`, `Did you mean '${meant}'?`);
      return undefined;
    },
  };
}

/** A shape whose problems are those of write words. */
function vocabulary<T>(shape: Shape<T>): Shape<T> {
  return coded("PZ0334", shape);
}

function keysShape(): Shape<readonly string[]> {
  const shape = listOf(text("a column name"), "a list of column names");
  return {
    schema: shape.schema,
    read(node: YamlNode, scope: Scope) {
      const keys = shape.read(node, scope);
      const repeated = keys?.find((key, index) => keys.indexOf(key) !== index);
      if (repeated !== undefined) {
        report(
          scope.problems,
          scope.code,
          `'${scope.path}' names ${scope.secret ? "a column" : `the column '${repeated}'`} twice`,
          node.position,
        );
      }
      return keys;
    },
  };
}
