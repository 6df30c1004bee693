import { listRunIds } from "./run_folders.ts";
import { isRunLive } from "./run_lock.ts";
import { runPaths } from "./run_paths.ts";

export type SweepResult = { readonly runsSwept: number; readonly bytesFreed: number; readonly failures: number };

/**
 * Deletes staging databases (with their log and spill files) of all but the newest `keepLast` runs; live runs are left
 * alone, and so is everything whose name is not a run id. One that can't be deleted is counted and the sweep goes on.
 * Never throws.
 */
export async function sweepRuns(projectRoot: string, keepLast: number): Promise<SweepResult> {
  let ids: readonly string[];
  try {
    ids = await listRunIds(projectRoot);
  } catch {
    return { runsSwept: 0, bytesFreed: 0, failures: 1 };
  }
  let runsSwept = 0, bytesFreed = 0, failures = 0;
  for (const id of ids.slice(keepLast)) {
    const paths = runPaths(projectRoot, id);
    try {
      if (await isRunLive(paths.lock)) continue;
      const freed = await removeAll([paths.staging, `${paths.staging}.wal`, paths.spill]);
      if (freed === undefined) continue;
      runsSwept++;
      bytesFreed += freed;
    } catch {
      failures++;
    }
  }
  return { runsSwept, bytesFreed, failures };
}

/** Bytes of the files and folders that were there, now gone; undefined when none was. */
async function removeAll(paths: readonly string[]): Promise<number | undefined> {
  let freed: number | undefined;
  for (const path of paths) {
    const size = await sizeOf(path);
    if (size === undefined) continue;
    await Deno.remove(path, { recursive: true });
    freed = (freed ?? 0) + size;
  }
  return freed;
}

async function sizeOf(path: string): Promise<number | undefined> {
  let info: Deno.FileInfo;
  try {
    info = await Deno.lstat(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
  if (!info.isDirectory) return info.size;
  let total = 0;
  for await (const entry of Deno.readDir(path)) total += await sizeOf(`${path}/${entry.name}`) ?? 0;
  return total;
}
