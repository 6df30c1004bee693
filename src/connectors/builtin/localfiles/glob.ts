import { join } from "node:path";
import { ordinal } from "../../../util/mod.ts";

/** Whether a path names several files, the way DuckDB reads it. */
export function isGlob(path: string): boolean {
  return /[*?[]/.test(path);
}

/** The folder that a glob starts in: everything before the first part with a wildcard. */
export function globBase(pattern: string): string {
  const parts = splitPath(pattern);
  const first = parts.findIndex(isGlob);
  return joinParts(first < 0 ? parts.slice(0, -1) : parts.slice(0, first));
}

/**
 * The files that an absolute pattern names, ordered by path: `*`, `?` and `[…]` stay within one folder, `**` takes any
 * number of folders without following links. Names that start with a dot match only a part that starts with one.
 */
export function expandGlob(pattern: string): string[] {
  const parts = splitPath(pattern);
  const first = parts.findIndex(isGlob);
  if (first < 0) return isFile(pattern) ? [pattern] : [];
  const found = new Set<string>();
  walk(joinParts(parts.slice(0, first)), parts.slice(first), found);
  return [...found].sort(ordinal);
}

function walk(folder: string, parts: readonly string[], found: Set<string>): void {
  const [part, ...rest] = parts;
  if (part === undefined) return;
  if (part === "**") {
    if (rest.length > 0) walk(folder, rest, found);
    for (const entry of entries(folder)) {
      if (entry.name.startsWith(".")) continue;
      const path = join(folder, entry.name);
      if (entry.isDirectory) walk(path, parts, found);
      else if (rest.length === 0 && isFile(path)) found.add(path);
    }
    return;
  }
  if (!isGlob(part)) {
    const path = join(folder, part);
    if (rest.length > 0) walk(path, rest, found);
    else if (isFile(path)) found.add(path);
    return;
  }
  const matches = partMatcher(part);
  for (const entry of entries(folder)) {
    if (!matches.test(entry.name)) continue;
    const path = join(folder, entry.name);
    if (rest.length > 0) walk(path, rest, found);
    else if (isFile(path)) found.add(path);
  }
}

function partMatcher(part: string): RegExp {
  let source = part.startsWith(".") ? "^" : "^(?!\\.)";
  for (let index = 0; index < part.length; index++) {
    const letter = part.charAt(index);
    const close = letter === "[" ? part.indexOf("]", index + 2) : -1;
    if (letter === "*") source += ".*";
    else if (letter === "?") source += ".";
    else if (close > 0) {
      const body = part.slice(index + 1, close).replaceAll(/[\\\]^]/g, "\\$&");
      source += body.startsWith("!") ? `[^${body.slice(1)}]` : `[${body}]`;
      index = close;
    } else source += letter.replace(/[.+^${}()|[\]\\]/, "\\$&");
  }
  try {
    return new RegExp(`${source}$`, "su");
  } catch {
    return /(?!)/; // a range that runs backwards matches nothing
  }
}

function entries(folder: string): Deno.DirEntry[] {
  try {
    return [...Deno.readDirSync(folder)];
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return [];
    throw error;
  }
}

/** Whether a path is a file, through links; false where there is nothing. */
export function isFile(path: string): boolean {
  return statOrNothing(path)?.isFile ?? false;
}

/** What stands at a path, through links, or undefined. */
export function statOrNothing(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.statSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return undefined;
    throw error;
  }
}

function splitPath(path: string): string[] {
  return Deno.build.os === "windows" ? path.split(/[\\/]/) : path.split("/");
}

function joinParts(parts: readonly string[]): string {
  const folder = parts.join("/");
  return folder === "" || folder.endsWith(":") ? `${folder}/` : folder;
}
