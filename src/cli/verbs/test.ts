import { selectNodes } from "../../compile/mod.ts";
import { succeed } from "../../errors/mod.ts";
import type { ExitCode } from "../exit_codes.ts";
import type { Io } from "../io.ts";
import { parseLogFormat, performRun, type RunVerbOptions } from "../perform_run.ts";
import { reportLine } from "../report.ts";

/** `pz test`: runs the checks, or the selected ones, with all that they need; never a sink. */
export function test(io: Io, options: RunVerbOptions & { readonly select?: string | undefined }): Promise<ExitCode> {
  const selection = { names: [], select: options.select, all: options.select === undefined };
  return performRun(io, {
    ...options,
    failFast: false,
    selection,
    choose: (dag) => {
      const selected = selectNodes(dag, selection, { requireFlow: false });
      if (!selected.ok) return selected;
      const wanted = new Set(selected.value);
      const checks = dag.nodes.filter((node) => node.kind === "Check" && wanted.has(node.id)).map((node) => node.id);
      if (checks.length > 0) return succeed(checks);
      reportLine(io.console, "no checks defined", parseLogFormat(options.logFormat));
      return undefined;
    },
  });
}
