import type { PipelineFile, Project } from "../project/mod.ts";
import { ordinal } from "../util/mod.ts";
import type {
  CheckNode,
  DagNode,
  PipelineNode,
  ReadHints,
  SinkWriteNode,
  SourceLoadNode,
  SqlWatermark,
} from "./dag.ts";
import { NODE_KINDS } from "./dag.ts";
import { checkNames } from "./check_names.ts";
import type { SinkEntity, SourceEntity } from "./entities.ts";
import type { PipelineLinks } from "./links.ts";
import { entityKey } from "./names.ts";
import { checkId, pipelineId, sinkId, sourceId } from "./node_id.ts";
import { watermarksOf } from "./semantics/watermark_calls.ts";
import { topologicalOrder } from "./topology.ts";

export type NodeInputs = {
  readonly project: Project;
  readonly links: readonly PipelineLinks[];
  readonly sources: readonly SourceEntity[];
  readonly sinks: readonly SinkEntity[];
  /** By entity key. */
  readonly hints: ReadonlyMap<string, ReadHints>;
  /** By entity key. */
  readonly watermarks: ReadonlyMap<string, SqlWatermark>;
};

/** Builds every node with its id and edges, in topological order. */
export function buildNodes(inputs: NodeInputs): readonly DagNode[] {
  const loads = new Map<string, SourceLoadNode>();
  for (const source of inputs.sources) {
    const key = entityKey(source.connection.name, source.entity);
    loads.set(key, loadNode(source, inputs.hints.get(key), inputs.watermarks.get(key)));
  }
  const ids = new Map(inputs.links.map((link) => [link.query.rendered.pipeline.name, idOfPipeline(link)]));
  const pipelines = inputs.links.map((link) => pipelineNode(link, ids, loads));
  const checks = inputs.links.flatMap((link) => checkNodes(inputs.project, link.query.rendered.pipeline, ids));
  const gates = gatesByPipeline(inputs.links, checks);
  const sinks = inputs.sinks.map((sink) => sinkNode(sink, ids, gates));
  const nodes: DagNode[] = [...loads.values(), ...pipelines, ...checks, ...sinks];
  const { ordered } = topologicalOrder(
    nodes.map((node) => ({ id: node.id, name: node.name, rank: NODE_KINDS.indexOf(node.kind), node })),
    ({ node }) => node.dependsOn,
  );
  return ordered.map(({ node }) => node);
}

function loadNode(
  source: SourceEntity,
  hints: ReadHints | undefined,
  watermark: SqlWatermark | undefined,
): SourceLoadNode {
  const { connection, entity, relation, read, position } = source;
  return {
    kind: "SourceLoad",
    id: sourceId(connection.name, entity, read, hints),
    name: relation,
    dependsOn: [],
    file: position.file,
    tags: [],
    connection,
    entity,
    relation,
    read,
    position,
    ...(read.columns === undefined ? {} : { columns: read.columns }),
    ...(hints === undefined ? {} : { hints }),
    ...(watermark === undefined ? {} : { watermark }),
  };
}

function idOfPipeline({ query, ephemerals }: PipelineLinks): string {
  const { name, materialization } = query.rendered.pipeline;
  return pipelineId(
    name,
    materialization,
    query.identitySql,
    ephemerals.map((ephemeral) => [ephemeral.rendered.pipeline.name, ephemeral.identitySql] as const),
  );
}

function pipelineNode(
  link: PipelineLinks,
  ids: ReadonlyMap<string, string>,
  loads: ReadonlyMap<string, SourceLoadNode>,
): PipelineNode {
  const { query, executed: { sql, map }, shownSql } = link;
  const { pipeline } = query.rendered;
  return {
    kind: "Pipeline",
    id: ids.get(pipeline.name) ?? "",
    name: pipeline.name,
    dependsOn: sortedIds([
      ...link.refs.map((ref) => ids.get(ref)),
      ...link.sources.map((source) => loads.get(entityKey(source.connection, source.entity))?.id),
    ]),
    file: pipeline.file,
    tags: pipeline.tags,
    relation: pipeline.name,
    materialization: pipeline.materialization,
    sql,
    shownSql,
    secrets: [...new Set([query, ...link.ephemerals].flatMap(({ rendered }) => rendered.secrets))],
    map,
    watermarks: watermarksOf(link),
  };
}

function checkNodes(project: Project, pipeline: PipelineFile, ids: ReadonlyMap<string, string>): readonly CheckNode[] {
  const names = checkNames(pipeline.name, pipeline.checks);
  return pipeline.checks.map((check, index) => ({
    kind: "Check",
    id: checkId(pipeline.name, check),
    name: names[index] ?? "",
    dependsOn: sortedIds([ids.get(pipeline.name)]),
    file: pipeline.file,
    tags: [],
    pipeline: pipeline.name,
    relation: pipeline.name,
    check,
    sampleValues: check.sampleValues ?? project.engine.checkSamples,
  }));
}

/** The gating checks of each pipeline and of all that it reads, by pipeline. */
function gatesByPipeline(
  links: readonly PipelineLinks[],
  checks: readonly CheckNode[],
): (pipeline: string) => readonly string[] {
  const own = new Map<string, string[]>();
  for (const { check, pipeline, id } of checks) {
    if (check.severity === "gate") own.set(pipeline, [...(own.get(pipeline) ?? []), id]);
  }
  if (own.size === 0) return () => [];
  const refs = new Map(links.map((link) => [link.query.rendered.pipeline.name, link.refs]));
  return (pipeline) => {
    const reached = new Set([pipeline]);
    for (const name of reached) for (const ref of refs.get(name) ?? []) reached.add(ref);
    return [...reached].flatMap((name) => own.get(name) ?? []);
  };
}

function sinkNode(
  sink: SinkEntity,
  ids: ReadonlyMap<string, string>,
  gates: (pipeline: string) => readonly string[],
): SinkWriteNode {
  const { connection, entity, pipeline, write, position } = sink;
  return {
    kind: "SinkWrite",
    id: sinkId(connection.name, entity, pipeline, write),
    name: `${connection.name}.${entity}`,
    dependsOn: sortedIds([ids.get(pipeline), ...gates(pipeline)]),
    file: position.file,
    tags: [],
    connection,
    entity,
    pipeline,
    relation: pipeline,
    write,
    position,
  };
}

function sortedIds(ids: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(ids.filter((id) => id !== undefined))].sort(ordinal);
}
