import { dirname, join } from "node:path";
import { syncFolder, writeAllSync } from "../../util/mod.ts";
import { integrityOf } from "./integrity.ts";
import type { PackageContent } from "./package_source.ts";

const UNFINISHED = /^\.\d+\.[0-9a-f]{16}\.(?:new|old)$/;

/** Whether a folder holds these files, each with its hash. */
export async function holdsFiles(folder: string, files: { readonly [path: string]: string }): Promise<boolean> {
  for (const [path, hash] of Object.entries(files)) {
    try {
      const at = join(folder, path);
      if (!(await Deno.lstat(at)).isFile || integrityOf(await Deno.readFile(at)) !== hash) return false;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return false;
      throw error;
    }
  }
  return true;
}

/** Puts a package's files into its folder, all or none of them, in place of what is there. */
export async function publishPackage(folder: string, { manifest, files }: PackageContent): Promise<void> {
  const parent = dirname(folder);
  await Deno.mkdir(parent, { recursive: true });
  await sweep(parent);
  const fresh = join(parent, unfinishedName("new"));
  try {
    const programs = manifest.runtime.kind === "process" ? Object.values(manifest.runtime.entrypoints) : [];
    for (const [path, bytes] of files) writeFlushed(join(fresh, path), bytes, programs.includes(path) ? 0o755 : 0o644);
    const old = join(parent, unfinishedName("old"));
    const replaced = await moved(folder, old);
    await Deno.rename(fresh, folder);
    syncFolder(parent);
    if (replaced) await Deno.remove(old, { recursive: true });
  } catch (error) {
    await Deno.remove(fresh, { recursive: true }).catch(() => {});
    throw error;
  }
}

/** Deletes what an earlier one that died has left; one at a time is at work here. */
async function sweep(parent: string): Promise<void> {
  for await (const { name } of Deno.readDir(parent)) {
    if (UNFINISHED.test(name)) await Deno.remove(join(parent, name), { recursive: true });
  }
}

function unfinishedName(kind: "new" | "old"): string {
  const random = crypto.getRandomValues(new Uint8Array(8));
  return `.${Deno.pid}.${[...random].map((byte) => byte.toString(16).padStart(2, "0")).join("")}.${kind}`;
}

async function moved(from: string, to: string): Promise<boolean> {
  try {
    await Deno.rename(from, to);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

function writeFlushed(path: string, bytes: Uint8Array, mode: number): void {
  Deno.mkdirSync(dirname(path), { recursive: true });
  const file = Deno.openSync(path, { write: true, createNew: true, mode });
  try {
    writeAllSync(file, bytes);
    file.syncDataSync();
  } finally {
    file.close();
  }
}
