import type { CompiledDag, DagNode } from "../compile/mod.ts";
import type { Dispatchable } from "./dispatcher.ts";

/** A node of this run with what it is dispatched by, and the connection that it uses. */
export type RunNode = Omit<Dispatchable, "connections"> & { readonly node: DagNode; readonly connection?: string };

/** The nodes of a run in topological order. */
export function runNodes(dag: CompiledDag, effective: readonly string[]): readonly RunNode[] {
  const inRun = new Set(effective);
  return dag.nodes.filter(({ id }) => inRun.has(id)).map((node) => ({
    node,
    id: node.id,
    kind: node.kind,
    name: node.name,
    after: node.dependsOn,
    ...(node.kind === "SourceLoad" || node.kind === "SinkWrite" ? { connection: node.connection.name } : {}),
  }));
}

/** The permits of each connection that limits them. */
export function connectionLimits(nodes: readonly RunNode[]): ReadonlyMap<string, number> {
  const limits = new Map<string, number>();
  for (const { node } of nodes) {
    if (node.kind !== "SourceLoad" && node.kind !== "SinkWrite") continue;
    const { name, maxConcurrency } = node.connection;
    if (maxConcurrency !== undefined) limits.set(name, maxConcurrency);
  }
  return limits;
}
