import { machineLimits } from "../../duckdb/mod.ts";
import { selectNodes, withAncestors, Workbench } from "../../compile/mod.ts";
import { findConnector } from "../../connectors/mod.ts";
import { planRun } from "../../plan/mod.ts";
import { planChains, planFacts, planTable } from "../../render/mod.ts";
import { writePlan } from "../artifacts.ts";
import { EXIT, type ExitCode } from "../exit_codes.ts";
import type { Io } from "../io.ts";
import { loadAndCompile, newIdentity, PhaseTimes, type ProjectOptions } from "../phases.ts";
import { reportErrors, reportNotes, reportWarnings } from "../report.ts";
import { checkOptions } from "../option_check.ts";
import { checkConnectors } from "../restore_check.ts";
import { retryLines } from "../retry_lines.ts";
import { isNarrowed, selectionOf, type SelectionOptions } from "../selection.ts";

/** `pz plan`: how every byte will move and why, before anything moves. Writes plan.json and reads no data. */
export async function plan(io: Io, options: ProjectOptions & SelectionOptions): Promise<ExitCode> {
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
  const selected = selectNodes(dag, selectionOf(options), { requireFlow: false });
  if (!selected.ok) return reportErrors(io.console, selected.errors);
  const effective = new Set(withAncestors(dag, selected.value));
  const unusable = [...checkConnectors(dag, effective), ...checkOptions(dag, effective)];
  if (unusable.length > 0) return reportErrors(io.console, unusable);
  const planned = planRun(dag, { effective, findConnector, machine: await machineLimits() });
  if (!planned.ok) return reportErrors(io.console, planned.errors);
  reportWarnings(io.console, planned.warnings);
  writePlan(dag, planned.value);
  const shown = isNarrowed(options)
    ? planned.value.nodes.filter((node) => effective.has(node.id))
    : planned.value.nodes;
  for (const line of [...planTable(shown), ...planChains(planned.value, shown)]) io.console.out(line);
  if (isNarrowed(options)) {
    reportNotes(io.console, [
      "the table shows the selected nodes and what they need; plan.json covers the whole project",
    ]);
  }
  for (const line of [...planFacts(planned.value), ...retryLines(dag)]) io.console.out(line);
  reportNotes(io.console, planned.notices);
  return EXIT.ok;
}
