import { createHash } from "node:crypto";
import { ConnectorError } from "../../contract/mod.ts";
import { md5, neededText, refusedWith, type S3Client } from "./client.ts";
import { bare } from "./fetch_object.ts";
import type { UploadJournal } from "./journal.ts";
import { headObject } from "./listing.ts";
import { readPart } from "./read_part.ts";
import type { Slots } from "./slots.ts";
import { abortUpload, sweepNote, uploadsOf } from "./uploads.ts";
import { escapeXml } from "./xml.ts";

/** Bytes of every part but the last. */
export const PART_BYTES = 16 << 20;
const MAX_PARTS = 10_000;

export type UploadPlace = {
  readonly client: S3Client;
  readonly bucket: string;
  readonly key: string;
  /** The file, which only grows. */
  readonly path: string;
  readonly contentType: string;
  readonly journal: UploadJournal;
  readonly slots: Slots;
};

/** `hash`: the MD5 of a part as the store confirms it; undefined where its ETag is something else. */
type SentPart = { readonly number: number; readonly etag: string; readonly hash: string | undefined };

/**
 * One file on its way to an object. Parts go as soon as the file holds them; a file of one part goes as a whole when it
 * is finished. The object is there only after `finish`.
 */
export class ObjectUpload {
  readonly #place: UploadPlace;
  /** Stops the parts that are on their way. */
  readonly #stop = new AbortController();
  readonly #fail: (error: unknown) => void;
  readonly #parts: Promise<SentPart>[] = [];
  #bytes = 0;
  #isWhole = false;
  #id: Promise<string> | undefined;

  /** @param fail told the first failure of a part */
  constructor(place: UploadPlace, fail: (error: unknown) => void) {
    this.#place = place;
    this.#fail = fail;
  }

