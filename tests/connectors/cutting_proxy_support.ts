/** A server's address. */
type Server = { readonly host: string; readonly port: number };

/** What becomes of the first COMMIT: it reaches the server and its answer is lost, or it is lost itself. */
export type Cut = "answer" | "question";

/** A way to a server that breaks the connection at the first message that holds `statement`, once. */
export class CuttingProxy implements AsyncDisposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #open = new Set<Deno.Conn>();
  readonly #serving: Promise<void>;
  readonly #server: Server;
  readonly #statement: string;
  readonly #cut: Cut;
  cuts = 0;

  constructor(server: Server, statement: string, cut: Cut) {
    this.#server = server;
    this.#statement = statement;
    this.#cut = cut;
    this.#serving = this.#serve();
  }

  get port(): number {
    return this.#listener.addr.transport === "tcp" ? this.#listener.addr.port : 0;
  }

  async #serve(): Promise<void> {
    const carried: Promise<unknown>[] = [];
    for await (const client of this.#listener) {
      const upstream = await Deno.connect({ hostname: this.#server.host, port: this.#server.port });
      for (const end of [client, upstream]) this.#open.add(end);
      const cut = { now: false };
      const close = () => {
        for (const end of [client, upstream]) if (this.#open.delete(end)) end.close();
      };
      carried.push(this.#carry(client, upstream, cut, true).catch(() => {}).finally(close));
      carried.push(this.#carry(upstream, client, cut, false).catch(() => {}).finally(close));
    }
    await Promise.all(carried);
  }

  async #carry(from: Deno.Conn, to: Deno.Conn, cut: { now: boolean }, isQuestion: boolean): Promise<void> {
    const buffer = new Uint8Array(64 * 1024);
    for (let size = await from.read(buffer); size !== null; size = await from.read(buffer)) {
      const bytes = buffer.subarray(0, size);
      if (!isQuestion && cut.now) return;
      if (isQuestion && this.cuts === 0 && new TextDecoder("latin1").decode(bytes).includes(this.#statement)) {
        this.cuts++;
        cut.now = true;
        if (this.#cut === "question") return;
      }
      await writeAll(to, bytes);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const end of this.#open) end.close();
    this.#open.clear();
    await this.#serving;
  }
}

async function writeAll(to: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await to.write(bytes.subarray(at));
}
