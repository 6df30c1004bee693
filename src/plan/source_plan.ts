import type { SourceLoadNode } from "../compile/mod.ts";
import type {
  ConnectorContext,
  ConnectorDescription,
  DatasetSpec,
  NativeScan,
  OutputTarget,
  UniversalRead,
} from "../connectors/mod.ts";
import { notYetSource } from "./not_yet.ts";
import { isPaced, paceRefusals } from "./pacing.ts";
import type { PlannedNode } from "./plan.ts";
import { connectionRefusal, connectorRefusals, keyRefusal, type Refusal, refusal } from "./refusal.ts";
import { datasetSpec } from "./specs.ts";
import { planStagedSource } from "./staged_plan.ts";

export type NodePlan = {
  readonly node: PlannedNode;
  readonly refusals: readonly Refusal[];
  /** What an output changes, where its connector tells. */
  readonly target?: OutputTarget;
};

export type PlanFacts = {
  readonly forceUniversal: boolean;
  readonly batchBytes: number;
  readonly context: ConnectorContext;
};

const MAX_PARTITIONS = 16;

/** Decides how a source is read. */
export function planSource(node: SourceLoadNode, connector: ConnectorDescription, facts: PlanFacts): NodePlan {
  const refusals = [...gates(node, connector), ...notYetSource(node)];
  const detail = `${connector.name}, ${node.connection.name}.${node.entity}, ${readShape(node)}`;
  const native = facts.forceUniversal || isPaced(node)
    ? undefined
    : connector.nativeScan(datasetSpec(node), facts.context);
  if (native?.ok === true) {
    if (hasParts(node) && connector.universal.read) refusals.push(ownParts(node, connector, "by DuckDB itself"));
    return { node: nativeNode(node, native.value, detail), refusals };
  }
  const staged = native === undefined
    ? planStagedSource(node, connector, facts, { base: base(node), detail })
    : undefined;
  if (staged !== undefined) return { ...staged, refusals: [...refusals, ...staged.refusals] };
  if (native?.ok === false) refusals.push(...connectorRefusals(node, native.problems));
  else if (!connector.universal.read && !isPaced(node)) refusals.push(nativeOnly(node, connector, facts));
  const spec = datasetSpec(node, connector);
  const asked = native === undefined && refusals.length === 0
    ? connector.universalRead?.(spec, facts.context)
    : undefined;
  if (asked?.ok === false) refusals.push(...connectorRefusals(node, asked.problems));
  const universal = asked?.ok === true ? asked.value : undefined;
  const dataset = universal === undefined ? spec : { ...spec, options: universal.options };
  const partitions = universal?.partitions ?? plannedPartitions(node, connector);
  const why = facts.forceUniversal
    ? "engine.force_universal is set"
    : isPaced(node)
    ? "rate_limit paces its requests"
    : native === undefined
    ? "no native path"
    : "native path refused";
  return {
    node: {
      ...base(node),
      strategy: "arrow_stream",
      partitions,
      reason: `arrow stream: ${why} (${detail}${partitions > 1 ? `, ${partitions} partitions` : ""})`,
      batchBytes: facts.batchBytes,
      dataset,
      ...pushed(dataset),
      ...(connector.capabilities.has("StreamingPartitions") ? { streamsPartitions: true } : {}),
      ...(connector.capabilities.has("StablePartitionIds") ? { stablePartitions: true } : {}),
      ...(universal === undefined ? {} : askedRead(universal)),
    },
    refusals,
  };
}

function base(node: SourceLoadNode): Pick<PlannedNode, "id" | "kind" | "name"> {
  return { id: node.id, kind: node.kind, name: node.name };
}

function nativeNode(node: SourceLoadNode, scan: NativeScan, detail: string): PlannedNode {
  return {
    ...base(node),
    strategy: "native_scan",
    partitions: 1,
    reason: `native scan: ${scan.mechanism} (${detail})`,
    scan,
  };
}

function askedRead(
  { contract, diagnose, grant, reads }: UniversalRead,
): Pick<PlannedNode, "typing" | "touches" | "reads"> {
  return {
    ...(contract === undefined ? {} : { typing: { contract, ...(diagnose === undefined ? {} : { diagnose }) } }),
    touches: grant,
    ...(reads === undefined ? {} : { reads }),
  };
}

