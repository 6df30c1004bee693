import { dirname } from "node:path";
import { PzError } from "../errors/mod.ts";

/** What stands where a folder is needed. */
export type Blocker = { readonly path: string; readonly what: "a file" | "a link that leads nowhere" };

/** What is in the way of a folder, at its own path or above it, or undefined when nothing is. */
export function blockerOf(folder: string): Blocker | undefined {
  for (let path = folder;; path = dirname(path)) {
    const blocker = blockerAt(path);
    if (blocker !== "nothing there") return blocker;
    if (path === dirname(path)) return undefined;
  }
}

function blockerAt(path: string): Blocker | undefined | "nothing there" {
  try {
    if (Deno.statSync(path).isDirectory) return undefined;
    return { path, what: "a file" };
  } catch { /* not there, or a link whose target is not, or below a file */ }
  try {
    return Deno.lstatSync(path).isSymlink ? { path, what: "a link that leads nowhere" } : undefined;
  } catch {
    return "nothing there";
  }
}

/**
 * Makes a folder of pz with those above it, where they are not there yet.
 *
 * @throws {PzError} PZ0531 where something else is in its way
 */
export function makeFolder(folder: string): void {
  try {
    Deno.mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw blockedFolder(folder) ?? error;
  }
}

/** PZ0531 for a folder of pz that something is in the way of. */
export function blockedFolder(folder: string): PzError | undefined {
  const blocker = blockerOf(folder);
  if (blocker === undefined) return undefined;
  return new PzError("PZ0531", `'${blocker.path}' is ${blocker.what}, but pz needs a folder there`, {
    hint: "move or delete it; pz then makes the folder",
  });
}
