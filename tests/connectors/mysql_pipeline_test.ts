import assert from "node:assert/strict";
import { type EventLine, runPz, startPz } from "../harness/cli.ts";
import { needsMariaDb, startMariaDb } from "../harness/mariadb.ts";
import { type Files, TempDir, writeFiles } from "../harness/temp_dir.ts";

if (needsMariaDb("the mysql pipeline suite")) await suite();

async function suite(): Promise<void> {
  const server = await startMariaDb();
  await server.sql("SET GLOBAL general_log = ON");
  await server.sql("SET GLOBAL log_output = 'TABLE'");
  const connection = `my:
  connector: mysql
  host: 127.0.0.1
  port: ${server.port}
  database: d
  user: pz
  password: \${MY_SECRET}
`;

  async function pz(
    files: Files,
    verbs: readonly (readonly string[])[],
  ): Promise<readonly { code: number; text: string }[]> {
    await using folder = await TempDir.create();
    await writeFiles(folder.path, {
      "project.yml": `name: shop\nversion: "1"\n`,
      "connections.yml": connection,
      ...files,
    });
    const results: { code: number; text: string }[] = [];
    for (const verb of verbs) {
      const result = await runPz(verb, { cwd: folder.path, env: { MY_SECRET: server.password } });
      const text = String(result);
      assert.ok(!text.includes(server.password));
      results.push({ code: result.code, text: result.stdout + result.stderr });
    }
    return results;
  }

  Deno.test("a pipeline reads from MySQL what it needs and merges into it", async () => {
    await server.sql(`
      CREATE TABLE orders AS SELECT seq AS id, seq % 3 AS k, CONCAT('c', seq % 10) AS customer,
        CAST(seq % 100 AS DECIMAL(9,2)) AS amount, 'unused' AS note FROM seq_1_to_10000;
      CREATE TABLE totals (customer varchar(20) PRIMARY KEY, total decimal(38,2), since datetime DEFAULT NOW());
      INSERT INTO totals VALUES ('c1', 0, NULL), ('other', 5, NULL)`);
    const sql =
      `INSERT INTO {{ sink('my', 'totals', strategy: 'merge', keys: ['customer']) }}\nSELECT customer, sum(amount) AS total ` +
      `FROM {{ source('my', 'orders') }} WHERE id > 9000 AND customer IN ('c1', 'c2') AND amount IS NOT NULL GROUP BY customer\n`;
    const results = await pz({ "pipelines/totals.sql": sql }, [["plan"], ["validate", "--connect"], ["run"]]);
    for (const { code, text } of results) assert.equal(code, 0, text);
    const expected = await server.sql(
      "SELECT customer, SUM(amount) FROM orders WHERE id > 9000 AND customer IN ('c1', 'c2') GROUP BY 1 UNION ALL SELECT 'other', 5.00 ORDER BY 1",
    );
    assert.deepEqual(await server.sql("SELECT customer, total FROM totals ORDER BY 1"), expected);
    const [[select = ""] = []] = await server.sql(
      "SELECT CONVERT(argument USING utf8mb4) FROM mysql.general_log WHERE command_type = 'Execute' AND argument LIKE '%FROM `orders`%'",
    );
    assert.match(select ?? "", /`id` > \(9000\)/);
    assert.match(select ?? "", /`customer` IN \('c1', 'c2'\)/);
    assert.doesNotMatch(select ?? "", /`note`|`k`/);
  });

  for (const isNew of [true, false]) {
    const what = isNew ? "new" : "old";
    Deno.test(`an interrupted replace of a ${what} table leaves nothing beside it`, async () => {
      if (!isNew) await server.sql("CREATE TABLE stopped (id bigint, t varchar(20)) AS SELECT 7 AS id, 'old' AS t");
      await using folder = await TempDir.create();
      await writeFiles(folder.path, {
        "project.yml": `name: shop\nversion: "1"\n`,
        "connections.yml": connection,
        "pipelines/stopped.sql": `INSERT INTO {{ sink('my', 'stopped', strategy: 'replace') }}\n` +
          `SELECT range AS id, 'x' || range AS t FROM range(2000000)\n`,
      });
      const env = { MY_SECRET: server.password };
      await using running = startPz(["run", "--log-format", "json"], { cwd: folder.path, env });
      const isWriting = ({ event, name }: EventLine) => event === "node_progress" && name === "my.stopped";
      assert.ok(await running.until(isWriting), "the run has ended before it was interrupted");
      running.kill("SIGINT");
      const result = await running.finish();
      assert.equal(result.code, 3, String(result));
      const tables = await server.sql(
        "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_NAME LIKE 'pz\\_new%' OR TABLE_NAME = 'stopped'",
      );
      assert.deepEqual(tables, isNew ? [] : [["stopped"]]);
      if (!isNew) assert.deepEqual(await server.sql("SELECT * FROM stopped"), [["7", "old"]]);
    });
  }

  Deno.test("a table goes from MySQL to MySQL in parts, and the copy is equal", async () => {
    await server.sql(`
      CREATE TABLE origin AS SELECT seq AS id, seq * 1000000007 AS big, CAST(seq / 7 AS DECIMAL(20,5)) AS d, seq / 3e0 AS f,
        IF(seq % 5 = 0, NULL, CONCAT('täxt ', seq)) AS t, TIMESTAMP '2024-01-01 00:00:00' + INTERVAL seq * 1.000001 SECOND AS z,
        DATE '2024-01-01' + INTERVAL seq % 400 DAY AS day, CAST(MD5(seq) AS UUID) AS u, UNHEX(MD5(seq)) AS b FROM seq_1_to_20000`);
    const results = await pz({
      "pipelines/copied.sql": `INSERT INTO {{ sink('my', 'copied', strategy: 'replace') }}\n` +
        `SELECT * FROM {{ source('my', 'origin', partition_column: 'id', partitions: 4) }}\n`,
    }, [["run"]]);
    assert.equal(results[0]?.code, 0, results[0]?.text);
    assert.match(results[0]?.text ?? "", /can't share a snapshot/);
    const all = "id, big, d, f, CONVERT(t USING utf8mb4) COLLATE utf8mb4_bin, z, day, u, b";
    const difference = `SELECT COUNT(*) FROM (SELECT ${all} FROM origin EXCEPT ALL SELECT ${all} FROM copied) x`;
    assert.deepEqual(await server.sql(difference), [["0"]]);
    assert.deepEqual(await server.sql("SELECT COUNT(*) FROM copied"), [["20000"]]);
  });

  Deno.test("validate tells wrong options at their places, and with --connect tries the SQL on the server's columns", async () => {
    await server.sql("CREATE TABLE bare (id int, label text)");
    const copy = (select: string) =>
      `INSERT INTO {{ sink('my', 'bare_copy', strategy: 'replace') }}\nSELECT ${select}\nFROM {{ source('my', 'bare') }}\n`;
    const connect = [["validate", "--connect"]];
    const [good] = await pz({ "pipelines/p.sql": copy("id, upper(label) AS label") }, connect);
    assert.equal(good?.code, 0, good?.text);
    assert.doesNotMatch(good?.text ?? "", /not dry-compiled/);
    const [wrong] = await pz({ "pipelines/p.sql": copy("id, lbl") }, connect);
    assert.equal(wrong?.code, 2, wrong?.text);
    assert.match(wrong?.text ?? "", /^error PZ0401: pipeline 'p': .*lbl.* \(pipelines\/p\.sql:2:12\)/m);
    const entity = (option: string) => `${connection}  entities:\n    bare:\n      read:\n        ${option}\n`;
    const [zero] = await pz({
      "connections.yml": entity("zero_dates: maybe"),
      "pipelines/p.sql": copy("id"),
    }, [["validate"]]);
    assert.match(zero?.text ?? "", /^error PZ0301: .*"zero_dates" is "maybe".*connections\.yml:11:9/m);
    const [tls] = await pz({
      "connections.yml": `${connection}  ssl_mode: verify-full\n`,
      "pipelines/p.sql": copy("id"),
    }, [["validate"]]);
    assert.match(tls?.text ?? "", /^error PZ0301: .*which needs a host by its name/m);
  });
}
