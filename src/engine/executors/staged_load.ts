import type { SourceLoadNode } from "../../compile/mod.ts";
import type { FetchedFile, NativeScan } from "../../connectors/mod.ts";
import { PzError } from "../../errors/mod.ts";
import type { StagedInput } from "../../plan/mod.ts";
import { StepError } from "../failure.ts";
import type { NodeContext, NodeOutcome } from "../run_context.ts";
import { openStagedFolder } from "./staged_folder.ts";
import { sweepLeftovers } from "./staged_sweep.ts";

const PROGRESS_EVERY_BYTES = 64 * 1024 * 1024;

/**
 * Has the connector's process fetch the files of a dataset, and then DuckDB read them, with `load`. The files are deleted
 * when they are read, and when anything fails.
 */
export async function loadStaged(
  context: NodeContext,
  node: SourceLoadNode,
  { dataset, scan }: StagedInput,
  load: (scan: NativeScan) => Promise<NodeOutcome>,
): Promise<NodeOutcome> {
  await sweepLeftovers(context, node);
  const start = performance.now();
  await using folder = await openStagedFolder(context, node);
  const files = await fetchAll(context, node, dataset, folder.path);
  const extractMs = Math.round(performance.now() - start);
  const found = scan(folder.path, files);
  if (!found.ok) {
    const [problem] = found.problems;
    throw new StepError(
      "read",
      new PzError(problem?.code ?? "PZ0353", problem?.message ?? "the files can't be read", {
        ...node.position,
        hint: problem?.hint,
      }),
    );
  }
  const outcome = await load(found.value);
  return { ...outcome, stages: { ...outcome.stages, extractMs } };
}

async function fetchAll(
  { run, signal }: NodeContext,
  node: SourceLoadNode,
  dataset: StagedInput["dataset"],
  folder: string,
): Promise<readonly FetchedFile[]> {
  const session = run.sessions.get(node.connection);
  const files: FetchedFile[] = [];
  let bytes = 0;
  let told = 0;
  const onBytes = (more: number) => {
    bytes += more;
    if (bytes < told + PROGRESS_EVERY_BYTES) return;
    told = bytes;
    run.bus.publish({
      event: "node_progress",
      nodeId: node.id,
      name: node.name,
      rows: 0,
      bytes,
      batches: files.length,
    });
  };
  try {
    if (session.fetchFiles === undefined) throw new Error("the session can't fetch files");
    for await (const file of session.fetchFiles(dataset, { folder, signal, onBytes })) files.push(file);
  } catch (error) {
    signal.throwIfAborted();
    throw new StepError("read", error);
  }
  return files;
}
