import { runsOnLoopThread } from "../duckdb/mod.ts";
import { type CompiledDag, type Selection, withAncestors } from "../compile/mod.ts";
import { type ConnectorSet, projectConnectors } from "../connectors/mod.ts";
import { connectionHashes, recoverOutputs, type Resumption, runProject } from "../engine/mod.ts";
import { EventBus } from "../events/mod.ts";
import type { Plan } from "../plan/mod.ts";
import { limitsLine } from "../render/mod.ts";
import type { Outcome } from "../errors/mod.ts";
import { beginRunRecords, claimRunFolder, type IntendedOutput, runPaths } from "../state/mod.ts";
import { writeManifest, writePlan } from "./artifacts.ts";
import { EXIT, type ExitCode, exitCodeOf } from "./exit_codes.ts";
import { type Io, shownPath } from "./io.ts";
import { checkSql, newIdentity, PhaseTimes, type ProjectOptions, type RunIdentity, withCompiled } from "./phases.ts";
import { checkUse, planNodes } from "./plan_nodes.ts";
import {
  type LogFormat,
  reportErrors,
  reportLine,
  reportNotes,
  reportThrown,
  reportUsage,
  reportWarnings,
} from "./report.ts";
import { drainViews, finishOutput, openView, RunFacts } from "./run_views.ts";
import { StopSignals } from "./stop_signals.ts";

/** The options that every verb which runs nodes has. */
export type RunVerbOptions = ProjectOptions & {
  readonly failFast?: boolean | undefined;
  /** As the user wrote it; undefined: text. */
  readonly logFormat?: string | undefined;
};

/** What a verb asks for. */
export type RunRequest = RunVerbOptions & {
  /** The selection as the user wrote it, kept for a retry. */
  readonly selection: Selection;
  /** Whether it is about checks alone. */
  readonly checksOnly?: boolean;
  /** The nodes that it means, without what they need; undefined: there is nothing to do, and it has been said. */
  readonly choose: (dag: CompiledDag) => Outcome<readonly string[]> | undefined;
  /**
   * Of a retry: brings what it takes over into the folder of the new run; undefined as above. What `held` keeps from others
   * is let go once the new run is known as a retry.
   */
  readonly resume?: (
    dag: CompiledDag,
    asked: readonly string[],
    runId: string,
    held: DisposableStack,
  ) => Promise<Resumption | undefined>;
};

/** Everything that is decided before a run leaves its first trace on the disk. */
type PreparedRun = {
  readonly dag: CompiledDag;
  readonly plan: Plan;
  readonly connectors: ConnectorSet;
  readonly effective: readonly string[];
};

/** All phases of a run, from the project's files to the summary: loads, compiles, checks, plans, runs and reports. */
export async function performRun(io: Io, request: RunRequest): Promise<ExitCode> {
  const format = parseLogFormat(request.logFormat);
  if (format === undefined) {
    return reportUsage(io.console, `invalid --log-format value '${request.logFormat}' (expected 'text' or 'json')`);
  }
  // Where DuckDB plans on the event loop's thread no listener would be called, so that the system itself ends pz for as
  // long as there is nothing to end in order.
  using stop = new StopSignals();
  if (!runsOnLoopThread(Deno.version.deno)) stop.listen();
  const identity = newIdentity(io);
  const times = new PhaseTimes(io.now);
  // Not waited for once it is stopped: DuckDB can't be interrupted while it folds constants, and nothing is written yet.
  const prepared = await unlessStopped(prepare(io, request, identity, times, format), stop.signal);
  if (prepared === undefined) {
    io.console.err("run cancelled before any node started");
    return EXIT.fatal;
  }
  if (typeof prepared === "number") return prepared;
  stop.listen();
  const code = await execute(io, prepared, { request, identity, times, format, signal: stop.signal });
  await finishOutput(io.console);
  return code;
}

