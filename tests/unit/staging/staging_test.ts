import assert from "node:assert/strict";
import { join } from "node:path";
import { openStaging, type StagingOptions } from "../../../src/staging/mod.ts";
import { literal } from "../../../src/duckdb/mod.ts";

async function withFolder(work: (folder: string, options: StagingOptions) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await work(folder, {
      file: join(folder, "staging.duckdb"),
      memoryLimitBytes: 300_000_000,
      threads: 2,
      tempDirectory: join(folder, "spill"),
      allowedPaths: { files: [], folders: [] },
      preserveInsertionOrder: false,
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("a new staging database has its schemas and its format from the start", async () => {
  await withFolder(async (_, options) => {
    await using staging = await openStaging(options);
    using connection = await staging.connect();
    assert.deepEqual(await connection.rows("SELECT version FROM pz_meta.format"), [["2"]]);
    await connection.run("CREATE TABLE staging.orders AS SELECT 1 AS id");
    assert.deepEqual(await connection.rows("SELECT current_database(), id FROM staging.orders"), [["pz", "1"]]);
  });
});

Deno.test("what was committed is there when the database is opened again, without a log beside it", async () => {
  await withFolder(async (folder, options) => {
    {
      await using staging = await openStaging(options);
      using connection = await staging.connect();
      await connection.run("CREATE TABLE staging.orders AS SELECT 1 AS id");
    }
    assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name), ["staging.duckdb"]);
    await using staging = await openStaging(options);
    using connection = await staging.connect();
    assert.equal(await connection.integer("SELECT count(*) FROM staging.orders"), 1n);
    assert.equal(await connection.integer("SELECT count(*) FROM pz_meta.format"), 1n);
  });
});

Deno.test("SQL reads and writes what is allowed and nothing else", async () => {
  await withFolder(async (folder, options) => {
    const inside = join(folder, "in");
    const outside = join(folder, "out");
    for (const path of [inside, outside]) {
      await Deno.mkdir(path);
      await Deno.writeTextFile(join(path, "a.csv"), "id\n7\n");
    }
    await Deno.symlink(join(outside, "a.csv"), join(inside, "link.csv"));
    const files = [join(folder, "other.duckdb")];
    await using staging = await openStaging({ ...options, allowedPaths: { files, folders: [inside] } });
    using connection = await staging.connect();
    const csv = (path: string) => `FROM read_csv(${literal(path)})`;
    assert.deepEqual(await connection.rows(csv(join(inside, "a.csv"))), [["7"]]);
    assert.deepEqual(await connection.rows(csv(join(inside, "a*.csv"))), [["7"]]);
    await connection.run(`COPY (SELECT 1 AS a) TO ${literal(join(inside, "b.parquet"))}`);
    await connection.run(`ATTACH ${literal(files[0] ?? "")} AS other`);
    await connection.run("CREATE TABLE other.t AS SELECT 1 AS a; CHECKPOINT other; DETACH other");
    for (
      const sql of [
        csv(join(outside, "a.csv")),
        csv(join(inside, "..", "out", "a.csv")),
        csv(join(inside, "link.csv")),
        `COPY (SELECT 1) TO ${literal(join(outside, "b.csv"))}`,
        `ATTACH ${literal(join(outside, "x.duckdb"))} AS x`,
        "INSTALL spatial",
        "LOAD spatial",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "SET threads = 1",
        "CREATE PERSISTENT SECRET s (TYPE http, bearer_token 'x')",
      ]
    ) {
      await assert.rejects(connection.run(sql), { name: "DuckDbError" }, sql);
    }
  });
});

Deno.test("the settings that values depend on hold on every connection", async () => {
  await withFolder(async (folder, options) => {
    await using staging = await openStaging(options);
    using connection = await staging.connect();
    const names = ["TimeZone", "threads", "memory_limit", "temp_directory", "autoload_known_extensions"];
    const settings = names.map((name) => `current_setting('${name}')`).join(", ");
    assert.deepEqual(await connection.rows(`SELECT ${settings}`), [
      ["UTC", "2", "286.1 MiB", join(folder, "spill"), "false"],
    ]);
  });
});

Deno.test("JSON, Parquet and ICU need no download", async () => {
  await withFolder(async (folder, options) => {
    await using staging = await openStaging({ ...options, allowedPaths: { files: [], folders: [folder] } });
    using connection = await staging.connect();
    const parquet = literal(join(folder, "a.parquet"));
    await connection.run(`COPY (SELECT '{"a": [1, 2]}'::JSON AS j) TO ${parquet}`);
    const sql = `SELECT j->'$.a[1]', '2020-07-01 00:00:00+00'::TIMESTAMPTZ AT TIME ZONE 'Europe/Paris' FROM ${parquet}`;
    assert.deepEqual(await connection.rows(sql), [["2", "2020-07-01 02:00:00"]]);
  });
});

Deno.test("a setup statement runs once for each exact text, also when many ask at once", async () => {
  await withFolder(async (_, options) => {
    await using staging = await openStaging(options);
    using connection = await staging.connect();
    await connection.run("CREATE TABLE staging.log (n INTEGER)");
    const once = "INSERT INTO staging.log VALUES (1)";
    await Promise.all([staging.setup([once]), staging.setup([once]), staging.setup([once, `${once} `])]);
    assert.equal(await connection.integer("SELECT count(*) FROM staging.log"), 2n);
  });
});

Deno.test("a setup statement that failed runs again", async () => {
  await withFolder(async (_, options) => {
    await using staging = await openStaging(options);
    using connection = await staging.connect();
    const setup = ["INSERT INTO staging.late VALUES (1)"];
    await assert.rejects(staging.setup(setup), { name: "DuckDbError", kind: "Catalog" });
    await connection.run("CREATE TABLE staging.late (n INTEGER)");
    await staging.setup(setup);
    assert.equal(await connection.integer("SELECT count(*) FROM staging.late"), 1n);
  });
});

Deno.test("closing the database stops what runs and takes back what was not committed", async () => {
  await withFolder(async (_, options) => {
    const staging = await openStaging(options);
    const connection = await staging.connect();
    await connection.run("BEGIN; CREATE TABLE staging.half (n INTEGER)");
    const endless = assert.rejects(connection.run("SELECT count(*) FROM range(1000000000000)"), {
      name: "DuckDbError",
      interrupted: true,
    });
    await staging[Symbol.asyncDispose]();
    await endless;
    await assert.rejects(connection.run("SELECT 1"), { name: "DuckDbError", message: "The connection is closed" });
    await using again = await openStaging(options);
    using reader = await again.connect();
    await assert.rejects(reader.run("FROM staging.half"), { name: "DuckDbError", kind: "Catalog" });
  });
});

Deno.test("many small tables take little room in small blocks, and a file that is there keeps its own", async () => {
  await withFolder(async (folder, options) => {
    const fill = async (of: StagingOptions, prefix: string) => {
      await using staging = await openStaging(of);
      using connection = await staging.connect();
      for (let index = 0; index < 20; index++) {
        await connection.run(`CREATE TABLE staging.${prefix}${index} AS SELECT range * 7 % 10 AS id FROM range(10)`);
      }
      return await connection.rows("SELECT block_size FROM pragma_database_size() WHERE database_name = 'pz'");
    };
    const usual = await fill(options, "a");
    assert.deepEqual(await fill({ ...options, blockBytes: 65_536 }, "b"), usual);
    const small = { ...options, file: join(folder, "small.duckdb"), blockBytes: 65_536 };
    assert.deepEqual(await fill(small, "a"), [["65536"]]);
    const size = (file: string) => Deno.statSync(file).size;
    assert.ok(size(small.file) < size(options.file) / 3, `${size(small.file)} against ${size(options.file)} bytes`);
  });
});
