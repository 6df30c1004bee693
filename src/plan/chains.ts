import type { CompiledDag, DagNode, PipelineNode, SinkWriteNode, SourceLoadNode } from "../compile/mod.ts";
import type { Chain, PlannedNode } from "./plan.ts";

/**
 * The chains of one load, one pipeline and one write, in the order of their pipelines, each with the first condition
 * that keeps it from being one statement of DuckDB's.
 */
export function chainsOf(dag: CompiledDag, planned: readonly PlannedNode[]): readonly Chain[] {
  const byId = new Map(dag.nodes.map((node) => [node.id, node]));
  const plans = new Map(planned.map((node) => [node.id, node]));
  const readers = new Map<string, DagNode[]>();
  for (const node of dag.nodes) {
    for (const id of node.dependsOn) readers.set(id, [...(readers.get(id) ?? []), node]);
  }
  const chains: Chain[] = [];
  for (const pipeline of dag.nodes) {
    if (pipeline.kind !== "Pipeline") continue;
    const inputs = pipeline.dependsOn.flatMap((id) => byId.get(id) ?? []);
    const consumers = readers.get(pipeline.id) ?? [];
    const load = inputs.find((node) => node.kind === "SourceLoad");
    const write = consumers.find((node) => node.kind === "SinkWrite");
    if (load === undefined || write === undefined) continue;
    const obstacle = structure({ load, pipeline, write }, inputs, consumers, readers) ??
      settings(dag, load, write) ?? tiers(plans.get(load.id), plans.get(write.id));
    chains.push({
      load: load.id,
      pipeline: pipeline.id,
      write: write.id,
      ...(obstacle === undefined ? {} : { obstacle }),
    });
  }
  return chains;
}

type Links = { readonly load: SourceLoadNode; readonly pipeline: PipelineNode; readonly write: SinkWriteNode };

function structure(
  { load, pipeline, write }: Links,
  inputs: readonly DagNode[],
  consumers: readonly DagNode[],
  readers: ReadonlyMap<string, readonly DagNode[]>,
): string | undefined {
  if (inputs.length > 1) return `the pipeline reads ${inputs.length} inputs`;
  if ((readers.get(load.id)?.length ?? 0) > 1) return "the source has several readers";
  if (consumers.some((node) => node.kind === "Check")) return "a check reads the pipeline";
  if (consumers.length > 1) return `the pipeline has ${consumers.length} consumers`;
  if (write.dependsOn.length > 1) return "a gating check holds the write back";
  if (pipeline.watermarks.length > 0) return "the pipeline compares with a watermark";
  return undefined;
}

function settings({ project }: CompiledDag, load: SourceLoadNode, write: SinkWriteNode): string | undefined {
  if (project.engine.staging === "always") return "engine.staging is always";
  if (load.read.sync?.mode === "incremental" || load.read.sync?.mode === "cdc") return "the source is not read in full";
  if (project.onSourceDrift !== "ignore" && load.columns === undefined) return "the source is watched for drift";
  if (write.write.strategy !== "replace") return `the strategy is ${write.write.strategy}`;
  return undefined;
}

function tiers(load: PlannedNode | undefined, write: PlannedNode | undefined): string | undefined {
  if (load?.strategy !== "native_scan") return "the source is not read by DuckDB itself";
  if (write?.strategy !== "native_copy") return "the output is not written by DuckDB itself";
  return undefined;
}
