/**
 * Builds the executable: bundles the sources, packs DuckDB's native library, compiles both behind the runtime, and
 * starts the result where it can run here.
 *
 *     deno task build                        for this machine, to dist/pz
 *     deno task build --target darwin-arm64  for another platform, to dist/darwin-arm64/pz
 *     deno task build --output /tmp/pz       to another place
 *
 * Beside it, under the name that is published, lies a copy in dist/, with its checksum in dist/SHA256SUMS; `--output`
 * makes none. The Deno that runs this script compiles. With DENORT_BIN set it puts that runtime, which must be of its
 * own version, in front instead of fetching one.
 */
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { CHECKSUMS, publishArtifact, writeChecksums } from "./build_artifacts.ts";
import { compile, textAt } from "./build_compile.ts";
import { licencesOf } from "./build_licenses.ts";
import { writeParts } from "./build_parts.ts";
import { smokeTest } from "./build_smoke.ts";
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
  const dist = join(root, "dist");
  const output = values.output === undefined
    ? join(dist, target === host ? "" : target.name, name)
    : resolve(root, values.output);
  const version = textAt(JSON.parse(await Deno.readTextFile(join(root, "deno.json"))), "version");

  await removeFolder(folder);
  await Deno.mkdir(folder, { recursive: true });
  await Deno.mkdir(dirname(output), { recursive: true });
  const { modules, packages, config } = await writeParts(root, folder, version, target);
  await compile({ root, folder, config, target, output });
  await Deno.writeTextFile(join(dirname(output), "LICENSES.txt"), await licencesOf(root, packages));
  const megabytes = (await Deno.stat(output)).size / 1e6;
  say(`pz ${version} for ${target.name}: ${output} (${megabytes.toFixed(1)} MB, ${modules.length} modules)\n`);

  if (target === host) {
    await smokeTest(output, version);
    say("tested: it knows its version and runs a pipeline\n");
  } else {
    say(`not tested: a ${target.name} executable can't run here\n`);
  }
  if (values.output === undefined) {
    say(`published as ${await publishArtifact(output, dist, version, target)}\n`);
    say(`${join(dist, CHECKSUMS)}: ${(await writeChecksums(dist, version)).join(", ")}\n`);
  }
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
