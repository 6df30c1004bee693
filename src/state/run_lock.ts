import { PzError } from "../errors/mod.ts";

/** Held while a run lives; the system frees it when the process dies, however it dies. */
export type RunLock = Disposable;

/**
 * Takes the lock of a run folder; the file is made if need be and never deleted.
 *
 * @throws {PzError} PZ0533 when a living process holds it
 */
export async function acquireRunLock(lockFile: string): Promise<RunLock> {
  const lock = await tryAcquire(lockFile, true);
  if (lock === undefined) {
    throw new PzError("PZ0533", `Run folder lock '${lockFile}' is held by another living process`);
  }
  return lock;
}

/**
 * Whether a living process holds the lock of a run folder. A missing file is free; one that can't be probed counts as
 * held, so that nothing is cleaned up under a run that lives.
 */
export async function isRunLive(lockFile: string): Promise<boolean> {
  using held = await takeIfFree(lockFile);
  return held === undefined;
}

/**
 * Takes a lock that nobody holds, or undefined where `isRunLive` would be true. A missing file is not made: then there
 * is nothing to hold.
 */
export async function takeIfFree(lockFile: string): Promise<RunLock | undefined> {
  try {
    return await tryAcquire(lockFile, false);
  } catch (error) {
    return error instanceof Deno.errors.NotFound ? { [Symbol.dispose]: () => {} } : undefined;
  }
}

/** The lock, or undefined while somebody else holds it. */
async function tryAcquire(path: string, create: boolean): Promise<RunLock | undefined> {
  const file = Deno.openSync(path, { read: true, write: true, create });
  // Older runtimes can only wait for a lock; there the file's own locks are taken through SQLite, which can ask.
  const tryLock: unknown = Reflect.get(file, "tryLock");
  if (typeof tryLock !== "function") {
    file.close();
    return tryAcquireWithSqlite(path);
  }
  try {
    const held: unknown = await tryLock.call(file, true);
    if (held === true) return { [Symbol.dispose]: () => file.close() };
  } catch (error) {
    file.close();
    throw error;
  }
  file.close();
  return undefined;
}

/** An exclusive SQLite transaction on the empty file: a lock on its bytes that writes nothing. */
async function tryAcquireWithSqlite(path: string): Promise<RunLock | undefined> {
  const { DatabaseSync } = await import("node:sqlite");
  const database = new DatabaseSync(path);
  try {
    database.exec("PRAGMA busy_timeout = 0");
    database.exec("PRAGMA journal_mode = MEMORY");
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (error instanceof Error && error.message.includes("locked")) return undefined;
    throw error;
  }
  return { [Symbol.dispose]: () => database.close() };
}
