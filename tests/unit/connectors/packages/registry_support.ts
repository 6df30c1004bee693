import { integrityOf } from "../../../../src/connectors/packages/integrity.ts";

type Published = { readonly [name: string]: { readonly [version: string]: Uint8Array<ArrayBuffer> } };

/** An npm registry on this machine, which counts what it is asked. */
export class Registry implements AsyncDisposable {
  readonly asked: string[] = [];
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #packages: Published;
  /** In place of a tarball's bytes. */
  tampered: Uint8Array<ArrayBuffer> | undefined;
  /** In place of every answer. */
  status: number | undefined;
  /** The header `authorization` of the last question. */
  authorization: string | null = null;

  constructor(packages: Published) {
    this.#packages = packages;
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      (request) => this.#answer(request),
    );
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }

  #answer(request: Request): Response {
    const path = decodeURIComponent(new URL(request.url).pathname).slice(1);
    this.asked.push(path);
    this.authorization = request.headers.get("authorization");
    if (this.status !== undefined) return new Response("no", { status: this.status });
    const [name = "", file] = path.split("/-/");
    const versions = this.#packages[name];
    if (versions === undefined) return new Response("{}", { status: 404 });
    if (file === undefined) return Response.json({ name, versions: this.#describe(name, versions) });
    const tarball = this.tampered ?? versions[file.replace(/\.tgz$/, "")];
    return tarball === undefined ? new Response("", { status: 404 }) : new Response(tarball);
  }

  #describe(name: string, versions: Published[string]): { readonly [version: string]: unknown } {
    return Object.fromEntries(
      Object.entries(versions).map(([version, tarball]) => [
        version,
        {
          name,
          version,
          dist: { tarball: `${this.url}/${name}/-/${version}.tgz`, integrity: `sha1-x ${integrityOf(tarball)}` },
        },
      ]),
    );
  }
}
