import { createHash } from "node:crypto";
import { join } from "node:path";
import { constants, gzipSync } from "node:zlib";
import { textAt } from "./build_compile.ts";
import { thinMachO } from "./build_macho.ts";
import { nativePackage, type Target } from "./build_targets.ts";

/** One packed file, described for the loader in the binary. */
export type PackedFile = {
  readonly name: string;
  readonly asset: string;
  readonly size: number;
  readonly packedSize: number;
  readonly sha256: string;
};

export type PackedNative = { readonly id: string; readonly files: readonly PackedFile[] };

/** Packs DuckDB's two native files of a target into a folder, and nothing else of the package. */
export async function packNative(root: string, target: Target, folder: string): Promise<PackedNative> {
  const source = await nativeFolder(root, target);
  await Deno.mkdir(folder, { recursive: true });
  const files: PackedFile[] = [];
  for (const name of target.files) {
    const raw = thinMachO(await Deno.readFile(join(source, name)), target);
    const packed = gzipSync(raw, { level: constants.Z_BEST_COMPRESSION });
    const asset = `${name}.gz`;
    await Deno.writeFile(join(folder, asset), packed);
    files.push({ name, asset, size: raw.length, packedSize: packed.length, sha256: hashOf(raw) });
  }
  const id = hashOf(new TextEncoder().encode(files.map(({ name, sha256 }) => `${name} ${sha256}\n`).join("")));
  return { id: id.slice(0, 16), files };
}

/** The folder with a target's files: what is installed here, or an installation for the target beside it. */
async function nativeFolder(root: string, target: Target): Promise<string> {
  const config: unknown = JSON.parse(await Deno.readTextFile(join(root, "deno.json")));
  const version = textAt(config, "imports", "@duckdb/node-bindings").split("@").at(-1) ?? "";
  const here = await installedFolder(root, target, version);
  if (here !== undefined) return here;
  const scratch = join(root, "gen", `npm-${target.name}`);
  await Deno.mkdir(scratch, { recursive: true });
  for (const name of ["deno.json", "deno.lock"]) await Deno.copyFile(join(root, name), join(scratch, name));
  // The lock file, which names the packages of every platform, checks what arrives.
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["install", "--frozen", "--os", target.os, "--arch", target.cpu],
    cwd: scratch,
    stdin: "null",
    stdout: "null",
  }).output();
  const there = success ? await installedFolder(scratch, target, version) : undefined;
  if (there === undefined) throw new Error(`can't install ${nativePackage(target)}; this needs Deno 2.9 or newer`);
  return there;
}

async function installedFolder(root: string, target: Target, version: string): Promise<string | undefined> {
  const name = nativePackage(target);
  const folder = join(root, "node_modules", ".deno", `${name.replace("/", "+")}@${version}`, "node_modules", name);
  try {
    return (await Deno.stat(folder)).isDirectory ? folder : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
