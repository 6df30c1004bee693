import { isSigned } from "./s3_signature.ts";
import type { TestStore } from "./s3_store.ts";

/** A request on its way to a store: what it is, in short. */
export type SeenRequest = {
  readonly method: string;
  readonly key: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
};

/**
 * What becomes of a request: undefined, it goes its way; an answer that is given in its place; or a function that gets the
 * store's answer and gives another.
 */
export type Intervention = undefined | Response | ((answer: Response) => Response | Promise<Response>);

/** Stands in front of a store and does to requests what a bad network or a bad server does. */
export class StoreProxy implements AsyncDisposable {
  readonly store: TestStore;
  /** Every request so far, such as `PUT a/b.csv?partNumber`. */
  readonly seen: string[] = [];
  /** Those of them that were not signed as they should be. */
  readonly unsigned: string[] = [];
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor(store: TestStore, intervene: (request: SeenRequest) => Intervention | Promise<Intervention>) {
    const target = String(store.config["endpoint"]);
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
      const url = new URL(request.url);
      const key = decodeURIComponent(url.pathname.replace(`/${store.bucket}`, "").replace(/^\//, ""));
      const body = await request.arrayBuffer().catch(() => undefined); // whoever asked has given up
      if (body === undefined) return new Response(null, { status: 400 });
      const seen = { method: request.method, key, query: url.searchParams, headers: request.headers };
      this.seen.push(`${request.method} ${key}${[...url.searchParams.keys()].map((name) => `?${name}`).join("")}`);
      if (!isSigned(request, new Uint8Array(body), store.secret)) this.unsigned.push(this.seen.at(-1) ?? "");
      const what = await intervene(seen);
      if (what instanceof Response) return what;
      const answer = await fetch(`${target}${url.pathname}${url.search}`, {
        method: request.method,
        headers: request.headers,
        redirect: "manual",
        ...(body.byteLength === 0 ? {} : { body }),
      });
      if (what !== undefined) return await what(answer);
      if (request.method !== "HEAD") return answer;
      return new Response(null, { status: answer.status, headers: answer.headers });
    });
    this.store = store.at(`http://127.0.0.1:${this.#server.addr.port}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}
