import type { CompiledDag, DagNode } from "../compile/mod.ts";
import type { ConnectorSet } from "../connectors/mod.ts";
import type { EventBus, RunStatus } from "../events/mod.ts";
import type { Plan } from "../plan/mod.ts";
import { drainArrow } from "../staging/mod.ts";
import { type Phases, runPaths, RunRecorder, sweepRuns } from "../state/mod.ts";
import { Attempts, type Tools } from "./attempts.ts";
import { Breakers } from "./breaker_gate.ts";
import { ByteBudget } from "./byte_budget.ts";
import { ConnectionPool, leavesConnectionsAlone } from "./connection_pool.ts";
import { dispatch, type DispatchSummary, type NodeControl, type Verdict } from "./dispatcher.ts";
import { type RunUnit, runUnits } from "./fused_chain.ts";
import { executeChain, skipChain } from "./fused_runner.ts";
import { connectionLimits, type RunNode, runNodes } from "./graph.ts";
import { NodeEnds } from "./node_end.ts";
import { executeNode, performNode, skipNode } from "./node_runner.ts";
import { OperationGates } from "./operation_gate.ts";
import { pause } from "./pause.ts";
import { maskFor } from "./redact.ts";
import type { Resumption } from "./resume/resumption.ts";
import { carryForward, compareSink, takeOverLoad } from "./resume/take_over.ts";
import type { RunContext, StagingArea } from "./run_context.ts";
import { type RunServices, SERVICES } from "./services.ts";
import { SessionPool } from "./session_pool.ts";
import { stagingOptions } from "./staging_options.ts";
import { stagingTrouble } from "./staging_trouble.ts";
import { faultPoint } from "../util/mod.ts";

export type RunOptions = {
  readonly dag: CompiledDag;
  readonly plan: Plan;
  /** The connectors of the plan; undefined: those inside pz. */
  readonly connectors?: Pick<ConnectorSet, "find">;
  /** Ids to run: the selection and its ancestors, topological. */
  readonly effective: readonly string[];
  readonly runId: string;
  readonly bus: EventBus;
  readonly failFast: boolean;
  /** What it takes over from the run that it is a retry of. */
  readonly resume?: Resumption | undefined;
  /** Milliseconds that the phases before dispatch took, by name. */
  readonly phases: { readonly [phase: string]: number };
  readonly clock: { now(): number };
  /** Aborted by the first stop signal. */
  readonly signal: AbortSignal;
  /** Called after the last event, before state is written: closes the bus and lets the views finish. */
  readonly onFinalize: () => Promise<void>;
  readonly onWarning: (message: string) => void;
};

export type RunOutcome = {
  readonly status: RunStatus;
  readonly interrupted: boolean;
  readonly succeeded: number;
  readonly failed: number;
  readonly skipped: number;
  /** Why the receipt does not tell how the run ended; the journal may. */
  readonly unrecorded?: { readonly error: unknown };
};

/**
 * Phases 6 and 7: runs the DAG and finalizes. The caller holds the run's lock and has made its folder. The terminal
 * status is written last of all, so that a run which dies before looks interrupted and never finished.
 *
 * @throws what kept the staging database from opening, once the receipt says `fatal`, as PZ0532 where the disk is full; no
 * event was published then
 */
export async function runProject(options: RunOptions, services: RunServices = SERVICES): Promise<RunOutcome> {
  const { dag: { project }, runId, bus, clock } = options;
  const started = clock.now();
  const paths = runPaths(project.root, runId);
  const nodes = runNodes(options.dag, options.effective);
  using recorder = new RunRecorder({
    runId,
    results: paths.results,
    journal: paths.journal,
    startedAt: new Date(started).toISOString(),
    retryOf: options.resume?.retryOf,
    nodeCount: nodes.length,
    now: () => performance.now(),
    onWarning: options.onWarning,
  });
  recorder.snapshot();
  faultPoint("run_begun");
  const finish = (status: RunStatus, interrupted: boolean, executed: number) => {
    const finished = clock.now();
    const phases = phaseTimes({ ...options.phases, execute: executed - started, finalize: finished - executed });
    return recorder.finish(status, { finishedAt: new Date(finished).toISOString(), phases, interrupted });
  };

  let staging: StagingArea;
  try {
    staging = await services.openStaging(await stagingOptions(project, options.plan, nodes, paths));
  } catch (error) {
    finish("fatal", false, clock.now());
    throw stagingTrouble(error);
  }
  faultPoint("staging_open");
  bus.publish({ event: "run_started", projectName: project.name, nodeCount: nodes.length });
  const { summary, stuck } = await execute(nodes, staging, recorder, options, services);
  const outcome = outcomeOf(summary);
  const executed = clock.now();
  bus.publish({
    event: "run_completed",
    status: outcome.status,
    succeeded: outcome.succeeded,
    failed: outcome.failed,
    skipped: outcome.skipped,
    durationMs: Math.max(0, executed - started),
  });
  recorder.snapshot();
  if (project.keepLast !== undefined) {
    const swept = await sweepRuns(project.root, project.keepLast);
    if (swept.runsSwept + swept.bytesFreed + swept.failures > 0) bus.publish({ event: "retention_swept", ...swept });
    if (swept.failures > 0) {
      options.onWarning(
        `What old runs left could not be deleted in ${swept.failures} place(s): \`pz clean\` tells why`,
      );
    }
  }
  await warnOnError("The views of the run did not end well", options, () => options.onFinalize());
  // A node that can't be stopped may hold a statement for ever; then the process's end closes the database.
  if (!stuck) {
    await warnOnError("The staging database did not close well", options, () => staging[Symbol.asyncDispose]());
  }
  faultPoint("run_ending");
  const unrecorded = finish(outcome.status, outcome.interrupted, executed);
  faultPoint("run_ended");
  return unrecorded === undefined ? outcome : { ...outcome, unrecorded };
}

