import { type CompiledDag, type Selection, selectNodes } from "../../compile/mod.ts";
import { type Outcome, succeed } from "../../errors/mod.ts";
import type { ExitCode } from "../exit_codes.ts";
import type { Io } from "../io.ts";
import { parseLogFormat, performRun, type RunVerbOptions } from "../perform_run.ts";
import { type LogFormat, reportLine, reportNotes } from "../report.ts";

/**
 * `pz test`: runs the checks, or those that are selected themselves or by their pipeline, with all that they need; never
 * a sink.
 */
export function test(io: Io, options: RunVerbOptions & { readonly select?: string | undefined }): Promise<ExitCode> {
  const selection = { names: [], select: options.select, all: options.select === undefined };
  return performRun(io, {
    ...options,
    failFast: false,
    checksOnly: true,
    selection,
    choose: (dag) => chooseChecks(io, dag, selection, parseLogFormat(options.logFormat)),
  });
}

/** The checks that a selection means; undefined: none, and it has been said. */
export function chooseChecks(
  io: Io,
  dag: CompiledDag,
  selection: Selection,
  format: LogFormat | undefined,
): Outcome<readonly string[]> | undefined {
  const selected = selectNodes(dag, selection, { requireFlow: false });
  if (!selected.ok) return selected;
  const wanted = new Set(selected.value);
  const checks = dag.nodes.filter((node) => node.kind === "Check");
  const pipelines = new Set(
    dag.nodes.flatMap((node) => node.kind === "Pipeline" && wanted.has(node.id) ? [node.name] : []),
  );
  const chosen = checks.filter(({ id, pipeline }) => wanted.has(id) || pipelines.has(pipeline));
  if (chosen.length > 0) return succeed(chosen.map(({ id }) => id));
  if (wanted.size === 0) reportNotes(io.console, selected.notices, format);
  reportLine(io.console, checks.length === 0 ? "no checks defined" : "the selection has no checks", format);
  return undefined;
}
