import { selectNodes } from "../../compile/mod.ts";
import { targetPaths } from "../../state/mod.ts";
import { writeCompiled, writeManifest } from "../artifacts.ts";
import { EXIT, type ExitCode } from "../exit_codes.ts";
import { type Io, shownPath } from "../io.ts";
import { type ProjectOptions, withCompiled } from "../phases.ts";
import { reportErrors } from "../report.ts";

/** `pz compile`: writes the graph and every pipeline's SQL as DuckDB will get it. Opens no connection. */
export function compile(
  io: Io,
  options: ProjectOptions & { readonly select?: string | undefined },
): Promise<ExitCode> {
  return withCompiled(io, options, { warn: false }, (all) => {
    const selection = { names: [], select: options.select, all: options.select === undefined };
    const selected = selectNodes(all, selection, { requireFlow: false });
    if (!selected.ok) return reportErrors(io.console, selected.errors);
    const wanted = new Set(selected.value);
    const dag = { ...all, nodes: all.nodes.filter((node) => wanted.has(node.id)) };
    writeManifest(dag);
    writeCompiled(dag);
    io.console.out(`Compiled ${dag.nodes.length} nodes -> ${shownPath(io, targetPaths(dag.project.root).folder)}`);
    return EXIT.ok;
  });
}
