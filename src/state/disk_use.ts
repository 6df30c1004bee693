import { join } from "node:path";

/** Bytes of files and folders; what is not there counts nothing. */
export async function sizeOf(paths: readonly string[]): Promise<number> {
  let total = 0;
  for (const path of paths) {
    const info = await statIfThere(path);
    if (info === undefined) continue;
    if (!info.isDirectory) total += info.size;
    else for await (const entry of Deno.readDir(path)) total += await sizeOf([join(path, entry.name)]);
  }
  return total;
}

/** Deletes files and folders; returns the bytes that this freed. */
export async function deleteAll(paths: readonly string[]): Promise<number> {
  let freed = 0;
  for (const path of paths) {
    if (!await isThere(path)) continue;
    const size = await sizeOf([path]);
    await Deno.remove(path, { recursive: true });
    freed += size;
  }
  return freed;
}

/** Whether anything has this name. */
export async function isThere(path: string): Promise<boolean> {
  return await statIfThere(path) !== undefined;
}

async function statIfThere(path: string): Promise<Deno.FileInfo | undefined> {
  try {
    return await Deno.lstat(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return undefined;
    throw error;
  }
}
