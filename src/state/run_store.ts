import { listRunIds } from "./run_folders.ts";
import { RUN_ID_REGEXP, startOfRunId } from "./run_id.ts";
import { readRunIntent, type RunIntent } from "./run_intent.ts";
import { isRunLive } from "./run_lock.ts";
import { runPaths } from "./run_paths.ts";
import { readJournal, readReceipt, type StartedWrite, type StoredNode } from "./stored_run.ts";

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
  /** The run that it is a retry of; absent: of none. */
  readonly retryOf?: string;
};

/** All that a run's files tell of it. */
export type StoredRun = {
  readonly summary: RunSummary;
  /** Whether a process runs it now. */
  readonly live: boolean;
  /** One for each node that ended, in the order in which they did; what the journal says wins. */
  readonly nodes: readonly StoredNode[];
  /** Writes that began. */
  readonly started: readonly StartedWrite[];
  /**
   * Whether records of it are lost, so that a write that the others do not tell of may have begun all the same, or even
   * have ended.
   */
  readonly isRecordLost: boolean;
  /** Undefined: it is not known what it was asked to do. */
  readonly intent: RunIntent | undefined;
};

/**
 * The runs of a project, newest first; journal before receipt where they differ. A folder without both is listed only
 * while its run lives: it holds a run that was refused before its first node.
 */
export async function listRuns(projectRoot: string): Promise<readonly RunSummary[]> {
  const runs: RunSummary[] = [];
  for (const runId of await listRunIds(projectRoot)) {
    const found = await readFiles(projectRoot, runId);
    if (found !== undefined) runs.push(found.summary);
  }
  return runs;
}

/**
 * All that is known of a run. Undefined for a text that is no run's id, such as a path, and for a folder that holds none: no folder, or one without receipt, journal and
 * intent whose run does not live.
 */
export async function readRun(projectRoot: string, runId: string): Promise<StoredRun | undefined> {
  if (!RUN_ID_REGEXP.test(runId)) return undefined;
  const intent = await readRunIntent(runPaths(projectRoot, runId).intent);
  const found = await readFiles(projectRoot, runId, intent !== undefined);
  return found === undefined ? undefined : { ...found, intent };
}

/** @param begun whether the folder is known to be a run's, even without a trace of its nodes */
async function readFiles(
  projectRoot: string,
  runId: string,
  begun = false,
): Promise<Omit<StoredRun, "intent"> | undefined> {
  const paths = runPaths(projectRoot, runId);
  // The lock is looked at first: a run that ends in between has then written its receipt before that is read.
  const live = await isRunLive(paths.lock);
  const receipt = await readReceipt(paths.results);
  const journal = await readJournal(paths.journal);
  const hasTrace = receipt !== undefined || (journal !== undefined && !journal.isBlank);
  if (!hasTrace && !live && !begun) return undefined;
  const end = receipt !== undefined && receipt.status !== "running" ? receipt : journal?.end;
  const interrupted = end === undefined && !live;
  const nodes = mergeNodes(receipt?.nodes ?? [], journal?.nodes ?? []);
  const count = (test: (node: StoredNode) => boolean) => nodes.filter(test).length;
  const startedAt = receipt?.startedAt ?? startOfRunId(runId);
  const finishedAt = end?.finishedAt ?? null;
  const summary = {
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
    ...(receipt?.retryOf === undefined ? {} : { retryOf: receipt.retryOf }),
  };
  return {
    summary,
    live,
    nodes,
    started: journal?.started ?? [],
    isRecordLost: end === undefined && !live &&
      (journal?.isBegun !== true || (receipt === undefined && journal.isTorn)),
  };
}

/** One entry for each node; what the journal says of a node wins. */
function mergeNodes(receipt: readonly StoredNode[], journal: readonly StoredNode[]): readonly StoredNode[] {
  const nodes = new Map<string, StoredNode>();
  for (const node of [...receipt, ...journal]) nodes.set(node.id, node);
  return [...nodes.values()];
}
