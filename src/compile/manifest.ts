import { type CompiledDag, type DagNode, type DagNodeKind, NODE_KINDS } from "./dag.ts";

const KIND_NAMES: { readonly [kind in DagNodeKind]: string } = {
  SourceLoad: "source_load",
  Pipeline: "pipeline",
  Check: "check",
  SinkWrite: "sink_write",
};

/** A kind as manifest.json and `pz ls` spell it, such as `source_load`. */
export function kindName(kind: DagNodeKind): string {
  return KIND_NAMES[kind];
}

/** The text of manifest.json: indented by 2, LF, final newline; a pure function of the project. */
export function manifestJson(dag: CompiledDag): string {
  const manifest = {
    project: dag.project.name,
    version: dag.project.version,
    generatedBy: "pz",
    nodes: dag.nodes.map((node) => ({
      id: node.id,
      kind: kindName(node.kind),
      name: node.name,
      dependsOn: node.dependsOn,
      tags: node.tags,
      file: node.file,
    })),
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

export type CompiledFile = { readonly pipeline: string; readonly text: string };

/** What `.pz/target/compiled/<pipeline>.sql` holds for each pipeline: outputs as comments, then its SQL, masked. */
export function compiledFiles(dag: CompiledDag): readonly CompiledFile[] {
  const outputs = new Map<string, string[]>();
  for (const node of dag.nodes) {
    if (node.kind !== "SinkWrite") continue;
    const { format } = node.write.options;
    const how = typeof format === "string" ? `${format}, ${node.write.strategy}` : node.write.strategy;
    outputs.set(node.pipeline, [...(outputs.get(node.pipeline) ?? []), `-- output: ${node.name} (${how})`]);
  }
  return dag.nodes.filter(isPipeline).map((node) => ({
    pipeline: node.name,
    text: [...(outputs.get(node.name) ?? []).sort(), node.shownSql, ""].join("\n"),
  }));
}

function isPipeline(node: DagNode): node is Extract<DagNode, { kind: "Pipeline" }> {
  return node.kind === "Pipeline";
}

/** The rank of a kind among nodes that are ready at the same time. */
export function kindRank(kind: DagNodeKind): number {
  return NODE_KINDS.indexOf(kind);
}