async function execute(
  nodes: readonly RunNode[],
  staging: StagingArea,
  recorder: RunRecorder,
  options: RunOptions,
  services: RunServices,
): Promise<{ readonly summary: DispatchSummary; readonly stuck: boolean }> {
  const { dag: { project }, plan, bus, resume } = options;
  const redact = maskFor(options.dag, false, options.connectors?.find);
  await using sessions = new SessionPool({
    open: (connection) => services.openSession(connection, options, redact),
    users: countUsers(nodes),
  });
  const run: RunContext = {
    project,
    runId: options.runId,
    plan,
    planned: new Map(plan.nodes.map((node) => [node.id, node])),
    pipelines: new Map(
      options.dag.nodes.flatMap((node) => node.kind === "Pipeline" ? [[node.relation, node] as const] : []),
    ),
    staging,
    drain: services.drain ?? drainArrow,
    sessions,
    budget: new ByteBudget(plan.memoryBudget.channelBytes),
    bus,
    now: () => options.clock.now(),
    triesBefore: (node) => resume?.tries.get(node.id) ?? [],
    writeBegins: (node, attempt) => ends.begin(node, attempt),
    random: services.random ?? Math.random,
    pause: services.pause ?? pause,
  };
  const ends: NodeEnds = new NodeEnds(run, recorder);
  carryForward(ends, resume?.carried ?? []);
  const connections = new ConnectionPool(staging);
  const attempts = new Attempts({ run, connections, reuse: leavesConnectionsAlone(options.dag), redact });
  const monotonic = services.monotonic ?? (() => performance.now());
  const breakers = new Breakers(run, monotonic);
  const gates = new OperationGates({ ...run, monotonic });
  const tools: Tools = { run, ends, attempts, breakers, gates, perform: services.perform ?? performNode };
  const leave = ({ nodes }: RunUnit) => {
    for (const { connection } of nodes) if (connection !== undefined) sessions.leave(connection);
  };
  const { interrupted } = await dispatch({
    nodes: runUnits(nodes, withoutTaken(plan, resume)),
    threads: project.engine.threads,
    connectionLimits: connectionLimits(nodes),
    failFast: options.failFast,
    signal: options.signal,
    execute: async (unit, control) => {
      const { node, chain } = unit;
      const verdict =
        await (chain === undefined ? perform(tools, node, control, options) : executeChain(tools, chain, control));
      leave(unit);
      return verdict;
    },
    onSkipped: (unit) => {
      if (unit.chain === undefined) skipNode(tools, unit.node);
      else skipChain(tools, unit.chain);
      leave(unit);
    },
  });
  const { success: succeeded, failed, skipped } = ends.counts;
  return { summary: { succeeded, failed, skipped, interrupted }, stuck: attempts.stuck };
}

/** Runs a node, unless an earlier run has done so. */
async function perform(
  tools: Tools,
  node: DagNode,
  control: NodeControl,
  { resume, onWarning: warn }: RunOptions,
): Promise<Verdict> {
  const rows = resume?.reused.get(node.id);
  if (rows !== undefined) return takeOverLoad(tools, node, rows);
  const write = () => executeNode(tools, node, control);
  const compared = resume?.compared.get(node.id);
  if (compared === undefined || node.kind !== "SinkWrite") return await write();
  return await compareSink(tools, { node, control, compared }, { write, warn });
}

/** The plan with only those chains in which every node is run. */
function withoutTaken(plan: Plan, resume: Resumption | undefined): Plan {
  if (resume === undefined) return plan;
  const isTaken = (id: string) => resume.reused.has(id) || resume.compared.has(id);
  return { ...plan, chains: plan.chains.filter(({ nodes }) => !nodes.some(isTaken)) };
}

/** How many nodes of the run use each connection. */
function countUsers(nodes: readonly RunNode[]): ReadonlyMap<string, number> {
  const users = new Map<string, number>();
  for (const { connection } of nodes) {
    if (connection !== undefined) users.set(connection, (users.get(connection) ?? 0) + 1);
  }
  return users;
}

function outcomeOf({ succeeded, failed, skipped, interrupted }: DispatchSummary): RunOutcome {
  const status = failed > 0 ? "completed_with_failures" : interrupted ? "fatal" : "success";
  return { status, interrupted, succeeded, failed, skipped };
}

/** Phase times as the receipt names them: `executeMs` for `execute`. */
function phaseTimes(phases: Phases): Phases {
  return Object.fromEntries(
    Object.entries(phases).map(([name, ms]) => [name.endsWith("Ms") ? name : `${name}Ms`, Math.max(0, Math.round(ms))]),
  );
}

async function warnOnError(what: string, options: RunOptions, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    options.onWarning(`${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