function gates(node: SourceLoadNode, connector: ConnectorDescription): Refusal[] {
  const refusals: Refusal[] = [];
  const { connection, read: { sync } } = node;
  const name = `${connection.name}.${node.entity}`;
  const has = connector.capabilities;
  if (!connector.canRead) {
    refusals.push(
      refusal(node, "PZ0301", `connector '${connector.name}' can't read`, `'${name}' can only be written by sink()`),
    );
  }
  if (sync?.mode === "incremental" && sync.maxWindow !== undefined && !has.has("BoundedWindow")) {
    refusals.push(
      keyRefusal(
        node,
        "sync",
        "PZ0313",
        `connector '${connector.name}' can't read '${name}' in bounded windows`,
        "remove max_window, initial and until",
      ),
    );
  }
  if (node.watermark?.bounds.some(({ upper }) => upper) === true && !has.has("BoundedWindow")) {
    refusals.push(
      refusal(
        node,
        "PZ0313",
        `connector '${connector.name}' can't end the rows of '${name}' where watermark() says`,
        "keep only the comparisons by > and >=",
      ),
    );
  }
  if (sync?.mode === "auto" && has.has("SyncState") && (has.has("PartitionedRead") || has.has("StreamingPartitions"))) {
    refusals.push(
      keyRefusal(
        node,
        "sync",
        "PZ0316",
        `connector '${connector.name}' reads '${name}' in parts, which 'sync' can't follow`,
        "remove sync to read everything in each run",
      ),
    );
  }
  if (hasParts(node) && !connector.universal.read) refusals.push(ownParts(node, connector, "only by DuckDB itself"));
  if (sync?.mode === "cdc" && !has.has("ChangeCapture")) {
    refusals.push(
      connectionRefusal(
        node,
        "PZ0338",
        `connector '${connector.name}' of '${connection.name}' can't capture changes`,
        "use `mode: incremental`",
      ),
    );
  }
  refusals.push(...paceRefusals(node, connector));
  if (has.has("CheckpointableReads") && !has.has("StablePartitionIds")) {
    refusals.push(
      connectionRefusal(
        node,
        "PZ0319",
        `connector '${connector.name}' of '${connection.name}' checkpoints its reads but has no stable partition ids`,
        "report this to the connector's author",
      ),
    );
  }
  return refusals;
}

function hasParts({ read }: SourceLoadNode): boolean {
  return read.options["files_per_partition"] !== undefined;
}

function ownParts(node: SourceLoadNode, { name }: ConnectorDescription, how: string): Refusal {
  return keyRefusal(
    node,
    "files_per_partition",
    "PZ0312",
    `connector '${name}' reads '${node.connection.name}.${node.entity}' ${how}, which makes its own parts`,
    "remove files_per_partition",
  );
}

function nativeOnly(node: SourceLoadNode, connector: ConnectorDescription, facts: PlanFacts): Refusal {
  return refusal(
    node,
    "PZ0312",
    `connector '${connector.name}' reads '${node.connection.name}.${node.entity}' only by DuckDB itself`,
    facts.forceUniversal ? "remove engine.force_universal" : undefined,
  );
}

/** Such as `read=full` or `read=incremental cursor=changed_on`. */
function readShape(node: SourceLoadNode): string {
  const { sync } = node.read;
  if (sync?.mode === "incremental") return `read=incremental cursor=${sync.cursor}`;
  return sync?.mode === "cdc" ? "read=cdc" : "read=full";
}

/** For display: the connector decides at run time. */
function plannedPartitions(node: SourceLoadNode, connector: ConnectorDescription): number {
  const { partition_column: column, partitions } = node.read.options;
  if (!connector.capabilities.has("PartitionedRead") || column === undefined || partitions === undefined) return 1;
  const count = Number(partitions);
  return Number.isInteger(count) ? Math.min(MAX_PARTITIONS, Math.max(1, count)) : 1;
}

function pushed({ hints, columns: contract }: DatasetSpec): Pick<PlannedNode, "pushed"> {
  if (hints === undefined) return {};
  const predicate = hints.predicate !== undefined;
  if (hints.columns === undefined) return { pushed: { columns: null, predicate } };
  if (contract === undefined) return { pushed: { columns: hints.columns.length, predicate, atMost: true } };
  const declared = new Set(contract.map(({ name }) => name.toLowerCase()));
  return { pushed: { columns: hints.columns.filter((name) => declared.has(name.toLowerCase())).length, predicate } };
}
