/** A run folder as cleaning sees it. */
export type RunFolder = {
  readonly id: string;
  /** Whether a process runs it now. */
  readonly live: boolean;
  readonly hasStaging: boolean;
  /** Milliseconds since 1970 when it started. */
  readonly startedAt: number;
};

export type CleanRules = {
  /** How many of the newest runs stay untouched. */
  readonly keepLast: number;
  /** Only runs that started before this moment go; undefined: of any age. */
  readonly before: number | undefined;
  /** Whole folders instead of staging databases. */
  readonly purge: boolean;
};

/** What happens to a run folder. */
export type CleanAction = "keep" | "skip_live" | "delete_staging" | "delete_folder";

/** Decides for each run folder, newest first. */
export function planCleaning<F extends RunFolder>(
  runs: readonly F[],
  { keepLast, before, purge }: CleanRules,
): readonly (readonly [F, CleanAction])[] {
  return runs.map((run, index) => {
    if (run.live) return [run, "skip_live"];
    if (index < keepLast) return [run, "keep"];
    if (before !== undefined && !(run.startedAt < before)) return [run, "keep"];
    if (purge) return [run, "delete_folder"];
    return [run, run.hasStaging ? "delete_staging" : "keep"];
  });
}
