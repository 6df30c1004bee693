import { join } from "node:path";
import { PzError } from "../../errors/mod.ts";
import { formatSize } from "../../render/mod.ts";
import { isRunLive, RUN_ID_REGEXP, runPaths, startOfRunId } from "../../state/mod.ts";
import { ordinal } from "../../util/mod.ts";
import { planCleaning, type RunFolder } from "../clean_plan.ts";
import { deleteAll, isThere, sizeOf } from "../disk_use.ts";
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
  let swept = 0, kept = 0, freed = 0, failed = 0;
  const skipped: string[] = [];
  for (const [run, action] of planCleaning(await runFolders(root), rules)) {
    if (action === "keep") kept++;
    if (action === "skip_live") skipped.push(run.id);
    if (action !== "delete_folder" && action !== "delete_staging") continue;
    const paths = runPaths(root, run.id);
    const doomed = action === "delete_folder" ? [paths.folder] : [paths.staging, `${paths.staging}.wal`, paths.spill];
    try {
      freed += await (options.dryRun ? sizeOf(doomed) : deleteAll(doomed));
      swept++;
    } catch (error) {
      failed++;
      io.console.err(
        `warning: could not clean ${run.id}: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
  if (swept === 0 && failed === 0) io.console.out(`${prefix}nothing to clean`);
  if (swept > 0) {
    const what = rules.purge ? "whole directories" : "staging only";
    io.console.out(`${prefix}swept   ${swept} run(s) (${what}) — freed ${formatSize(freed)}`);
    io.console.out(`${prefix}kept    ${kept} run(s)`);
  }
  for (const id of skipped) io.console.out(`${prefix}skipped ${id} (live run)`);
  if (rules.purge && rules.keepLast === 0 && swept > 0 && kept === 0) {
    reportNotes(io.console, ["no run is left, so there is nothing that `pz retry` could resume"]);
  }
  return failed > 0 ? EXIT.failures : EXIT.ok;
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

/** The run folders, newest first; folders with other names are left alone. */
async function runFolders(root: string): Promise<readonly RunFolder[]> {
  const ids: string[] = [];
  try {
    for await (const entry of Deno.readDir(join(root, ".pz", "runs"))) {
      if (entry.isDirectory && RUN_ID_REGEXP.test(entry.name)) ids.push(entry.name);
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  ids.sort((a, b) => ordinal(b, a));
  return await Promise.all(ids.map(async (id) => {
    const paths = runPaths(root, id);
    return {
      id,
      live: await isRunLive(paths.lock),
      hasStaging: await isThere(paths.staging) || await isThere(`${paths.staging}.wal`) || await isThere(paths.spill),
      startedAt: Date.parse(startOfRunId(id)),
    };
  }));
}
