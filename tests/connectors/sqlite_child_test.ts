import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { CHILD_VERB, ConnectorError, ConnectorSession, findConnector } from "../../src/connectors/mod.ts";
import { BINARY, runPz } from "../harness/cli.ts";
import { type Files, TempDir, writeFiles } from "../harness/temp_dir.ts";
import { fromDuck, NEVER, output, READ } from "./database_support.ts";
import { dataset, TestDatabase } from "./sqlite_support.ts";

const NUMBERS = `WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 100000)
  SELECT i AS id, 'n' || i AS name FROM s`;

function open(path: string, writes: boolean): ConnectorSession {
  const sqlite = findConnector("sqlite");
  if (sqlite === undefined || sqlite === "planned") throw new Error("no sqlite");
  const context = { projectRoot: "/nowhere" };
  const grant = sqlite.grant({ path }, context);
  const asked = sqlite.universalRead?.({ ...dataset("numbers"), config: { path } }, context);
  const sides = asked?.ok === true ? asked.value.grant.write : [];
  return new ConnectorSession({
    connector: "sqlite",
    connection: "lite",
    config: { path },
    grant: { ...grant, write: writes ? grant.write : sides },
    runId: "r1",
    onLog: () => {},
    ...(BINARY === undefined ? {} : { command: { path: BINARY, args: [CHILD_VERB], env: {} } }),
  });
}

for (const mode of ["DELETE", "WAL"] as const) {
  Deno.test(`a sandboxed child reads a database in ${mode} mode in parts, without the right to write it`, async () => {
    await using database = await TestDatabase.create(
      `PRAGMA journal_mode = ${mode}; CREATE TABLE numbers AS ${NUMBERS}`,
    );
    await using session = open(database.path, false);
    await session.check(NEVER);
    const spec = dataset("numbers", { partition_column: "rowid", partitions: 3n });
    assert.deepEqual((await session.getSchema(spec, NEVER)).names, ["id", "name"]);
    const partitions = await session.planRead(spec, NEVER);
    assert.equal(partitions.length, 3);
    const counts = await Promise.all(partitions.map(async (partition) => {
      let rows = 0;
      for await (const batch of session.read(spec, partition, READ)) rows += batch.numRows;
      return rows;
    }));
    assert.equal(counts.reduce((sum, rows) => sum + rows, 0), 100_000);
    const { schema } = await fromDuck("SELECT 1 AS id");
    await assert.rejects(session.beginWrite(output("t", "append"), schema, NEVER), (error) => {
      assert.ok(error instanceof ConnectorError, String(error));
      assert.match(error.message, /Requires write access|sandbox does not let|readonly database|unable to open/);
      return true;
    });
  });

  Deno.test(`a sandboxed child writes a database in ${mode} mode`, async () => {
    await using database = await TestDatabase.create(
      `PRAGMA journal_mode = ${mode}; CREATE TABLE numbers AS ${NUMBERS}`,
    );
    await using session = open(database.path, true);
    const { schema, batches } = await fromDuck("SELECT range AS id, 'x' || range AS name FROM range(50000)");
    const write = await session.beginWrite(output("written", "append"), schema, NEVER);
    for (const batch of batches) await write.write(batch, NEVER);
    assert.equal((await write.commit()).rows, 50_000n);
    assert.deepEqual(database.rows("SELECT count(*), sum(id) FROM written"), [["50000", "1249975000"]]);
  });
}

Deno.test("a sandboxed child makes a database where there was none", async () => {
  await using database = await TestDatabase.create();
  await using session = open(database.path, true);
  const { schema, batches } = await fromDuck("SELECT 1 AS id");
  const write = await session.beginWrite(output("t", "replace"), schema, NEVER);
  for (const batch of batches) await write.write(batch, NEVER);
  await write.commit();
  assert.deepEqual(database.rows("SELECT * FROM t"), [["1"]]);
});

for (const mode of ["append", "replace", "merge"] as const) {
  Deno.test(`a child that dies in the middle of an ${mode} leaves what was there`, async () => {
    await using database = await TestDatabase.create(
      "CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (-1)",
    );
    const session = open(database.path, true);
    const { schema, batches } = await fromDuck("SELECT range AS id FROM range(300000)");
    const write = await session.beginWrite(output("t", mode, { keys: mode === "merge" ? ["id"] : [] }), schema, NEVER);
    for (const batch of batches) await write.write(batch, NEVER);
    await session[Symbol.asyncDispose]();
    await write.abort();
    assert.deepEqual(database.rows("SELECT * FROM t"), [["-1"]]);
    assert.deepEqual(database.rows("PRAGMA integrity_check"), [["ok"]]);
  });
}

