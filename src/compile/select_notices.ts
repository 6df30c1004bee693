import type { CompiledDag } from "./dag.ts";

const NAMES_SHOWN = 5;

/**
 * What a selector leaves out and its writer may not have meant to: nothing at all selected, or pipelines whose outputs
 * are not selected and therefore will not be written.
 */
export function selectNotices(dag: CompiledDag, select: string, ids: ReadonlySet<string>): readonly string[] {
  if (ids.size === 0) {
    return [`--select '${select}' leaves no node: between names a comma means both at once, a blank means either`];
  }
  const selected = new Set(
    dag.nodes.flatMap((node) => node.kind === "Pipeline" && ids.has(node.id) ? [node.name] : []),
  );
  const unwritten = dag.nodes.filter((node) =>
    node.kind === "SinkWrite" && selected.has(node.pipeline) && !ids.has(node.id)
  );
  if (unwritten.length === 0) return [];
  const shown = unwritten.slice(0, NAMES_SHOWN).map((node) => node.name).join(", ");
  const more = unwritten.length > NAMES_SHOWN ? ` and ${unwritten.length - NAMES_SHOWN} more` : "";
  return [
    `the selection writes nothing to ${shown}${more}: a '+' behind a pipeline's name (or tag) selects what follows from it`,
  ];
}
