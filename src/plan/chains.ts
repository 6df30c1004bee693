import type { CompiledDag, DagNode, PipelineNode, SinkWriteNode, SourceLoadNode } from "../compile/mod.ts";
import type { Chain, PlannedNode } from "./plan.ts";

/**
 * The ways from a source through pipelines to an output, one for each output in the order of the DAG: what of each is
 * one statement of DuckDB's, or the first condition that keeps it from being one. Where a connector's process reads or
 * writes, that end stays outside of the statement. An output that no source feeds has none.
 */
export function chainsOf(dag: CompiledDag, planned: readonly PlannedNode[]): readonly Chain[] {
  const graph: Graph = {
    byId: new Map(dag.nodes.map((node) => [node.id, node])),
    readers: new Map(),
  };
  for (const node of dag.nodes) {
    for (const id of node.dependsOn) {
      const readers = graph.readers.get(id);
      if (readers === undefined) graph.readers.set(id, [node]);
      else readers.push(node);
    }
  }
  const plans = new Map(planned.map((node) => [node.id, node]));
  return dag.nodes.flatMap((node) => node.kind === "SinkWrite" ? chainInto(node, graph, dag, plans) ?? [] : []);
}

/**
 * Pipelines that one statement may hold. Each is planned with all before it, so that beyond these planning costs more
 * than staging a small result does.
 */
const MAX_PIPELINES = 16;

type Graph = {
  readonly byId: ReadonlyMap<string, DagNode>;
  readonly readers: Map<string, DagNode[]>;
};

/** Goes up from an output until a condition fails or a source is reached. */
function chainInto(
  write: SinkWriteNode,
  graph: Graph,
  dag: CompiledDag,
  plans: ReadonlyMap<string, PlannedNode>,
): Chain | undefined {
  const nodes: string[] = [write.id];
  let reader: SinkWriteNode | PipelineNode = write;
  for (;;) {
    const inputs: readonly DagNode[] = reader.dependsOn.flatMap((id) => graph.byId.get(id) ?? []);
    const input = inputs.find((node) => node.kind === "SourceLoad") ?? inputs.find((node) => node.kind === "Pipeline");
    if (input === undefined) return undefined;
    nodes.unshift(input.id);
    if (nodes.length > MAX_PIPELINES + 2) {
      return { nodes, obstacle: `more than ${MAX_PIPELINES} pipelines stand in a row` };
    }
    const obstacle = linkObstacle(reader, input, inputs, graph.readers.get(input.id) ?? []);
    if (obstacle !== undefined) return { nodes, obstacle };
    if (input.kind === "SourceLoad") return wholeChain(nodes, dag, { load: input, write, plans, graph });
    reader = input;
  }
}

/** What keeps a node from reading its input as it comes. */
function linkObstacle(
  reader: SinkWriteNode | PipelineNode,
  input: SourceLoadNode | PipelineNode,
  inputs: readonly DagNode[],
  readers: readonly DagNode[],
): string | undefined {
  const check = readers.find((node) => node.kind === "Check");
  if (check !== undefined) return `a check reads '${input.name}'`;
  if (readers.length > 1) return `'${input.name}' has ${readers.length} readers`;
  if (reader.kind === "SinkWrite") return inputs.length > 1 ? "a gating check holds the write back" : undefined;
  if (inputs.length > 1) return `'${reader.name}' reads ${inputs.length} inputs`;
  if (reader.watermarks.length > 0) return `'${reader.name}' compares with a watermark`;
  return sqlObstacle(reader, input);
}

/**
 * What a view can't hold, and what would read the input again. Words are looked for, not parsed: a comment that holds
 * one keeps a chain apart, which costs time and nothing else.
 */
function sqlObstacle({ name, sql }: PipelineNode, input: SourceLoadNode | PipelineNode): string | undefined {
  if (/\bpivot/i.test(sql)) return `'${name}' uses PIVOT`;
  if (/\brecursive\b/i.test(sql)) return `'${name}' uses RECURSIVE`;
  const relation = input.relation.toLowerCase();
  const mentions = sql.toLowerCase().split(/\bstaging"?\s*\.\s*"?/).slice(1).filter((text) =>
    text.startsWith(relation)
  );
  return mentions.length > 1 ? `'${name}' reads '${input.name}' more than once` : undefined;
}

type Ends = {
  readonly load: SourceLoadNode;
  readonly write: SinkWriteNode;
  readonly plans: ReadonlyMap<string, PlannedNode>;
  readonly graph: Graph;
};

/** The chain of nodes that one statement could hold but for its ends. */
function wholeChain(nodes: readonly string[], dag: CompiledDag, { load, write, plans, graph }: Ends): Chain {
  const reads = plans.get(load.id)?.strategy === "native_scan";
  const writes = plans.get(write.id)?.strategy === "native_copy";
  const obstacle = settingsObstacle(dag, load) ??
    (writes
      ? strategyObstacle(write)
      : reads
      ? viewObstacle(nodes, graph)
      : `'${load.name}' is not read by DuckDB itself`);
  if (obstacle !== undefined) return { nodes, obstacle };
  if (!reads) return { nodes: nodes.slice(1), from: load.id };
  return writes ? { nodes } : { nodes: nodes.slice(0, -1), to: write.id };
}

function settingsObstacle({ project }: CompiledDag, { name, read, columns }: SourceLoadNode): string | undefined {
  if (project.engine.staging === "always") return "engine.staging is always";
  if (read.sync?.mode === "incremental" || read.sync?.mode === "cdc") return `'${name}' is not read in full`;
  if (project.onSourceDrift !== "ignore" && columns === undefined) return `'${name}' is watched for drift`;
  return undefined;
}

/** Other strategies read what they write more than once. */
function strategyObstacle({ write: { strategy } }: SinkWriteNode): string | undefined {
  return strategy === "replace" ? undefined : `the strategy is ${strategy}`;
}

/** A view that is drained would look for its source in staging. */
function viewObstacle(nodes: readonly string[], { byId }: Graph): string | undefined {
  const last = byId.get(nodes.at(-2) ?? "");
  return last?.kind === "Pipeline" && last.materialization === "view" ? `'${last.name}' is a view` : undefined;
}
