import { dateTokens, type SinkWriteNode } from "../compile/mod.ts";
import type {
  ConfigProblem,
  ConnectorDescription,
  NativeCopy,
  OutputSpec,
  OutputTarget,
  WriteAttempt,
} from "../connectors/mod.ts";
import { PzError } from "../errors/mod.ts";
import { notYetSink } from "./not_yet.ts";
import { isPaced, paceRefusals } from "./pacing.ts";
import { connectorRefusals, keyRefusal, type Refusal, refusal } from "./refusal.ts";
import type { NodePlan, PlanFacts } from "./source_plan.ts";
import { outputSpec } from "./specs.ts";
import { planStagedSink } from "./staged_plan.ts";

/** Stands for the run while nothing has run yet: only whether the connector agrees is looked at. */
export const PROBE_RUN = "00000000T000000000Z-0000";

/** Decides how an output is written. */
export function planSink(node: SinkWriteNode, connector: ConnectorDescription, facts: PlanFacts): NodePlan {
  const refusals = [...gates(node, connector), ...notYetSink(node)];
  const detail = `${connector.name}, ${node.name}, strategy=${node.write.strategy}`;
  const base = { id: node.id, kind: node.kind, name: node.name, partitions: 1 };
  const native = facts.forceUniversal || isPaced(node) || refusals.length > 0
    ? undefined
    : connector.nativeCopy(outputSpec(node, { run: PROBE_RUN, ordinal: 1 }), facts.context);
  if (native?.ok === true) {
    return {
      node: {
        ...base,
        strategy: "native_copy",
        reason: `native copy: ${native.value.mechanism} (${detail}${replacement(node, native.value)})`,
        copy: (attempt) => copyFor(node, connector, facts, attempt),
      },
      refusals,
      ...(native.value.target === undefined ? {} : { target: native.value.target }),
    };
  }
  const staged = native === undefined && refusals.length === 0
    ? planStagedSink(node, connector, facts, { base, detail, probe: { run: PROBE_RUN, ordinal: 1 } })
    : undefined;
  if (staged !== undefined) return staged;
  if (native?.ok === false) refusals.push(...connectorRefusals(node, native.problems));
  else if (refusals.length === 0 && !connector.universal.write) refusals.push(nativeOnly(node, connector, facts));
  const specOf = (attempt: Omit<WriteAttempt, "node">) => outputSpec(node, attempt);
  const asked = native === undefined && refusals.length === 0
    ? connector.universalWrite?.(specOf({ run: PROBE_RUN, ordinal: 1 }), facts.context)
    : undefined;
  if (asked?.ok === false) refusals.push(...connectorRefusals(node, asked.problems));
  const universal = asked?.ok === true ? asked.value : undefined;
  const resumable = isResumable(node, connector);
  const writers = resumable ? 1 : writersOf(node, connector);
  const why = facts.forceUniversal
    ? "engine.force_universal is set"
    : isPaced(node)
    ? "rate_limit paces its requests"
    : native === undefined
    ? "no native path"
    : "native path refused";
  return {
    node: {
      ...base,
      strategy: "arrow_stream",
      reason: `arrow stream: ${why} (${detail}${replacement(node, universal)}${
        writers > 1 ? `, ${writers} writers` : ""
      })`,
      batchBytes: Math.ceil(facts.batchBytes / writers),
      ...(writers > 1 ? { writers } : {}),
      ...(resumable ? { resumable: true } : {}),
      ...(universal === undefined ? {} : {
        touches: universal.grant,
        writes: universal.moves.map(({ to }) => to),
        output: (attempt) => askedOutput(node, connector, facts, attempt),
      }),
    },
    refusals,
    ...(universal?.target === undefined ? {} : { target: universal.target }),
  };
}

function replacement({ write }: SinkWriteNode, asked: { readonly target?: OutputTarget } | undefined): string {
  return asked?.target?.wholeFolder === true && write.strategy === "replace" ? ", replaces the whole folder" : "";
}

function copyFor(
  node: SinkWriteNode,
  connector: ConnectorDescription,
  facts: PlanFacts,
  attempt: Omit<WriteAttempt, "node">,
): NativeCopy {
  const outcome = connector.nativeCopy(outputSpec(node, attempt), facts.context);
  if (outcome?.ok === true) return outcome.value;
  throw gone(node, outcome?.problems[0]);
}

/** What the connector's process is asked in one attempt. */
function askedOutput(
  node: SinkWriteNode,
  connector: ConnectorDescription,
  facts: PlanFacts,
  attempt: Omit<WriteAttempt, "node">,
): OutputSpec {
  const spec = outputSpec(node, attempt);
  const outcome = connector.universalWrite?.(spec, facts.context);
  if (outcome?.ok === true) return { ...spec, options: outcome.value.options };
  throw gone(node, outcome?.problems[0]);
}

