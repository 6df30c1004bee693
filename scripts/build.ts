/**
 * Builds the executable: bundles the sources, packs DuckDB's native library, compiles both behind the runtime.
 *
 *     deno task build                        for this machine, to dist/pz
 *     deno task build --target darwin-arm64  for another platform, to dist/darwin-arm64/pz
 *
 * The Deno that runs this script compiles. With DENORT_BIN set it puts that runtime, which must be of its own version,
 * in front instead of fetching one.
 */
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { bundle } from "./build_bundle.ts";
import { compile, textAt } from "./build_compile.ts";
import { writeGuard } from "./build_guard.ts";
import { licencesOf } from "./build_licenses.ts";
import { packNative } from "./build_native.ts";
import { TARGETS } from "./build_targets.ts";

async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { target: { type: "string" }, output: { type: "string" } } });
  const host = TARGETS.find(({ triple }) => triple === Deno.build.target);
  const target = values.target === undefined ? host : TARGETS.find(({ name }) => name === values.target);
  if (target === undefined) {
    say(
      `unknown target '${values.target ?? Deno.build.target}', expected one of ${
        TARGETS.map(({ name }) => name).join(", ")
      }\n`,
    );
    return 2;
  }
  const root = resolve(import.meta.dirname ?? ".", "..");
  const folder = join(root, "gen", target.name);
  const name = target.os === "win32" ? "pz.exe" : "pz";
  const output = resolve(root, values.output ?? join("dist", target === host ? "" : target.name, name));
  const version = textAt(JSON.parse(await Deno.readTextFile(join(root, "deno.json"))), "version");

  await removeFolder(folder);
  await Deno.mkdir(folder, { recursive: true });
  await Deno.mkdir(dirname(output), { recursive: true });
  const native = await packNative(root, target, join(folder, "native"));
  const { modules, packages } = await bundle({ root, folder, version, native });
  const config = await writeGuard(folder, modules);
  await compile({ root, folder, config, target, output });
  await Deno.writeTextFile(join(dirname(output), "LICENSES.txt"), await licencesOf(root, packages));
  const megabytes = (await Deno.stat(output)).size / 1e6;
  say(`pz ${version} for ${target.name}: ${output} (${megabytes.toFixed(1)} MB, ${modules.length} modules)\n`);
  return 0;
}

async function removeFolder(path: string): Promise<void> {
  try {
    await Deno.remove(path, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

function say(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}

if (import.meta.main) Deno.exit(await main([...Deno.args]));
