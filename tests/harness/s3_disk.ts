import { createHash } from "node:crypto";
import { join } from "node:path";
import { TestStore } from "./s3_store.ts";
import { TempDir } from "./temp_dir.ts";

/**
 * A store for one large object: it keeps the parts of uploads as files, and holds none of them in memory, so that it does
 * not matter how large they are. It knows only what pz asks of a store for such an object, and lists nothing.
 */
export class DiskStore implements AsyncDisposable {
  readonly store: TestStore;
  readonly #folder: TempDir;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #uploads = new Map<string, Map<number, Part>>();
  readonly #objects = new Map<string, { readonly parts: readonly Part[]; readonly etag: string }>();
  #next = 1;

  private constructor(folder: TempDir) {
    this.#folder = folder;
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      (request) => this.#answer(request),
    );
    const endpoint = `http://127.0.0.1:${this.#server.addr.port}`;
    this.store = TestStore.of("disk", "large", { endpoint, access_key: "k", secret_key: `s3-${crypto.randomUUID()}` });
  }

  static async create(): Promise<DiskStore> {
    return new DiskStore(await TempDir.create());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
    await this.#folder[Symbol.asyncDispose]();
  }

  async #answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const key = url.pathname;
    const id = url.searchParams.get("uploadId");
    const number = Number(url.searchParams.get("partNumber"));
    if (request.method === "PUT" && id !== null) return await this.#putPart(id, number, request);
    if (request.method === "POST" && id !== null) return this.#complete(key, id);
    if (url.searchParams.has("uploads")) return request.method === "POST" ? this.#begin() : this.#list();
    const object = this.#objects.get(key);
    if (object === undefined) return new Response(null, { status: 404 });
    const bytes = object.parts.reduce((sum, part) => sum + part.bytes, 0);
    const headers = { etag: object.etag, "content-length": String(bytes) };
    if (request.method === "HEAD") return new Response(null, { headers });
    return this.#range(object.parts, object.etag, bytes, request);
  }

  #begin(): Response {
    const id = String(this.#next++);
    this.#uploads.set(id, new Map());
    return new Response(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
  }

  #list(): Response {
    const ids = [...this.#uploads.keys()].map((id) => `<Upload><Key>x</Key><UploadId>${id}</UploadId></Upload>`);
    return new Response(`<ListMultipartUploadsResult>${ids.join("")}</ListMultipartUploadsResult>`);
  }

  async #putPart(id: string, number: number, request: Request): Promise<Response> {
    const path = join(this.#folder.path, `${id}-${number}`);
    const hash = createHash("md5");
    let bytes = 0;
    using file = await Deno.open(path, { write: true, create: true, truncate: true });
    for await (const chunk of request.body ?? []) {
      hash.update(chunk);
      bytes += chunk.length;
      for (let at = 0; at < chunk.length;) at += await file.write(chunk.subarray(at));
    }
    this.#uploads.get(id)?.set(number, { path, bytes });
    return new Response(null, { headers: { etag: `"${hash.digest("hex")}"` } });
  }

  #complete(key: string, id: string): Response {
    const parts = [...this.#uploads.get(id) ?? []].sort(([a], [b]) => a - b).map(([, part]) => part);
    this.#uploads.delete(id);
    this.#objects.set(key, { parts, etag: `"${id}-${parts.length}"` });
    return new Response("<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>");
  }

  #range(parts: readonly Part[], etag: string, bytes: number, request: Request): Response {
    const [, from = "0", to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.get("range") ?? "") ?? [];
    const [start, end] = [Number(from), to === undefined ? bytes : Number(to) + 1];
    return new Response(ReadableStream.from(slices(parts, start, end)), {
      status: to === undefined ? 200 : 206,
      headers: {
        etag,
        "content-length": String(end - start),
        ...(to === undefined ? {} : { "content-range": `bytes ${start}-${end - 1}/${bytes}` }),
      },
    });
  }
}

type Part = { readonly path: string; readonly bytes: number };

/** The bytes of parts one after the other, from and to a place, in pieces. */
async function* slices(parts: readonly Part[], start: number, end: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let at = 0;
  for (const { path, bytes } of parts) {
    const [from, to] = [Math.max(start - at, 0), Math.min(end - at, bytes)];
    at += bytes;
    if (from >= to) continue;
    using file = await Deno.open(path);
    await file.seek(from, Deno.SeekMode.Start);
    for (let left = to - from; left > 0;) {
      const buffer = new Uint8Array(Math.min(left, 256 * 1024));
      const count = await file.read(buffer) ?? left;
      left -= count;
      yield buffer.subarray(0, count);
    }
  }
}
