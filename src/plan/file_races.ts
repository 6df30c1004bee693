import { dirname } from "node:path";
import type { CompiledDag, SinkWriteNode, SourceLoadNode } from "../compile/mod.ts";
import type { NativeScan } from "../connectors/mod.ts";
import { PzError, sortErrors } from "../errors/mod.ts";
import { ordinal } from "../util/mod.ts";
import type { PlannedNode } from "./plan.ts";
import { PROBE_RUN } from "./sink_plan.ts";

/**
 * PZ0704, a warning, for each source that reads what a sink of the same run writes: nothing orders the two, so that the
 * source finds the former content or the new one. A pipeline that replaces what it has itself read is in order.
 */
export function warnOfFileRaces(
  dag: CompiledDag,
  planned: ReadonlyMap<string, PlannedNode>,
  effective: ReadonlySet<string>,
): readonly PzError[] {
  const running = dag.nodes.filter(({ id }) => effective.has(id));
  const sinks = running.filter((node) => node.kind === "SinkWrite");
  const written = sinks.map((sink) => ({ sink, targets: targetsOf(planned.get(sink.id)) }));
  const warnings: PzError[] = [];
  for (const source of running) {
    if (source.kind !== "SourceLoad") continue;
    const load = planned.get(source.id);
    const reads = load?.scan?.reads ?? load?.reads;
    const meets = ({ sink, targets }: Written) =>
      reads === undefined ? isSameEntity(source, sink) : targets.some((target) => isRead(target, reads));
    for (const { sink, targets } of written) {
      if (!meets({ sink, targets }) || needs(dag, sink.id, source.id)) continue;
      warnings.push(warning(dag, source, sink));
    }
  }
  return sortErrors(warnings);
}

type Written = { readonly sink: SinkWriteNode; readonly targets: readonly string[] };

/** Whether both mean one thing of one system, for connectors that do not tell of places on this machine. */
function isSameEntity(source: SourceLoadNode, sink: SinkWriteNode): boolean {
  return source.connection.name === sink.connection.name && source.entity === sink.entity;
}

/** Where a sink's files end. */
function targetsOf(planned: PlannedNode | undefined): readonly string[] {
  return planned?.writes ?? planned?.copy?.({ run: PROBE_RUN, ordinal: 1 }).moves.map(({ to }) => to) ?? [];
}

/** Whether a scan opens a target: the file itself, or by a pattern the folder that holds it or is it. */
function isRead(
  target: string,
  reads: NonNullable<NativeScan["reads"]> | undefined,
): boolean {
  return reads !== undefined && (reads.files.includes(target) ||
    reads.folders.some((folder) => folder === target || folder === dirname(target)));
}

/** Whether a node comes after another. */
function needs(dag: CompiledDag, id: string, needed: string): boolean {
  const byId = new Map(dag.nodes.map((node) => [node.id, node]));
  const waiting = [id];
  const seen = new Set(waiting);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next === needed) return true;
    for (const before of byId.get(next)?.dependsOn ?? []) {
      if (!seen.has(before)) waiting.push(before);
      seen.add(before);
    }
  }
  return false;
}

function warning(dag: CompiledDag, source: SourceLoadNode, sink: SinkWriteNode): PzError {
  const readers = dag.nodes
    .filter((node) => node.kind === "Pipeline" && node.dependsOn.includes(source.id))
    .map(({ name }) => `'${name}'`)
    .sort(ordinal);
  const who = readers.length === 1 ? `pipeline ${readers[0]}` : `pipelines ${readers.join(", ")}`;
  return new PzError(
    "PZ0704",
    `source '${source.connection.name}.${source.entity}' of ${who} reads what sink '${sink.name}' of pipeline ` +
      `'${sink.pipeline}' writes in the same run, and nothing says which comes first`,
    { ...source.position, hint: `read the pipeline itself: {{ ref('${sink.pipeline}') }}` },
  );
}
