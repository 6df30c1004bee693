import { ConnectorError } from "../../contract/mod.ts";
import type { S3Client } from "./client.ts";
import { nameOf } from "./endpoint.ts";
import type { StoredObject } from "./listing.ts";
import { Slots } from "./slots.ts";
import { StoreRefusal } from "./trouble.ts";

/** What one request brings at most. */
const RANGE_BYTES = 8 << 20;

type Fetching = {
  readonly client: S3Client;
  readonly bucket: string;
  readonly object: StoredObject;
  /** The file, which must not be there. */
  readonly path: string;
  readonly slots: Slots;
  readonly signal: AbortSignal;
  readonly onBytes: (bytes: number) => void;
};

/**
 * Brings one object into a file, large ones by several requests side by side. The object is the one that was listed to
 * its last byte, or the error says so.
 */
export async function fetchObject(fetching: Fetching): Promise<void> {
  const { object: { bytes }, path, slots, signal } = fetching;
  using file = await Deno.open(path, { write: true, createNew: true });
  if (bytes === 0) return;
  await file.truncate(bytes);
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const starts = Array.from({ length: Math.ceil(bytes / RANGE_BYTES) }, (_, index) => index * RANGE_BYTES);
  let failure: { readonly error: unknown } | undefined;
  await Promise.all(starts.map(async (start) => {
    try {
      const end = Math.min(bytes, start + RANGE_BYTES);
      await slots.run(either, () => fetchRange({ ...fetching, signal: either }, start, end));
    } catch (error) {
      failure ??= { error };
      stop.abort(error);
    }
  }));
  if (failure !== undefined) throw failure.error;
}

async function fetchRange(
  { client, bucket, object, path, signal, onBytes }: Fetching,
  start: number,
  end: number,
): Promise<void> {
  const isWhole = start === 0 && end === object.bytes;
  const name = nameOf(client.config.endpoint, bucket, object.key);
  const request = {
    label: "get",
    idempotent: true,
    method: "GET",
    bucket,
    key: object.key,
    headers: {
      ...(object.etag === undefined ? {} : { "if-match": object.etag }),
      ...(isWhole ? {} : { range: `bytes=${start}-${end - 1}` }),
    },
    doing: "Reading",
    signal,
  } as const;
  try {
    await client.send(request, async (response, alive) => {
      checkAnswer(response, { name, object, isWhole, start, end });
      // Some versions of the runtime take away the headers of a body that they have decoded.
      const wrong = (what: string) => response.headers.has("content-length") ? broken(name, what) : encoded(name);
      using file = await Deno.open(path, { write: true });
      await file.seek(start, Deno.SeekMode.Start);
      let at = start;
      for await (const chunk of response.body ?? []) {
        alive();
        if (at + chunk.length > end) throw wrong("more came than there should be");
        await writeAll(file, chunk);
        at += chunk.length;
      }
      if (at < end) throw wrong(`the answer ended after ${at - start} of ${end - start} bytes`);
    });
  } catch (error) {
    throw error instanceof StoreRefusal && error.answer.status === 412 ? changed(name) : error;
  }
  onBytes(end - start);
}

function checkAnswer(
  { status, headers }: Response,
  { name, object, isWhole, start, end }: {
    readonly name: string;
    readonly object: StoredObject;
    readonly isWhole: boolean;
    readonly start: number;
    readonly end: number;
  },
): void {
  const encoding = headers.get("content-encoding");
  if (encoding !== null && !/^(identity|aws-chunked)?$/i.test(encoding.trim())) throw encoded(name);
  const etag = headers.get("etag");
  if (etag !== null && object.etag !== undefined && bare(etag) !== bare(object.etag)) throw changed(name);
  if (isWhole) return;
  const range = headers.get("content-range");
  if (status !== 206 || range?.startsWith(`bytes ${start}-${end - 1}/`) !== true) {
    throw new ConnectorError(`Reading ${name} failed: the store does not give the part that was asked for`, {
      transient: false,
      hint: "check that the endpoint is a store that speaks the protocol of S3",
    });
  }
}

/** An ETag without its quotes and the mark that some servers on the way put in front. */
export function bare(etag: string): string {
  return etag.replace(/^W\//, "").replaceAll('"', "");
}

function encoded(name: string): ConnectorError {
  return new ConnectorError(`${name} is stored with a Content-Encoding, which changes it on its way`, {
    transient: false,
    hint: "store it without that header, with the extension .gz or .zst if it is compressed",
  });
}

function changed(name: string): ConnectorError {
  return new ConnectorError(`${name} was changed while it was read`, {
    transient: true,
    hint: "run it again when nothing writes there",
  });
}

function broken(name: string, what: string): ConnectorError {
  return new ConnectorError(`Reading ${name} failed: ${what}`, { transient: true });
}

async function writeAll(file: Deno.FsFile, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await file.write(bytes.subarray(at));
}
