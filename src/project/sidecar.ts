import { canonicalJson } from "../util/mod.ts";
import { type BlockRules, blockSchema, type Fields, readFields, type Refusal } from "./blocks.ts";
import { checkShape } from "./check_block.ts";
import type { Check, Materialization, SourcePosition } from "./model.ts";
import { type Problems, report } from "./problems.ts";
import {
  about,
  coded,
  type JsonSchema,
  listOf,
  oneOrList,
  reportUnexpected,
  rootScope,
  type Shape,
  text,
  word,
} from "./shapes.ts";
import { entryOf, type YamlMap } from "./yaml_node.ts";

/** What a sidecar says about one pipeline. */
export type Sidecar = {
  readonly pipeline: string;
  /** The place of the pipeline's name. */
  readonly position: SourcePosition;
  readonly materialization: Materialization;
  readonly tags: readonly string[];
  readonly checks: readonly Check[];
};

const FIELDS = {
  pipeline: about("The pipeline that this file is about.", text("a pipeline's name")),
  materialization: about("How the result is kept; table unless set.", coded("PZ0134", materializationShape())),
  tags: about("Words to select pipelines by.", oneOrList(text("a tag"))),
  checks: about("What must be true of the result.", coded("PZ0113", checksShape())),
} satisfies Fields;
const RULES: BlockRules = {
  required: ["pipeline"],
  refused: {
    name: misnamed("name", "Write 'pipeline:' with the name of one pipeline."),
    models: misnamed("models", "Each pipeline has a file of its own: 'pipeline:' with its name, then 'checks:'."),
    version: misnamed("version", "Remove it."),
    materialized: misnamed("materialized", "Write 'materialization: table', view or ephemeral."),
    tests: misnamed("tests", "Write 'checks:'."),
  },
};

function misnamed(key: string, hint: string): Refusal {
  return { code: "PZ0101", message: `Unknown key '${key}'`, hint };
}

/** The JSON Schema of a sidecar. */
export function sidecarSchema(): JsonSchema {
  return blockSchema(FIELDS, RULES, false);
}

/** Reads one file of pipelines/configs/; undefined where it names no pipeline. */
export function readSidecar(root: YamlMap, problems: Problems): Sidecar | undefined {
  const { values } = readFields(root, FIELDS, RULES, rootScope(root.position, "PZ0101", problems));
  const { pipeline, materialization = "table", tags = [], checks = [] } = values;
  if (pipeline === undefined) return undefined;
  const position = entryOf(root, "pipeline")?.value.position ?? root.position;
  return { pipeline, position, materialization, tags, checks };
}

function materializationShape(): Shape<Materialization> {
  const shape = word("table", "view", "ephemeral");
  return {
    schema: shape.schema,
    read(node, scope) {
      const incremental = node.kind === "scalar" && /^(?:incremental|snapshot)$/i.test(node.text);
      if (!incremental) return shape.read(node, scope);
      const message = `'${scope.path}' must be one of table, view, ephemeral, not the text '${node.text}'`;
      const hint = "Read in steps with 'sync' or watermark(), and keep what is there with strategy: merge or append.";
      report(scope.problems, scope.code, message, node.position, hint);
      return undefined;
    },
  };
}

function checksShape(): Shape<readonly Check[]> {
  const shape = listOf(checkShape(), "a list of checks");
  return {
    schema: shape.schema,
    read(node, scope) {
      if (node.kind === "map" && node.entries.length > 0) {
        reportUnexpected(
          node,
          scope,
          "a list of checks",
          `Start each check with '- ', as in '- ${node.entries[0]?.key}: …'.`,
        );
        return undefined;
      }
      const checks = shape.read(node, scope) ?? [];
      const names = new Set<string>();
      const contents = new Set<string>();
      for (const check of checks) {
        const { position, places: _places, sampleValues: _samples, severity: _severity, ...content } = check;
        const key = canonicalJson(content);
        if (contents.has(key)) {
          report(
            scope.problems,
            scope.code,
            `The same '${check.type}' check stands here twice`,
            position,
            "Remove one.",
          );
        } else if (check.name !== undefined && names.has(check.name)) {
          report(
            scope.problems,
            scope.code,
            `A second check is named '${check.name}'`,
            position,
            "Rename one of the two.",
          );
        }
        contents.add(key);
        if (check.name !== undefined) names.add(check.name);
      }
      return checks;
    },
  };
}
