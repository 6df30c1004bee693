/** A server of numbered names on shelves, on loopback, that no connector inside pz knows. */
export class Shelf implements AsyncDisposable {
  readonly password = crypto.randomUUID();
  readonly shelves = new Map<string, Map<string, string>>();
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #serving: Promise<void>;
  readonly #open = new Set<Deno.TcpConn>();

  constructor() {
    this.shelves.set(
      "books",
      new Map(Array.from({ length: 500 }, (_, index) => [String(index + 1), `book ${index + 1}`])),
    );
    this.#serving = this.#serve();
  }

  get port(): number {
    return this.#listener.addr.port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const connection of this.#open) connection.close();
    await this.#serving;
  }

  async #serve(): Promise<void> {
    const talks: Promise<void>[] = [];
    try {
      for await (const connection of this.#listener) talks.push(this.#talk(connection).catch(() => {}));
    } catch { /* closed */ }
    await Promise.all(talks);
  }

  async #talk(connection: Deno.TcpConn): Promise<void> {
    this.#open.add(connection);
    const aside = new Map<string, string>();
    const state = { isKnown: false };
    const encoder = new TextEncoder();
    let text = "";
    const writer = connection.writable.getWriter();
    try {
      for await (const bytes of connection.readable) {
        text += new TextDecoder().decode(bytes);
        const lines = text.split("\n");
        text = lines.pop() ?? "";
        for (const line of lines) await writer.write(encoder.encode(`${this.#answer(line, aside, state)}\n`));
      }
    } finally {
      if (this.#open.delete(connection)) writer.close().catch(() => {});
    }
  }

  #answer(line: string, aside: Map<string, string>, state: { isKnown: boolean }): string {
    const [word = "", first = "", second = "", ...more] = line.split(" ");
    if (word === "HELLO") state.isKnown = first === this.password;
    if (!state.isKnown) return "ERR who are you";
    const shelf = this.shelves.get(first);
    switch (word) {
      case "HELLO":
      case "PING":
        return "OK";
      case "COUNT":
        return shelf === undefined ? "ERR no such shelf" : `${shelf.size}\nOK`;
      case "LIST": {
        const [part = 0, parts = 1] = second.split("/").map(Number);
        const rows = [...shelf ?? []].filter(([id]) => Number(id) % parts === part);
        return [...rows.map(([id, name]) => `${id} ${name}`), "OK"].join("\n");
      }
      case "PUT":
        aside.set(first, [second, ...more].join(" "));
        return "OK";
      case "SHOW": {
        const former = second === "replace" ? [] : [...shelf ?? []];
        this.shelves.set(first, new Map([...former, ...aside]));
        return "OK";
      }
    }
    return "ERR what is that";
  }
}
