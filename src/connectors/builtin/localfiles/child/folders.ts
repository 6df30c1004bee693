import { dirname, join } from "node:path";
import { syncFolder } from "../../../../util/mod.ts";

/** Makes a folder with those above it; returns the ones that were not there, outermost first. */
export function makeFolders(folder: string): readonly string[] {
  const missing: string[] = [];
  for (let at = folder; !isThere(at); at = dirname(at)) missing.unshift(at);
  const made: string[] = [];
  try {
    for (const path of missing) {
      try {
        Deno.mkdirSync(path);
        made.push(path);
      } catch (error) {
        // Another write may have made it meanwhile.
        if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
      }
    }
  } catch (error) {
    removeLeftovers([], made);
    throw error;
  }
  return made;
}

/** Takes away what a write left: files and folders with all that they hold, then folders made for it that are empty. */
export function removeLeftovers(paths: readonly string[], made: readonly string[]): void {
  for (const path of paths) attempt(() => Deno.removeSync(path, { recursive: true }));
  for (const folder of made.toReversed()) attempt(() => Deno.removeSync(folder));
}

/**
 * Gives a complete file or folder its final name. A folder in its place can't be replaced in one step: it is put aside
 * first, under a name that the next run of the project knows, and comes back if the move fails.
 */
export function publish(aside: string, final: string): void {
  const former = isFolder(final) ? `${aside}.old` : undefined;
  if (former !== undefined) Deno.renameSync(final, former);
  try {
    Deno.renameSync(aside, final);
  } catch (error) {
    if (former !== undefined) attempt(() => Deno.renameSync(former, final));
    throw error;
  }
  syncFolder(dirname(final));
  if (former === undefined) return;
  attempt(() => {
    Deno.renameSync(former, `${former}.trash`);
    Deno.removeSync(`${former}.trash`, { recursive: true });
  });
}

/** Brings the names in a folder and in all folders below it onto the disk. */
export async function syncFolders(folder: string): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) await syncFolders(join(folder, name));
  }
  syncFolder(folder);
}

/** What nobody may look at is there: it is above what was granted. */
function isThere(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch (error) {
    return !(error instanceof Deno.errors.NotFound) || dirname(path) === path;
  }
}

function isFolder(path: string): boolean {
  try {
    return Deno.lstatSync(path).isDirectory;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

function attempt(work: () => void): void {
  try {
    work();
  } catch { /* what can't be cleaned up must not hide why it has to be */ }
}
