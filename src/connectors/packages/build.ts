import { dirname, join } from "node:path";
import { fail, type Outcome, PzError, succeed } from "../../errors/mod.ts";
import { writeFileAtomically } from "../../util/mod.ts";
import { bundleConnector } from "./bundle.ts";
import { MANIFEST_FILE, parseManifest } from "./manifest.ts";
import { isFolder } from "./package_path.ts";
import { whyNotStarting } from "./try_start.ts";

export type BuiltConnector = {
  /** The file that was written. */
  readonly output: string;
  /** What went into it. */
  readonly modules: readonly string[];
};

/** Where the entry of a connector is looked for, the first first. */
const SOURCES = ["connector.ts", "connector.js", "src/connector.ts", "src/connector.js", "src/mod.ts", "src/index.ts"];

/**
 * Bundles the connector in a folder into the module that its manifest names as its entry. What could never run, such as
 * a module without a connector in it, is refused (PZ0744), and nothing is written then.
 */
export async function buildConnector(root: string): Promise<Outcome<BuiltConnector>> {
  const text = await textOf(join(root, MANIFEST_FILE));
  if (text === undefined) return fail([noManifest(root)]);
  const manifest = parseManifest(text, MANIFEST_FILE);
  if (!("name" in manifest)) return fail(manifest);
  if (manifest.runtime.kind === "process") {
    return fail([
      new PzError("PZ0744", "a connector of the runtime 'process' is built by what builds its program", {
        file: MANIFEST_FILE,
      }),
    ]);
  }
  const { entry } = manifest.runtime;
  const source = await firstFile(root, SOURCES.filter((path) => path !== entry));
  if (source === undefined) {
    return fail([
      new PzError("PZ0744", `there is nothing to build: none of ${SOURCES.join(", ")} is there`, {
        file: MANIFEST_FILE,
        hint: `name the module that exports "connector" connector.ts`,
      }),
    ]);
  }
  try {
    const { code, modules } = await bundleConnector(root, source);
    const bytes = new TextEncoder().encode(code);
    const trouble = await whyNotStarting(manifest, bytes);
    if (trouble !== undefined) {
      return fail([new PzError("PZ0744", trouble.message, { file: source, hint: trouble.hint })]);
    }
    const output = join(root, entry);
    await Deno.mkdir(dirname(output), { recursive: true });
    writeFileAtomically(output, code);
    return succeed({ output, modules });
  } catch (error) {
    if (error instanceof PzError) return fail([error]);
    throw error;
  }
}

/** PZ0306 for a folder that is no package, or is not there. */
export function noManifest(root: string): PzError {
  const what = isFolder(root) ? `there is no ${MANIFEST_FILE} in '${root}'` : `there is no folder '${root}'`;
  return new PzError("PZ0306", what, { hint: "pz connector new makes a package" });
}

async function firstFile(root: string, paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    if (await textOf(join(root, path)) !== undefined) return path;
  }
  return undefined;
}

/** A file's text; undefined where there is none. */
export async function textOf(path: string): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return undefined;
    throw error;
  }
}
