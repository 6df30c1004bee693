import { fail, type Outcome, PzError, succeed } from "../errors/mod.ts";
import { nearMiss } from "../util/mod.ts";
import type { CompiledDag, Selection } from "./dag.ts";
import { type Flow, flowsOf } from "./flows.ts";
import { ancestors, descendants, type Graph, graphOf, inOrder } from "./graph.ts";
import { selectNotices } from "./select_notices.ts";
import { matchExpression } from "./selector.ts";

/**
 * Resolves what was asked for to node ids in topological order, without ancestors that were not asked for. PZ0210 for a
 * name or atom that matches nothing, PZ0216 for mixed mechanisms; with `requireFlow`, PZ0215 when nothing was asked
 * for and there are several flows.
 */
export function selectNodes(
  dag: CompiledDag,
  selection: Selection,
  options: { readonly requireFlow: boolean },
): Outcome<readonly string[]> {
  const { names, select, all } = selection;
  const used = [names.length > 0 && "names", select !== undefined && "--select", all && "--all"].filter((x) =>
    x !== false
  );
  if (used.length > 1) {
    return fail([
      new PzError("PZ0216", `${used.join(" and ")} can't be used together`, { hint: `keep one of ${used.join(", ")}` }),
    ]);
  }
  const graph = graphOf(dag);
  if (names.length > 0) return selectNames(dag, graph, names);
  if (select !== undefined) {
    const { ids, errors } = matchExpression(graph, select);
    return errors.length > 0
      ? fail(errors)
      : succeed(inOrder(graph, ids), [], selectNotices(dag, select, new Set(ids)));
  }
  if (!all && options.requireFlow) {
    const flows = flowsOf(dag);
    if (flows.length > 1) return fail([severalFlows(flows)]);
  }
  return succeed(dag.nodes.map((node) => node.id));
}

/** The ids and all that they depend on, in topological order. */
export function withAncestors(dag: CompiledDag, ids: readonly string[]): readonly string[] {
  const graph = graphOf(dag);
  return inOrder(graph, ancestors(graph, ids));
}

/** Exact names, each with everything before and behind it. */
function selectNames(dag: CompiledDag, graph: Graph, names: readonly string[]): Outcome<readonly string[]> {
  const errors: PzError[] = [];
  const ids = new Set<string>();
  for (const name of names) {
    const seeds = graph.nodes.filter((node) => node.name === name).map((node) => node.id);
    if (seeds.length === 0) errors.push(unknownName(dag, name));
    for (const id of ancestors(graph, seeds)) ids.add(id);
    for (const id of descendants(graph, seeds)) ids.add(id);
  }
  return errors.length > 0 ? fail(errors) : succeed(inOrder(graph, ids));
}

function unknownName(dag: CompiledDag, name: string): PzError {
  if (name.startsWith("-")) {
    return new PzError("PZ0210", `'${name}' is neither an option of this command nor the name of a node`, {
      hint: "`--help` lists the options",
    });
  }
  const names = dag.nodes.map((node) => node.name);
  // A pipeline's file, as a shell completes it, or an output as other tools write one.
  const stem = (name.split(/[\\/]/).at(-1) ?? name).replace(/\.sql$/i, "");
  const meant = names.includes(stem) ? stem : nearMiss(name, names);
  return new PzError("PZ0210", `no node is named '${name}'`, {
    hint: meant !== undefined ? `did you mean '${meant}'?` : flowHint(flowsOf(dag)),
  });
}

function severalFlows(flows: readonly Flow[]): PzError {
  return new PzError("PZ0215", `the project has ${flows.length} independent flows`, {
    hint: `use --all, --select, or a name; ${flowHint(flows)}`,
  });
}

const FLOWS_SHOWN = 10;

function flowHint(flows: readonly Flow[]): string {
  if (flows.length === 0) return "the project has no nodes";
  const shown = flows.slice(0, FLOWS_SHOWN).map((flow) => flow.label);
  const more = flows.length > FLOWS_SHOWN ? `; and ${flows.length - FLOWS_SHOWN} more` : "";
  return `the flows end in: ${shown.join("; ")}${more}`;
}
