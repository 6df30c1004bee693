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
  const bytes = typeof content === "string" ? encoder.encode(content) : content;
  const aside = join(dirname(path), `.${basename(path)}.${Deno.pid}.${++counter}.tmp`);
  try {
    const file = Deno.openSync(aside, { write: true, createNew: true, mode });
    try {
      writeAllSync(file, bytes);
      file.syncDataSync();
    } finally {
      file.close();
    }
    Deno.renameSync(aside, path);
  } catch (error) {
    try {
      Deno.removeSync(aside);
    } catch { /* it was renamed, or never made */ }
    throw error;
  }
  syncFolder(dirname(path));
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
