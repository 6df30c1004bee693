import type { S3Client } from "./client.ts";
import { refusedWith } from "./client.ts";
import type { UploadNote } from "./journal.ts";
import { decodeKey } from "./listing.ts";
import { elements, textOf } from "./xml.ts";

/** The ids of the uploads of one key that are under way; undefined where the store does not tell. */
export async function uploadsOf(
  client: S3Client,
  bucket: string,
  key: string,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  const ids: string[] = [];
  let marker: { readonly "key-marker": string; readonly "upload-id-marker": string } | undefined;
  try {
    do {
      const page = await client.document({
        label: "list_uploads",
        idempotent: true,
        method: "GET",
        bucket,
        query: { uploads: "", prefix: key, "encoding-type": "url", ...marker },
        doing: "Listing the uploads of",
        signal,
      });
      const isEncoded = textOf(page, "EncodingType") === "url";
      for (const upload of elements(page, "Upload")) {
        const id = textOf(upload, "UploadId");
        if (id !== undefined && decodeKey(textOf(upload, "Key") ?? "", isEncoded) === key) ids.push(id);
      }
      const next = {
        "key-marker": decodeKey(textOf(page, "NextKeyMarker") ?? "", isEncoded),
        "upload-id-marker": textOf(page, "NextUploadIdMarker") ?? "",
      };
      const ends = textOf(page, "IsTruncated") !== "true" || JSON.stringify(next) === JSON.stringify(marker);
      marker = ends ? undefined : next;
    } while (marker !== undefined);
    return ids;
  } catch (error) {
    if (refusedWith(error, "AccessDenied", "NotImplemented", "MethodNotAllowed", 403, 405, 501)) return undefined;
    throw error;
  }
}

/** Ends an upload, whose parts are gone then; one that is there no more is no failure. */
export async function abortUpload(
  client: S3Client,
  { bucket, key, id }: { readonly bucket: string; readonly key: string; readonly id: string },
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.headers({
      label: "abort_upload",
      idempotent: true,
      method: "DELETE",
      bucket,
      key,
      query: { uploadId: id },
      doing: "Taking back the upload of",
      signal,
    });
  } catch (error) {
    if (!refusedWith(error, "NoSuchUpload", 404)) throw error;
  }
}

/**
 * Ends what a write has noted of a key: its uploads, and where it died before it knew an id, those that began after it
 * looked.
 */
export async function sweepNote(
  client: S3Client,
  { bucket, key, before, ids }: UploadNote,
  signal: AbortSignal,
): Promise<void> {
  const others = new Set(before);
  const unknown = ids.length > 0 || before === undefined ? [] : await uploadsOf(client, bucket, key, signal) ?? [];
  for (const id of new Set([...ids, ...unknown.filter((id) => !others.has(id))])) {
    await abortUpload(client, { bucket, key, id }, signal);
  }
}
