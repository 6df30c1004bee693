import { PzError } from "../../errors/mod.ts";
import { formatSize } from "../../render/mod.ts";
import { type Cleaned, cleanRuns, cleanWorkFolders } from "../../state/mod.ts";
import { EXIT, type ExitCode } from "../exit_codes.ts";
import { type Io, projectRoot } from "../io.ts";
import { checkProjectFile } from "../project_file.ts";
import { reportErrors, reportNotes } from "../report.ts";

export type CleanOptions = {
  readonly project?: string | undefined;
  /** As the user wrote them. */
  readonly keepLast?: string | undefined;
  readonly olderThan?: string | undefined;
  readonly purge?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
};

const DURATION = /^(\d+)(ms|s|m|h|d)$/;
const UNIT_MS: { readonly [unit: string]: number } = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `pz clean`: deletes staging databases, or with `--purge` whole run folders. A broken project never blocks it. */
export async function clean(io: Io, options: CleanOptions): Promise<ExitCode> {
  const rules = parseRules(io, options);
  if (rules instanceof PzError) return reportErrors(io.console, [rules]);
  const root = projectRoot(io, options.project);
  const missing = await checkProjectFile(root);
  if (missing !== undefined) return reportErrors(io.console, [missing]);

  const prefix = options.dryRun ? "dry-run: " : "";
  const how = { dryRun: options.dryRun ?? false };
  const runs = await cleanRuns(root, rules, how);
  const work = await cleanWorkFolders(root, how);
  const swept = runs.filter(isSwept);
  const sweptWork = work.filter(isSwept);
  const failed = [...runs, ...work].filter(({ error }) => error !== undefined);
  const kept = runs.filter(({ action }) => action === "keep").length;
  for (const { id, error } of failed) {
    io.console.err(`warning: could not clean ${id}: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (swept.length + sweptWork.length + failed.length === 0) io.console.out(`${prefix}nothing to clean`);
  if (swept.length > 0) {
    const what = rules.purge ? "whole directories" : "staging only";
    io.console.out(`${prefix}swept   ${swept.length} run(s) (${what}) — freed ${formatSize(bytesOf(swept))}`);
    io.console.out(`${prefix}kept    ${kept} run(s)`);
  }
  for (const { id, action } of runs) {
    if (action === "skip_live") io.console.out(`${prefix}skipped ${id} (live run)`);
  }
  if (sweptWork.length > 0) {
    const freed = formatSize(bytesOf(sweptWork));
    io.console.out(`${prefix}swept   ${sweptWork.length} stale restore workdir(s) — freed ${freed}`);
  }
  if (!how.dryRun && rules.purge && rules.keepLast === 0 && swept.length > 0 && kept === 0) {
    reportNotes(io.console, ["no run is left: `pz runs` lists nothing until the next `pz run`"]);
  }
  return failed.length > 0 ? EXIT.failures : EXIT.ok;
}

function parseRules(io: Io, { keepLast, olderThan, purge }: CleanOptions) {
  if (keepLast !== undefined && olderThan !== undefined) {
    return new PzError("PZ0511", "--keep-last and --older-than were both given", { hint: "choose one of them" });
  }
  if (keepLast !== undefined && !/^\d+$/.test(keepLast)) {
    return new PzError("PZ0512", `--keep-last is '${keepLast}', but must be a whole number of at least 0`);
  }
  let before: number | undefined;
  if (olderThan !== undefined) {
    const [, count = "0", unit = ""] = DURATION.exec(olderThan) ?? [];
    const ms = Number(count) * (UNIT_MS[unit] ?? 0);
    if (!Number.isSafeInteger(ms) || ms <= 0) {
      return new PzError(
        "PZ0512",
        `--older-than is '${olderThan}', but must be a duration such as 500ms, 2s, 5m, 1h or 7d`,
      );
    }
    before = io.now() - ms;
  }
  return { keepLast: keepLast === undefined ? 1 : Number(keepLast), before, purge: purge ?? false };
}

function isSwept({ action, error }: Cleaned): boolean {
  return error === undefined && (action === "delete_staging" || action === "delete_folder");
}

function bytesOf(cleaned: readonly Cleaned[]): number {
  return cleaned.reduce((sum, { bytes }) => sum + bytes, 0);
}