  get key(): string {
    return this.#place.key;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Sends the parts that are there now. */
  grew(bytes: number, isWhole: boolean): void {
    if (this.#isWhole || bytes < this.#bytes) return;
    this.#bytes = bytes;
    this.#isWhole = isWhole;
    const inParts = this.#parts.length > 0 || bytes > PART_BYTES;
    if (!inParts) return;
    const whole = Math.floor(bytes / PART_BYTES);
    const ready = isWhole && bytes % PART_BYTES > 0 ? whole + 1 : whole;
    while (this.#parts.length < ready) this.#begin(this.#parts.length);
  }

  /** Waits for the parts. */
  async sent(): Promise<void> {
    if (!this.#isWhole) throw new Error(`the file of ${this.key} is not whole`);
    await Promise.all(this.#parts);
  }

  /** Makes the object visible, in place of one that is there. */
  async finish(signal: AbortSignal): Promise<void> {
    const parts = await Promise.all(this.#parts);
    if (this.#id === undefined) await this.#put(signal);
    else await this.#complete(await this.#id, parts, signal);
  }

  /** Ends it without an object: nothing is left at the store. */
  async abort(signal: AbortSignal): Promise<void> {
    this.#stop.abort(new ConnectorError("The upload was given up", { transient: true }));
    await Promise.allSettled(this.#parts);
    const begun = this.#id;
    if (begun === undefined) return;
    const { client, bucket, key } = this.#place;
    let id: string | undefined;
    try {
      id = await begun;
    } catch {
      // Nobody knows whether it has begun.
      await sweepNote(client, { bucket, key, ids: [], ...await this.#before }, signal);
      return;
    }
    await abortUpload(client, { bucket, key, id }, signal);
  }

  #before: Promise<{ readonly before?: readonly string[] }> = Promise.resolve({});

  #begin(index: number): void {
    this.#id ??= this.#start();
    const part = this.#id.then((id) => this.#sendPart(id, index));
    part.catch(this.#fail);
    this.#parts.push(part);
  }

  /** Not to be stopped half-way: else nobody would know the id of what has begun. */
  async #start(): Promise<string> {
    const { client, bucket, key, contentType, journal } = this.#place;
    const { signal } = new AbortController();
    const before = await uploadsOf(client, bucket, key, this.#stop.signal);
    this.#before = Promise.resolve(before === undefined ? {} : { before });
    this.#stop.signal.throwIfAborted();
    journal.beginning(bucket, key, before);
    const answer = await client.document({
      label: "create_upload",
      idempotent: false,
      method: "POST",
      bucket,
      key,
      query: { uploads: "" },
      headers: { "content-type": contentType },
      doing: "Writing",
      signal,
    });
    const id = neededText(answer, "UploadId");
    journal.begun(bucket, key, id);
    return id;
  }

  async #sendPart(id: string, index: number): Promise<SentPart> {
    const { client, bucket, key, path, slots } = this.#place;
    const { signal } = this.#stop;
    if (index >= MAX_PARTS) {
      throw new ConnectorError(`An object may have ${MAX_PARTS} parts, and this file is larger`, {
        transient: false,
        hint: "write several objects, with partition_by",
      });
    }
    return await slots.run(signal, async () => {
      const start = index * PART_BYTES;
      const body = await readPart(path, start, Math.min(PART_BYTES, this.#bytes - start));
      const hash = md5(body);
      const headers = await client.headers({
        label: "put_part",
        idempotent: true,
        method: "PUT",
        bucket,
        key,
        query: { partNumber: String(index + 1), uploadId: id },
        headers: { "content-md5": hash.base64 },
        body,
        doing: "Writing",
        signal,
      });
      const etag = headers.get("etag");
      if (etag === null) throw new ConnectorError("The store does not name the part that it got", { transient: false });
      return { number: index + 1, etag, hash: checkedHash(headers, hash.hex) };
    });
  }

  async #put(signal: AbortSignal): Promise<void> {
    const { client, bucket, key, path, contentType, slots } = this.#place;
    await slots.run(signal, async () => {
      const body = await readPart(path, 0, this.#bytes);
      const hash = md5(body);
      const headers = await client.headers({
        label: "put",
        idempotent: true,
        method: "PUT",
        bucket,
        key,
        headers: { "content-md5": hash.base64, "content-type": contentType },
        body,
        doing: "Writing",
        signal,
      });
      checkedHash(headers, hash.hex);
    });
  }

  /** May be asked for again: an upload that is there no more has become the object, which its ETag proves. */
  async #complete(id: string, parts: readonly SentPart[], signal: AbortSignal): Promise<void> {
    const { client, bucket, key } = this.#place;
    const list = parts.map(({ number, etag }) =>
      `<Part><PartNumber>${number}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`
    );
    try {
      await client.document({
        label: "complete_upload",
        idempotent: true,
        method: "POST",
        bucket,
        key,
        query: { uploadId: id },
        headers: { "content-type": "application/xml" },
        body: new TextEncoder().encode(`<CompleteMultipartUpload>${list.join("")}</CompleteMultipartUpload>`),
        doing: "Writing",
        signal,
      });
    } catch (error) {
      if (!refusedWith(error, "NoSuchUpload", 404)) throw error;
      const expected = wholeEtag(parts);
      const stands = await headObject(client, bucket, key, signal).catch(() => undefined);
      if (expected !== undefined && stands?.etag !== undefined && bare(stands.etag) === expected) return;
      throw error;
    }
  }
}

/** The MD5 that a store confirms; a part that it has got otherwise was changed on its way. */
function checkedHash(headers: Headers, sent: string): string | undefined {
  const got = bare(headers.get("etag") ?? "");
  const isPlain = /^[0-9a-f]{32}$/.test(got) && !/kms/i.test(headers.get("x-amz-server-side-encryption") ?? "") &&
    !headers.has("x-amz-server-side-encryption-customer-algorithm");
  if (!isPlain) return undefined;
  if (got === sent) return sent;
  throw new ConnectorError("The store got other bytes than were sent", { transient: true });
}

/** The ETag of an object of these parts, where those are hashes. */
function wholeEtag(parts: readonly SentPart[]): string | undefined {
  const hash = createHash("md5");
  for (const part of parts) {
    if (part.hash === undefined) return undefined;
    hash.update(part.hash, "hex");
  }
  return `${hash.digest("hex")}-${parts.length}`;
}
