import type { CompiledDag } from "../compile/mod.ts";
import type { SystemLayer } from "../connectors/mod.ts";
import { PzError } from "../errors/mod.ts";
import type { PlannedNode } from "./plan.ts";

/** The ways of a connector's process. */
const IN_PROCESS: ReadonlySet<PlannedNode["strategy"]> = new Set(["arrow_stream", "staged_scan", "staged_copy"]);

/** What there is to say where connectors' processes run without the operating system's part of the sandbox. */
export type SandboxGap = { readonly errors: readonly PzError[]; readonly notices: readonly string[] };

/**
 * An error where the project requires the whole sandbox, and else a notice; neither without a node that moves something
 * through a process.
 */
export function sandboxGap(
  project: CompiledDag["project"],
  running: readonly PlannedNode[],
  layer: SystemLayer,
): SandboxGap {
  if ("landlock" in layer || !running.some(({ strategy }) => IN_PROCESS.has(strategy))) {
    return { errors: [], notices: [] };
  }
  const what = `connectors run in the runtime's sandbox alone, without the operating system's, since ${layer.missing}`;
  if (project.engine.sandbox !== "require") return { errors: [], notices: [what] };
  const hint = "run on Linux 5.13 or newer, in a container that allows Landlock, or set engine.sandbox to auto";
  return {
    errors: [new PzError("PZ0743", `'engine.sandbox: require' can't be met: ${what}`, { file: "project.yml", hint })],
    notices: [],
  };
}
