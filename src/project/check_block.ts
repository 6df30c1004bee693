import { type BlockRules, blockSchema, type Fields, mapOrReport, readFields, type ValuesOf } from "./blocks.ts";
import type { Check, CheckPlaces, CheckType, Value } from "./model.ts";
import { withoutUndefined } from "./optional.ts";
import { report } from "./problems.ts";
import {
  about,
  didYouMean,
  duration,
  flag,
  integer,
  type JsonSchema,
  listOf,
  reportUnexpected,
  type Scope,
  scopeOf,
  type Shape,
  text,
  word,
} from "./shapes.ts";
import { entryOf, valueOf, type YamlEntry, type YamlMap, type YamlNode } from "./yaml_node.ts";

const COLUMN_OPTIONS = {
  column: about("The column to check.", text("a column name")),
  columns: about("The columns to check.", listOf(text("a column name"), "a list of column names")),
};
const COMMON_OPTIONS = {
  sample_values: about("Show sample rows where the check fails; as engine.check_samples unless set.", flag()),
  severity: about(
    "'gate' holds back every load that depends on the pipeline; alert unless set.",
    word("alert", "gate"),
  ),
};
const OWN_OPTIONS = {
  min: about("The fewest rows that are right.", integer()),
  max: about("The most rows that are right.", integer()),
  max_age: about("How old the newest value may be.", duration()),
  values: about("The values that are right.", acceptedValues()),
  name: about("The check's name.", checkName()),
  sql: about("A query that returns the rows that are wrong.", text("a query")),
};
type Options = ValuesOf<typeof COLUMN_OPTIONS & typeof COMMON_OPTIONS & typeof OWN_OPTIONS>;

/** What each type takes: how many columns, and its own options. */
const TYPES: {
  readonly [T in CheckType]: {
    readonly columns: "none" | "one" | "some";
    readonly own: readonly (keyof typeof OWN_OPTIONS)[];
    readonly required: readonly (keyof typeof OWN_OPTIONS)[];
  };
} = {
  not_null: { columns: "some", own: [], required: [] },
  unique: { columns: "some", own: [], required: [] },
  row_count: { columns: "none", own: ["min", "max"], required: [] },
  freshness: { columns: "one", own: ["max_age"], required: ["max_age"] },
  accepted_values: { columns: "one", own: ["values"], required: ["values"] },
  custom_sql: { columns: "none", own: ["name", "sql"], required: ["name", "sql"] },
};

/** What other tools call the bounds of a count. */
const OTHER_BOUNDS: Pick<BlockRules, "refused"> = {
  refused: Object.fromEntries(
    ["minimum", "min_rows", "min_value", "at_least", "maximum", "max_rows", "max_value", "at_most"].map((key) => {
      const meant = /^(?:min|at_least)/.test(key) ? "min" : "max";
      return [key, {
        code: "PZ0113",
        message: `Unknown key '${key}' in 'row_count'`,
        hint: `Did you mean '${meant}'?`,
      }];
    }),
  ),
};
const TYPE_NAMES = Object.keys(TYPES);

/** One item of `checks:`, such as `not_null: [id]` or `freshness: { column: at, max_age: 2d }`. */
export function checkShape(): Shape<Check> {
  return {
    schema: {
      type: "object",
      properties: typeSchemas(),
      additionalProperties: false,
      minProperties: 1,
      maxProperties: 1,
    },
    read(node, scope) {
      if (node.kind !== "map") {
        reportUnexpected(node, scope, "a map of one check such as not_null: [id]", itemHint(node));
        return undefined;
      }
      const [entry, second] = node.entries;
      if (entry === undefined || second !== undefined) {
        const found = entry === undefined ? "no check" : "several keys";
        const hint = "Start each check with '- ', and indent its options below it.";
        report(
          scope.problems,
          scope.code,
          `'${scope.path}' holds ${found}: expected one`,
          (second ?? node).position,
          hint,
        );
        return undefined;
      }
      if (!isCheckType(entry.key)) {
        const hint = didYouMean(entry.key, TYPE_NAMES) ?? `Types: ${TYPE_NAMES.join(", ")}.`;
        report(scope.problems, scope.code, `Unknown check '${entry.key}'`, entry.position, hint);
        return undefined;
      }
      return readCheck(entry.key, entry, scopeOf(scope, entry));
    },
  };
}

function readCheck(type: CheckType, entry: YamlEntry, scope: Scope): Check | undefined {
  const found = scope.problems.errors.length;
  const map = optionsOf(type, entry.value, scope);
  if (map === undefined) return undefined;
  const rules: BlockRules = { required: TYPES[type].required, ...(type === "row_count" ? OTHER_BOUNDS : {}) };
  // The fields of a type are a part of those that Options lists.
  const options = readFields(map, fieldsOf(type), rules, scope).values as Options;
  const columns = readColumns(type, options, map, scope);
  // Without its misspelt bound a check would seem to have none.
  if (type === "row_count" && scope.problems.errors.length === found) checkBounds(options, map, scope);
  if (scope.problems.errors.length > found) return undefined;
  const { severity = "alert", sample_values: sampleValues, max_age: maxAgeMs, min, max, values, name, sql } = options;
  const own = withoutUndefined({ sampleValues, min, max, maxAgeMs, values, name, sql });
  return { type, columns, severity, ...own, position: entry.position, places: placesOf(map) };
}

