import { INSTALL_HINT, installedMariaDb, startMariaDb } from "../../harness/mariadb.ts";
import { startPostgres } from "../../harness/postgres.ts";
import { openStores } from "../../harness/s3_store.ts";
import { type Place, project, ROWS, summed, type Target, writeOrders } from "./target.ts";

/** A server, and the targets that it gives. */
export type Served = { readonly targets: readonly Target[]; readonly stop: () => PromiseLike<void> };
type Strategy = "append" | "replace" | "merge";

/** What differs between databases that are reached as servers. */
type Database = {
  readonly kind: string;
  readonly yaml: (name: string) => string;
  readonly env: { readonly [name: string]: string };
  readonly sql: (text: string) => Promise<(string | null)[][]>;
  readonly strategies: readonly Strategy[];
  /** Tables of this name that pz may have left. */
  readonly litter: (place: Place) => Promise<readonly string[]>;
  readonly sum: string;
};

/** PostgreSQL, as a target, and as a source whose partitions are staged one by one. */
export async function postgresTargets(): Promise<Served> {
  const server = await startPostgres();
  const connection = (name: string) =>
    `${name}:\n  connector: postgres\n  host: ${server.host}\n  port: ${server.port}\n  database: ${server.database}\n` +
    `  user: ${server.user}\n  password: \${PG_SECRET}\n`;
  const env = { PG_SECRET: server.password };
  const database: Database = {
    kind: "postgres",
    yaml: connection,
    env,
    sql: (text) => server.sql(text),
    strategies: ["append", "replace", "merge"],
    litter: async () =>
      (await server.sql("SELECT relname FROM pg_class WHERE relname LIKE 'pz\\_%' AND relkind = 'r'"))
        .map(([name]) => name ?? ""),
    sum: "sum(('x' || substr(md5(id || ':' || amount), 1, 12))::bit(48)::bigint)",
  };
  await server.sql(
    `CREATE TABLE orders AS SELECT i::bigint AS id, (i::bigint * 7919) % 1000003 AS amount FROM generate_series(0, ${
      ROWS * 4
    }) i; ALTER TABLE orders ADD PRIMARY KEY (id)`,
  );
  const read: Target = {
    name: "postgres read",
    env,
    files: () =>
      project({
        connections: `${connection("pg")}out:\n  connector: duckdb\n  path: out.duckdb\n`,
        source: "{{ source('pg', 'orders', partition_column: 'id', partitions: 6) }}",
        sink: "sink('out', 't', strategy: 'append')",
      }),
    prepare: () => Promise.resolve(),
    content: async ({ duck, folder }) => {
      await duck.run(`ATTACH '${folder}/out.duckdb' AS made`);
      try {
        return await summed(duck, "made.t");
      } finally {
        await duck.run("DETACH made");
      }
    },
    litter: () => Promise.resolve([]),
  };
  return { targets: [...databaseTargets(database), read], stop: () => server[Symbol.asyncDispose]() };
}

/** MySQL, by MariaDB; a text instead where the machine has none. */
export async function mysqlTargets(): Promise<Served | string> {
  if (installedMariaDb() === undefined) return `LEFT OUT: mysql: MariaDB is not installed; ${INSTALL_HINT}`;
  const server = await startMariaDb();
  return {
    targets: databaseTargets({
      kind: "mysql",
      yaml: (name) =>
        `${name}:\n  connector: mysql\n  host: ${server.host}\n  port: ${server.port}\n` +
        `  database: ${server.database}\n  user: ${server.user}\n  password: \${MY_SECRET}\n`,
      env: { MY_SECRET: server.password },
      sql: (text) => server.sql(text),
      strategies: ["append", "replace", "merge"],
      litter: async () =>
        (await server.sql("SELECT table_name FROM information_schema.tables WHERE table_name LIKE 'pz\\_%'"))
          .map(([name]) => name ?? ""),
      sum: "sum(crc32(concat(id, ':', amount)))",
    }),
    stop: () => server[Symbol.asyncDispose](),
  };
}

function databaseTargets({ kind, yaml, env, sql, strategies, litter, sum }: Database): readonly Target[] {
  return strategies.map((strategy) => ({
    name: `${kind} ${strategy}`,
    env,
    files: ({ name }) =>
      project({
        connections: yaml("out"),
        sink: `sink('out', '${name}', strategy: '${strategy}'${strategy === "merge" ? ", keys: ['id']" : ""})`,
      }),
    prepare: async (place) => {
      await writeOrders(place);
      await sql(`CREATE TABLE ${place.name} (id bigint PRIMARY KEY, amount bigint)`.replace(
        "PRIMARY KEY",
        strategy === "merge" ? "PRIMARY KEY" : "",
      ));
      await sql(`INSERT INTO ${place.name} VALUES (-1, 5), (-2, 5)${strategy === "merge" ? ", (7, 5)" : ""}`);
    },
    content: async ({ name }) => String(await sql(`SELECT count(*), ${sum} FROM ${name}`)),
    litter,
  }));
}

/** An object store; a text instead where the machine has none. */
export async function storeTargets(): Promise<Served | string> {
  const [store] = await openStores();
  if (store === undefined) return "LEFT OUT: s3: there is no store to write to";
  const targets = (["parquet replace", "csv append"] as const).map((name): Target => {
    const [format = "", strategy = ""] = name.split(" ");
    const keys = async (place: Place) => await store.keys(`${place.name}/`);
    return {
      name: `s3 ${name}`,
      env: { S3_SECRET: store.secret },
      files: (place) =>
        project({
          connections: `out:\n${store.yaml(place.name)}`,
          sink: `sink('out', 't', format: '${format}', strategy: '${strategy}')`,
        }),
      prepare: async (place) => {
        await writeOrders(place);
        if (format === "csv") await store.put(`${place.name}/t/t-base.csv`, "id,amount\n-1,5\n");
      },
      content: async (place) => {
        for (const [index, key] of (await keys(place)).entries()) {
          Deno.writeFileSync(`${place.folder}/got-${index}.${format}`, await store.get(key));
        }
        return await summed(place.duck, `read_${format}('${place.folder}/got-*.${format}')`);
      },
      litter: async (place) => [
        ...(await keys(place)).map((key) =>
          key.replace(place.name, "").replace(/[0-9a-f]{8}-\d{8}T\d{9}Z-[0-9a-f]{4}/, "*")
        ),
        ...(await store.uploads()).filter((key) => key.startsWith(place.name)),
      ],
    };
  });
  return { targets, stop: () => Promise.resolve() };
}
