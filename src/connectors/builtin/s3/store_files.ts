import { join } from "node:path";
import { ConnectorError } from "../../contract/mod.ts";
import type { FileGrowth, StoreOptions, StoreResult, StoreSession } from "../../sdk/connector.ts";
import { ordinal } from "../../../util/mod.ts";
import type { S3Client } from "./client.ts";
import { UploadJournal } from "./journal.ts";
import { listObjects } from "./listing.ts";
import { ObjectUpload } from "./object_upload.ts";
import type { Slots } from "./slots.ts";
import type { StoreRequest } from "./store_request.ts";

/** Objects that are finished or deleted at once. */
const AT_ONCE = 8;
/** A write that is given up gets so long to take its uploads back. */
const ABORT_LIMIT_MS = 12_000;

/**
 * One write: its files become objects, all at the end. Several objects can't become visible as one step: they appear one
 * after the other, and what a replace leaves out is deleted when all of them stand.
 */
export class StoreFiles implements StoreSession {
  readonly #client: S3Client;
  readonly #request: StoreRequest;
  readonly #options: StoreOptions;
  readonly #slots: Slots;
  readonly #journal: UploadJournal;
  readonly #uploads = new Map<string, ObjectUpload>();

  constructor(client: S3Client, request: StoreRequest, options: StoreOptions, slots: Slots) {
    this.#client = client;
    this.#request = request;
    this.#options = options;
    this.#slots = slots;
    this.#journal = new UploadJournal(options.journal);
  }

  grew({ path, bytes, isWhole }: FileGrowth): void {
    let upload = this.#uploads.get(path);
    if (upload === undefined) this.#uploads.set(path, upload = this.#upload(path));
    upload.grew(bytes, isWhole);
  }

  async sent(): Promise<void> {
    await Promise.all([...this.#uploads.values()].map((upload) => upload.sent()));
  }

  async commit(): Promise<StoreResult> {
    const { signal } = new AbortController();
    const uploads = [...this.#uploads.values()].sort((a, b) => ordinal(a.key, b.key));
    let finished = 0;
    try {
      await sideBySide(uploads, async (upload) => {
        await upload.finish(signal);
        finished++;
      });
      if (this.#request.clear) await this.#clear(new Set(uploads.map(({ key }) => key)), signal);
    } catch (error) {
      await this.abort().catch(() => {});
      // A store that refuses has not done it; of a failure that may pass nobody knows.
      const isNothing = finished === 0 && error instanceof ConnectorError && !error.transient;
      throw isNothing ? error.with({ outcomeUnknown: false }) : error;
    }
    this.#journal.remove();
    return { files: uploads.length, bytes: uploads.reduce((sum, { bytes }) => sum + bytes, 0) };
  }

  async abort(): Promise<void> {
    const signal = AbortSignal.timeout(ABORT_LIMIT_MS);
    const ends = await Promise.allSettled([...this.#uploads.values()].map((upload) => upload.abort(signal)));
    const failed = ends.find((end) => end.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    this.#journal.remove();
  }

  /** Deletes what stands below the prefix and is none of the new objects. */
  async #clear(kept: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const { bucket, prefix = "" } = this.#request;
    const old: string[] = [];
    for await (const { key } of listObjects(this.#client, bucket, prefix, signal)) {
      if (key !== prefix && !kept.has(key)) old.push(key);
    }
    await sideBySide(old, async (key) => {
      await this.#client.headers({
        label: "delete",
        idempotent: true,
        method: "DELETE",
        bucket,
        key,
        doing: "Deleting",
        signal,
      });
    });
  }

  #upload(path: string): ObjectUpload {
    const { bucket, key, prefix = "", contentType } = this.#request;
    const place = {
      client: this.#client,
      bucket,
      key: key ?? `${prefix}${path}`,
      path: join(this.#options.folder, ...path.split("/")),
      contentType,
      journal: this.#journal,
      slots: this.#slots,
    };
    return new ObjectUpload(place, this.#options.fail);
  }
}

/** Does the same with each of a list, a few at once and begun in order; the first failure lets no further one begin. */
async function sideBySide<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  let failure: { readonly error: unknown } | undefined;
  const some = async () => {
    for (const item of queue) {
      if (failure !== undefined) return;
      try {
        await work(item);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, some));
  if (failure !== undefined) throw failure.error;
}
