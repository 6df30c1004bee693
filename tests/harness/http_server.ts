/** A request as the test server saw it. */
export type SeenRequest = {
  readonly method: string;
  /** With the parameters. */
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
};

export type Handler = (request: SeenRequest, url: URL) => Response | Promise<Response>;

/** An HTTP server of the tests' own, on loopback, that remembers what it was asked. */
export class TestHttp implements AsyncDisposable {
  readonly origin: string;
  readonly port: number;
  readonly seen: SeenRequest[] = [];
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  /** @param tls makes it speak TLS, to `https://localhost` */
  constructor(handler: Handler, tls?: { readonly cert: string; readonly key: string }) {
    const options = { port: 0, hostname: tls === undefined ? "127.0.0.1" : "localhost", onListen: () => {}, ...tls };
    this.#server = Deno.serve(options, async (request) => {
      const url = new URL(request.url);
      const { method, headers } = request;
      const seen = { method, path: url.pathname + url.search, headers, body: await request.text() };
      this.seen.push(seen);
      return await handler(seen, url);
    });
    this.port = this.#server.addr.port;
    this.origin = `http://127.0.0.1:${this.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

/** What a raw server does with a connection, when the head of a request (and what came with it) is there. */
export type RawAnswer = (write: (text: string | Uint8Array) => Promise<void>, head: string) => Promise<void> | void;

/** A server that writes what no HTTP server would, byte by byte; each connection is closed behind its answer. */
export class RawHttp implements AsyncDisposable {
  readonly origin: string;
  readonly port: number;
  /** Requests so far. */
  requests = 0;
  readonly #listener: Deno.TcpListener;
  readonly #open = new Set<Deno.TcpConn>();
  readonly #serving: Promise<void>;

  constructor(answer: RawAnswer) {
    this.#listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
    this.port = this.#listener.addr.port;
    this.origin = `http://127.0.0.1:${this.port}`;
    this.#serving = this.#serve(answer);
  }

  async #serve(answer: RawAnswer): Promise<void> {
    const answering: Promise<void>[] = [];
    try {
      for await (const connection of this.#listener) answering.push(this.#answer(connection, answer));
    } catch { /* closed */ }
    await Promise.all(answering);
  }

  async #answer(connection: Deno.TcpConn, answer: RawAnswer): Promise<void> {
    this.#open.add(connection);
    try {
      const head = await readHead(connection);
      if (head === "") return;
      this.requests++;
      await answer(async (text) => await writeAll(connection, text), head);
    } catch {
      /* the client is gone */
    } finally {
      this.#open.delete(connection);
      close(connection);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const connection of this.#open) close(connection);
    await this.#serving;
  }
}

function close(connection: Deno.TcpConn): void {
  try {
    connection.close();
  } catch { /* closed already */ }
}

async function readHead(connection: Deno.TcpConn): Promise<string> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(16 * 1024);
  let head = "";
  while (!head.includes("\r\n\r\n")) {
    const count = await connection.read(buffer);
    if (count === null) return "";
    head += decoder.decode(buffer.subarray(0, count), { stream: true });
  }
  return head;
}

async function writeAll(connection: Deno.TcpConn, text: string | Uint8Array): Promise<void> {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}
