import { isAbsolute, join } from "node:path";

/** What the loader has to know of the machine. */
export type NativeFacts = {
  readonly os: typeof Deno.build.os;
  /** The user's number; null where there is none. */
  readonly uid: number | null;
  readonly env: (name: string) => string | undefined;
};

/** A folder in which pz may keep what it unpacks. */
export type CachePlace = {
  readonly path: string;
  /** Whether other users may make files beside it, so that it must not be a link. */
  readonly isShared: boolean;
};

/** Where the native library may be unpacked, best place first. A place that does not work out leads to the next. */
export function cachePlaces({ os, uid, env }: NativeFacts): readonly CachePlace[] {
  const places: CachePlace[] = [];
  const add = (base: string | undefined, isShared: boolean, ...parts: readonly string[]) => {
    if (base !== undefined && isAbsolute(base)) places.push({ path: join(base, ...parts), isShared });
  };
  add(env("PZ_CACHE_DIR"), false);
  if (os === "windows") {
    add(env("LOCALAPPDATA"), false, "pz", "cache");
    add(env("TEMP") ?? env("TMP"), false, "pz-cache");
    return places;
  }
  if (os === "darwin") {
    add(env("HOME"), false, "Library", "Caches", "pz");
  } else {
    add(env("XDG_CACHE_HOME"), false, "pz");
    add(env("HOME"), false, ".cache", "pz");
  }
  const temp = env("TMPDIR");
  add(temp !== undefined && isAbsolute(temp) ? temp : "/tmp", true, `pz-cache-${uid ?? "user"}`);
  return places;
}
