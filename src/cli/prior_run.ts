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
  const asked = wanted === undefined ? await newest(root, ids) : await readRun(root, wanted);
  const named = asked === undefined ? undefined : await withoutFailedRetries(root, asked);
  if (named === undefined) {
    if (wanted === undefined) throw new PzError("PZ0502", "there is no earlier run to retry", { hint: "use `pz run`" });
    throw new PzError("PZ0502", `there is no run '${wanted}'`, { hint: "`pz runs` lists the runs" });
  }
  const run = await lastRetry(root, ids, named);
  const { summary: { runId, status, interrupted }, live, nodes, intent } = run;
  if (live) {
    throw new PzError("PZ0503", `run ${runId} is still running (${nodes.length} node(s) recorded)`, {
      hint: "wait until it has ended, or stop it",
    });
  }
  if (status === "fatal" && !interrupted && !cameToNothing(run)) {
    throw new PzError("PZ0504", `run ${runId} ended on a fatal error, and a retry can't build on it`, {
      hint: RUN_ANEW,
    });
  }
  if (intent === undefined) {
    throw new PzError("PZ0771", `run ${runId} can't be retried: it is not known what it was asked to do`, {
      hint: `its intent.json is missing or of another pz; ${RUN_ANEW}`,
    });
  }
  const notes = run === named ? [] : [`run ${named.summary.runId} was retried already: this retries run ${runId}`];
  const later = await newest(root, ids);
  if (later !== undefined && later.summary.runId !== runId) {
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
    if (!retries.some((run) => run?.intent?.retryOf === runId && !cameToNothing(run))) return lock;
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

/** Whether a run ended on an error of pz's own before anything of it began, so that all is as it was before. */
function cameToNothing({ summary: { status, interrupted }, live, nodes, started, isDamaged }: StoredRun): boolean {
  return status === "fatal" && !interrupted && !live && !isDamaged && nodes.length === 0 && started.length === 0;
}

/** The run itself, or where it is a retry that came to nothing the one that it was of. */
async function withoutFailedRetries(root: string, run: StoredRun): Promise<StoredRun> {
  const seen = new Set<string>();
  let found = run;
  while (cameToNothing(found) && !seen.has(found.summary.runId)) {
    seen.add(found.summary.runId);
    const before = found.intent?.retryOf ?? found.summary.retryOf;
    const prior = before === undefined ? undefined : await readRun(root, before);
    if (prior === undefined) break;
    found = prior;
  }
  return found;
}

/** The newest of the retries of a run, of their retries, and so on; the run itself where there is none. */
async function lastRetry(root: string, ids: readonly string[], run: StoredRun): Promise<StoredRun> {
  const retries = new Map<string, StoredRun>();
  // Oldest first, so that of several the newest counts. A clock that was set back gives a retry an id before its run's.
  for (const id of ids.toReversed()) {
    const retry = await readRun(root, id);
    if (retry?.intent?.retryOf !== undefined && !cameToNothing(retry)) retries.set(retry.intent.retryOf, retry);
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
