import type { Plan, PlannedNode } from "./plan.ts";

/** The text of plan.json: indented by 2, LF, final newline. */
export function planJson(plan: Plan): string {
  const { memoryBudget: budget } = plan;
  const document = {
    version: 1,
    nodes: plan.nodes.map(nodeJson),
    memoryBudget: {
      duckdbBytes: budget.duckdbBytes,
      duckdbDisclaimer: budget.duckdbDisclaimer,
      channelBytes: budget.channelBytes,
      fixedOverheadBytes: budget.fixedOverheadBytes,
      totalBytes: budget.totalBytes,
      duckdbThreadsDisclaimer: budget.duckdbThreadsDisclaimer,
    },
    chains: plan.chains.map(({ nodes, obstacle, from, to }) => ({
      nodes,
      fused: obstacle === undefined,
      reason: obstacle ?? null,
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
    })),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function nodeJson(node: PlannedNode): object {
  return {
    id: node.id,
    kind: node.kind,
    name: node.name,
    strategy: node.strategy,
    partitions: node.partitions,
    reason: node.reason,
    ...(node.pushed === undefined
      ? {}
      : { columns_pushed: node.pushed.columns, predicate_pushed: node.pushed.predicate }),
    ...(node.batchBytes === undefined ? {} : { batchBytes: node.batchBytes }),
  };
}
