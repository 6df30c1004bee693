import { dirname, join } from "node:path";
import type { FetchedFile } from "../../contract/mod.ts";
import type { S3Client } from "./client.ts";
import { nameOf } from "./endpoint.ts";
import { fetchObject } from "./fetch_object.ts";
import { baseOf, findObjects, type StoredObject } from "./listing.ts";
import type { ReadPlace } from "./place.ts";
import { Slots } from "./slots.ts";

/** Objects that are on their way at once; a large one alone fills all requests. */
const AHEAD = 8;

type Fetching = {
  readonly folder: string;
  readonly slots: Slots;
  readonly signal: AbortSignal;
  readonly onBytes: (bytes: number) => void;
};

/** Brings the objects of a place into a folder; each is given in the order of the keys, while those behind it are fetched. */
export async function* fetchFiles(
  client: S3Client,
  place: ReadPlace,
  { folder, slots, signal, onBytes }: Fetching,
): AsyncGenerator<FetchedFile, undefined> {
  const objects = await findObjects(client, place, signal);
  const base = baseOf(place);
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const landing: Promise<FetchedFile>[] = [];
  try {
    for (let index = 0; index < objects.length; index++) {
      for (const object of objects.slice(landing.length, index + AHEAD)) {
        const path = localPath(landing.length, object.key.slice(base.length));
        const landed = land(client, place.bucket, object, { folder, path, slots, signal: either, onBytes });
        landed.catch(() => {});
        landing.push(landed);
      }
      const landed = await landing[index];
      if (landed !== undefined) yield landed;
    }
    return undefined;
  } finally {
    stop.abort();
    await Promise.allSettled(landing);
  }
}

async function land(
  client: S3Client,
  bucket: string,
  object: StoredObject,
  { folder, path, ...how }: Fetching & { readonly path: string },
): Promise<FetchedFile> {
  const target = join(folder, ...path.split("/"));
  await Deno.mkdir(dirname(target), { recursive: true });
  await fetchObject({ client, bucket, object, path: target, ...how });
  return { path, name: nameOf(client.config.endpoint, bucket, object.key), bytes: object.bytes };
}

/**
 * The path of the file of an object, unlike that of any other, with the folders of its key that give columns their
 * values and with the extension that says how it is compressed.
 */
export function localPath(index: number, key: string): string {
  const parts = key.split("/");
  const last = parts.pop() ?? "";
  const extension = /(?:\.[A-Za-z0-9]{1,10}){0,2}$/.exec(last)?.[0] ?? "";
  const folders = parts.filter((part) => part.indexOf("=") > 0).map(safeName);
  return [String(index).padStart(7, "0"), ...folders, `object${extension}`].join("/");
}

/** What may not stand in the name of a folder everywhere, or would be read as a pattern. */
const UNSAFE = '\\<>:"|?*[]';

/** A name that a folder may have, with what may not stand there in the form that is read back. */
function safeName(part: string): string {
  return [...part].map((letter) => letter < " " || UNSAFE.includes(letter) ? encodeHex(letter) : letter).join("");
}

function encodeHex(letter: string): string {
  return `%${letter.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
}
