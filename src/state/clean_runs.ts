import { join } from "node:path";
import { ordinal } from "../util/mod.ts";
import { type CleanAction, type CleanRules, planCleaning, type RunFolder } from "./clean_plan.ts";
import { deleteAll, isThere, sizeOf } from "./disk_use.ts";
import { listRunIds } from "./run_folders.ts";
import { startOfRunId } from "./run_id.ts";
import { isRunLive, takeIfFree } from "./run_lock.ts";
import { runPaths } from "./run_paths.ts";

/** What cleaning did to one folder, or with `dryRun` would do. */
export type Cleaned = {
  /** The run's id, or the name of a working folder. */
  readonly id: string;
  readonly action: CleanAction;
  /** Bytes freed; 0 where nothing was deleted or `error` says why it was not. */
  readonly bytes: number;
  readonly error?: unknown;
};

export type CleanOptions = { readonly dryRun: boolean };

/**
 * Deletes staging databases (with their log and spill files) or whole folders of a project's runs by the rules; newest
 * first. A folder is locked while it is deleted, and one that lives is left alone, as is everything whose name is not a
 * run id. A folder that can't be deleted is told and the next one follows.
 *
 * @throws what kept the folders from being listed
 */
export async function cleanRuns(
  projectRoot: string,
  rules: CleanRules,
  { dryRun }: CleanOptions,
): Promise<readonly Cleaned[]> {
  const cleaned: Cleaned[] = [];
  for (const [{ id }, action] of planCleaning(await runFolders(projectRoot), rules)) {
    if (action === "keep" || action === "skip_live") {
      cleaned.push({ id, action, bytes: 0 });
      continue;
    }
    const paths = runPaths(projectRoot, id);
    const doomed = action === "delete_folder" ? [paths.folder] : stagingFiles(paths);
    cleaned.push(await clean({ id, action, lock: paths.lock, doomed, dryRun }));
  }
  return cleaned;
}

/**
 * Deletes the working folders below `.pz/tmp` that no living process holds by the lock `.lock` inside; in the order of
 * their names. Never a file, and nothing elsewhere.
 *
 * @throws what kept the folders from being listed
 */
export async function cleanWorkFolders(projectRoot: string, { dryRun }: CleanOptions): Promise<readonly Cleaned[]> {
  const root = join(projectRoot, ".pz", "tmp");
  const cleaned: Cleaned[] = [];
  for (const id of await workFolders(root)) {
    const folder = join(root, id);
    cleaned.push(await clean({ id, action: "delete_folder", lock: join(folder, ".lock"), doomed: [folder], dryRun }));
  }
  return cleaned;
}

type Job = {
  readonly id: string;
  readonly action: CleanAction;
  readonly lock: string;
  readonly doomed: readonly string[];
  readonly dryRun: boolean;
};

async function clean({ id, action, lock, doomed, dryRun }: Job): Promise<Cleaned> {
  try {
    // A whole folder goes only with its lock held, even one that nobody has locked yet: a run may just begin in it.
    using held = await takeIfFree(lock, { create: action === "delete_folder" && !dryRun });
    if (held === undefined) return { id, action: "skip_live", bytes: 0 };
    return { id, action, bytes: await (dryRun ? sizeOf(doomed) : deleteAll(doomed)) };
  } catch (error) {
    // It may have become a run's while it was deleted.
    if (await isRunLive(lock)) return { id, action: "skip_live", bytes: 0 };
    return { id, action, bytes: 0, error };
  }
}

async function runFolders(projectRoot: string): Promise<readonly RunFolder[]> {
  const ids = await listRunIds(projectRoot);
  return await Promise.all(ids.map(async (id) => {
    const paths = runPaths(projectRoot, id);
    const there = await Promise.all(stagingFiles(paths).map(isThere));
    return {
      id,
      live: await isRunLive(paths.lock),
      hasStaging: there.includes(true),
      startedAt: Date.parse(startOfRunId(id)),
    };
  }));
}

function stagingFiles({ staging, spill }: { readonly staging: string; readonly spill: string }): readonly string[] {
  return [staging, `${staging}.wal`, spill];
}

async function workFolders(root: string): Promise<readonly string[]> {
  const names: string[] = [];
  try {
    for await (const { name, isDirectory } of Deno.readDir(root)) if (isDirectory) names.push(name);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return names.sort(ordinal);
}
