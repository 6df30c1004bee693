import { dirname, join } from "node:path";
import type { NativeCopy } from "../connectors/mod.ts";
import { PzError } from "../errors/mod.ts";
import { blockerOf } from "../state/mod.ts";
import { faultPoint, syncFolder } from "../util/mod.ts";

type Move = NativeCopy["moves"][number];

/** Makes folders with those above them; returns the ones that were not there, outermost first. */
export function makeFolders(folders: readonly string[]): readonly string[] {
  const made: string[] = [];
  const make = (folder: string) => {
    if (isThere(folder)) return;
    const parent = dirname(folder);
    if (parent !== folder) make(parent);
    try {
      Deno.mkdirSync(folder);
      made.push(folder);
    } catch (error) {
      // Another node may have made it meanwhile.
      if (!(error instanceof Deno.errors.AlreadyExists) || !isThere(folder)) throw error;
    }
  };
  for (const folder of folders) make(folder);
  return made;
}

/** Whether a folder is there; PZ0501 where something else is in its way. */
function isThere(folder: string): boolean {
  const blocker = blockerOf(folder);
  if (blocker !== undefined) {
    throw new PzError("PZ0501", `'${blocker.path}' is ${blocker.what}, but the output needs a folder there`, {
      hint: "move or delete it, or write to another folder: see root and path of the connection",
    });
  }
  return exists(folder);
}

/** Takes away what a failed write left: its temporary files, then the folders made for it that are empty. */
export function removeLeftovers(moves: readonly Move[], made: readonly string[]): void {
  for (const { from } of moves) attempt(() => Deno.removeSync(from, { recursive: true }));
  for (const folder of made.toReversed()) attempt(() => Deno.removeSync(folder));
}

/** Brings the content of a file, or of a folder with all below it, onto the disk. Large files take their time. */
export async function syncTree(path: string): Promise<void> {
  if (!(await Deno.stat(path)).isDirectory) {
    using file = await Deno.open(path, { read: true, write: true });
    await file.sync();
    return;
  }
  for await (const entry of Deno.readDir(path)) await syncTree(join(path, entry.name));
  syncFolder(path);
}

/** Ends the name of a folder that was put aside for its replacement; while it has this name it is whole. */
export const ASIDE = ".old";
/** Ends the name of a folder that is being deleted. */
export const TRASH = ".trash";

/**
 * Publishes finished files under their final names. Each move replaces its target as one step. A folder can't be
 * replaced in one step: it is put aside first, comes back if the move fails, and is deleted when the new one has its
 * name on the disk. A process that dies in between leaves it whole beside the target, where `recoverTargets` finds it.
 * On return the new names are on the disk.
 */
export function publish(moves: readonly Move[]): void {
  const replaced: string[] = [];
  for (const { from, to } of moves) {
    if (isFolder(to)) replaced.push(replaceFolder(from, to));
    else Deno.renameSync(from, to);
  }
  for (const folder of new Set(moves.map(({ to }) => dirname(to)))) syncFolder(folder);
  for (const aside of replaced) {
    attempt(() => {
      Deno.renameSync(aside, `${aside}${TRASH}`);
      Deno.removeSync(`${aside}${TRASH}`, { recursive: true });
    });
  }
}

/** Returns where the former folder is now. */
function replaceFolder(from: string, to: string): string {
  const aside = `${from}${ASIDE}`;
  Deno.renameSync(to, aside);
  faultPoint("folder_put_aside");
  try {
    Deno.renameSync(from, to);
  } catch (error) {
    attempt(() => Deno.renameSync(aside, to));
    throw error;
  }
  faultPoint("folder_in_place");
  return aside;
}

function isFolder(path: string): boolean {
  try {
    return Deno.lstatSync(path).isDirectory;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
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
