import { PzError } from "../../errors/mod.ts";
import tar, { type TarEntry } from "./tar.ts";

/** No tarball is larger than this. */
export const MAX_TARBALL_BYTES = 64 << 20;
/** Nor what is in it. */
const MAX_UNPACKED_BYTES = 192 << 20;
const MAX_ENTRIES = 20_000;

/**
 * The regular files of an npm tarball by their paths below its one folder.
 *
 * @throws {PzError} PZ0320 for an archive that is damaged, too large, or holds what no package needs: links, devices,
 * or names that lead out of it
 */
export async function unpackTarball(
  id: string,
  tarball: Uint8Array<ArrayBuffer>,
): Promise<ReadonlyMap<string, Uint8Array<ArrayBuffer>>> {
  const refuse = (what: string, cause?: unknown) =>
    new PzError("PZ0320", `the tarball of package '${id}' ${what}`, { cause });
  let archive: Uint8Array<ArrayBuffer>;
  try {
    archive = await gunzip(tarball, MAX_UNPACKED_BYTES);
  } catch (error) {
    throw refuse(error instanceof RangeError ? `holds more than ${MAX_UNPACKED_BYTES >> 20} MiB` : "is damaged", error);
  }
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  const extract = tar.extract();
  extract.end(archive);
  let count = 0;
  try {
    for await (const entry of extract) {
      if (++count > MAX_ENTRIES) throw refuse(`holds more than ${MAX_ENTRIES} files`);
      const { name, type } = entry.header;
      const path = pathOf(name);
      if (path === undefined) throw refuse(`holds ${JSON.stringify(name)}, a name that leads out of it`);
      if (type === "directory" || type === "file" || type === "contiguous-file") {
        const bytes = await bytesOf(entry);
        if (type === "directory") continue;
        if (files.has(path)) throw refuse(`holds ${JSON.stringify(name)} twice`);
        files.set(path, bytes);
      } else throw refuse(`holds ${JSON.stringify(name)}, which is a ${type ?? "thing"} and no file`);
    }
  } catch (error) {
    extract.destroy();
    throw error instanceof PzError ? error : refuse("is damaged", error);
  }
  return files;
}

/** The path below the first folder; undefined for one that could lead elsewhere. */
function pathOf(name: string): string | undefined {
  const parts = name.replace(/\/+$/, "").split("/").filter((part) => part !== ".");
  if (name.startsWith("/") || name.includes("\\") || name.includes("\0") || /^[A-Za-z]:/.test(name)) return undefined;
  return parts.some((part) => part === ".." || part === "") ? undefined : parts.slice(1).join("/");
}

async function bytesOf(entry: TarEntry): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(entry.header.size ?? 0);
  let at = 0;
  for await (const chunk of entry) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  if (at !== bytes.length) throw new Error("an entry that is cut short");
  return bytes;
}

/** @throws {RangeError} as soon as there is more than `limit` bytes */
async function gunzip(bytes: Uint8Array<ArrayBuffer>, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  return await collect(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")), limit);
}

/**
 * All bytes of a stream.
 *
 * @throws {RangeError} as soon as there are more than `limit`
 */
export async function collect(stream: ReadableStream<Uint8Array>, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > limit) throw new RangeError("more bytes than allowed");
    chunks.push(chunk);
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}
