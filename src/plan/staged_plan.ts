import type { SinkWriteNode, SourceLoadNode } from "../compile/mod.ts";
import type { ConnectorDescription, WriteAttempt } from "../connectors/mod.ts";
import { PzError } from "../errors/mod.ts";
import type { PlannedNode, StagedOutput } from "./plan.ts";
import { connectorRefusals } from "./refusal.ts";
import type { NodePlan, PlanFacts } from "./source_plan.ts";
import { datasetSpec, outputSpec } from "./specs.ts";

type Base = Pick<PlannedNode, "id" | "kind" | "name">;

/** How a source is read whose files a connector's process fetches; undefined: its connector has no such way. */
export function planStagedSource(
  node: SourceLoadNode,
  connector: ConnectorDescription,
  facts: PlanFacts,
  { base, detail }: { readonly base: Base; readonly detail: string },
): NodePlan | undefined {
  const dataset = datasetSpec(node);
  const asked = facts.forceUniversal ? undefined : connector.stagedRead?.(dataset, facts.context);
  if (asked === undefined) return undefined;
  const planned = { ...base, strategy: "staged_scan", partitions: 1 } as const;
  if (!asked.ok) {
    const reason = `staged: path refused (${detail})`;
    return { node: { ...planned, reason }, refusals: connectorRefusals(node, asked.problems) };
  }
  const { mechanism, options, net, scan } = asked.value;
  return {
    node: {
      ...planned,
      reason: `staged: ${mechanism} (${detail})`,
      touches: { net, read: [], write: [] },
      stagedInput: { dataset: { ...dataset, options }, scan },
    },
    refusals: [],
  };
}

/** How an output is written whose files a connector's process stores; undefined: its connector has no such way. */
export function planStagedSink(
  node: SinkWriteNode,
  connector: ConnectorDescription,
  facts: PlanFacts,
  { base, detail, probe }: {
    readonly base: Base;
    readonly detail: string;
    readonly probe: Omit<WriteAttempt, "node">;
  },
): NodePlan | undefined {
  const asked = facts.forceUniversal ? undefined : connector.stagedWrite?.(outputSpec(node, probe), facts.context);
  if (asked === undefined) return undefined;
  const planned = { ...base, strategy: "staged_copy", partitions: 1 } as const;
  if (!asked.ok) {
    const reason = `staged: path refused (${detail})`;
    return { node: { ...planned, reason }, refusals: connectorRefusals(node, asked.problems) };
  }
  const { mechanism, net, target } = asked.value;
  const replaces = target?.wholeFolder === true && node.write.strategy === "replace";
  return {
    node: {
      ...planned,
      reason: `staged: ${mechanism} (${detail}${replaces ? ", replaces the whole folder" : ""})`,
      touches: { net, read: [], write: [] },
      stagedOutput: (attempt) => stagedOutput(node, connector, facts, attempt),
    },
    refusals: [],
    ...(target === undefined ? {} : { target }),
  };
}

/** What one attempt writes. */
function stagedOutput(
  node: SinkWriteNode,
  connector: ConnectorDescription,
  facts: PlanFacts,
  attempt: Omit<WriteAttempt, "node">,
): StagedOutput {
  const spec = outputSpec(node, attempt);
  const outcome = connector.stagedWrite?.(spec, facts.context);
  if (outcome?.ok === true) return { output: { ...spec, options: outcome.value.options }, copy: outcome.value.copy };
  const problem = outcome?.problems[0];
  throw new PzError(problem?.code ?? "PZ0312", `${node.name}: ${problem?.message ?? "the path of the plan is gone"}`, {
    ...node.position,
    hint: problem?.hint,
  });
}
