/**
 * Builds the executable: bundles the sources, packs DuckDB's native library, compiles both behind the runtime, and
 * starts the result where it can run here.
 *
 *     deno task build                        for this machine, to dist/pz
 *     deno task build --target darwin-arm64  for another platform, to dist/darwin-arm64/pz
 *     deno task build --output /tmp/pz       to another place
 *     deno task build --v8-flags=--a,--b     with more flags for V8, for tests
 *     deno task build --hostile              to dist/pz-hostile, for tests of the sandbox: its one connector tries to get
 *                                            out, and is loaded as the code of a package would be
 *     deno task build --faults               to dist/pz-faults, for tests of crashes: the variable PZ_FAULT says where
 *                                            something happens
 *
 * Beside it, under the name that is published, lies a copy in dist/, with its checksum in dist/SHA256SUMS; `--output`
 * makes none. The Deno that runs this script compiles. With DENORT_BIN set it puts that runtime, which must be of its
 * own version, in front instead of fetching one.
 */
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { CHECKSUMS, publishArtifact, writeChecksums } from "./build_artifacts.ts";
import { carryNative } from "./build_carry.ts";
import { compile, textAt } from "./build_compile.ts";
import { licencesOf } from "./build_licenses.ts";
import { writeParts } from "./build_parts.ts";
import { smokeTest } from "./build_smoke.ts";
import { TARGETS } from "./build_targets.ts";

/** For a connector that fills its memory. */
const SMALL_HEAP = "--max-old-space-size=160";

async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      target: { type: "string" },
      output: { type: "string" },
      "v8-flags": { type: "string" },
      hostile: { type: "boolean" },
      faults: { type: "boolean" },
    },
  });
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
  const variant = values.hostile === true ? "hostile" : values.faults === true ? "faults" : undefined;
  const suffix = variant === undefined ? "" : `-${variant}`;
  const folder = join(root, "gen", `${target.name}${suffix}`);
  const name = `pz${suffix}${target.os === "win32" ? ".exe" : ""}`;
  const dist = join(root, "dist");
  const output = values.output === undefined
    ? join(dist, target === host ? "" : target.name, name)
    : resolve(root, values.output);
  const version = textAt(JSON.parse(await Deno.readTextFile(join(root, "deno.json"))), "version");

  await removeFolder(folder);
  await Deno.mkdir(folder, { recursive: true });
  await Deno.mkdir(dirname(output), { recursive: true });
  const { modules, packages, config, native } = await writeParts(root, folder, version, target, {
    ...(variant === "hostile" ? { connector: join("tests", "connectors", "sandbox", "hostile.ts") } : {}),
    ...(variant === "faults" ? { faults: join("tests", "crash", "fault_module.ts") } : {}),
  });
  const v8Flags = values["v8-flags"] ?? (variant === "hostile" ? SMALL_HEAP : undefined);
  const options = { root, folder, config, target, output, v8Flags };
  const mayCarry = target.os === "linux";
  await compile({ ...options, withNative: !mayCarry });
  if (mayCarry && !await carryNative(output, native, join(folder, "native"))) {
    say("this runtime has no place for the native library but in memory, where it makes every start slower\n");
    await compile({ ...options, withNative: true });
  }
  await Deno.writeTextFile(join(dirname(output), "LICENSES.txt"), await licencesOf(root, packages));
  const megabytes = (await Deno.stat(output)).size / 1e6;
  say(`pz ${version} for ${target.name}: ${output} (${megabytes.toFixed(1)} MB, ${modules.length} modules)\n`);

  if (target === host) {
    await smokeTest(output, version);
    say("tested: it knows its version and runs a pipeline\n");
  } else {
    say(`not tested: a ${target.name} executable can't run here\n`);
  }
  if (values.output === undefined && variant === undefined) {
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

function tellFailure(error: unknown): number {
  say(`the build failed: ${error instanceof Error ? error.message : String(error)}\n`);
  return 1;
}

if (import.meta.main) Deno.exit(await main([...Deno.args]).catch(tellFailure));