/** What has changed since the plan. */
function gone(node: SinkWriteNode, problem: ConfigProblem | undefined): PzError {
  return new PzError(problem?.code ?? "PZ0312", `${node.name}: ${problem?.message ?? "the path of the plan is gone"}`, {
    ...node.position,
    hint: problem?.hint,
  });
}

/** Several writes side by side can't be one transaction, and each of them would replace what the others wrote. */
function writersOf({ write }: SinkWriteNode, { capabilities, parallelWriters = 1 }: ConnectorDescription): number {
  return write.strategy === "replace" || capabilities.has("Transactional") ? 1 : Math.max(1, parallelWriters);
}

/** Whether another attempt may go on behind what the target has confirmed; its rows then go out in an order of their own. */
function isResumable(node: SinkWriteNode, { capabilities, resumesWrite }: ConnectorDescription): boolean {
  if (!capabilities.has("CheckpointableWrites")) return false;
  return resumesWrite?.(outputSpec(node, { run: PROBE_RUN, ordinal: 1 })) ?? true;
}

function gates(node: SinkWriteNode, connector: ConnectorDescription): Refusal[] {
  const refusals: Refusal[] = [];
  const { write } = node;
  const has = connector.capabilities;
  if (!connector.canWrite) {
    refusals.push(
      refusal(
        node,
        "PZ0301",
        `connector '${connector.name}' can't write`,
        `'${node.name}' can only be read by source()`,
      ),
    );
    return refusals;
  }
  const needed = write.strategy === "merge" ? "Merge" : write.strategy === "replace" ? "ReplaceWrites" : undefined;
  if (needed !== undefined && !has.has(needed)) {
    refusals.push(
      keyRefusal(
        node,
        "strategy",
        "PZ0324",
        `connector '${connector.name}' can't write '${node.name}' with strategy '${write.strategy}'`,
        `strategies it has: ${strategies(connector).join(", ")}`,
      ),
    );
  }
  if (write.orderBy !== undefined && write.strategy !== "merge") {
    refusals.push(
      keyRefusal(
        node,
        "order_by",
        "PZ0334",
        `'order_by' of '${node.name}' needs strategy 'merge', not '${write.strategy}'`,
        "end the pipeline's SQL with ORDER BY to order what is written",
      ),
    );
  }
  if (write.checkpointRows !== undefined) refusals.push(...checkpointRefusals(node, connector));
  if ((write.onDelete === "delete" || write.onDelete === "soft") && !has.has("ApplyDeletes")) {
    refusals.push(
      keyRefusal(
        node,
        "on_delete",
        "PZ0339",
        `connector '${connector.name}' can't apply deletes to '${node.name}'`,
        "use `on_delete: ignore`",
      ),
    );
  }
  refusals.push(...paceRefusals(node, connector));
  refusals.push(...partitionRefusals(node, connector));
  return refusals;
}

/** Partitions by values are the connector's to lay out, folders by date those of a connector that knows such paths. */
function partitionRefusals(node: SinkWriteNode, { name, capabilities }: ConnectorDescription): Refusal[] {
  const { partition_by: partitions, path } = node.write.options;
  if (partitions === undefined || capabilities.has("PathTemplating")) return [];
  const refuse = (key: string, what: string, hint: string) => [
    keyRefusal(node, key, "PZ0314", `connector '${name}' can't write '${node.name}' ${what}`, hint),
  ];
  if (typeof path === "string" && dateTokens(path).length > 0) {
    return refuse("path", "into folders by date, as its path asks", "take the date tokens out of path");
  }
  return capabilities.has("ColumnPartitionedWrites")
    ? []
    : refuse("partition_by", "with partition_by", "remove partition_by");
}

function checkpointRefusals(node: SinkWriteNode, { name, capabilities }: ConnectorDescription): Refusal[] {
  const refuse = (why: string, hint: string) => [keyRefusal(node, "checkpoint_rows", "PZ0334", why, hint)];
  if (!capabilities.has("CheckpointableWrites")) {
    const why = `connector '${name}' can't save how far a write of '${node.name}' is, as 'checkpoint_rows' asks`;
    return refuse(why, "remove 'checkpoint_rows'");
  }
  if (node.write.strategy === "append") return [];
  const why = `'checkpoint_rows' of '${node.name}' needs strategy 'append', not '${node.write.strategy}'`;
  return refuse(why, "remove 'checkpoint_rows': a replace or merge is there as a whole or not at all");
}

function strategies({ capabilities }: ConnectorDescription): readonly string[] {
  return [
    "append",
    ...(capabilities.has("ReplaceWrites") ? ["replace"] : []),
    ...(capabilities.has("Merge") ? ["merge"] : []),
  ];
}

function nativeOnly(node: SinkWriteNode, connector: ConnectorDescription, facts: PlanFacts): Refusal {
  return refusal(
    node,
    "PZ0312",
    `connector '${connector.name}' writes '${node.name}' only by DuckDB itself`,
    facts.forceUniversal ? "remove engine.force_universal" : undefined,
  );
}
