import type { CompiledDag, DagNode } from "./dag.ts";

/** Ways through a DAG by node id; every list is in topological order. */
export type Graph = {
  readonly nodes: readonly DagNode[];
  readonly byId: ReadonlyMap<string, DagNode>;
  readonly dependents: ReadonlyMap<string, readonly string[]>;
};

export function graphOf(dag: CompiledDag): Graph {
  const dependents = new Map<string, string[]>();
  for (const node of dag.nodes) {
    for (const id of node.dependsOn) {
      const list = dependents.get(id);
      if (list === undefined) dependents.set(id, [node.id]);
      else list.push(node.id);
    }
  }
  return { nodes: dag.nodes, byId: new Map(dag.nodes.map((node) => [node.id, node])), dependents };
}

/** The ids and everything that `next` leads to from them. */
export function closure(ids: Iterable<string>, next: (id: string) => readonly string[]): ReadonlySet<string> {
  const reached = new Set(ids);
  for (const id of reached) for (const other of next(id)) reached.add(other);
  return reached;
}

export function ancestors(graph: Graph, ids: Iterable<string>): ReadonlySet<string> {
  return closure(ids, (id) => graph.byId.get(id)?.dependsOn ?? []);
}

export function descendants(graph: Graph, ids: Iterable<string>): ReadonlySet<string> {
  return closure(ids, (id) => graph.dependents.get(id) ?? []);
}

/** The ids of a set in topological order. */
export function inOrder(graph: Graph, ids: ReadonlySet<string>): readonly string[] {
  return graph.nodes.filter((node) => ids.has(node.id)).map((node) => node.id);
}
