import { join } from "node:path";
import { classifyForeign, PzError } from "../errors/mod.ts";
import { ordinal } from "../util/mod.ts";
import { type Problems, report } from "./problems.ts";

/** The folder of a project, and what was wrong with its files so far. */
export type Folder = { readonly root: string; readonly problems: Problems };

/**
 * The text of a file of the project, without a byte-order mark; UTF-8, or UTF-16 with its mark. Undefined where it can't
 * be read, which is reported.
 */
export function readText(folder: Folder, file: string): string | undefined {
  let bytes: Uint8Array;
  try {
    bytes = Deno.readFileSync(join(folder.root, file));
  } catch (error) {
    reportUnreadable(folder, file, error);
    return undefined;
  }
  return decode(folder, file, bytes);
}

function decode(folder: Folder, file: string, bytes: Uint8Array): string | undefined {
  const [first, second] = bytes;
  const wide = first === 0xff && second === 0xfe
    ? "utf-16le"
    : first === 0xfe && second === 0xff
    ? "utf-16be"
    : undefined;
  try {
    const text = new TextDecoder(wide ?? "utf-8", { fatal: true }).decode(bytes);
    const zero = text.indexOf("\0");
    if (zero < 0) return text;
    report(
      folder.problems,
      "PZ0101",
      "The file holds a NUL character",
      placeOf(file, text, zero),
      "Save it as UTF-8 text.",
    );
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const text = new TextDecoder(wide ?? "utf-8").decode(bytes);
    const place = placeOf(file, text, text.indexOf("\ufffd"));
    report(folder.problems, "PZ0101", `The file is not valid ${wide ?? "UTF-8"} text`, place, "Save it as UTF-8.");
  }
  return undefined;
}

function placeOf(file: string, text: string, offset: number): { file: string; line: number; column: number } {
  const before = text.slice(0, Math.max(0, offset)).split("\n");
  return { file, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** Whether a folder stands at a path, or behind a link there; false too where nobody may look. */
export function isFolder(path: string): boolean {
  return statOf(path)?.isDirectory === true;
}

/** Whether a file stands at a path, or behind a link there; false too where nobody may look. */
export function isFile(path: string): boolean {
  return statOf(path)?.isFile === true;
}

function statOf(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.statSync(path);
  } catch {
    return undefined;
  }
}

/** One thing in a folder; links count as what they point to. */
export type FolderEntry = { readonly name: string; readonly kind: "file" | "folder" };

/** What stands in a folder of the project, in the order of names; nothing where there is no such folder. */
export function listFolder(folder: Folder, path: string): readonly FolderEntry[] {
  const entries: FolderEntry[] = [];
  try {
    for (const entry of Deno.readDirSync(join(folder.root, path))) {
      if (entry.name.startsWith(".")) continue;
      const kind = entry.isSymlink ? kindBehindLink(join(folder.root, path, entry.name)) : kindOf(entry);
      if (kind !== undefined) entries.push({ name: entry.name, kind });
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory)) {
      reportUnreadable(folder, path, error);
    }
    return [];
  }
  return entries.sort((a, b) => ordinal(a.name, b.name));
}

function kindOf(entry: { readonly isFile: boolean; readonly isDirectory: boolean }): FolderEntry["kind"] | undefined {
  return entry.isDirectory ? "folder" : entry.isFile ? "file" : undefined;
}

/** A link that leads nowhere counts as a file, so that reading it names it. */
function kindBehindLink(path: string): FolderEntry["kind"] | undefined {
  try {
    return kindOf(Deno.statSync(path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "file";
    throw error;
  }
}

/** Every file below a folder as a path relative to the project, in the order of paths. Links to folders are not followed in circles. */
export function listFiles(folder: Folder, path: string): readonly string[] {
  const files: string[] = [];
  const visit = (at: string, above: readonly string[]): void => {
    const real = realPath(folder, at);
    if (real === undefined || above.includes(real)) return;
    for (const entry of listFolder(folder, at)) {
      const inner = `${at}/${entry.name}`;
      if (entry.kind === "folder") visit(inner, [...above, real]);
      else files.push(inner);
    }
  };
  visit(path, []);
  return files.sort(ordinal);
}

function realPath(folder: Folder, path: string): string | undefined {
  try {
    return Deno.realPathSync(join(folder.root, path));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) reportUnreadable(folder, path, error);
    return undefined;
  }
}

/** Reports a file or folder that is there but can't be read: PZ0531 without the right to, else PZ0101. */
function reportUnreadable(folder: Folder, file: string, cause: unknown): void {
  const denied = classifyForeign(cause) === "PZ0531";
  const message = denied ? `No permission to read '${file}'` : `Can't read '${file}'`;
  const hint = denied ? "Give the user who runs pz the right to read it." : "Is it a regular file?";
  folder.problems.errors.push(new PzError(denied ? "PZ0531" : "PZ0101", message, { file, hint, cause }));
}
