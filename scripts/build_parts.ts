import { join } from "node:path";
import { type Bundle, bundle, type BundleOptions } from "./build_bundle.ts";
import { writeGuard } from "./build_guard.ts";
import { type PackedNative, packNative } from "./build_native.ts";
import type { Target } from "./build_targets.ts";

/** What goes behind the runtime: the configuration's path, the bundled modules and packages, and the native library. */
export type Parts = Bundle & { readonly config: string; readonly native: PackedNative };

/** The time that all files bear, in seconds since 1970: the executable holds it for each, and nobody reads it. */
const FILE_TIME = 946_684_800;

/**
 * Writes all that an executable is made of into an empty folder: the packed native library, the bundled modules and the
 * configuration.
 *
 * One commit gives the same files at any time, in any folder. So does it give the same executable, for one runtime and
 * one name of the output: all that Deno adds of its own is each file's time and that name.
 *
 * @param changes what tests put in the place of the product's own
 */
export async function writeParts(
  root: string,
  folder: string,
  version: string,
  target: Target,
  changes: Pick<BundleOptions, "connector" | "faults"> = {},
): Promise<Parts> {
  const native = await packNative(root, target, join(folder, "native"));
  const bundled = await bundle({ root, folder, version, native, ...changes });
  const config = await writeGuard(folder, bundled.modules);
  await setTimes(folder);
  return { ...bundled, config, native };
}

async function setTimes(folder: string): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory) await setTimes(path);
    await Deno.utime(path, FILE_TIME, FILE_TIME);
  }
}
