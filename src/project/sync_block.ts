import { block, type BlockRules, mapOrReport, readFields, scopeWith } from "./blocks.ts";
import { parseDuration } from "./duration.ts";
import type { SyncBlock } from "./model.ts";
import { withoutUndefined } from "./optional.ts";
import { about, reportUnexpected, type Shape, text, word } from "./shapes.ts";
import { entryOf, type YamlMap } from "./yaml_node.ts";

const MODES = ["auto", "incremental", "cdc"] as const;
const AUTO = { mode: about("Read as the connector does by nature.", word("auto")) };
const CDC = {
  mode: about("Read the changes that the database records.", word("cdc")),
  slot: about("The replication slot.", text()),
};
const INCREMENTAL = {
  mode: about("Read what is new by a column that grows.", word("incremental")),
  cursor: about("The column that grows.", text("a column name")),
  initial: about("Where the first window starts; this value is included.", text()),
  max_window: about("The most that one run reads: a duration, or a number for number columns.", text()),
  until: about("Where reading ends: a value of the cursor, or 'now'.", text()),
  lookback: about("How far before the stored position each run reads again: a duration, or a number.", lookback()),
  null_cursor: about("What to do with rows whose cursor is NULL.", word("fail", "skip", "always")),
};
const RULES = { code: "PZ0334", required: ["mode"] } as const satisfies BlockRules;
const INCREMENTAL_RULES = { ...RULES, required: ["mode", "cursor"] } as const satisfies BlockRules;

/** The `sync:` block of a read side: one of three forms, chosen by `mode`. */
export function syncShape(): Shape<SyncBlock> {
  const forms = [block(AUTO, RULES), block(INCREMENTAL, INCREMENTAL_RULES), block(CDC, RULES)];
  return {
    schema: { oneOf: forms.map(({ schema }) => schema) },
    read(node, outer) {
      const scope = scopeWith(outer, RULES);
      const map = mapOrReport(node, scope, RULES);
      if (map === undefined) return undefined;
      switch (modeOf(map)) {
        case "incremental": {
          const { values } = readFields(map, INCREMENTAL, INCREMENTAL_RULES, scope);
          const { cursor, initial, max_window: maxWindow, until, lookback, null_cursor: nullCursor } = values;
          if (cursor === undefined) return undefined;
          return {
            mode: "incremental",
            cursor,
            ...withoutUndefined({ initial, maxWindow, until, lookback, nullCursor }),
          };
        }
        case "cdc": {
          const { slot } = readFields(map, CDC, RULES, scope).values;
          return { mode: "cdc", ...withoutUndefined({ slot }) };
        }
        case "auto":
          readFields(map, AUTO, RULES, scope);
          return { mode: "auto" };
        default: {
          // Without a mode nobody knows which keys belong here, so that only keys of no form are unknown.
          readFields(map, { ...INCREMENTAL, ...CDC, mode: word(...MODES) }, RULES, scope);
          return undefined;
        }
      }
    },
  };
}

function modeOf(map: YamlMap): string | undefined {
  const node = entryOf(map, "mode")?.value;
  return node?.kind === "scalar" ? node.text : undefined;
}

function lookback(): Shape<string> {
  return {
    schema: { type: ["string", "number"] },
    read(node, scope) {
      const text = node.kind === "scalar" ? node.text : "";
      if (parseDuration(text) !== undefined || /^[0-9]+(?:\.[0-9]+)?$/.test(text)) return text;
      reportUnexpected(node, scope, "a duration such as 2h, or a number of cursor units of at least 0");
      return undefined;
    },
  };
}
