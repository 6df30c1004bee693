import { basename, dirname, join } from "node:path";

const encoder = new TextEncoder();
let counter = 0;

/**
 * Replaces a file so that a reader, or a machine that dies, sees the old content or the new, never a part: the text is
 * written beside it, flushed to the disk and renamed, then the folder's entry is flushed. Each call has a temporary
 * name of its own, so that several writers never mix.
 *
 * @param mode permission bits of a new file
 */
export function writeFileAtomically(path: string, content: string | Uint8Array, mode = 0o644): void {
  replaceFile(path, typeof content === "string" ? encoder.encode(content) : content, mode);
  syncFolder(dirname(path));
}

/**
 * The same without flushing: whoever reads the file meanwhile sees the old content or the new, but after a machine died
 * it may hold nothing. For files that only tell how things stand.
 */
export function writeFileUnflushed(path: string, content: string): void {
  replaceFile(path, encoder.encode(content), 0o644, { flush: false });
}

/**
 * Writes files of one folder by their names, each as `writeFileAtomically` does. A file that holds its content already
 * is left alone, and the folder's entries are flushed once, at the end.
 */
export function writeFilesAtomically(folder: string, files: Iterable<readonly [name: string, content: string]>): void {
  let replaced = false;
  for (const [name, content] of files) {
    const path = join(folder, name);
    const bytes = encoder.encode(content);
    if (holds(path, bytes)) continue;
    replaceFile(path, bytes, 0o644);
    replaced = true;
  }
  if (replaced) syncFolder(folder);
}

/** Whether a file is there and holds exactly these bytes. */
function holds(path: string, bytes: Uint8Array): boolean {
  try {
    const { isFile, size } = Deno.lstatSync(path);
    if (!isFile || size !== bytes.length) return false;
    const found = Deno.readFileSync(path);
    return found.length === bytes.length && found.every((byte, index) => byte === bytes[index]);
  } catch {
    // What can't be read is written, and what is wrong with it told then.
    return false;
  }
}

function replaceFile(path: string, bytes: Uint8Array, mode: number, { flush } = { flush: true }): void {
  const aside = join(dirname(path), `.${basename(path)}.${Deno.pid}.${++counter}.tmp`);
  try {
    const file = Deno.openSync(aside, { write: true, createNew: true, mode });
    try {
      writeAllSync(file, bytes);
      if (flush) file.syncDataSync();
    } finally {
      file.close();
    }
    Deno.renameSync(aside, path);
  } catch (error) {
    try {
      Deno.removeSync(aside);
    } catch { /* it was renamed, or never made */ }
    // The system's own words for a failed write name no file.
    if (error instanceof Error && !error.message.includes(path)) error.message += `: write '${path}'`;
    throw error;
  }
}

/** Writes all the bytes, however often the system takes only a part. */
export function writeAllSync(file: Deno.FsFile, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) written += file.writeSync(bytes.subarray(written));
}

/** Makes renames inside a folder durable; a no-op on Windows, where folders can't be opened. */
export function syncFolder(path: string): void {
  if (Deno.build.os === "windows") return;
  const folder = Deno.openSync(path, { read: true });
  try {
    folder.syncSync();
  } finally {
    folder.close();
  }
}
