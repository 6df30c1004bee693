import type { DagNode, PipelineNode, SinkWriteNode, SourceLoadNode } from "../compile/mod.ts";
import type { NativeScan } from "../connectors/mod.ts";
import type { Chain, Plan, PlannedNode } from "../plan/mod.ts";
import type { Dispatchable } from "./dispatcher.ts";
import type { RunNode } from "./graph.ts";

/** Nodes that one statement of DuckDB's does together: from a source through pipelines into an output. */
export type FusedChain = {
  /** The source that the statement reads; absent: it reads what a load has staged. */
  readonly source?: { readonly load: SourceLoadNode; readonly scan: NativeScan };
  /** The relation that a load before the chain has staged for it. */
  readonly staged?: string;
  /** In the order of the data, at least one. */
  readonly pipelines: readonly PipelineNode[];
  /** The output that the statement writes; absent: the last pipeline's rows are staged. */
  readonly sink?: { readonly write: SinkWriteNode; readonly copy: NonNullable<PlannedNode["copy"]> };
};

/** What is dispatched as one: a node by itself, or the nodes of a fused chain. */
export type RunUnit =
  & Dispatchable
  & { readonly nodes: readonly RunNode[] }
  & ({ readonly node: DagNode; readonly chain?: never } | { readonly chain: FusedChain; readonly node?: never });

/** The nodes of a run, in topological order, with every chain that the plan fuses and that runs as a whole as one. */
export function runUnits(nodes: readonly RunNode[], plan: Plan): readonly RunUnit[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  /** By the id of each member of a chain: the chain for the first of them, nothing for the others. */
  const chained = new Map<string, RunUnit | undefined>();
  for (const chain of plan.chains) {
    const { nodes: ids, obstacle } = chain;
    const members = ids.flatMap((id) => byId.get(id) ?? []);
    if (obstacle !== undefined || members.length < ids.length) continue;
    const unit = chainUnit(members, chain, plan, byId);
    if (unit === undefined) continue;
    for (const [index, id] of ids.entries()) chained.set(id, index === 0 ? unit : undefined);
  }
  return nodes.flatMap((node) => chained.has(node.id) ? chained.get(node.id) ?? [] : nodeUnit(node));
}

/** The nodes of a chain in the order of the data. */
export function chainNodes({ source, pipelines, sink }: FusedChain): readonly DagNode[] {
  return [...source === undefined ? [] : [source.load], ...pipelines, ...sink === undefined ? [] : [sink.write]];
}

/** The first node of a chain. */
export function chainHead({ source, pipelines }: FusedChain): DagNode {
  const head = source?.load ?? pipelines[0];
  if (head === undefined) throw new TypeError("a chain without nodes");
  return head;
}

function nodeUnit(member: RunNode): RunUnit {
  const { connection, ...unit } = member;
  return { ...unit, nodes: [member], connections: connection === undefined ? [] : [connection] };
}

function chainUnit(
  members: readonly RunNode[],
  { from }: Chain,
  plan: Plan,
  byId: ReadonlyMap<string, RunNode>,
): RunUnit | undefined {
  const [head] = members;
  const last = members.at(-1);
  const chain = chainOf(members.map(({ node }) => node), plan);
  if (head === undefined || last === undefined || chain === undefined) return undefined;
  const load = from === undefined ? undefined : byId.get(from)?.node;
  if (chain.source === undefined && load?.kind !== "SourceLoad") return undefined;
  return {
    // What comes after a chain comes after its last node.
    id: last.id,
    kind: head.kind,
    name: head.name,
    after: head.after,
    connections: [...new Set(members.flatMap(({ connection }) => connection ?? []))],
    nodes: members,
    chain: load?.kind === "SourceLoad" ? { ...chain, staged: load.relation } : chain,
  };
}

function chainOf(nodes: readonly DagNode[], plan: Plan): FusedChain | undefined {
  const [load] = nodes;
  const write = nodes.at(-1);
  const pipelines = nodes.filter((node) => node.kind === "Pipeline");
  const scan = plan.nodes.find(({ id }) => id === load?.id)?.scan;
  const copy = plan.nodes.find(({ id }) => id === write?.id)?.copy;
  const source = load?.kind === "SourceLoad" ? scan && { load, scan } : null;
  const sink = write?.kind === "SinkWrite" ? copy && { write, copy } : null;
  if (source === undefined || sink === undefined || pipelines.length === 0) return undefined;
  return { ...source === null ? {} : { source }, pipelines, ...sink === null ? {} : { sink } };
}
