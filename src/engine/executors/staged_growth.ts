import { setTimeout } from "node:timers/promises";
import { join } from "node:path";
import { ordinal } from "../../util/mod.ts";

/** So many bytes of a file of the folder are there, and stay as they are. */
export type Growth = { readonly path: string; readonly bytes: number; readonly isWhole: boolean };

const LOOK_EVERY_MS = 50;
/** Less than this is not worth telling before the end. */
const STEP_BYTES = 4 * 1024 * 1024;

/** Looks how the files of a folder grow while a statement writes them, and tells it. */
export class StagedGrowth {
  readonly #folder: string;
  readonly #file: string | undefined;
  readonly #tell: (growth: Growth) => void;
  #told = 0;

  /** @param file the one file of the folder; undefined: several, which are told when all are whole */
  constructor(folder: string, file: string | undefined, tell: (growth: Growth) => void) {
    this.#folder = folder;
    this.#file = file;
    this.#tell = tell;
  }

  /** Looks until the signal is aborted. Never throws: what it could not tell, `finish` does. */
  async watch(signal: AbortSignal): Promise<void> {
    if (this.#file === undefined) return;
    try {
      while (!signal.aborted) {
        await setTimeout(LOOK_EVERY_MS, undefined, { signal });
        const bytes = await sizeOf(join(this.#folder, this.#file));
        if (signal.aborted || bytes < this.#told + STEP_BYTES) continue;
        this.#told = bytes;
        this.#tell({ path: this.#file, bytes, isWhole: false });
      }
    } catch { /* stopped, or the write has failed, which its own step tells */ }
  }

  /** Tells every file as whole, by name; returns how many there are and their bytes. */
  async finish(): Promise<{ readonly files: number; readonly bytes: number }> {
    const paths = this.#file === undefined ? await filesBelow(this.#folder) : [this.#file];
    let total = 0;
    for (const path of paths) {
      const bytes = await sizeOf(join(this.#folder, ...path.split("/")));
      total += bytes;
      this.#tell({ path, bytes, isWhole: true });
    }
    return { files: paths.length, bytes: total };
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await Deno.stat(path)).size;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return 0;
    throw error;
  }
}

/** The files below a folder, with `/` between the parts of their paths, in order. */
async function filesBelow(folder: string, prefix = ""): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) found.push(...await filesBelow(join(folder, name), `${prefix}${name}/`));
    else found.push(`${prefix}${name}`);
  }
  return found.sort(ordinal);
}
