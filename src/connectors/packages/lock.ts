import { join } from "node:path";
import { PzError } from "../../errors/mod.ts";
import { ordinal, writeFileAtomically } from "../../util/mod.ts";
import { isIntegrity } from "./integrity.ts";
import { MANIFEST_FILE } from "./manifest.ts";
import { isPackagePath } from "./package_path.ts";

/** The file beside project.yml that says which packages run, byte for byte. */
export const LOCK_FILE = "pz.lock.json";

/** Earlier numbers are those of another tool's packages. */
const LOCK_VERSION = 3;

/** A package as project.yml asks for it: the path of a folder or tarball, or an npm name with a version or range. */
export type DeclaredPackage = { readonly package: string; readonly version: string | undefined };

/** One package of the lock. */
export type LockedPackage = {
  /** As in project.yml. */
  readonly id: string;
  /** The version or range that project.yml asked for; null where it names none. */
  readonly requested: string | null;
  /** The connector's name. */
  readonly connector: string;
  readonly version: string;
  /** Where its tarball was fetched from; null for a folder or a file. */
  readonly resolved: string | null;
  /** The tarball's hash; null for a folder. */
  readonly integrity: string | null;
  /** The hash of each installed file, by its path in the package. */
  readonly files: { readonly [path: string]: string };
};

/**
 * Reads the lock; undefined where there is none.
 *
 * @throws {PzError} PZ0321 for a file that is no such lock
 */
export async function readLock(root: string): Promise<readonly LockedPackage[] | undefined> {
  let text: string;
  try {
    text = await Deno.readTextFile(join(root, LOCK_FILE));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw new PzError("PZ0321", `the lock can't be read: ${error instanceof Error ? error.message : String(error)}`, {
      file: LOCK_FILE,
      cause: error,
    });
  }
  const lock = lockOf(text);
  if (lock !== undefined) return lock;
  throw new PzError("PZ0321", "the lock is damaged, or was written by something else than this pz", {
    file: LOCK_FILE,
    hint: "take it from version control, or delete it and run pz restore",
  });
}

/** Replaces the lock; the same packages give the same bytes. Tells whether it changed. */
export async function writeLock(root: string, packages: readonly LockedPackage[]): Promise<boolean> {
  const text = lockText(packages);
  const path = join(root, LOCK_FILE);
  const before = await Deno.readTextFile(path).catch(() => undefined);
  if (before === text) return false;
  writeFileAtomically(path, text);
  return true;
}

/** The lock's text: packages by id, files by path, all keys in one order. */
export function lockText(packages: readonly LockedPackage[]): string {
  const sorted = [...packages].sort((a, b) => ordinal(a.id, b.id)).map((locked) => ({
    id: locked.id,
    requested: locked.requested,
    connector: locked.connector,
    version: locked.version,
    resolved: locked.resolved,
    integrity: locked.integrity,
    files: Object.fromEntries(Object.entries(locked.files).sort(([a], [b]) => ordinal(a, b))),
  }));
  return `${JSON.stringify({ version: LOCK_VERSION, packages: sorted }, undefined, 2)}\n`;
}

/** What of a lock does not fit the packages that project.yml declares, PZ0321 each. */
export function lockDrift(declared: readonly DeclaredPackage[], locked: readonly LockedPackage[]): readonly PzError[] {
  const problems: PzError[] = [];
  const drift = (message: string) => {
    problems.push(new PzError("PZ0321", message, { file: LOCK_FILE, hint: "run pz restore --update" }));
  };
  for (const { package: id, version } of declared) {
    const found = locked.find((entry) => entry.id === id);
    if (found === undefined) drift(`package '${id}' of project.yml is not in the lock`);
    else if (found.requested !== (version ?? null)) {
      drift(
        `package '${id}' is locked for ${wanted(found.requested)}, and project.yml asks for ${wanted(version ?? null)}`,
      );
    }
  }
  for (const { id } of locked) {
    if (!declared.some((entry) => entry.package === id)) drift(`package '${id}' of the lock is not in project.yml`);
  }
  return problems;
}

function wanted(version: string | null): string {
  return version === null ? "no version" : `version '${version}'`;
}

function lockOf(text: string): readonly LockedPackage[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(value) || value["version"] !== LOCK_VERSION || !Array.isArray(value["packages"])) return undefined;
  const packages: readonly unknown[] = value["packages"];
  const locked = packages.map(lockedOf).filter((entry) => entry !== undefined);
  const names = new Set(locked.flatMap(({ id, connector }) => [`id ${id}`, `connector ${connector}`]));
  return locked.length === packages.length && names.size === 2 * locked.length ? locked : undefined;
}

function lockedOf(value: unknown): LockedPackage | undefined {
  if (!isRecord(value)) return undefined;
  const { id, requested, connector, version, resolved, integrity, files } = value;
  if (typeof id !== "string" || typeof connector !== "string" || typeof version !== "string") return undefined;
  // Both become parts of a path.
  if (!isPackagePath(connector) || !isPackagePath(version) || `${connector}${version}`.includes("/")) return undefined;
  if (!isTextOrNull(requested) || !isTextOrNull(resolved) || !(integrity === null || isIntegrity(integrity))) {
    return undefined;
  }
  if (!isRecord(files) || !Object.hasOwn(files, MANIFEST_FILE)) return undefined;
  const hashes: { [path: string]: string } = {};
  for (const [path, hash] of Object.entries(files)) {
    if (!isPackagePath(path) || !isIntegrity(hash)) return undefined;
    hashes[path] = hash;
  }
  return { id, requested, connector, version, resolved, integrity, files: hashes };
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === "string";
}

function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
