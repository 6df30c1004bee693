import { ConnectorError } from "../../contract/mod.ts";
import { ordinal } from "../../../util/mod.ts";
import { isGlob, partMatcher } from "../localfiles/glob.ts";
import type { S3Client } from "./client.ts";
import { nameOf } from "./endpoint.ts";
import type { ReadPlace } from "./place.ts";
import { elements, textOf, type XmlElement } from "./xml.ts";

/** One object as it stands. */
export type StoredObject = {
  readonly key: string;
  readonly bytes: number;
  /** As the store writes it, quotes included; undefined where it has none. */
  readonly etag: string | undefined;
};

const MAX_OBJECTS = 1_000_000;

/**
 * The objects that a path names, ordered by key: one that is there just as it is written, or those that match it as a
 * pattern. Keys that end with a slash stand for folders and are left out.
 *
 * @throws {ConnectorError} where there is none
 */
export async function findObjects(
  client: S3Client,
  { bucket, prefix, path }: ReadPlace,
  signal: AbortSignal,
): Promise<readonly StoredObject[]> {
  if (!isGlob(path)) return [await headObject(client, bucket, prefix + path, signal)];
  const matches = keyMatcher(path);
  const found: StoredObject[] = [];
  for await (const object of listObjects(client, bucket, prefix + path.slice(0, path.search(/[*?[]/)), signal)) {
    const rest = object.key.slice(prefix.length);
    if (rest === path) return [object];
    if (matches(rest)) found.push(object);
    if (found.length > MAX_OBJECTS) {
      throw new ConnectorError(`More than ${MAX_OBJECTS} objects match "${path}"`, { transient: false });
    }
  }
  if (found.length > 0) return found.sort((a, b) => ordinal(a.key, b.key));
  throw new ConnectorError(`No object matches ${nameOf(client.config.endpoint, bucket, prefix + path)}`, {
    transient: false,
    code: "PZ0353",
    hint: "check the path; a pattern's * stays within one part of a key, ** takes any number of them",
  });
}

/** What all objects of a pattern begin with, up to the last slash before its first wildcard. */
export function baseOf({ prefix, path }: ReadPlace): string {
  const start = isGlob(path) ? path.slice(0, path.search(/[*?[]/)) : path;
  return prefix + start.slice(0, start.lastIndexOf("/") + 1);
}

/** Whether a key, as it stands behind the prefix, matches a pattern: as for files, part by part. */
export function keyMatcher(pattern: string): (key: string) => boolean {
  const parts = pattern.split("/").map((part) => part === "**" ? "**" : isGlob(part) ? partMatcher(part) : part);
  return (key) => matchParts(parts, key.split("/"));
}

function matchParts(parts: readonly (string | RegExp)[], names: readonly string[]): boolean {
  const [part, ...rest] = parts;
  const [name, ...more] = names;
  if (part === undefined) return name === undefined;
  if (part === "**") {
    if (rest.length > 0 && matchParts(rest, names)) return true;
    if (name === undefined || name === "" || name.startsWith(".")) return false;
    return more.length === 0 ? rest.length === 0 : matchParts(parts, more);
  }
  if (name === undefined || (name === "" && more.length === 0)) return false;
  return (typeof part === "string" ? part === name : part.test(name)) && matchParts(rest, more);
}

/** One object by its key. */
export async function headObject(
  client: S3Client,
  bucket: string,
  key: string,
  signal: AbortSignal,
): Promise<StoredObject> {
  const headers = await client.headers({
    label: "head",
    idempotent: true,
    method: "HEAD",
    bucket,
    key,
    doing: "Reading",
    signal,
  });
  return { key, bytes: countOf(headers.get("content-length")), etag: headers.get("etag") ?? undefined };
}

/** Every object whose key begins with a text, by key, as the store lists them. */
export async function* listObjects(
  client: S3Client,
  bucket: string,
  prefix: string,
  signal: AbortSignal,
): AsyncGenerator<StoredObject, undefined> {
  let token: string | undefined;
  do {
    const page = await listPage(client, bucket, { prefix, ...(token === undefined ? {} : { token }) }, signal);
    const isEncoded = textOf(page, "EncodingType") === "url";
    for (const object of elements(page, "Contents")) yield toObject(object, isEncoded);
    const next = textOf(page, "IsTruncated") === "true" ? textOf(page, "NextContinuationToken") : undefined;
    if (next !== undefined && next === token) {
      throw new ConnectorError(`The store lists the same objects of "${bucket}" again and again`, { transient: false });
    }
    token = next;
  } while (token !== undefined);
  return undefined;
}

/** One page of a listing. */
export async function listPage(
  client: S3Client,
  bucket: string,
  { prefix, token, most }: { readonly prefix: string; readonly token?: string; readonly most?: number },
  signal: AbortSignal,
): Promise<XmlElement> {
  return await client.document({
    label: "list",
    idempotent: true,
    method: "GET",
    bucket,
    query: {
      "list-type": "2",
      "encoding-type": "url",
      prefix,
      ...(token === undefined ? {} : { "continuation-token": token }),
      ...(most === undefined ? {} : { "max-keys": String(most) }),
    },
    doing: "Listing",
    signal,
  });
}

/** A key as a listing writes it. */
export function decodeKey(text: string, isEncoded: boolean): string {
  if (!isEncoded) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

function toObject(object: XmlElement, isEncoded: boolean): StoredObject {
  return {
    key: decodeKey(textOf(object, "Key") ?? "", isEncoded),
    bytes: countOf(textOf(object, "Size") ?? null),
    etag: textOf(object, "ETag"),
  };
}

function countOf(text: string | null): number {
  if (text !== null && /^\d{1,15}$/.test(text)) return Number(text);
  throw new ConnectorError("The store does not tell how large an object is", { transient: false });
}
