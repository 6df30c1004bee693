import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { builtinConnectors, findConnector } from "../../src/connectors/mod.ts";
import { TestHttp } from "../harness/http_server.ts";
import { needsMariaDb, startMariaDb } from "../harness/mariadb.ts";
import { startPostgres } from "../harness/postgres.ts";
import { openStores } from "../harness/s3_store.ts";
import { TempDir, writeFiles } from "../harness/temp_dir.ts";
import { assertConforms, type Candidate } from "./conformance_support.ts";
import { configOf } from "./postgres_support.ts";

/** Opens, within a test, what a connector is tried out on. */
type Open = (stack: AsyncDisposableStack) => Promise<Omit<Candidate, "connector">>;

const NUMBERS = { dataset: "numbers", partition_column: "id", partitions: 3n };
const WRITTEN = { output: "written", mode: "replace", read_back: "written" };

/**
 * How each connector inside pz is tried out. A server is started outside of the test, which it outlives; undefined: what
 * it needs is not installed, which is said aloud.
 */
const CANDIDATES: { readonly [name: string]: () => Promise<Open | undefined> } = {
  duckdb: always(() => Promise.resolve({ values: {}, leftOut: "all" })),
  generate: always(() =>
    Promise.resolve({ values: { read: { dataset: "made", rows: 500n } }, leftOut: ["writes", "transient-error-shape"] })
  ),
  http: always((stack) => {
    const server = stack.use(new TestHttp(new Records().answer));
    const columns = { id: "bigint", name: "varchar" };
    const dataset = { dataset: "records", path: "/records", columns };
    return Promise.resolve({
      values: {
        connection: { base_url: server.origin },
        read: dataset,
        write: { output: "records", path: "/records", mode: "append", read_back: dataset },
      },
      leftOut: [
        "transient-error-shape", // a dataset is what its path says, whatever its name
        "abort-discards-everything",
        // Nothing empties the output, and a merge needs more than a path.
        ...["merge-upserts-by-keys", "merge-is-idempotent", "merge-duplicates-in-one-write"],
        "merge-without-its-key-column",
      ],
    });
  }),
  localfiles: always(async (stack) => {
    const folder = stack.use(await TempDir.create());
    await writeFiles(folder.path, { "in/a.csv": csv(1, 50), "in/b.csv": csv(50, 120) });
    const columns = { id: "bigint", name: "varchar" };
    const file = { path: "out.csv", format: "csv" };
    return {
      root: folder.path,
      values: {
        connection: { root: "." },
        read: { dataset: "numbers", path: "in/*.csv", format: "csv", columns },
        write: { output: "out", ...file, read_back: { dataset: "out", ...file, columns } },
      },
      leftOut: [
        "transient-error-shape", // a dataset is what its path says, whatever its name
        "bounded-window", // DuckDB's part
      ],
    };
  }),
  async mysql() {
    if (!needsMariaDb("the conformance of mysql")) return undefined;
    const { sql, host, port, user, password, database } = await startMariaDb();
    await sql("CREATE TABLE written (id bigint PRIMARY KEY, name text)");
    await sql("CREATE TABLE numbers AS SELECT seq AS id, CONCAT('n', seq) AS name FROM seq_1_to_2000");
    const connection = { host, port: BigInt(port), user, password, database };
    return () => Promise.resolve({ values: { connection, read: NUMBERS, write: WRITTEN } });
  },
  async postgres() {
    const server = await startPostgres();
    await server.sql("CREATE TABLE written (id bigint PRIMARY KEY, name text)");
    await server.sql("CREATE TABLE numbers AS SELECT i AS id, 'n' || i AS name FROM generate_series(1, 2000) i");
    return () => Promise.resolve({ values: { connection: configOf(server), read: NUMBERS, write: WRITTEN } });
  },
  sqlite: always(async (stack) => {
    const folder = stack.use(await TempDir.create());
    const path = folder.join("numbers.db");
    const database = new DatabaseSync(path);
    database.exec("CREATE TABLE numbers (id INTEGER PRIMARY KEY, name TEXT)");
    database.exec("CREATE TABLE written (id INTEGER PRIMARY KEY, name TEXT)");
    const insert = database.prepare("INSERT INTO numbers VALUES (?, ?)");
    for (let id = 1; id <= 2000; id++) insert.run(id, `n${id}`);
    database.close();
    return { root: folder.path, values: { connection: { path }, read: NUMBERS, write: WRITTEN } };
  }),
  async s3() {
    const [store] = await openStores();
    if (store === undefined) return undefined;
    await store.put("numbers.csv", csv(1, 120));
    const connection = { ...store.config, root: store.bucket };
    return () =>
      Promise.resolve({
        values: {
          connection,
          read: { dataset: "numbers", format: "csv" },
          write: {
            output: "written",
            format: "csv",
            read_back: { dataset: "written", format: "csv", path: "written/*.csv" },
          },
        },
        // DuckDB has the rows of the files that the process moves.
        leftOut: ["schema-batch-equality", "commit-after-the-end-is-ignored"],
      });
  },
};

for (const { name } of builtinConnectors()) {
  const open = await CANDIDATES[name]?.();
  if (CANDIDATES[name] !== undefined && open === undefined) continue;
  Deno.test(`${name} keeps every promise of a connector`, async () => {
    const connector = findConnector(name);
    assert.ok(connector !== undefined && connector !== "planned");
    assert.ok(open !== undefined, `add '${name}' to the candidates of this file`);
    await using stack = new AsyncDisposableStack();
    await assertConforms({ connector, ...await open(stack) });
  });
}

function always(open: Open): () => Promise<Open> {
  return () => Promise.resolve(open);
}

/** Takes records in and gives them back. */
class Records {
  readonly #records: unknown[] = Array.from({ length: 40 }, (_, index) => ({ id: index + 1, name: `n${index + 1}` }));

  readonly answer = ({ method, body }: { readonly method: string; readonly body: string }): Response => {
    if (method === "GET") return Response.json(this.#records);
    const sent: unknown = JSON.parse(body);
    this.#records.push(...(Array.isArray(sent) ? sent : [sent]));
    return Response.json({}, { status: 201 });
  };
}

function csv(from: number, before: number): string {
  const lines = Array.from({ length: before - from }, (_, index) => `${from + index},n${from + index}`);
  return `id,name\n${lines.join("\n")}\n`;
}
