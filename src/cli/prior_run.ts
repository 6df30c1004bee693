import { PzError } from "../errors/mod.ts";
import { listRunIds, readRun, type RunIntent, runPaths, type StoredRun, takeIfFree } from "../state/mod.ts";

/** The run that a retry is of, and what to tell of the choice. */
export type PriorRun = { readonly run: StoredRun; readonly intent: RunIntent; readonly notes: readonly string[] };

/** The way out where a retry has none, with its price. */
const RUN_ANEW = "`pz run` does all of it, and appends once more what was appended before";

/**
 * Finds the run to retry: the newest, or the one that is named, or else the newest retry of that, which knows more. One
 * that succeeded is found as well.
 *
 * @throws {PzError} PZ0502 where there is none, PZ0503 while it is running, PZ0504 for one that ended on an error of pz's
 * own, PZ0771 for one of which it is not known what it was asked to do
 */
export async function findPriorRun(root: string, wanted: string | undefined): Promise<PriorRun> {
  const ids = await listRunIds(root);
  const named = wanted === undefined ? await newest(root, ids) : await readRun(root, wanted);
  if (named === undefined) {
    if (wanted === undefined) throw new PzError("PZ0502", "there is no earlier run to retry", { hint: "use `pz run`" });
    throw new PzError("PZ0502", `there is no run '${wanted}'`, { hint: "`pz runs` lists the runs" });
  }
  const { run, idle } = await runToRetry(root, ids, named);
  const { summary: { runId, status, interrupted }, live, nodes, intent } = run;
  if (live) {
    throw new PzError("PZ0503", `run ${runId} is still running (${nodes.length} node(s) recorded)`, {
      hint: "wait until it has ended, or stop it",
    });
  }
  if (status === "fatal" && !interrupted) {
    throw new PzError("PZ0504", `run ${runId} ended on a fatal error, and a retry can't build on it`, {
      hint: RUN_ANEW,
    });
  }
  if (intent === undefined) {
    throw new PzError("PZ0771", `run ${runId} can't be retried: it is not known what it was asked to do`, {
      hint: `its intent.json is missing or of another pz; ${RUN_ANEW}`,
    });
  }
  const notes = idle.map((id) =>
    `run ${id} ended before it did anything: this retries run ${runId}, and what was decided by options is to be said again`
  );
  if (idle.length === 0 && run !== named) {
    notes.push(`run ${named.summary.runId} was retried already: this retries run ${runId}`);
  }
  const later = await newest(root, ids.filter((id) => !idle.includes(id)));
  if (later !== undefined && later.summary.runId !== runId && !isIdle(later)) {
    notes.push(`run ${later.summary.runId} is newer: what it wrote may be written over with older rows`);
  }
  return { run, intent, notes };
}

/**
 * Keeps others from retrying the same run at the same time.
 *
 * @param own the id of the retry
 * @throws {PzError} PZ0503 where somebody does
 */
export async function holdPriorRun(root: string, { summary: { runId } }: StoredRun, own: string): Promise<Disposable> {
  const lock = await takeIfFree(runPaths(root, runId).lock);
  if (lock !== undefined) {
    const retries = await Promise.all(
      (await listRunIds(root)).filter((id) => id !== runId && id !== own).map((id) => readRun(root, id)),
    );
    if (!retries.some((run) => run !== undefined && retriedBy(run) === runId && !isIdle(run))) return lock;
    lock[Symbol.dispose]();
  }
  throw new PzError("PZ0503", `run ${runId} is being retried by another process`, {
    hint: "wait until that has ended, and see `pz runs`",
  });
}

async function newest(root: string, ids: readonly string[]): Promise<StoredRun | undefined> {
  for (const id of ids) {
    const run = await readRun(root, id);
    if (run !== undefined) return run;
  }
  return undefined;
}

/** The run that another is a retry of; undefined: of none. */
function retriedBy({ intent, summary }: StoredRun): string | undefined {
  return intent?.retryOf ?? summary.retryOf;
}

/**
 * Whether a run that does not live any more ended before its first node, in a way that nothing can build on: its staging
 * could not be opened, or what it was asked to do is not known.
 */
function isIdle({ live, nodes, started, isRecordLost, intent, summary: { status, interrupted } }: StoredRun): boolean {
  if (live || isRecordLost || nodes.length + started.length > 0) return false;
  return intent === undefined || (status === "fatal" && !interrupted);
}

/**
 * The newest of the retries of a run, of their retries, and so on; the run itself where there is none. Retries that did
 * nothing are passed over, as `idle` tells, in whichever direction.
 */
async function runToRetry(
  root: string,
  ids: readonly string[],
  named: StoredRun,
): Promise<{ readonly run: StoredRun; readonly idle: readonly string[] }> {
  const idle: string[] = [];
  let first = named;
  for (let before = retriedBy(first); before !== undefined && isIdle(first); before = retriedBy(first)) {
    const former = idle.includes(before) ? undefined : await readRun(root, before);
    if (former === undefined) return { run: first, idle: [] };
    idle.push(first.summary.runId);
    first = former;
  }
  return { run: await lastRetry(root, ids, first), idle };
}

/** As `runToRetry`, but forward alone. */
async function lastRetry(root: string, ids: readonly string[], run: StoredRun): Promise<StoredRun> {
  const retries = new Map<string, StoredRun>();
  // Oldest first, so that of several the newest counts. A clock that was set back gives a retry an id before its run's.
  for (const id of ids.toReversed()) {
    const retry = await readRun(root, id);
    const of = retry === undefined || isIdle(retry) ? undefined : retriedBy(retry);
    if (retry !== undefined && of !== undefined) retries.set(of, retry);
  }
  const seen = new Set([run.summary.runId]);
  let last = run;
  for (let next = retries.get(last.summary.runId); next !== undefined; next = retries.get(last.summary.runId)) {
    if (seen.has(next.summary.runId)) break;
    seen.add(next.summary.runId);
    last = next;
  }
  return last;
}
