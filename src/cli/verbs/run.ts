import { selectNodes } from "../../compile/mod.ts";
import type { ExitCode } from "../exit_codes.ts";
import type { Io } from "../io.ts";
import { parseLogFormat, performRun, type RunVerbOptions } from "../perform_run.ts";
import { reportLine } from "../report.ts";
import { isNarrowed, selectionOf, type SelectionOptions } from "../selection.ts";

/** `pz run`: runs the selected nodes with all that they need. */
export function run(io: Io, options: RunVerbOptions & SelectionOptions): Promise<ExitCode> {
  const selection = selectionOf(options);
  return performRun(io, {
    ...options,
    selection,
    choose: (dag) => {
      if (dag.nodes.length > 0 || isNarrowed(options)) return selectNodes(dag, selection, { requireFlow: true });
      reportLine(io.console, "nothing to run: there is no pipeline in pipelines/", parseLogFormat(options.logFormat));
      return undefined;
    },
  });
}
