import { createHash } from "node:crypto";
import { join } from "node:path";
import { constants, gzipSync } from "node:zlib";
import { textAt } from "./build_compile.ts";
import { thinMachO } from "./build_macho.ts";
import { packageFiles } from "./build_package.ts";
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

/**
 * Packs DuckDB's two native files of a target into a folder, and nothing else of the package. The same files always give
 * the same bytes and the same id.
 *
 * @throws {Error} when the package is not the one that deno.lock names, or lacks a file
 */
export async function packNative(root: string, target: Target, folder: string): Promise<PackedNative> {
  const config: unknown = JSON.parse(await Deno.readTextFile(join(root, "deno.json")));
  const version = textAt(config, "imports", "@duckdb/node-bindings").split("@").at(-1) ?? "";
  const published = await packageFiles(root, nativePackage(target), version);
  await Deno.mkdir(folder, { recursive: true });
  const files: PackedFile[] = [];
  for (const name of target.files) {
    const bytes = published.get(`package/${name}`);
    if (bytes === undefined) throw new Error(`${nativePackage(target)}@${version} has no '${name}'`);
    const raw = thinMachO(bytes, target);
    const packed = gzipSync(raw, { level: constants.Z_BEST_COMPRESSION });
    const asset = `${name}.gz`;
    await Deno.writeFile(join(folder, asset), packed);
    files.push({ name, asset, size: raw.length, packedSize: packed.length, sha256: hashOf(raw) });
  }
  const id = hashOf(new TextEncoder().encode(files.map(({ name, sha256 }) => `${name} ${sha256}\n`).join("")));
  return { id: id.slice(0, 16), files };
}

function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
