import { PzError } from "../errors/mod.ts";
import { offsetOfByte } from "./byte_offset.ts";
import type { CheckNode, DagNode, PipelineNode } from "./dag.ts";
import type { QueryTree } from "./statements.ts";
import { byteOffset, text, type Tree, walk } from "./sql_tree.ts";

const INTERNAL = /^pz(?:_.*)?$/i;

/** Table functions that do something to DuckDB itself, such as to write its log to a file or to stdout. */
const ACTS = /^(?:(?:en|dis)able_\w+|(?:force_)?checkpoint|truncate_duckdb_logs)$/i;

/** Table functions that run a text as SQL, and what such a text must not call. */
const RUNS_TEXT = /^(?:query|json_execute_serialized_sql)$/i;
const ACTS_IN_TEXT = /(?<!\w)((?:en|dis)able_\w+|(?:force_)?checkpoint|truncate_duckdb_logs)\W*\(/i;

/** Table functions that take a name, or SQL, as a text, and what of pz's own such a text must not name. */
const READS_TEXT = /^(?:query|query_table|json_execute_serialized_sql|pragma_\w+)$/i;
const INTERNAL_IN_TEXT = /(?<!\w)(pz_meta|__pz_\w+)/i;

/**
 * What a name that is refused begins with, where a name begins, or an escape that could hide it; of `staging` also what
 * is called there, where that is clear.
 */
const SUSPECT_REGEXP =
  /(?<![A-Za-z0-9_])(?:pz|u&|enable_|disable_|checkpoint|force_checkpoint|truncate_duckdb_logs|staging(?:\.([A-Za-z_][A-Za-z0-9_]*)(?![$"\w\u0080-\uffff]))?)/gi;

/**
 * Whether it takes DuckDB's tree of a SQL text to say that it names nothing reserved; false for most texts.
 *
 * @param called the bare names in lower case that may be named
 */
export function mayNameReserved(sql: string, called: ReadonlySet<string>): boolean {
  for (const [, relation] of sql.matchAll(SUSPECT_REGEXP)) {
    if (relation === undefined || !called.has(relation.toLowerCase())) return true;
  }
  return false;
}

/** A relation that a statement must not name, with the reason. */
type Finding = { readonly tree: Tree; readonly name: string; readonly why: "internal" | "uncalled" | "acts" };

/**
 * PZ0702 for what a pipeline's SQL names past its calls: a relation of `staging` that no call of it stands for, and
 * everything of pz's own.
 *
 * @param called the bare names that the pipeline's calls stand for
 */
export function reservedInPipeline(
  node: PipelineNode,
  tree: QueryTree,
  called: ReadonlySet<string>,
  nodes: readonly DagNode[],
): readonly PzError[] {
  return findings(tree, called).map(({ tree: place, name, why }) => {
    const byte = byteOffset(place);
    const offset = byte === undefined ? 0 : offsetOfByte(node.sql, byte - tree.shift);
    return new PzError("PZ0702", `pipeline '${node.name}' names '${name}', ${reason(why)}`, {
      ...node.map.positionAt(offset),
      hint: why === "uncalled" ? callFor(text(place, "table_name"), nodes) : HINTS[why],
    });
  });
}

/** The same for the query of a `custom_sql` check, which may name its own pipeline's relation. */
export function reservedInCheck(node: CheckNode, tree: QueryTree): readonly PzError[] {
  return findings(tree, new Set([node.relation.toLowerCase()])).map(({ name, why }) =>
    new PzError("PZ0702", `check '${node.name}' names '${name}', ${reason(why)}`, {
      ...node.check.position,
      hint: why === "acts" ? HINTS.acts : `a check may read 'staging.${node.relation}' only`,
    })
  );
}

function findings({ statement }: QueryTree, called: ReadonlySet<string>): readonly Finding[] {
  const found: Finding[] = [];
  walk(statement, (tree) => {
    const type = text(tree, "type");
    if (type === "TABLE_FUNCTION") {
      const call = tree["function"];
      walk(call, (fn) => {
        const name = text(fn, "function_name");
        if (INTERNAL.test(name)) found.push({ tree, name: `${name}()`, why: "internal" });
        if (ACTS.test(name)) found.push({ tree, name: `${name}()`, why: "acts" });
        if (READS_TEXT.test(name)) {
          const inner = textsOf(fn).flatMap((value) => INTERNAL_IN_TEXT.exec(value)?.[1] ?? []);
          found.push(...inner.map((own) => ({ tree, name: own, why: "internal" as const })));
        }
        if (RUNS_TEXT.test(name)) {
          found.push(...actsInTexts(fn).map((act) => ({ tree, name: act, why: "acts" as const })));
        }
      });
    }
    if (type !== "BASE_TABLE" && type !== "SHOW_REF") return;
    const catalog = text(tree, "catalog_name");
    const schema = text(tree, "schema_name");
    const table = text(tree, "table_name");
    const name = [catalog, schema, table].filter((part) => part !== "").join(".");
    if (INTERNAL.test(catalog) || INTERNAL.test(schema)) found.push({ tree, name, why: "internal" });
    else if (schema.toLowerCase() === "staging" && !called.has(table.toLowerCase())) {
      found.push({ tree, name, why: "uncalled" });
    }
  });
  return found;
}

/** What a call's constant texts, taken as SQL, do to DuckDB. */
function actsInTexts(call: Tree): readonly string[] {
  return textsOf(call).flatMap((value) => {
    const act = ACTS_IN_TEXT.exec(value)?.[1];
    return act === undefined ? [] : [`${act}()`];
  });
}

/** The constant texts in a call. */
function textsOf(call: Tree): readonly string[] {
  const texts: string[] = [];
  walk(call["children"], (tree) => texts.push(text(tree, "value")));
  return texts;
}

const HINTS = {
  internal: "read sources by source() and pipelines by ref()",
  acts: "leave it out; engine.duckdb in project.yml holds the settings that can be chosen",
};

function reason(why: Finding["why"]): string {
  if (why === "acts") return "which changes the DuckDB that pz works with";
  return why === "internal" ? "which is pz's own" : "which no call of it stands for, so it might run too early";
}

/** The call that stands for a relation. */
function callFor(relation: string, nodes: readonly DagNode[]): string {
  const wanted = relation.toLowerCase();
  for (const node of nodes) {
    if (node.kind === "Pipeline" && node.relation.toLowerCase() === wanted) return `write {{ ref('${node.name}') }}`;
    if (node.kind === "SourceLoad" && node.relation.toLowerCase() === wanted) {
      return `write {{ source('${node.connection.name}', '${node.entity}') }}`;
    }
  }
  return "read sources by source() and pipelines by ref()";
}
