import { join, normalize, parse } from "node:path";
import { ordinal } from "../../../util/mod.ts";
import { isFile, statOrNothing } from "./file_kind.ts";

/** Whether a path names several files, the way DuckDB reads it. */
export function isGlob(path: string): boolean {
  return /[*?[]/.test(path);
}

/** A pattern below a folder whose own name, whatever its letters, is none. */
export type Glob = { readonly base: string; readonly parts: readonly string[] };

/**
 * The pattern that a path, absolute or below a folder, holds; undefined where it names one file. A part that stands on
 * the disk just as it is written is no pattern.
 */
export function findGlob(path: string, folder: string): Glob | undefined {
  if (!isGlob(path)) return undefined;
  const { root } = parse(path);
  const parts = splitPath(normalize(path).slice(root.length)).filter((part) => part !== "");
  let base = root === "" ? folder : root;
  for (const [index, part] of parts.entries()) {
    const next = join(base, part);
    if (isGlob(part) && statOrNothing(next) === undefined) return { base, parts: parts.slice(index) };
    base = next;
  }
  return undefined;
}

/**
 * The files that a pattern names, ordered by path: `*`, `?` and `[…]` stay within one folder, `**` takes any number of
 * folders without following links. Names that start with a dot match only a part that starts with one.
 */
export function expandGlob({ base, parts }: Glob): string[] {
  const found = new Set<string>();
  walk(base, parts, found);
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

/** Whether a name matches one part of a pattern that is not `**`. */
export function partMatcher(part: string): RegExp {
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

function splitPath(path: string): string[] {
  return Deno.build.os === "windows" ? path.split(/[\\/]/) : path.split("/");
}
