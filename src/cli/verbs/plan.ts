import { type CompiledDag, selectNodes, withAncestors } from "../../compile/mod.ts";
import { projectConnectors } from "../../connectors/mod.ts";
import { findConnector } from "../../connectors/mod.ts";
import { dryCompileScans, type Plan } from "../../plan/mod.ts";
import { planChains, planFacts, planTable } from "../../render/mod.ts";
import { writePlan } from "../artifacts.ts";
import { EXIT, type ExitCode } from "../exit_codes.ts";
import type { Io } from "../io.ts";
import { checkSql, PhaseTimes, type ProjectOptions, withCompiled } from "../phases.ts";
import { checkUse, planNodes } from "../plan_nodes.ts";
import { reportErrors, reportNotes, reportWarnings } from "../report.ts";
import { retryLines } from "../retry_lines.ts";
import { isNarrowed, selectionOf, type SelectionOptions } from "../selection.ts";

/** `pz plan`: how every byte will move and why, before anything moves. Writes plan.json and reads no data. */
export function plan(io: Io, options: ProjectOptions & SelectionOptions): Promise<ExitCode> {
  return withCompiled(io, options, {}, async (dag, workbench) => {
    const scans = dryCompileScans(dag, findConnector);
    const checked = await checkSql(io, dag, { times: new PhaseTimes(io.now), workbench, scans });
    if (!checked.ok) return checked.exit;
    const selected = selectNodes(dag, selectionOf(options), { requireFlow: false });
    if (!selected.ok) return reportErrors(io.console, selected.errors);
    const effective = new Set(withAncestors(dag, selected.value));
    const connectors = await projectConnectors(dag.project.root, dag.project.connectors);
    if (!connectors.ok) return reportErrors(io.console, connectors.errors);
    const unusable = checkUse(dag, effective, connectors.value);
    if (unusable.length > 0) return reportErrors(io.console, unusable);
    const planned = await planNodes(dag, effective, connectors.value);
    if (!planned.ok) return reportErrors(io.console, planned.errors);
    reportWarnings(io.console, planned.warnings);
    writePlan(dag, planned.value);
    show(io, dag, planned.value, isNarrowed(options) ? effective : undefined);
    reportNotes(io.console, planned.notices);
    return EXIT.ok;
  });
}

/** Writes the table and what holds for all of it. @param wanted the nodes to show; undefined: all */
function show(io: Io, dag: CompiledDag, planned: Plan, wanted: ReadonlySet<string> | undefined): void {
  const shown = wanted === undefined ? planned.nodes : planned.nodes.filter(({ id }) => wanted.has(id));
  for (const line of [...planTable(shown), ...planChains(planned, shown)]) io.console.out(line);
  if (wanted !== undefined) {
    reportNotes(io.console, [
      "the table shows the selected nodes and what they need; plan.json covers the whole project",
    ]);
  }
  for (const line of [...planFacts(planned), ...retryLines(dag)]) io.console.out(line);
}
