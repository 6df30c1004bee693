import { type CompiledDag, compileProject, dryCompile, type DryCompileOptions, Workbench } from "../compile/mod.ts";
import { findConnector, projectConnectors, systemLayer } from "../connectors/mod.ts";
import { loadProject } from "../project/mod.ts";
import { newRunId } from "../state/mod.ts";
import { withContractBlame } from "./contract_blame.ts";
import type { ExitCode } from "./exit_codes.ts";
import { type Io, projectRoot } from "./io.ts";
import { checkUse, planNodes } from "./plan_nodes.ts";
import { type LogFormat, reportErrors, reportNotes, reportWarnings } from "./report.ts";

/** The options that every verb over a project has. */
export type ProjectOptions = { readonly project?: string | undefined; readonly vars?: string | undefined };

/** What `--vars` holds; blank is the same as absent. */
export function varsOf({ vars }: ProjectOptions): string | undefined {
  return vars === undefined || vars.trim() === "" ? undefined : vars;
}

/** The names and times that one run of the phases goes by. */
export type RunIdentity = { readonly runId: string; readonly startedAt: number };

/** A new run id and the start that all of a run's times count from. */
export function newIdentity(io: Io): RunIdentity {
  const startedAt = io.now();
  return { runId: newRunId(startedAt, io.random()), startedAt };
}

/** Milliseconds of each phase, in the order in which they ran. */
export class PhaseTimes {
  readonly #now: () => number;
  readonly #times: { [phase: string]: number } = {};

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Runs one phase and keeps how long it took. */
  async time<T>(phase: string, work: () => T | Promise<T>): Promise<T> {
    const start = this.#now();
    try {
      return await work();
    } finally {
      this.#times[phase] = (this.#times[phase] ?? 0) + Math.max(0, this.#now() - start);
    }
  }

  /** The times so far. */
  get(): { readonly [phase: string]: number } {
    return { ...this.#times };
  }
}

/** Either what a phase gave, or the exit code after its problems were written. */
export type Step<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly exit: ExitCode };

/** How a verb wants its project compiled. What is left out: a new identity, times for nobody, warnings, text. */
export type CompileSettings = {
  readonly identity?: RunIdentity;
  readonly times?: PhaseTimes;
  /** Whether warnings are written; notes always are. */
  readonly warn?: boolean;
  readonly format?: LogFormat;
};

/**
 * Phases 1 and 2, then `work` on the graph with the DuckDB that compiled it. A project that does not compile ends with
 * its problems on the console, and the exit code for that.
 */
export async function withCompiled<T>(
  io: Io,
  options: ProjectOptions,
  settings: CompileSettings,
  work: (dag: CompiledDag, workbench: Workbench) => T | Promise<T>,
): Promise<T | ExitCode> {
  systemLayer(); // asked now, while that is allowed
  await using workbench = new Workbench();
  const compiled = await loadAndCompile(io, options, settings, workbench);
  return compiled.ok ? await work(compiled.value, workbench) : compiled.exit;
}

/**
 * Phases 1 and 2: loads and compiles the project, and writes its problems, warnings and notes.
 *
 * @param workbench where SQL is read; undefined: it is not, and DuckDB stays unloaded
 */
export async function loadAndCompile(
  io: Io,
  options: ProjectOptions,
  settings: CompileSettings,
  workbench?: Workbench,
): Promise<Step<CompiledDag>> {
  const { identity = newIdentity(io), times = new PhaseTimes(io.now), warn = true, format = "text" } = settings;
  const project = await times.time(
    "load",
    () => loadProject(projectRoot(io, options.project), { env: io.env, vars: varsOf(options) }),
  );
  if (!project.ok) return { ok: false, exit: reportErrors(io.console, project.errors) };
  const dag = await times.time("compile", () =>
    compileProject(project.value, {
      runId: identity.runId,
      runStartedAt: new Date(identity.startedAt).toISOString(),
      env: io.env,
      canMerge,
      ...(workbench === undefined ? { inspectSql: false } : { workbench }),
    }));
  if (warn) reportWarnings(io.console, project.warnings);
  reportNotes(io.console, project.notices, format);
  if (!dag.ok) return { ok: false, exit: reportErrors(io.console, dag.errors) };
  if (warn) reportWarnings(io.console, dag.warnings);
  reportNotes(io.console, dag.notices, format);
  return { ok: true, value: dag.value };
}

/** The graph of a project without its read hints, or undefined when anything is wrong with it; writes nothing. */
export async function compileQuietly(io: Io, options: ProjectOptions): Promise<CompiledDag | undefined> {
  const { runId, startedAt } = newIdentity(io);
  const project = await loadProject(projectRoot(io, options.project), { env: io.env, vars: varsOf(options) });
  if (!project.ok) return undefined;
  const runStartedAt = new Date(startedAt).toISOString();
  const dag = await compileProject(project.value, { runId, runStartedAt, env: io.env, inspectSql: false });
  return dag.ok ? dag.value : undefined;
}

/** Whether a connector writes by merging, as far as it is known. */
function canMerge(name: string): boolean {
  const connector = findConnector(name);
  return connector === undefined || connector === "planned" || connector.capabilities.has("Merge");
}

/**
 * Phase 3: checks every pipeline's SQL against empty tables; errors and warnings are written, with what the data itself says
 * against the contracts that those tables are made from.
 */
export async function checkSql(
  io: Io,
  dag: CompiledDag,
  { times, workbench, scans = {} }: {
    readonly times: PhaseTimes;
    readonly workbench: Workbench;
    /** How to look for the columns of sources without a contract; absent: pipelines that read those are left out. */
    readonly scans?: DryCompileOptions;
  },
): Promise<Step<CompiledDag>> {
  const outcome = await times.time("validate", () => dryCompile(dag, { ...scans, workbench }));
  if (outcome.ok) {
    reportWarnings(io.console, outcome.warnings);
    return { ok: true, value: dag };
  }
  const all = new Set(dag.nodes.map(({ id }) => id));
  const connectors = await projectConnectors(dag.project.root, dag.project.connectors);
  const planned = !connectors.ok || checkUse(dag, all, connectors.value).length > 0
    ? undefined
    : await planNodes(dag, all, connectors.value);
  const refusals = planned === undefined || planned.ok ? [] : planned.errors;
  return { ok: false, exit: reportErrors(io.console, withContractBlame(dag, outcome.errors, refusals)) };
}
