import { createHash } from "node:crypto";

/** What a release server answers for a path: bytes, or a response of its own making. */
export type Release = { readonly [path: string]: Uint8Array | string | (() => Response) };

/** A server on this machine that holds releases. */
export class ReleaseServer implements AsyncDisposable {
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor(release: Release) {
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, ({ url }) => {
      const answer = release[new URL(url).pathname];
      if (answer === undefined) return new Response("not here", { status: 404 });
      return typeof answer === "function" ? answer() : new Response(Uint8Array.from(bytesOf(answer)));
    });
  }

  get address(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

/** The text of a SHA256SUMS for files by their names. */
export function checksumsOf(files: { readonly [name: string]: Uint8Array | string }): string {
  return Object.entries(files).map(([name, content]) =>
    `${createHash("sha256").update(bytesOf(content)).digest("hex")}  ${name}\n`
  ).join("");
}

function bytesOf(content: Uint8Array | string): Uint8Array {
  return typeof content === "string" ? new TextEncoder().encode(content) : content;
}
