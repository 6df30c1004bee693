import type { CompiledDag, DagNode, SinkWriteNode, SourceLoadNode } from "../compile/mod.ts";
import type { ConnectorDescription, SystemLayer } from "../connectors/mod.ts";
import { fail, type Outcome, type PzError, succeed } from "../errors/mod.ts";
import { ordinal } from "../util/mod.ts";
import { batchBytesOf, budgetOf } from "./budget.ts";
import { chainsOf } from "./chains.ts";
import { warnOfFileRaces } from "./file_races.ts";
import { notYetPipeline, notYetProject } from "./not_yet.ts";
import type { MachineFacts, Plan, PlannedNode } from "./plan.ts";
import { connectionRefusal, type Refusal } from "./refusal.ts";
import { sandboxGap } from "./sandbox.ts";
import { type Output, sharedPlace } from "./shared_place.ts";
import { planSink } from "./sink_plan.ts";
import { type NodePlan, type PlanFacts, planSource } from "./source_plan.ts";

export type FindConnector = (name: string) => ConnectorDescription | "planned" | undefined;

export type PlanOptions = {
  /** Ids of the nodes that will run; a refusal of any other is its reason, not an error. */
  readonly effective: ReadonlySet<string>;
  readonly findConnector: FindConnector;
  readonly machine: MachineFacts;
  /** What the operating system does for the sandbox of connectors; undefined: all that it can. */
  readonly systemLayer?: SystemLayer;
};

/** Phase 5: decides for every node how its bytes move and why. Offline. */
export function planRun(dag: CompiledDag, options: PlanOptions): Outcome<Plan> {
  const { project } = dag;
  const budget = budgetOf(project, options.machine);
  const facts: PlanFacts = {
    forceUniversal: project.engine.forceUniversal,
    batchBytes: batchBytesOf(project),
    context: { projectRoot: project.root },
  };
  const running = dag.nodes.filter((node) => options.effective.has(node.id));
  const errors: PzError[] = [...budget.errors, ...notYetProject(project, running)];
  const warnings: PzError[] = [];
  const told = new Set<string>();
  const nodes: PlannedNode[] = [];
  const outputs: Output[] = [];
  for (const node of dag.nodes) {
    const { node: planned, refusals: found, target } = planNode(node, options, facts);
    const output = node.kind === "SinkWrite" && target !== undefined ? { node, target } : undefined;
    const clash = output === undefined ? undefined : sharedPlace(output, outputs);
    if (output !== undefined) outputs.push(output);
    const refusals = clash === undefined ? found : [...found, clash.refusal];
    const serious = refusals.filter(({ error }) => error.code !== "PZ0364");
    const clashes = clash !== undefined && options.effective.has(clash.other.node.id) ? [clash.refusal] : [];
    for (const { error, key } of options.effective.has(node.id) ? refusals : clashes) {
      if (key !== undefined && told.has(key)) continue;
      if (key !== undefined) told.add(key);
      (error.code === "PZ0364" ? warnings : errors).push(error);
    }
    nodes.push(serious.length === 0 ? planned : { ...planned, reason: refusedReason(planned, serious) });
  }
  const gap = options.systemLayer === undefined
    ? undefined
    : sandboxGap(project, nodes.filter(({ id }) => options.effective.has(id)), options.systemLayer);
  errors.push(...gap?.errors ?? []);
  if (errors.length > 0) return fail(errors);
  warnings.push(...warnOfFileRaces(dag, new Map(nodes.map((node) => [node.id, node])), options.effective));
  const { memoryBudget, limits } = budget;
  return succeed(
    { nodes, chains: chainsOf(dag, nodes), memoryBudget, limits, grants: grantsOf(dag, nodes, options, facts) },
    warnings,
    gap?.notices ?? [],
  );
}

function planNode(node: DagNode, options: PlanOptions, facts: PlanFacts): NodePlan {
  if (node.kind === "Pipeline" || node.kind === "Check") {
    const reason = node.kind === "Check" ? "check" : "duckdb sql in-engine";
    return {
      node: { id: node.id, kind: node.kind, name: node.name, strategy: "duck_sql", partitions: 1, reason },
      refusals: node.kind === "Pipeline" ? notYetPipeline(node) : [],
    };
  }
  const connector = options.findConnector(node.connection.connector);
  if (connector === undefined || connector === "planned") return unavailable(node, connector, facts);
  return node.kind === "SourceLoad" ? planSource(node, connector, facts) : planSink(node, connector, facts);
}

function unavailable(
  node: SourceLoadNode | SinkWriteNode,
  connector: "planned" | undefined,
  facts: PlanFacts,
): NodePlan {
  const { name, connector: wanted } = node.connection;
  const uses = `connection '${name}' uses connector '${wanted}'`;
  return {
    node: {
      id: node.id,
      kind: node.kind,
      name: node.name,
      strategy: "arrow_stream",
      partitions: 1,
      reason: "arrow stream: the connector is not installed",
      batchBytes: facts.batchBytes,
    },
    refusals: [
      connector === "planned"
        ? connectionRefusal(node, "PZ0700", `${uses}, which this pz does not support yet`)
        : connectionRefusal(node, "PZ0701", `${uses}, which this pz does not know`),
    ],
  };
}

/** Codes only: what a connector says may hold paths, which plan.json never shows. */
function refusedReason(planned: PlannedNode, refusals: readonly Refusal[]): string {
  const codes = [...new Set(refusals.map(({ error }) => `${error.code} ${error.title}`))].sort(ordinal);
  return `refused: ${codes.join(", ")} — ${planned.reason}`;
}

/** The grants of the connections that nodes use, by name, with what their nodes touch besides: writing only where something is written. */
function grantsOf(
  dag: CompiledDag,
  planned: readonly PlannedNode[],
  options: PlanOptions,
  facts: PlanFacts,
): Plan["grants"] {
  const grants = new Map<string, Plan["grants"][number]>();
  for (const node of dag.nodes) {
    if ((node.kind !== "SourceLoad" && node.kind !== "SinkWrite") || grants.has(node.connection.name)) continue;
    const { name, connector: wanted, config } = node.connection;
    const connector = options.findConnector(wanted);
    if (connector === undefined || connector === "planned") continue;
    const grant = connector.grant(config, facts.context);
    const uses = (kind: DagNode["kind"]) =>
      dag.nodes.some((other) => other.kind === kind && "connection" in other && other.connection.name === name);
    const own = dag.nodes.flatMap((other, index) =>
      "connection" in other && other.connection.name === name ? planned[index] ?? [] : []
    );
    const touched = (access: "net" | "read" | "write") => own.flatMap((other) => other.touches?.[access] ?? []);
    const used = {
      ...grant,
      net: [...new Set([...grant.net, ...touched("net")])],
      read: [...new Set([...grant.read, ...touched("read")])],
      write: [...new Set([...(uses("SinkWrite") ? grant.write : []), ...touched("write")])],
    };
    const stages = own.some(({ stagedInput, stagedOutput }) => stagedInput !== undefined || stagedOutput !== undefined);
    grants.set(name, {
      connection: name,
      connector: wanted,
      grant: used,
      ...(stages ? { stages } : {}),
      ...(connector.program?.kind === "process" ? { trusted: true } : {}),
    });
  }
  return [...grants.values()].sort((a, b) => ordinal(a.connection, b.connection));
}