/** What the work gives, or undefined as soon as the signal is aborted. */
async function unlessStopped<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const stopped = Promise.withResolvers<undefined>();
  const stop = () => stopped.resolve(undefined);
  signal.addEventListener("abort", stop);
  // What still goes wrong in abandoned work concerns nobody.
  work.catch(() => {});
  try {
    const result = await Promise.race([work, stopped.promise]);
    return signal.aborted ? undefined : result;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** The log format that a text means, whatever its case; undefined for none. */
export function parseLogFormat(text: string | undefined): LogFormat | undefined {
  const format = (text ?? "text").toLowerCase();
  return format === "text" || format === "json" ? format : undefined;
}

function prepare(
  io: Io,
  request: RunRequest,
  identity: RunIdentity,
  times: PhaseTimes,
  format: LogFormat,
): Promise<PreparedRun | ExitCode> {
  return withCompiled(io, request, { identity, times, format }, async (dag, workbench) => {
    for (const trouble of await recoverOutputs(dag, identity.runId)) io.console.err(`warning: ${trouble}`);
    const checked = await checkSql(io, dag, { times, workbench });
    if (!checked.ok) return checked.exit;
    const selected = request.choose(dag);
    if (selected === undefined) return EXIT.ok;
    if (!selected.ok) return reportErrors(io.console, selected.errors);
    reportNotes(io.console, selected.notices, format);
    const effective = withAncestors(dag, selected.value);
    const found = await times.time(
      "restoreCheck",
      () => projectConnectors(dag.project.root, dag.project.connectors),
    );
    if (!found.ok) return reportErrors(io.console, found.errors);
    const connectors = found.value;
    const unusable = await times.time("restoreCheck", () => checkUse(dag, new Set(effective), connectors));
    if (unusable.length > 0) return reportErrors(io.console, unusable);
    const planned = await times.time("plan", () => planNodes(dag, new Set(effective), connectors));
    if (!planned.ok) return reportErrors(io.console, planned.errors);
    reportWarnings(io.console, planned.warnings);
    reportNotes(io.console, [...planned.notices, limitsLine(planned.value)], format);
    return { dag, plan: planned.value, connectors, effective };
  });
}

type ExecuteSettings = {
  readonly request: RunRequest;
  readonly identity: RunIdentity;
  readonly times: PhaseTimes;
  readonly format: LogFormat;
  readonly signal: AbortSignal;
};

async function execute(io: Io, prepared: PreparedRun, settings: ExecuteSettings): Promise<ExitCode> {
  const { dag, plan, connectors } = prepared;
  const { identity: { runId }, request, format, signal, times } = settings;
  const paths = runPaths(dag.project.root, runId);
  using _lock = await claimRunFolder(paths);
  // A run that could not begin leaves nothing behind that looks like one.
  const forget = () => Deno.remove(paths.folder, { recursive: true }).catch(() => {});
  const failFast = request.failFast ?? false;
  let resume: Resumption | undefined;
  try {
    const { resume: take } = request;
    using held = new DisposableStack();
    if (take !== undefined) {
      resume = await times.time("resume", () => take(dag, prepared.effective, runId, held));
      if (resume === undefined) {
        await forget();
        return EXIT.ok;
      }
    }
    const { selection, vars, checksOnly } = request;
    const connections = connectionHashes(Object.values(dag.project.connections));
    const { retryOf, inherited, redelivered } = resume ?? {};
    beginRunRecords(paths, {
      version: 1,
      selection,
      vars,
      failFast,
      checksOnly,
      connections,
      outputs: outputsOf(dag, resume?.effective ?? prepared.effective),
      redelivered,
      retryOf,
      inherited,
    });
    writeManifest(dag);
    writePlan(dag, plan);
  } catch (error) {
    await forget();
    throw error;
  }
  reportNotes(io.console, resume?.notes ?? [], format);

  using view = openView(io, format, plan, dag);
  signal.addEventListener(
    "abort",
    () => view.note("stopping: running work is cancelled; a second signal ends pz at once"),
  );
  const facts = new RunFacts();
  const bus = new EventBus({
    runId,
    now: () => new Date(io.now()).toISOString(),
    subscribers: [view, facts],
  });
  const outcome = await runProject({
    dag,
    plan,
    connectors,
    effective: resume?.effective ?? prepared.effective,
    runId,
    bus,
    failFast,
    resume,
    phases: times.get(),
    clock: { now: io.now },
    signal,
    onFinalize: () => drainViews(io.console, bus),
    onWarning: (message) => view.note(`warning: ${message}`),
  });
  const summary = (line: string) => reportLine(io.console, line, format);
  summary(
    `run ${runId}: ${outcome.succeeded} succeeded, ${outcome.failed} failed, ${outcome.skipped} skipped ` +
      `(${shownPath(io, paths.results)})`,
  );
  if (facts.cleaned !== undefined) summary(facts.cleaned);
  if (outcome.interrupted) summary("note: the run was stopped by a signal before it had done everything");
  if (outcome.unrecorded === undefined) return exitCodeOf(outcome);
  const code = reportThrown(io.console, outcome.unrecorded.error, false);
  return outcome.failed > 0 ? EXIT.failures : code;
}

/** The outputs among these nodes. */
function outputsOf({ nodes }: CompiledDag, effective: readonly string[]): readonly IntendedOutput[] {
  const running = new Set(effective);
  return nodes
    .filter((node) => node.kind === "SinkWrite")
    .filter(({ id }) => running.has(id))
    .map(({ id, name, write }) => ({ id, name, append: write.strategy === "append" }));
}
