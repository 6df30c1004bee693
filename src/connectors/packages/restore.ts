import { join } from "node:path";
import { fail, type Outcome, PzError, succeed } from "../../errors/mod.ts";
import { ordinal } from "../../util/mod.ts";
import { installedFolder, noProgram, packagesFolder, takenName } from "./installed.ts";
import { integrityOf } from "./integrity.ts";
import { type DeclaredPackage, LOCK_FILE, lockDrift, type LockedPackage, readLock, writeLock } from "./lock.ts";
import { platformName } from "./manifest.ts";
import { hashesOf, type PackageContent, placeOf, readFolder, readTarball, readTarballFile } from "./package_source.ts";
import { holdsFiles, publishPackage } from "./publish.ts";
import { DEFAULT_REGISTRY, fetchTarball, resolvePackage, shownUrl } from "./registry.ts";
import { type CacheEnvironment, TarballCache } from "./tarball_cache.ts";

export type RestoreOptions = {
  readonly root: string;
  /** The packages of project.yml that are not builtin. */
  readonly declared: readonly DeclaredPackage[];
  /** Registries in the order in which they are asked; empty: npm's own. */
  readonly registries: readonly string[];
  /** Whether the lock is made anew, whatever it says. */
  readonly update: boolean;
  readonly env: CacheEnvironment;
  readonly isKnown: (name: string) => boolean;
};

/** What was done for one package. */
export type Restored = {
  readonly id: string;
  readonly version: string;
  readonly how: "cache hit" | "downloaded" | "copied";
};

export type RestoreResult = {
  /** By id. */
  readonly packages: readonly Restored[];
  /** Whether the lock was there and was followed. */
  readonly pinned: boolean;
  /** Whether the lock was written. */
  readonly wrote: boolean;
};

/** A package that was found, before it is installed. */
type Found = {
  readonly locked: LockedPackage;
  readonly how: Restored["how"];
  readonly content: PackageContent | undefined;
};

/**
 * Installs the packages of a project and locks them. With a lock, exactly what it says is installed, without a network
 * where nothing is missing; nothing is installed unless everything was found. Restores of one project wait for each other.
 */
export async function restorePackages(options: RestoreOptions): Promise<Outcome<RestoreResult>> {
  const { root } = options;
  try {
    await Deno.mkdir(packagesFolder(root), { recursive: true });
    using guard = await Deno.open(join(root, ".pz", "restore.lock"), { create: true, write: true });
    await guard.lock(true);
    return await restore(options);
  } catch (error) {
    if (error instanceof PzError) return fail([error]);
    if (error instanceof Deno.errors.NotCapable || !(error instanceof Error)) throw error;
    if (!("code" in error) && !isSystemError(error)) throw error;
    return fail([new PzError("PZ0329", `the packages can't be installed: ${error.message}`, { cause: error })]);
  }
}

function isSystemError(error: Error): boolean {
  return Object.values(Deno.errors).some((kind) => error instanceof kind);
}

async function restore(options: RestoreOptions): Promise<Outcome<RestoreResult>> {
  const { root, declared, update } = options;
  const before = update ? undefined : await readLock(root);
  if (before !== undefined) {
    const drift = lockDrift(declared, before);
    if (drift.length > 0) return fail(drift);
  }
  const cache = new TarballCache(options.env);
  const found: Found[] = [];
  const errors: PzError[] = [];
  for (const wanted of declared) {
    const locked = before?.find(({ id }) => id === wanted.package);
    try {
      const result = locked === undefined
        ? await findNew(options, wanted, cache)
        : await findLocked(options, locked, cache);
      if ("locked" in result) found.push(result);
      else errors.push(...result);
    } catch (error) {
      if (!(error instanceof PzError)) throw error;
      errors.push(error);
    }
  }
  errors.push(...found.flatMap((one) => problemsOf(one, found, options)));
  if (errors.length > 0) return fail(errors);
  for (const { locked, content } of found) {
    if (content !== undefined) await publishPackage(installedFolder(root, locked), content);
  }
  const wrote = before === undefined && await writeLock(root, found.map(({ locked }) => locked));
  const packages = found.map(({ locked: { id, version }, how }) => ({ id, version, how }));
  return succeed({
    packages: packages.sort((a, b) => ordinal(a.id, b.id)),
    pinned: before !== undefined,
    wrote: wrote || before === undefined,
  });
}

/** What stands against a package, whoever made it. */
function problemsOf(
  { locked, content }: Found,
  all: readonly Found[],
  { isKnown }: RestoreOptions,
): readonly PzError[] {
  if (isKnown(locked.connector)) return [takenName(locked.connector, locked.id)];
  const other = all.find((one) => one.locked.connector === locked.connector && one.locked.id !== locked.id);
  if (other !== undefined && locked.id > other.locked.id) {
    return [
      new PzError(
        "PZ0305",
        `packages '${other.locked.id}' and '${locked.id}' both have a connector '${locked.connector}'`,
        {
          file: "project.yml",
          hint: "remove one of them",
        },
      ),
    ];
  }
  const runtime = content?.manifest.runtime;
  if (runtime?.kind !== "process") return [];
  const platforms = Object.keys(runtime.entrypoints);
  return platforms.includes("any") || platforms.includes(platformName()) ? [] : [noProgram(locked.id, platforms)];
}

