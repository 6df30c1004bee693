import { dirname, join } from "node:path";

/** A folder of a test's own, removed with all that is in it at the end of an `await using`. */
export class TempDir implements AsyncDisposable {
  private constructor(readonly path: string) {}

  static async create(): Promise<TempDir> {
    return new TempDir(await Deno.realPath(await Deno.makeTempDir({ prefix: "pz-" })));
  }

  /** The path of something inside. */
  join(...parts: readonly string[]): string {
    return join(this.path, ...parts);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.path, { recursive: true });
  }
}

/** A project (or any tree) as an object: the path of each file from the folder, and its content. */
export type Files = { readonly [path: string]: string | Uint8Array };

/** Writes files into a folder, making the folders between. */
export async function writeFiles(folder: string, files: Files): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const target = join(folder, path);
    await Deno.mkdir(dirname(target), { recursive: true });
    if (typeof content === "string") await Deno.writeTextFile(target, content);
    else await Deno.writeFile(target, content);
  }
}

/** The paths of all files below a folder, relative, with `/`, sorted by code unit. */
export async function listFiles(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) found.push(...(await listFiles(join(folder, name))).map((path) => `${name}/${path}`));
    else found.push(name);
  }
  return found.sort();
}
