import { PzError } from "../errors/mod.ts";
import { offsetOfByte } from "./byte_offset.ts";
import type { CheckNode, DagNode, PipelineNode } from "./dag.ts";
import type { QueryTree } from "./statements.ts";
import { byteOffset, text, type Tree, walk } from "./sql_tree.ts";

const INTERNAL = /^pz(?:_.*)?$/i;

/**
 * What a name that is refused begins with, where a name begins, or an escape that could hide it; of `staging` also what
 * is called there, where that is clear.
 */
const SUSPECT_REGEXP = /(?<![A-Za-z0-9_])(?:pz|u&|staging(?:\.([A-Za-z_][A-Za-z0-9_]*)(?![$"\w\u0080-\uffff]))?)/gi;

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
type Finding = { readonly tree: Tree; readonly name: string; readonly why: "internal" | "uncalled" };

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
      hint: why === "internal"
        ? "read sources by source() and pipelines by ref()"
        : callFor(text(place, "table_name"), nodes),
    });
  });
}

/** The same for the query of a `custom_sql` check, which may name its own pipeline's relation. */
export function reservedInCheck(node: CheckNode, tree: QueryTree): readonly PzError[] {
  return findings(tree, new Set([node.relation.toLowerCase()])).map(({ name, why }) =>
    new PzError("PZ0702", `check '${node.name}' names '${name}', ${reason(why)}`, {
      ...node.check.position,
      hint: `a check may read 'staging.${node.relation}' only`,
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

function reason(why: Finding["why"]): string {
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
