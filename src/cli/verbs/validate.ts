import { machineLimits } from "../../duckdb/mod.ts";
import { dryCompile, Workbench } from "../../compile/mod.ts";
import { findConnector } from "../../connectors/mod.ts";
import { PzError, sortErrors } from "../../errors/mod.ts";
import { dryCompileScans, planRun } from "../../plan/mod.ts";
import { EXIT, type ExitCode } from "../exit_codes.ts";
import type { Io } from "../io.ts";
import { loadAndCompile, newIdentity, PhaseTimes, type ProjectOptions } from "../phases.ts";
import { reportErrors, reportNotes, reportWarnings } from "../report.ts";
import { checkOptions } from "../option_check.ts";
import { checkConnectors } from "../restore_check.ts";

export type ValidateOptions = ProjectOptions & { readonly connect?: boolean | undefined };

/** What a connector says of a file that is not there: a project can be right before its data has come. */
const MISSING_DATA = "PZ0353";

/**
 * `pz validate`: everything that can be said of a project without moving data, from the cheapest to the dearest: files,
 * templates and graph, connectors and their options, plan and SQL. A step that finds something ends it. Writes nothing.
 */
export async function validate(io: Io, options: ValidateOptions): Promise<ExitCode> {
  if (options.connect) {
    return reportErrors(io.console, [
      new PzError("PZ0700", "--connect is not supported yet", { hint: "run `pz validate` without it" }),
    ]);
  }
  await using workbench = new Workbench();
  const settings = {
    identity: newIdentity(io),
    times: new PhaseTimes(io.now),
    warn: true,
    format: "text",
    workbench,
  } as const;
  const compiled = await loadAndCompile(io, options, settings);
  if (!compiled.ok) return compiled.exit;
  const dag = compiled.value;
  const all = new Set(dag.nodes.map((node) => node.id));
  const unusable = [...checkConnectors(dag, all), ...checkOptions(dag, all)];
  if (unusable.length > 0) return reportErrors(io.console, unusable);
  const planned = planRun(dag, { effective: all, findConnector, machine: await machineLimits() });
  const sql = await dryCompile(dag, { ...dryCompileScans(dag, findConnector), workbench });
  const refusals = planned.ok ? [] : planned.errors.filter(({ code }) => code !== MISSING_DATA);
  reportWarnings(
    io.console,
    planned.ok ? planned.warnings : planned.errors.filter(({ code }) => code === MISSING_DATA),
  );
  if (refusals.length > 0 || !sql.ok) {
    return reportErrors(io.console, sortErrors([...refusals, ...(sql.ok ? [] : sql.errors)]));
  }
  reportWarnings(io.console, sql.warnings);
  reportNotes(io.console, sql.notices);
  const connections = new Set(dag.nodes.flatMap((node) => "connection" in node ? [node.connection.name] : []));
  io.console.out(
    `validation passed (${dag.project.pipelines.length} pipelines, ${connections.size} connections checked)`,
  );
  return EXIT.ok;
}
