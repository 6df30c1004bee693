import { join } from "node:path";
import { fail, type Outcome, PzError, succeed } from "../../errors/mod.ts";
import type { ConnectorDescription, ConnectorProgram } from "../contract/mod.ts";
import { noManifest, textOf } from "./build.ts";
import { describePackage } from "./description.ts";
import { noProgram } from "./installed.ts";
import { MANIFEST_FILE, parseManifest, platformName } from "./manifest.ts";

/** The connector of a package's own folder, for its author to try out: nothing is installed, and no lock is asked. */
export async function openPackageFolder(folder: string): Promise<Outcome<ConnectorDescription>> {
  const text = await textOf(join(folder, MANIFEST_FILE));
  if (text === undefined) return fail([noManifest(folder)]);
  const manifest = parseManifest(text, MANIFEST_FILE);
  if (!("name" in manifest)) return fail(manifest);
  const { runtime, name, version } = manifest;
  const path = runtime.kind === "deno"
    ? runtime.entry
    : runtime.entrypoints[platformName()] ?? runtime.entrypoints["any"];
  if (path === undefined) {
    return fail([noProgram(name, runtime.kind === "process" ? Object.keys(runtime.entrypoints) : [])]);
  }
  const code = await bytesOf(join(folder, path));
  if (code === undefined) {
    return fail([
      new PzError("PZ0354", `the manifest names '${path}', which is not there`, {
        file: MANIFEST_FILE,
        hint: runtime.kind === "deno" ? "pz connector build makes it" : undefined,
      }),
    ]);
  }
  const program: ConnectorProgram = runtime.kind === "deno"
    ? { kind: "module", code }
    : { kind: "process", path: join(folder, path), folder, verify: () => Promise.resolve() };
  return succeed(describePackage(manifest, program, `${name} ${version}`));
}

async function bytesOf(path: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    return await Deno.readFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return undefined;
    throw error;
  }
}