async function pz(
  files: Files,
  verbs: readonly (readonly string[])[],
  prepare = (_folder: string) => {},
): Promise<string[]> {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, { "project.yml": `name: shop\nversion: "1"\n`, ...files });
  prepare(folder.path);
  const said: string[] = [];
  for (const verb of verbs) {
    const result = await runPz(verb, { cwd: folder.path });
    said.push(`${result.code}\n${result.stdout}${result.stderr}`);
  }
  const path = folder.join("data/shop.db");
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    for (const table of ["totals", "copied"]) {
      try {
        said.push(JSON.stringify(database.prepare(`SELECT * FROM ${table} ORDER BY 1`).all()));
      } catch {
        said.push(`no ${table}`);
      }
    }
    database.close();
  } catch {
    said.push("no database");
  }
  return said;
}

const CONNECTION = "lite: { connector: sqlite, path: data/shop.db }\n";

Deno.test("pipelines read from SQLite, merge into it and copy in parts; the path is the project's", async () => {
  const said = await pz(
    {
      "connections.yml": CONNECTION,
      "pipelines/totals.sql": "INSERT INTO {{ sink('lite', 'totals', strategy: 'merge', keys: ['customer']) }}\n" +
        "SELECT customer, sum(amount) AS total FROM {{ source('lite', 'orders') }} WHERE id > 2 GROUP BY customer\n",
      "pipelines/copied.sql": "INSERT INTO {{ sink('lite', 'copied', strategy: 'replace') }}\n" +
        "SELECT * FROM {{ source('lite', 'orders', partition_column: 'rowid', partitions: 2) }}\n",
    },
    [["plan"], ["validate", "--connect"], ["run"]],
    (folder) => {
      Deno.mkdirSync(`${folder}/data`);
      const database = new DatabaseSync(`${folder}/data/shop.db`);
      database.exec(`
        CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT, amount DECIMAL(9,2));
        INSERT INTO orders VALUES (1, 'a', 5), (2, 'a', 1.25), (3, 'b', 0.10), (4, 'b', 0.20), (5, 'c', 7);
        CREATE TABLE totals (customer TEXT PRIMARY KEY, total DECIMAL TEXT(38,2)); INSERT INTO totals VALUES ('b', '9.99'), ('z', '1.00')`);
      database.close();
    },
  );
  assert.match(said[0] ?? "", /^0\n[^]*read [^\n]*shop\.db/);
  assert.match(said[1] ?? "", /^0\n/, said[1]);
  assert.match(said[2] ?? "", /^0\n/, said[2]);
  assert.deepEqual(JSON.parse(said[3] ?? ""), [
    { customer: "b", total: "0.30" },
    { customer: "c", total: "7.00" },
    { customer: "z", total: "1.00" },
  ]);
  assert.equal(JSON.parse(said[4] ?? "").length, 5);
});

Deno.test("a database that is not there is told when it is read, and is not made; a write makes it", async () => {
  const read = await pz(
    {
      "connections.yml": CONNECTION,
      "pipelines/p.sql":
        "INSERT INTO {{ sink('lite', 'copied', strategy: 'replace') }}\nSELECT * FROM {{ source('lite', 'orders') }}\n",
    },
    [["plan"], ["run"]],
    (folder) => Deno.mkdirSync(`${folder}/data`),
  );
  assert.match(read[0] ?? "", /PZ0353[^\n]*There is no database "[^"]*data\/shop\.db" for connection "lite"/);
  assert.doesNotMatch(read[1] ?? "", /^0\n/);
  assert.equal(read[2], "no database");
  const files = {
    "connections.yml": `${CONNECTION}here: { connector: localfiles }\n`,
    "in.csv": "id\n1\n",
    "pipelines/p.sql":
      "INSERT INTO {{ sink('lite', 'copied', strategy: 'replace') }}\nSELECT id FROM {{ source('here', 'in') }}\n",
  };
  const written = await pz(files, [["validate", "--connect"], ["run"]], (folder) => Deno.mkdirSync(`${folder}/data`));
  assert.match(written[0] ?? "", /^0\n[^]*There is no database "[^"]*" yet; a write makes it/);
  assert.match(written[1] ?? "", /^0\n/, written[1]);
  assert.equal(written[3], `[{"id":1}]`);
  const homeless = await pz(files, [["plan"]]);
  assert.match(homeless[0] ?? "", /PZ0353[^\n]*There is no folder "[^"]*data" for a new database of connection "lite"/);
});

Deno.test("what is no database, and a path inside of .pz, are told before anything runs", async () => {
  const pipelines = {
    "pipelines/p.sql": "INSERT INTO {{ sink('lite', 'a') }}\nSELECT * FROM {{ source('lite', 'b') }}\n",
  };
  const [text] = await pz({ ...pipelines, "connections.yml": CONNECTION, "data/shop.db": "hello" }, [["plan"]]);
  assert.match(text ?? "", /PZ0353[^\n]*is no SQLite database/);
  const own = "lite: { connector: sqlite, path: .pz/shop.db }\n";
  const [inside] = await pz({ ...pipelines, "connections.yml": own }, [["plan"]]);
  assert.match(inside ?? "", /PZ0301[^\n]*inside the folder .pz, which belongs to pz/);
});
