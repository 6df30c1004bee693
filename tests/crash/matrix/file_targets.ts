import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { listFiles, writeFiles } from "../../harness/temp_dir.ts";
import { type Place, project, summed, type Target, writeOrders } from "./target.ts";

const LAKE = "out:\n  connector: localfiles\n  root: out\n";
const BASE = "out:\n  connector: duckdb\n  path: out.duckdb\n";

/** Outputs that lie on this machine. */
export const FILE_TARGETS: readonly Target[] = [
  ...(["parquet", "csv", "json"] as const).map((format) => file(format, "replace")),
  file("csv", "append"),
  file("csv", "replace", "engine.force_universal"),
  file("csv", "append", "engine.force_universal"),
  ...(["append", "replace", "merge"] as const).map(database),
  ...(["append", "merge"] as const).map(sqlite),
];

function file(format: "parquet" | "csv" | "json", strategy: "append" | "replace", more?: string): Target {
  const read = { parquet: "read_parquet", csv: "read_csv", json: "read_json" }[format];
  const forced = more !== undefined;
  return {
    name: `${format} ${strategy}${forced ? " by its process" : ""}`,
    files: () => {
      const files = project({
        connections: LAKE,
        sink: `sink('out', 't', format: '${format}', strategy: '${strategy}')`,
      });
      if (!forced) return files;
      const yaml = String(files["project.yml"]).replace("staging: always", "staging: always, force_universal: true");
      // The other output can't be written by a process in that format.
      const other = String(files["pipelines/q.sql"]).replace("'parquet'", "'csv'");
      return { ...files, "project.yml": yaml, "pipelines/q.sql": other };
    },
    prepare: async (place) => {
      await writeOrders(place);
      const old = format === "parquet" ? "" : format === "csv" ? "id,amount\n-1,5\n" : `{"id":-1,"amount":5}\n`;
      const name = strategy === "append" ? "t-base" : "t";
      if (old !== "") await writeFiles(place.folder, { [`out/t/${name}.${format}`]: old });
    },
    content: async ({ duck, folder }) => await summed(duck, `${read}('${join(folder, "out", "t", `*.${format}`)}')`),
    litter: async ({ folder }) => await namesOf(join(folder, "out")),
  };
}

/** File names that a run leaves, without what differs from run to run. */
async function namesOf(folder: string): Promise<readonly string[]> {
  return (await listFiles(folder)).map((name) => name.replaceAll(/[0-9a-f]{8}-\d{8}T\d{9}Z-[0-9a-f]{4}/g, "*"));
}

function database(strategy: "append" | "replace" | "merge"): Target {
  const keys = strategy === "merge" ? ", keys: ['id']" : "";
  const attached = async ({ duck, folder }: Place, sql: string) => {
    await duck.run(`ATTACH '${join(folder, "out.duckdb")}' AS made`);
    try {
      return await duck.rows(sql);
    } finally {
      await duck.run("DETACH made");
    }
  };
  return {
    name: `duckdb ${strategy}`,
    files: () => project({ connections: BASE, sink: `sink('out', 't', strategy: '${strategy}'${keys})` }),
    prepare: async (place) => {
      await writeOrders(place);
      await place.duck.run(`ATTACH '${join(place.folder, "out.duckdb")}' AS made`);
      await place.duck.run("CREATE TABLE made.t AS SELECT range AS id, 5::BIGINT AS amount FROM range(-3, 100)");
      await place.duck.run("DETACH made");
    },
    content: async (place) =>
      String(await attached(place, "SELECT count(*) AS n, sum(hash(id, amount)) AS s FROM made.t")),
    litter: async (place) => {
      const tables = await attached(place, "SELECT table_name FROM duckdb_tables() WHERE database_name = 'made'");
      return tables.map(([name]) => name ?? "").filter((name) => name !== "_pz_attempts").sort();
    },
  };
}

function sqlite(strategy: "append" | "merge"): Target {
  const keys = strategy === "merge" ? ", keys: ['id']" : "";
  const ask = ({ folder }: Place, sql: string) => {
    const database = new DatabaseSync(join(folder, "out.db"));
    try {
      return database.prepare(sql).all().map((row) => Object.values(row).join(","));
    } finally {
      database.close();
    }
  };
  return {
    name: `sqlite ${strategy}`,
    files: () =>
      project({
        connections: "out:\n  connector: sqlite\n  path: out.db\n",
        sink: `sink('out', 't', strategy: '${strategy}'${keys})`,
      }),
    prepare: async (place) => {
      await writeOrders(place);
      ask(place, `CREATE TABLE t (id INTEGER ${strategy === "merge" ? "PRIMARY KEY" : ""}, amount INTEGER)`);
      ask(place, "INSERT INTO t VALUES (-1, 5), (-2, 5)");
    },
    content: (place) =>
      Promise.resolve(ask(place, "SELECT count(*), sum(id * 31 + amount), sum(id * amount) FROM t").join()),
    litter: (place) => Promise.resolve(ask(place, "SELECT name FROM sqlite_schema WHERE name LIKE 'pz%'")),
  };
}