function placesOf(map: YamlMap): CheckPlaces {
  const column = entryOf(map, "column")?.value;
  const list = entryOf(map, "columns")?.value;
  const columns = column !== undefined ? [column] : list?.kind === "list" ? list.items : [];
  const sql = entryOf(map, "sql")?.value;
  return {
    columns: columns.map(({ position }) => position),
    ...withoutUndefined({ sqlLines: sql?.kind === "scalar" ? sql.lines : undefined }),
  };
}

/** The options as a map; a list is a list of columns. */
function optionsOf(type: CheckType, node: YamlNode, scope: Scope): YamlMap | undefined {
  const list = TYPES[type].columns !== "none";
  if (node.kind === "map") return node;
  if (node.kind === "list" && list) {
    return {
      kind: "map",
      entries: [{ key: "columns", position: node.position, value: node }],
      position: node.position,
    };
  }
  if (!list) return mapOrReport(node, scope, { required: type === "row_count" ? ["min"] : TYPES[type].required });
  const hint = node.kind === "scalar" && /^\w{1,60}$/.test(node.text) ? `Write [${node.text}].` : undefined;
  reportUnexpected(node, scope, "a list of columns or a map of options", hint);
  return undefined;
}

function readColumns(type: CheckType, options: Options, map: YamlMap, scope: Scope): readonly string[] {
  const wanted = TYPES[type].columns;
  if (wanted === "none") return [];
  const one = entryOf(map, "column");
  const some = entryOf(map, "columns");
  if (one !== undefined && some !== undefined) {
    const message = `'${scope.path}' has both 'column' and 'columns'`;
    report(scope.problems, scope.code, message, one.position, "Keep one of the two.");
  }
  if (options.column !== undefined) return [options.column];
  const columns = options.columns ?? [];
  if (one === undefined && (some === undefined || columns.length === 0)) {
    // Items that are no column names were reported one by one.
    const reported = some !== undefined && !isEmptyList(some.value);
    const message = `'${scope.path}' names no column`;
    const hint = wanted === "one" ? "Add 'column:'." : "Add 'columns:' with at least one.";
    if (!reported) report(scope.problems, scope.code, message, some?.position ?? scope.key, hint);
  }
  if (wanted === "one" && columns.length > 1) {
    const message = `'${scope.path}' takes one column, not ${columns.length}`;
    report(scope.problems, scope.code, message, some?.position ?? scope.key, "Write one check per column.");
  }
  return columns;
}

function isEmptyList(node: YamlNode): boolean {
  return node.kind === "empty" || (node.kind === "list" && node.items.length === 0);
}

function checkBounds({ min, max }: Options, map: YamlMap, scope: Scope): void {
  const bounds = ["min", "max"].map((key) => entryOf(map, key));
  if (bounds.every((entry) => entry === undefined)) {
    report(scope.problems, scope.code, `'${scope.path}' has no bound`, scope.key, "Add 'min:', 'max:' or both.");
  }
  if (min !== undefined && max !== undefined && min > max) {
    const message = `'min' (${min}) is more than 'max' (${max}) in '${scope.path}'`;
    report(scope.problems, scope.code, message, bounds[0]?.position ?? scope.key);
  }
}

function fieldsOf(type: CheckType): Fields {
  const own = TYPES[type].own.map((key) => [key, OWN_OPTIONS[key]]);
  const columns = TYPES[type].columns === "none" ? {} : COLUMN_OPTIONS;
  return { ...columns, ...COMMON_OPTIONS, ...Object.fromEntries(own) };
}

function typeSchemas(): { readonly [type: string]: JsonSchema } {
  return Object.fromEntries(
    Object.entries(TYPES).map(([type, { columns, required }]) => {
      const options = isCheckType(type) ? blockSchema(fieldsOf(type), { required }, false) : {};
      return [type, columns === "none" ? options : { anyOf: [COLUMN_OPTIONS.columns.schema, options] }];
    }),
  );
}

function isCheckType(name: string): name is CheckType {
  return Object.hasOwn(TYPES, name);
}

function itemHint(node: YamlNode): string | undefined {
  return node.kind === "scalar" && isCheckType(node.text) ? `Write '- ${node.text}: …' with its options.` : undefined;
}

function acceptedValues(): Shape<readonly Value[]> {
  return {
    schema: { type: "array", minItems: 1, items: { type: ["string", "number", "boolean"] } },
    read(node, scope) {
      if (node.kind === "list" && node.items.length > 0 && node.items.every((item) => item.kind === "scalar")) {
        return node.items.map((item) => valueOf(item, scope.problems));
      }
      const wrong = node.kind === "list" ? node.items.find((item) => item.kind !== "scalar") : undefined;
      if (wrong === undefined) reportUnexpected(node, scope, "a list of at least one value");
      else reportUnexpected(wrong, { ...scope, key: wrong.position }, "a list of texts, numbers, true or false");
      return undefined;
    },
  };
}

function checkName(): Shape<string> {
  const pattern = "^[a-z][a-z0-9_]*$";
  return {
    schema: { type: "string", pattern },
    read(node, scope) {
      if (node.kind === "scalar" && new RegExp(pattern).test(node.text)) return node.text;
      reportUnexpected(node, scope, "a name of small letters, digits and _ that starts with a letter");
      return undefined;
    },
  };
}
