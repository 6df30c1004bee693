import { setTimeout } from "node:timers/promises";
import { PzError } from "../errors/mod.ts";
import { makeFolder } from "./folders.ts";

/** Held while a run lives; the system frees it when the process dies, however it dies. */
export type RunLock = Disposable;

/**
 * Takes the lock of a run folder; the file is made if need be and never deleted.
 *
 * @throws {PzError} PZ0533 when a living process holds it
 */
export async function acquireRunLock(lockFile: string): Promise<RunLock> {
  const lock = await tryAcquire(lockFile, { create: true });
  if (lock === undefined) {
    throw new PzError("PZ0533", `Run folder lock '${lockFile}' is held by another living process`);
  }
  return lock;
}

const CLAIM_TRIES = 200;
const CLAIM_PAUSE_MS = 25;

/**
 * Makes the folder of a new run and takes its lock. Until then the folder looks like one that nobody uses: whoever
 * cleans up may hold its lock or delete it, in which case it is made once more.
 *
 * @throws {PzError} PZ0533 when another process held the lock for five seconds, PZ0531 as `makeFolder`
 */
export async function claimRunFolder(
  { folder, lock: lockFile }: { readonly folder: string; readonly lock: string },
): Promise<RunLock> {
  for (let left = CLAIM_TRIES;; left--) {
    makeFolder(folder);
    const lock = await tryClaim(lockFile);
    if (lock !== undefined) return lock;
    if (left === 0) return await acquireRunLock(lockFile);
    await setTimeout(CLAIM_PAUSE_MS);
  }
}

/** The lock of a file that has its name still once it is locked. */
async function tryClaim(lockFile: string): Promise<RunLock | undefined> {
  try {
    const lock = await tryAcquire(lockFile, { create: true });
    if (lock === undefined) return undefined;
    // Once deleted it is made again by nobody else, so that one which is there is the one that is locked.
    if (isThere(lockFile)) return lock;
    lock[Symbol.dispose]();
    return undefined;
  } catch (error) {
    if (isThere(lockFile)) throw error;
    return undefined;
  }
}

function isThere(path: string): boolean {
  try {
    return Deno.lstatSync(path).isFile;
  } catch {
    return false;
  }
}

/**
 * Whether a living process holds the lock of a run folder. A missing file is free; one that can't be probed counts as
 * held, so that nothing is cleaned up under a run that lives.
 */
export async function isRunLive(lockFile: string): Promise<boolean> {
  using held = await takeIfFree(lockFile, { shared: true });
  return held === undefined;
}

/**
 * Takes a lock that nobody holds, or undefined where `isRunLive` would be true. A missing file is only made where
 * `create` says so; else there is nothing to hold. With `shared` others may take it in the same way meanwhile.
 */
export async function takeIfFree(lockFile: string, options: TakeOptions = {}): Promise<RunLock | undefined> {
  try {
    return await tryAcquire(lockFile, options);
  } catch (error) {
    return error instanceof Deno.errors.NotFound ? { [Symbol.dispose]: () => {} } : undefined;
  }
}

type TakeOptions = { readonly create?: boolean; readonly shared?: boolean };

/** The lock, or undefined while somebody else holds it. */
async function tryAcquire(
  path: string,
  { create = false, shared = false }: TakeOptions,
): Promise<RunLock | undefined> {
  // Older runtimes can only wait for a lock; there the file's own locks are taken through SQLite, which can ask. Then the
  // file must not be opened in any other way: closing it would free the locks that this process holds.
  const tryLock: unknown = Reflect.get(Deno.FsFile.prototype, "tryLock");
  if (typeof tryLock !== "function") {
    if (!create) Deno.statSync(path);
    return await tryAcquireWithSqlite(path, shared);
  }
  const file = Deno.openSync(path, { read: true, write: true, create });
  try {
    const held: unknown = await tryLock.call(file, !shared);
    if (held === true) return { [Symbol.dispose]: () => file.close() };
  } catch (error) {
    file.close();
    throw error;
  }
  file.close();
  return undefined;
}

/** A SQLite transaction on the empty file: a lock on its bytes that writes nothing. */
async function tryAcquireWithSqlite(path: string, shared: boolean): Promise<RunLock | undefined> {
  const { DatabaseSync } = await import("node:sqlite");
  const database = new DatabaseSync(path);
  try {
    database.exec("PRAGMA busy_timeout = 0");
    database.exec("PRAGMA journal_mode = MEMORY");
    database.exec(shared ? "BEGIN; SELECT * FROM sqlite_schema" : "BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (error instanceof Error && error.message.includes("locked")) return undefined;
    throw error;
  }
  return { [Symbol.dispose]: () => database.close() };
}
