import type { CompiledDag, DagNode, PipelineNode, SinkWriteNode, SourceLoadNode } from "../compile/mod.ts";
import { PzError } from "../errors/mod.ts";
import { keyRefusal, type Refusal } from "./refusal.ts";

/** PZ0700 for what a read asks for and pz understands but does not do yet. */
export function notYetSource(node: SourceLoadNode): readonly Refusal[] {
  const name = `${node.connection.name}.${node.entity}`;
  const { sync } = node.read;
  const refusals: Refusal[] = [];
  if (sync !== undefined && sync.mode !== "auto") {
    const hint = "remove sync to read everything in each run";
    refusals.push(
      keyRefusal(node, "sync", "PZ0700", `'sync: { mode: ${sync.mode} }' of '${name}' does not run yet`, hint),
    );
  }
  return refusals;
}

/** PZ0700 for what a write asks for and pz understands but does not do yet. */
export function notYetSink(node: SinkWriteNode): readonly Refusal[] {
  const { write } = node;
  const asked = [
    ...(write.onDelete === "delete" || write.onDelete === "soft" ? ["on_delete"] : []),
    ...(write.skipUnchanged === true ? ["skip_unchanged"] : []),
  ];
  return asked.map((what) =>
    keyRefusal(node, what, "PZ0700", `'${what}' of '${node.name}' does not run yet`, `remove '${what}'`)
  );
}

/** PZ0700 for `watermark()` in a pipeline's SQL. */
export function notYetPipeline(node: PipelineNode): readonly Refusal[] {
  return node.watermarks.map(({ connection, entity, position }) => ({
    error: new PzError("PZ0700", `watermark('${connection}', '${entity}') does not run yet`, {
      ...position,
      hint: "remove the comparison to read everything in each run",
    }),
  }));
}

/** PZ0700 for settings of the whole project that some node to run would need. */
export function notYetProject(project: CompiledDag["project"], running: readonly DagNode[]): readonly PzError[] {
  if (running.length === 0) return [];
  const contractless = running.some((node) => node.kind === "SourceLoad" && node.columns === undefined);
  const asked = [
    ...(project.onSourceDrift !== "ignore" && contractless ? [`on_source_drift: ${project.onSourceDrift}`] : []),
    ...(project.state.backend === "local" ? [] : [`state.backend: ${project.state.backend}`]),
  ];
  return asked.map((what) =>
    new PzError("PZ0700", `'${what}' does not run yet`, { file: "project.yml", hint: `remove '${what}'` })
  );
}
