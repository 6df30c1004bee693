import { selectNodes } from "../../compile/mod.ts";
import type { ExitCode } from "../exit_codes.ts";
import type { Io } from "../io.ts";
import { performRun, type RunVerbOptions } from "../perform_run.ts";
import { selectionOf, type SelectionOptions } from "../selection.ts";

/** `pz run`: runs the selected nodes with all that they need. */
export function run(io: Io, options: RunVerbOptions & SelectionOptions): Promise<ExitCode> {
  const selection = selectionOf(options);
  return performRun(io, { ...options, selection, choose: (dag) => selectNodes(dag, selection, { requireFlow: true }) });
}
