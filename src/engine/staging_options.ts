import type { NativeScan } from "../connectors/mod.ts";
import type { Plan } from "../plan/mod.ts";
import type { Project } from "../project/mod.ts";
import type { StagingOptions } from "../staging/mod.ts";
import type { RunPaths } from "../state/mod.ts";
import type { RunNode } from "./graph.ts";

/** Runs of more nodes get smaller blocks: a table takes at least one, so that many small ones would fill a disk. */
const MANY_NODES = 200;
const SMALL_BLOCK_BYTES = 65_536;

/**
 * How a run's staging database is opened: with the plan's limits, and with the files and folders of those connections
 * that DuckDB itself reads or writes in this run.
 */
export async function stagingOptions(
  project: Project,
  plan: Plan,
  nodes: readonly RunNode[],
  paths: RunPaths,
): Promise<StagingOptions> {
  const files = new Set<string>();
  const folders = new Set<string>();
  const native = nativeNodes(plan, nodes);
  for (const { connection, grant } of plan.grants) {
    if (!native.some((node) => node.connection === connection)) continue;
    for (const path of [...grant.read, ...grant.write]) {
      const kind = await kindOf(path);
      // What is not there yet may become either.
      if (kind !== "folder") files.add(path);
      if (kind !== "file") folders.add(path);
    }
  }
  if (nodes.some(({ id }) => isStaged(plan, id))) folders.add(paths.files);
  for (const { reads } of native) {
    for (const path of reads?.files ?? []) files.add(path);
    for (const path of reads?.folders ?? []) folders.add(path);
  }
  return {
    file: paths.staging,
    memoryLimitBytes: plan.limits.memoryLimitBytes,
    threads: plan.limits.threads,
    tempDirectory: plan.limits.tempDirectory ?? paths.spill,
    allowedPaths: { files: [...files], folders: [...folders] },
    preserveInsertionOrder: project.engine.preserveOrder,
    ...(nodes.length > MANY_NODES ? { blockBytes: SMALL_BLOCK_BYTES } : {}),
  };
}

/** Whether DuckDB reads or writes files of a node that a connector's process moves. */
function isStaged(plan: Plan, id: string): boolean {
  const node = plan.nodes.find((planned) => planned.id === id);
  return node?.stagedInput !== undefined || node?.stagedOutput !== undefined;
}

type NativeNode = { readonly connection: string | undefined; readonly reads: NativeScan["reads"] };

/** The nodes of the run that DuckDB moves by itself. */
function nativeNodes(plan: Plan, nodes: readonly RunNode[]): readonly NativeNode[] {
  const planned = new Map(plan.nodes.map((node) => [node.id, node]));
  return nodes.flatMap(({ id, connection }) => {
    const node = planned.get(id);
    return node?.scan === undefined && node?.copy === undefined ? [] : [{ connection, reads: node.scan?.reads }];
  });
}

async function kindOf(path: string): Promise<"file" | "folder" | "absent"> {
  try {
    return (await Deno.stat(path)).isDirectory ? "folder" : "file";
  } catch {
    return "absent";
  }
}
