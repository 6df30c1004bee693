import { basename, isAbsolute, join, resolve } from "node:path";
import { PzError } from "../../errors/mod.ts";
import { integrityOf } from "./integrity.ts";
import { filesOf, MANIFEST_FILE, type PackageManifest, parseManifest } from "./manifest.ts";
import { isFolder } from "./package_path.ts";
import { unpackTarball } from "./tarball.ts";

/** The files of a package that are installed, with what they say. */
export type PackageContent = {
  readonly manifest: PackageManifest;
  readonly files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
};

const NPM_NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;
const MAX_FILE_BYTES = 64 << 20;

/** What kind of place an id of project.yml names; undefined for none. */
export function placeOf(id: string): "folder" | "tarball" | "npm" | undefined {
  if (id.startsWith("./") || id.startsWith("../") || id === "." || id === ".." || isAbsolute(id)) {
    return /\.(?:tgz|tar\.gz)$/.test(id) ? "tarball" : "folder";
  }
  return NPM_NAME.test(id) ? "npm" : undefined;
}

/**
 * Reads a package from its folder.
 *
 * @throws {PzError} PZ0320 for a file that is not there; every problem of the manifest, see `parseManifest`
 */
export async function readFolder(root: string, id: string): Promise<PackageContent | readonly PzError[]> {
  const folder = resolve(root, id);
  if (!isFolder(folder)) {
    const hint = "correct the path: it counts from the project's folder";
    return [
      new PzError("PZ0320", `package '${id}' is not there: there is no folder '${folder}'`, {
        file: "project.yml",
        hint,
      }),
    ];
  }
  const read = (path: string) => readRegular(join(folder, path), id);
  return await contentOf(id, read, `${id.replace(/\/+$/, "")}/${MANIFEST_FILE}`);
}

/**
 * Reads a package out of its tarball, whose hash has been compared.
 *
 * @throws {PzError} PZ0320
 */
export async function readTarball(
  id: string,
  tarball: Uint8Array<ArrayBuffer>,
): Promise<PackageContent | readonly PzError[]> {
  const files = await unpackTarball(id, tarball);
  return await contentOf(id, (path) => Promise.resolve(files.get(path)), `${id}/${MANIFEST_FILE}`);
}

/**
 * The bytes of a tarball beside the project.
 *
 * @throws {PzError} PZ0320
 */
export async function readTarballFile(root: string, id: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await readRegular(resolve(root, id), id);
  if (bytes !== undefined) return bytes;
  throw new PzError("PZ0320", `package '${id}' is not there`, { file: "project.yml", hint: `no file ${basename(id)}` });
}

/** The hashes of a package's files, by path. */
export function hashesOf({ files }: PackageContent): { readonly [path: string]: string } {
  return Object.fromEntries([...files].map(([path, bytes]) => [path, integrityOf(bytes)]));
}

async function contentOf(
  id: string,
  read: (path: string) => Promise<Uint8Array<ArrayBuffer> | undefined>,
  shownManifest: string,
): Promise<PackageContent | readonly PzError[]> {
  const bytes = await read(MANIFEST_FILE);
  if (bytes === undefined) {
    return [
      new PzError("PZ0320", `package '${id}' is no connector: it has no ${MANIFEST_FILE}`, {
        file: "project.yml",
        hint: "pz connector new makes a package that has one",
      }),
    ];
  }
  const manifest = parseManifest(new TextDecoder().decode(bytes), shownManifest);
  if (!("name" in manifest)) return manifest;
  const files = new Map<string, Uint8Array<ArrayBuffer>>([[MANIFEST_FILE, bytes]]);
  const problems: PzError[] = [];
  for (const path of filesOf(manifest).slice(1)) {
    const content = await read(path);
    if (content !== undefined) files.set(path, content);
    else {
      problems.push(
        new PzError("PZ0354", `package '${id}' has no file '${path}', which its manifest names`, {
          file: shownManifest,
          hint: "pz connector build makes the entry of a package",
        }),
      );
    }
  }
  return problems.length > 0 ? problems : { manifest, files };
}

async function readRegular(path: string, id: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    const { isFile, size } = await Deno.stat(path);
    if (!isFile) return undefined;
    if (size > MAX_FILE_BYTES) {
      throw new PzError("PZ0320", `file '${path}' of package '${id}' is larger than ${MAX_FILE_BYTES >> 20} MiB`);
    }
    return await Deno.readFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return undefined;
    if (error instanceof PzError) throw error;
    throw new PzError(
      "PZ0320",
      `package '${id}' can't be read: ${error instanceof Error ? error.message : String(error)}`,
      {
        file: "project.yml",
        cause: error,
      },
    );
  }
}
