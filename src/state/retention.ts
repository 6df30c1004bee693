import { type Cleaned, cleanRuns, cleanWorkFolders } from "./clean_runs.ts";

export type SweepResult = { readonly runsSwept: number; readonly bytesFreed: number; readonly failures: number };

/**
 * The cleaning at the end of a run: deletes staging databases of all but the newest `keepLast` runs, and working folders
 * that nobody uses any more. Live runs are left alone. The bytes are of both; what can't be deleted is counted, frees
 * nothing and stops nothing. Never throws.
 */
export async function sweepRuns(projectRoot: string, keepLast: number): Promise<SweepResult> {
  const options = { dryRun: false };
  const runs = await attempt(() => cleanRuns(projectRoot, { keepLast, before: undefined, purge: false }, options));
  const work = await attempt(() => cleanWorkFolders(projectRoot, options));
  const both = [...runs.cleaned, ...work.cleaned];
  return {
    runsSwept: runs.cleaned.filter(({ action, error }) => action === "delete_staging" && error === undefined).length,
    bytesFreed: both.reduce((sum, { bytes }) => sum + bytes, 0),
    failures: runs.failures + work.failures + both.filter(({ error }) => error !== undefined).length,
  };
}

type Attempt = { readonly cleaned: readonly Cleaned[]; readonly failures: number };

async function attempt(work: () => Promise<readonly Cleaned[]>): Promise<Attempt> {
  try {
    return { cleaned: await work(), failures: 0 };
  } catch {
    return { cleaned: [], failures: 1 };
  }
}
