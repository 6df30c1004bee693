import assert from "node:assert/strict";
import { runPz } from "../harness/cli.ts";
import { startPostgres } from "../harness/postgres.ts";
import { TempDir, writeFiles } from "../harness/temp_dir.ts";

const server = await startPostgres();

/** What becomes of the first COMMIT: it reaches the server and its answer is lost, or it is lost itself. */
type Cut = "answer" | "question";

/** A way to the server that breaks the connection at the first COMMIT, once. */
class CuttingProxy implements AsyncDisposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #open = new Set<Deno.Conn>();
  readonly #serving: Promise<void>;
  readonly #cut: Cut;
  cuts = 0;

  constructor(cut: Cut) {
    this.#cut = cut;
    this.#serving = this.#serve();
  }

  get port(): number {
    return this.#listener.addr.transport === "tcp" ? this.#listener.addr.port : 0;
  }

  async #serve(): Promise<void> {
    const carried: Promise<unknown>[] = [];
    for await (const client of this.#listener) {
      const upstream = await Deno.connect({ hostname: server.host, port: server.port });
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
      if (isQuestion && this.cuts === 0 && new TextDecoder("latin1").decode(bytes).includes("COMMIT\0")) {
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

const LOST: { readonly [cut in Cut]: string } = {
  answer: "whose commit landed without an answer",
  question: "whose commit never reached the server",
};

for (const cut of ["answer", "question"] as const) {
  for (const strategy of ["append", "replace", "merge"] as const) {
    Deno.test(`an ${strategy} ${LOST[cut]} is repeated, and every row is there once`, async () => {
      await using proxy = new CuttingProxy(cut);
      await using folder = await TempDir.create();
      const table = `${strategy}_${cut}`;
      await server.sql(`CREATE TABLE ${table} (n bigint PRIMARY KEY, t text)`);
      if (strategy === "append") await server.sql(`ALTER TABLE ${table} DROP CONSTRAINT ${table}_pkey`);
      const keys = strategy === "merge" ? ", keys: ['n']" : "";
      await writeFiles(folder.path, {
        "project.yml": `name: shop\nversion: "1"\n`,
        "connections.yml": "here: { connector: localfiles }\n" +
          `pg: { connector: postgres, host: 127.0.0.1, port: ${proxy.port}, database: postgres, user: pz, ` +
          "password: '${PG_SECRET}', ssl_mode: disable, retry: { base_delay: 10ms } }\n",
        "in.csv": "n,t\n1,a\n2,b\n3,c\n",
        "pipelines/rows.sql": `INSERT INTO {{ sink('pg', '${table}', strategy: '${strategy}'${keys}) }}\n` +
          "SELECT n, t FROM {{ source('here', 'in') }}\n",
      });
      const result = await runPz(["run"], { cwd: folder.path, env: { PG_SECRET: server.password } });
      assert.equal(result.code, 0, String(result));
      assert.equal(proxy.cuts, 1);
      assert.deepEqual(await server.sql(`SELECT n, t FROM ${table} ORDER BY n`), [["1", "a"], ["2", "b"], ["3", "c"]]);
    });
  }
}
