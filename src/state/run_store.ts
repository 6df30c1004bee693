import { listRunIds } from "./run_folders.ts";
import { startOfRunId } from "./run_id.ts";
import { isRunLive } from "./run_lock.ts";
import { runPaths } from "./run_paths.ts";
import { readJournal, readReceipt, type StoredNode } from "./stored_run.ts";

/** One line of `pz runs`. */
export type RunSummary = {
  readonly runId: string;
  /** As the receipt says; `interrupted` for one that never ended although no process runs it any more. */
  readonly status: string;
  readonly interrupted: boolean;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly durationMs: number | null;
  readonly succeeded: number;
  readonly failed: number;
  readonly skipped: number;
  readonly reused: number;
  readonly carriedForward: number;
};

/**
 * The runs of a project, newest first; journal before receipt where they differ. A folder without both is listed only
 * while its run lives: it holds a run that was refused before its first node.
 */
export async function listRuns(projectRoot: string): Promise<readonly RunSummary[]> {
  const runs: RunSummary[] = [];
  for (const runId of await listRunIds(projectRoot)) {
    const summary = await summarize(projectRoot, runId);
    if (summary !== undefined) runs.push(summary);
  }
  return runs;
}

async function summarize(projectRoot: string, runId: string): Promise<RunSummary | undefined> {
  const paths = runPaths(projectRoot, runId);
  // The lock is looked at first: a run that ends in between has then written its receipt before that is read.
  const live = await isRunLive(paths.lock);
  const receipt = await readReceipt(paths.results);
  const journal = await readJournal(paths.journal);
  if (receipt === undefined && journal === undefined && !live) return undefined;
  const end = receipt !== undefined && receipt.status !== "running" ? receipt : journal?.end;
  const interrupted = end === undefined && !live;
  const nodes = mergeNodes(receipt?.nodes ?? [], journal?.nodes ?? []);
  const count = (test: (node: StoredNode) => boolean) => nodes.filter(test).length;
  const startedAt = receipt?.startedAt ?? startOfRunId(runId);
  const finishedAt = end?.finishedAt ?? null;
  return {
    runId,
    status: end?.status ?? (interrupted ? "interrupted" : "running"),
    interrupted: interrupted || end?.interrupted === true,
    startedAt,
    finishedAt,
    durationMs: finishedAt === null ? null : Math.max(0, Date.parse(finishedAt) - Date.parse(startedAt)),
    succeeded: count((node) => node.status === "success"),
    failed: count((node) => node.status === "failed"),
    skipped: count((node) => node.status === "skipped"),
    reused: count((node) => node.provenance === "reused"),
    carriedForward: count((node) => node.provenance === "carried_forward"),
  };
}

/** One entry for each node; what the journal says of a node wins. */
function mergeNodes(receipt: readonly StoredNode[], journal: readonly StoredNode[]): readonly StoredNode[] {
  const nodes = new Map<string, StoredNode>();
  for (const node of [...receipt, ...journal]) nodes.set(node.id, node);
  return [...nodes.values()];
}
