import type { DagNode, PipelineNode, SinkWriteNode, SourceLoadNode } from "../compile/mod.ts";
import type { NativeScan } from "../connectors/mod.ts";
import type { Plan, PlannedNode } from "../plan/mod.ts";
import type { Dispatchable } from "./dispatcher.ts";
import type { RunNode } from "./graph.ts";

/** Nodes that one statement of DuckDB's does together: from a source through pipelines into an output. */
export type FusedChain = {
  readonly load: SourceLoadNode;
  readonly scan: NativeScan;
  /** In the order of the data, at least one. */
  readonly pipelines: readonly PipelineNode[];
  readonly write: SinkWriteNode;
  readonly copy: NonNullable<PlannedNode["copy"]>;
};

/** What is dispatched as one: a node by itself, or the nodes of a fused chain. */
export type RunUnit =
  & Dispatchable
  & { readonly nodes: readonly RunNode[] }
  & ({ readonly node: DagNode; readonly chain?: never } | { readonly chain: FusedChain; readonly node?: never });

/** The nodes of a run, in topological order, with every chain that the plan fuses and that runs as a whole as one. */
export function runUnits(nodes: readonly RunNode[], plan: Plan): readonly RunUnit[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const chained = new Map<string, RunUnit | undefined>();
  for (const { nodes: ids, obstacle } of plan.chains) {
    const members = ids.flatMap((id) => byId.get(id) ?? []);
    if (obstacle !== undefined || members.length < ids.length) continue;
    const unit = chainUnit(members, plan);
    if (unit === undefined) continue;
    for (const id of ids) chained.set(id, undefined);
    chained.set(unit.id, unit);
  }
  return nodes.flatMap((node) => chained.has(node.id) ? chained.get(node.id) ?? [] : nodeUnit(node));
}

/** The nodes of a chain in the order of the data. */
export function chainNodes({ load, pipelines, write }: FusedChain): readonly DagNode[] {
  return [load, ...pipelines, write];
}

function nodeUnit(member: RunNode): RunUnit {
  const { connection, ...unit } = member;
  return { ...unit, nodes: [member], connections: connection === undefined ? [] : [connection] };
}

function chainUnit(members: readonly RunNode[], plan: Plan): RunUnit | undefined {
  const [load, ...rest] = members.map(({ node }) => node);
  const write = rest.pop();
  const pipelines = rest.filter((node) => node.kind === "Pipeline");
  if (load?.kind !== "SourceLoad" || write?.kind !== "SinkWrite") return undefined;
  const scan = plan.nodes.find(({ id }) => id === load.id)?.scan;
  const copy = plan.nodes.find(({ id }) => id === write.id)?.copy;
  if (scan === undefined || copy === undefined) return undefined;
  return {
    id: load.id,
    kind: load.kind,
    name: load.name,
    after: [],
    connections: [...new Set(members.flatMap(({ connection }) => connection ?? []))],
    nodes: members,
    chain: { load, scan, pipelines, write, copy },
  };
}
