import { kindName, selectNodes } from "../../compile/mod.ts";
import { tableRow } from "../../render/mod.ts";
import { EXIT, type ExitCode } from "../exit_codes.ts";
import type { Io } from "../io.ts";
import { loadAndCompile, type ProjectOptions } from "../phases.ts";
import { reportErrors } from "../report.ts";

const WIDTHS = [11, 40, 0];

/** `pz ls`: one row for each node, in the order in which they would run. Writes nothing. */
export async function ls(
  io: Io,
  options: ProjectOptions & { readonly select?: string | undefined },
): Promise<ExitCode> {
  const compiled = await loadAndCompile(io, options, { warn: false });
  if (!compiled.ok) return compiled.exit;
  const selection = { names: [], select: options.select, all: false };
  const selected = selectNodes(compiled.value, selection, { requireFlow: false });
  if (!selected.ok) return reportErrors(io.console, selected.errors);
  const wanted = new Set(selected.value);
  io.console.out(tableRow(WIDTHS, ["kind", "name", "tags"]));
  for (const node of compiled.value.nodes) {
    if (!wanted.has(node.id)) continue;
    io.console.out(tableRow(WIDTHS, [kindName(node.kind), node.name, node.tags.join(",") || "-"]));
  }
  return EXIT.ok;
}
