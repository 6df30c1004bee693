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
  /** A folder that must be there already: pz makes no home for a user who has none. */
  readonly within?: string;
  /** Whether other users may make files beside it, so that it must not be a link. */
  readonly isShared: boolean;
};

/** Where the native library may be unpacked, best place first. A place that does not work out leads to the next. */
export function cachePlaces({ os, uid, env }: NativeFacts): readonly CachePlace[] {
  const places: CachePlace[] = [];
  const addOwn = (path: string | undefined) => {
    if (path !== undefined && isAbsolute(path)) places.push({ path, isShared: false });
  };
  const addWithin = (within: string | undefined, ...parts: readonly string[]) => {
    if (within !== undefined && isAbsolute(within)) {
      places.push({ path: join(within, ...parts), within, isShared: false });
    }
  };
  addOwn(env("PZ_CACHE_DIR"));
  if (os === "windows") {
    addWithin(env("LOCALAPPDATA"), "pz", "cache");
    addWithin(env("TEMP") ?? env("TMP"), "pz-cache");
    return places;
  }
  const home = env("HOME");
  if (os === "darwin") {
    addWithin(home, "Library", "Caches", "pz");
  } else {
    const caches = env("XDG_CACHE_HOME");
    if (caches !== undefined) addOwn(join(caches, "pz"));
    addWithin(home, ".cache", "pz");
  }
  const temp = env("TMPDIR");
  const shared = temp !== undefined && isAbsolute(temp) ? temp : "/tmp";
  places.push({ path: join(shared, `pz-cache-${uid ?? "user"}`), within: shared, isShared: true });
  return places;
}
