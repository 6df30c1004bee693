import { createHash } from "node:crypto";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { syncFolder, writeAllSync } from "../util/mod.ts";
import type { NativeFile, NativePayload } from "./native_payload.ts";
import type { CachePlace, NativeFacts } from "./native_places.ts";

/** Others may read what pz unpacks, but a library that they could write would run as this user. */
const OTHERS_WRITE = 0o022;
const STALE_MS = 60 * 60 * 1000;
const PUBLISH_ATTEMPTS = 10;

/**
 * The folder that holds all files of the payload, unpacked if need be. It appears as a whole or not at all, so that
 * several processes may start at once; a damaged one is replaced.
 *
 * @throws {Error} when the place can't be written, or could be written by another user
 */
export function unpackInto(place: CachePlace, payload: NativePayload, facts: NativeFacts): string {
  const base = place.isShared ? place.path : realPath(place.path);
  const root = join(base, "native");
  const folder = join(root, payload.id);
  if (isComplete(folder, payload, facts)) {
    for (const path of [base, root]) checkFolder(path, facts);
    return folder;
  }
  if (place.within !== undefined) Deno.statSync(place.within);
  Deno.mkdirSync(root, { recursive: true, mode: 0o700 });
  for (const path of [base, root]) checkFolder(path, facts);
  removeStale(root, facts);
  const aside = Deno.makeTempDirSync({ dir: root, prefix: `.${payload.id}.` });
  try {
    for (const file of payload.files) unpackFile(file, join(aside, file.name));
    publish(aside, folder, payload, facts);
    syncFolder(root);
  } finally {
    for (const path of [aside, `${aside}.old`]) remove(path);
  }
  return folder;
}

/**
 * Whether every file is there in its full size and could not have been put there by another user; with
 * `PZ_VERIFY_NATIVE=1` also whether its content is the payload's, which costs a tenth of a second or more.
 */
export function isComplete(folder: string, payload: NativePayload, facts: NativeFacts): boolean {
  try {
    checkFolder(folder, facts);
    const isVerified = facts.env("PZ_VERIFY_NATIVE") === "1";
    return payload.files.every(({ name, size, sha256 }) => {
      const path = join(folder, name);
      const info = Deno.lstatSync(path);
      if (!info.isFile || info.size !== size || !isOurs(info, facts)) return false;
      return !isVerified || hashOf(Deno.readFileSync(path)) === sha256;
    });
  } catch {
    return false;
  }
}

function realPath(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch {
    return path; // it is not there yet
  }
}

function checkFolder(path: string, facts: NativeFacts): void {
  const info = Deno.lstatSync(path);
  if (!info.isDirectory) throw new Error(`'${path}' is no folder`);
  if (!isOurs(info, facts)) throw new Error(`'${path}' belongs to another user or can be written by others`);
}

/** What root owns is trusted too: an image may hold the unpacked library, made before its user is taken on. */
function isOurs({ uid, mode }: Deno.FileInfo, facts: NativeFacts): boolean {
  if (facts.os === "windows") return true; // these places are the user's own by their access lists
  return (uid === facts.uid || uid === 0) && ((mode ?? OTHERS_WRITE) & OTHERS_WRITE) === 0;
}

function unpackFile({ name, size, sha256, read }: NativeFile, path: string): void {
  const bytes = gunzipSync(read());
  if (bytes.length !== size || hashOf(bytes) !== sha256) throw new Error(`'${name}' in this pz is damaged`);
  const file = Deno.openSync(path, { write: true, createNew: true, mode: 0o600 });
  try {
    writeAllSync(file, bytes);
    file.syncDataSync();
  } finally {
    file.close();
  }
}

/** Renames the finished folder into place; whoever was faster has made the same. */
function publish(aside: string, folder: string, payload: NativePayload, facts: NativeFacts): void {
  for (let attempt = 1;; attempt++) {
    try {
      return Deno.renameSync(aside, folder);
    } catch (error) {
      if (isComplete(folder, payload, facts)) return;
      if (attempt === PUBLISH_ATTEMPTS) throw error;
    }
    try {
      Deno.renameSync(folder, `${aside}.old`); // a damaged one
    } catch { /* another process has taken it away, or a virus scanner holds it */ }
    if (facts.os === "windows") pause(50 * attempt);
  }
}

/** Takes away what processes left that were killed while they unpacked. */
function removeStale(root: string, facts: NativeFacts): void {
  for (const { name, isDirectory } of Deno.readDirSync(root)) {
    if (!isDirectory || !name.startsWith(".")) continue;
    const path = join(root, name);
    try {
      const info = Deno.lstatSync(path);
      if (isOurs(info, facts) && Date.now() - (info.mtime?.getTime() ?? Date.now()) > STALE_MS) remove(path);
    } catch { /* gone already */ }
  }
}

function remove(path: string): void {
  try {
    Deno.removeSync(path, { recursive: true });
  } catch { /* not there, or renamed */ }
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
