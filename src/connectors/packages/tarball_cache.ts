import { Buffer } from "node:buffer";
import { isAbsolute, join } from "node:path";
import { writeFileAtomically } from "../../util/mod.ts";
import { integrityOf } from "./integrity.ts";

/** What of the environment says where a user's caches are. */
export type CacheEnvironment = { readonly [name: string]: string };

/** Tarballs by their hash, for restoring without a network. What does not work out is as if nothing were there. */
export class TarballCache {
  readonly #folder: string | undefined;

  constructor(env: CacheEnvironment, os: typeof Deno.build.os = Deno.build.os) {
    const place = cacheFolder(env, os);
    this.#folder = place === undefined ? undefined : join(place, "packages");
  }

  /** The tarball with this hash; undefined where there is none. */
  async find(integrity: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    if (this.#folder === undefined) return undefined;
    try {
      const bytes = await Deno.readFile(this.#pathOf(this.#folder, integrity));
      return integrityOf(bytes) === integrity ? bytes : undefined;
    } catch {
      return undefined;
    }
  }

  /** Keeps a tarball that has this hash. */
  async keep(integrity: string, bytes: Uint8Array): Promise<void> {
    if (this.#folder === undefined) return;
    try {
      await Deno.mkdir(this.#folder, { recursive: true });
      writeFileAtomically(this.#pathOf(this.#folder, integrity), bytes);
    } catch { /* the next restore fetches it again */ }
  }

  #pathOf(folder: string, integrity: string): string {
    return join(folder, `${Buffer.from(integrity.slice("sha512-".length), "base64").toString("hex")}.tgz`);
  }
}

function cacheFolder(env: CacheEnvironment, os: typeof Deno.build.os): string | undefined {
  const own = env["PZ_CACHE_DIR"];
  if (own !== undefined && isAbsolute(own)) return own;
  const below = (base: string | undefined, ...parts: readonly string[]) =>
    base !== undefined && isAbsolute(base) ? join(base, ...parts) : undefined;
  if (os === "windows") return below(env["LOCALAPPDATA"], "pz", "cache");
  if (os === "darwin") return below(env["HOME"], "Library", "Caches", "pz");
  return below(env["XDG_CACHE_HOME"], "pz") ?? below(env["HOME"], ".cache", "pz");
}