async function findNew(
  { root, registries }: RestoreOptions,
  { package: id, version: wanted }: DeclaredPackage,
  cache: TarballCache,
): Promise<Found | readonly PzError[]> {
  const place = placeOf(id);
  if (place === "folder") {
    const content = await readFolder(root, id);
    return "manifest" in content ? found(id, wanted, content, { how: "copied" }) : content;
  }
  if (place === "tarball") {
    const tarball = await readTarballFile(root, id);
    const content = await readTarball(id, tarball);
    if (!("manifest" in content)) return content;
    return found(id, wanted, content, { how: "copied", integrity: integrityOf(tarball) });
  }
  if (place === undefined || wanted === undefined) return [unusableId(id, place)];
  const { version, tarball: url, integrity } = await resolvePackage(
    id,
    wanted,
    registries.length === 0 ? [DEFAULT_REGISTRY] : registries,
  );
  const kept = await cache.find(integrity);
  const tarball = kept ?? await fetchTarball(id, url);
  if (integrityOf(tarball) !== integrity) {
    return [
      new PzError("PZ0320", `the tarball of package '${id}' is not the one that its registry describes`, {
        hint: `it came from ${shownUrl(url)}`,
      }),
    ];
  }
  const content = await readTarball(id, tarball);
  if (!("manifest" in content)) return content;
  if (content.manifest.version !== version) {
    return [
      new PzError("PZ0320", `package '${id}' ${version} has the version ${content.manifest.version} in its manifest`, {
        hint: "its author has to publish it with one version",
      }),
    ];
  }
  if (kept === undefined) await cache.keep(integrity, tarball);
  return found(id, wanted, content, {
    how: kept === undefined ? "downloaded" : "cache hit",
    integrity,
    resolved: plainUrl(url),
  });
}

function unusableId(id: string, place: ReturnType<typeof placeOf>): PzError {
  return place === undefined
    ? new PzError("PZ0320", `'${id}' is no package's name`, {
      file: "project.yml",
      hint: "write the path of a folder with ./ in front",
    })
    : new PzError("PZ0323", `package '${id}' has no version`, {
      file: "project.yml",
      hint: "add version: with a version or a range",
    });
}

function found(
  id: string,
  wanted: string | undefined,
  content: PackageContent,
  { how, integrity = null, resolved = null }: {
    readonly how: Restored["how"];
    readonly integrity?: string | null;
    readonly resolved?: string | null;
  },
): Found {
  const { name, version } = content.manifest;
  const files = hashesOf(content);
  return {
    locked: { id, requested: wanted ?? null, connector: name, version, resolved, integrity, files },
    how,
    content,
  };
}

/** The URL without credentials, for a file that goes into version control. */
function plainUrl(url: string): string {
  const plain = new URL(url);
  plain.username = "";
  plain.password = "";
  return plain.href;
}

async function findLocked(
  { root, registries }: RestoreOptions,
  locked: LockedPackage,
  cache: TarballCache,
): Promise<Found | readonly PzError[]> {
  const { id, integrity, resolved } = locked;
  const isInstalled = await holdsFiles(installedFolder(root, locked), locked.files);
  if (placeOf(id) === "folder" && await isFolder(join(root, id), id)) {
    const content = await readFolder(root, id);
    if (!("manifest" in content)) return content;
    if (!isSame(content, locked)) return [changed(id)];
    return { locked, how: isInstalled ? "cache hit" : "copied", content: isInstalled ? undefined : content };
  }
  if (isInstalled) return { locked, how: "cache hit", content: undefined };
  const kept = integrity === null ? undefined : await cache.find(integrity);
  const tarball = kept ??
    (resolved === null ? await readTarballFile(root, id) : await fetchTarball(id, withLogin(resolved, registries)));
  if (integrityOf(tarball) !== integrity) return [changed(id)];
  const content = await readTarball(id, tarball);
  if (!("manifest" in content)) return content;
  if (!isSame(content, locked)) return [changed(id)];
  if (kept === undefined && resolved !== null) await cache.keep(integrity, tarball);
  return { locked, how: kept !== undefined ? "cache hit" : resolved === null ? "copied" : "downloaded", content };
}

/** The lock's URL with the login of the registry at the same origin, if there is one. */
function withLogin(resolved: string, registries: readonly string[]): string {
  const url = new URL(resolved);
  const registry = registries.filter((text) => URL.canParse(text)).map((text) => new URL(text))
    .find(({ origin }) => origin === url.origin);
  url.username = registry?.username ?? "";
  url.password = registry?.password ?? "";
  return url.href;
}

async function isFolder(path: string, id: string): Promise<boolean> {
  try {
    return (await Deno.stat(id.startsWith("/") ? id : path)).isDirectory;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

function isSame(content: PackageContent, { connector, version, files }: LockedPackage): boolean {
  const hashes = hashesOf(content);
  return content.manifest.name === connector && content.manifest.version === version &&
    Object.keys(hashes).length === Object.keys(files).length &&
    Object.entries(hashes).every(([path, hash]) => files[path] === hash);
}

function changed(id: string): PzError {
  return new PzError("PZ0327", `package '${id}' is not the one that ${LOCK_FILE} locks`, {
    hint: "if it was changed on purpose, run pz restore --update",
  });
}
