import { setTimeout } from "node:timers/promises";
import { classifyForeign, type ErrorCode, PzError } from "../errors/mod.ts";
import { makeFolder } from "./folders.ts";

/** Held while a run lives; the system frees it when the process dies, however it dies. */
export type RunLock = Disposable;

/**
 * Takes the lock of a run folder; the file is made if need be and never deleted.
 *
 * @throws {PzError} PZ0533 when a living process holds it, else as `takeIfFree`
 */
export async function acquireRunLock(lockFile: string): Promise<RunLock> {
  const lock = await tryAcquire(lockFile, { create: true }).catch((error) => {
    throw lockTrouble(lockFile, error);
  });
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
 * @throws {PzError} PZ0533 when another process held the lock for five seconds, PZ0531 as `makeFolder`, and at once what
 * keeps the lock from being made
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
    // Its folder was deleted meanwhile.
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw lockTrouble(lockFile, error);
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
 * held, so that nothing is cleaned up under a run that lives. A file that may only be read can be probed.
 */
export async function isRunLive(lockFile: string): Promise<boolean> {
  try {
    using held = await tryAcquire(lockFile, { shared: true });
    return held === undefined;
  } catch (error) {
    return !(error instanceof Deno.errors.NotFound);
  }
}

/**
 * Takes a lock that nobody holds, or undefined while a living process does. A missing file is only made where `create`
 * says so; else, or without its folder, there is nothing to hold.
 *
 * @throws {PzError} PZ0532 where the disk is full, PZ0533 where another program keeps the file to itself, PZ0531 where it
 * can't be made or written for any other reason
 */
export async function takeIfFree(
  lockFile: string,
  { create = false }: { readonly create?: boolean } = {},
): Promise<RunLock | undefined> {
  try {
    return await tryAcquire(lockFile, { create });
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { [Symbol.dispose]: () => {} };
    throw lockTrouble(lockFile, error);
  }
}

/** Why a lock could not be taken, though nobody is known to hold it. */
function lockTrouble(lockFile: string, error: unknown): PzError {
  const kind = classifyForeign(error);
  const message = (error instanceof Error ? error.message : String(error))
    .replace("attempt to write a readonly database", "it can only be read");
  const isFull = kind === "PZ0532" || /database or disk is full/.test(message);
  const code: ErrorCode = isFull ? "PZ0532" : kind === "PZ0533" ? kind : "PZ0531";
  return new PzError(code, `the lock '${lockFile}' of a run can't be taken: ${message}`, {
    hint: LOCK_HINTS[code],
    cause: error,
  });
}

const LOCK_HINTS: { readonly [code: string]: string } = {
  PZ0531: "give the user who runs pz the right to write it, and its folder",
  PZ0532: "free some space; `pz clean` deletes what old runs left behind",
  PZ0533: "close the program that uses it",
};

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
    if (create) makeFile(path);
    else Deno.statSync(path);
    return await tryAcquireWithSqlite(path, shared);
  }
  // A shared lock needs no right to write.
  const file = Deno.openSync(path, shared ? { read: true } : { read: true, write: true, create });
  try {
    if (!file.statSync().isFile) throw new Error("it is not a file");
    const held: unknown = await tryLock.call(file, !shared);
    if (held === true) return { [Symbol.dispose]: () => file.close() };
  } catch (error) {
    file.close();
    throw error;
  }
  file.close();
  return undefined;
}

/** Makes a file that is not there, for what SQLite would not say about a failure. */
function makeFile(path: string): void {
  try {
    Deno.openSync(path, { write: true, createNew: true }).close();
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
}

/** A SQLite transaction on the empty file: a lock on its bytes that writes nothing. */
async function tryAcquireWithSqlite(path: string, shared: boolean): Promise<RunLock | undefined> {
  const { DatabaseSync } = await import("node:sqlite");
  if (!Deno.statSync(path).isFile) throw new Error("it is not a file");
  const database = new DatabaseSync(path);
  try {
    database.exec("PRAGMA busy_timeout = 0");
    database.exec("PRAGMA journal_mode = MEMORY");
    // A file that may only be read is refused at the first change, which is never committed.
    database.exec(shared ? "BEGIN; SELECT * FROM sqlite_schema" : "BEGIN EXCLUSIVE; PRAGMA user_version = 1");
  } catch (error) {
    database.close();
    if (error instanceof Error && error.message.includes("locked")) return undefined;
    Deno.statSync(path); // may have been deleted meanwhile, which SQLite does not tell
    throw error;
  }
  return { [Symbol.dispose]: () => database.close() };
}
