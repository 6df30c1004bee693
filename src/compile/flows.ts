import type { CompiledDag } from "./dag.ts";
import { closure, type Graph, graphOf } from "./graph.ts";

/** A connected component of the DAG, with ids in topological order and a label for messages. */
export type Flow = { readonly label: string; readonly ids: readonly string[] };

const NAMES_SHOWN = 3;

/** The flows of a DAG in the order of their first node. A label names the pipelines that no other pipeline reads. */
export function flowsOf(dag: CompiledDag): readonly Flow[] {
  const graph = graphOf(dag);
  const flowOf = new Map<string, string[]>();
  for (const node of dag.nodes) {
    let flow = flowOf.get(node.id);
    if (flow === undefined) {
      flow = [];
      const members = closure([node.id], (id) => [
        ...(graph.byId.get(id)?.dependsOn ?? []),
        ...(graph.dependents.get(id) ?? []),
      ]);
      for (const id of members) flowOf.set(id, flow);
    }
    flow.push(node.id);
  }
  return [...new Set(flowOf.values())].map((ids) => ({ label: labelOf(graph, ids), ids }));
}

function labelOf(graph: Graph, ids: readonly string[]): string {
  const ends = ids.filter((id) =>
    graph.byId.get(id)?.kind === "Pipeline" &&
    (graph.dependents.get(id) ?? []).every((other) => graph.byId.get(other)?.kind !== "Pipeline")
  );
  const names = (ends.length > 0 ? ends : ids).map((id) => graph.byId.get(id)?.name ?? id);
  if (names.length <= NAMES_SHOWN) return names.join(", ");
  return `${names.slice(0, NAMES_SHOWN).join(", ")} and ${names.length - NAMES_SHOWN} more`;
}
