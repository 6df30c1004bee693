import assert from "node:assert/strict";
import { runPz } from "../harness/cli.ts";
import { startPostgres } from "../harness/postgres.ts";
import { type Files, TempDir, writeFiles } from "../harness/temp_dir.ts";

const server = await startPostgres();
await server.sql(`
  ALTER SYSTEM SET log_min_messages = 'log';
`);
await server.sql("ALTER SYSTEM SET log_statement = 'all'");
await server.sql("SELECT pg_reload_conf()");

const CONNECTION = `pg:
  connector: postgres
  host: 127.0.0.1
  port: ${server.port}
  database: postgres
  user: pz
  password: \${PG_SECRET}
`;

async function run(files: Files, ...args: readonly string[]): Promise<void> {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, {
    "project.yml": `name: shop\nversion: "1"\n`,
    "connections.yml": CONNECTION,
    ...files,
  });
  const env = { PG_SECRET: server.password };
  for (const verb of [["plan"], ["validate", "--connect"], ["run", ...args]]) {
    const result = await runPz(verb, { cwd: folder.path, env });
    assert.equal(result.code, 0, String(result));
    assert.ok(!result.stdout.includes(server.password) && !result.stderr.includes(server.password));
  }
}

/** The statements that the server ran and that hold a text. */
async function statements(text: string): Promise<string[]> {
  const log = await Deno.readTextFile(`${server.folder}/log`);
  return log.split("\n").filter((line) => line.includes(text));
}

Deno.test("a pipeline reads from PostgreSQL what it needs and merges into it", async () => {
  await server.sql(`
    CREATE SCHEMA sales;
    CREATE TABLE sales.orders AS SELECT i::bigint AS id, i % 3 AS k, 'c' || i % 10 AS customer, (i % 100)::numeric(9,2) AS amount,
      'unused' AS note FROM generate_series(1, 10000) i;
    CREATE TABLE totals (customer text PRIMARY KEY, total numeric(38,2), since timestamptz DEFAULT now());
    INSERT INTO totals VALUES ('c1', 0, NULL), ('other', 5, NULL)`);
  await run({
    "pipelines/totals.sql":
      `INSERT INTO {{ sink('pg', 'totals', strategy: 'merge', keys: ['customer']) }}\nSELECT customer, sum(amount) AS total ` +
      `FROM {{ source('pg', 'sales.orders') }} WHERE id > 9000 AND customer IN ('c1', 'c2') AND amount IS NOT NULL GROUP BY customer\n`,
  });
  const expected = await server.sql(
    "SELECT customer, sum(amount) FROM sales.orders WHERE id > 9000 AND customer IN ('c1', 'c2') GROUP BY 1 UNION ALL SELECT 'other', 5.00 ORDER BY 1",
  );
  assert.deepEqual(await server.sql("SELECT customer, total FROM totals ORDER BY 1"), expected);
  const [copy = "", ...more] = await statements(`FROM "sales"."orders"`).then((lines) =>
    lines.filter((line) => line.includes("COPY ("))
  );
  assert.equal(more.length, 0);
  assert.match(copy, /"id" > \(9000\)/);
  assert.match(copy, /"customer" IN \('c1', 'c2'\)/);
  assert.doesNotMatch(copy, /"note"|"k"/);
});

Deno.test("columns whose names differ in case alone are refused, whichever are asked for; a query can rename them", async () => {
  await server.sql(`CREATE TABLE cased (id int, "ID" int, other int); INSERT INTO cased VALUES (1, 2, 3)`);
  for (const columns of ["*", "id", '"ID"', "other"]) {
    await using folder = await TempDir.create();
    await writeFiles(folder.path, {
      "project.yml": `name: shop\nversion: "1"\n`,
      "connections.yml": CONNECTION,
      "pipelines/p.sql": `INSERT INTO {{ sink('pg', 'cased_out', strategy: 'replace') }}\n` +
        `SELECT ${columns} FROM {{ source('pg', 'cased') }}\n`,
    });
    for (const verb of [["validate", "--connect"], ["run"]]) {
      const result = await runPz(verb, { cwd: folder.path, env: { PG_SECRET: server.password } });
      assert.notEqual(result.code, 0, columns);
      const text = result.stderr + result.stdout;
      assert.match(text, /PZ0501.*Source 'pg\.cased' has the columns "id" and "ID", one name to DuckDB/s, columns);
    }
  }
  await run({
    "connections.yml": CONNECTION +
      `  entities: { renamed: { read: { query: 'SELECT id, "ID" AS big FROM cased' } } }\n`,
    "pipelines/p.sql": `INSERT INTO {{ sink('pg', 'cased_out', strategy: 'replace') }}\n` +
      `SELECT big FROM {{ source('pg', 'renamed') }}\n`,
  });
  assert.deepEqual(await server.sql("SELECT * FROM cased_out"), [["2"]]);
});

Deno.test("a table goes from PostgreSQL to PostgreSQL in parts, and the copy is equal", async () => {
  await server.sql(`
    CREATE TABLE origin AS SELECT i AS id, i::bigint * 1000000007 AS big, (i / 7.0)::numeric(20,5) AS d, i / 3.0::float8 AS f,
      CASE WHEN i % 5 = 0 THEN NULL ELSE 'täxt ' || i END AS t, TIMESTAMPTZ '2024-01-01 00:00+00' + i * INTERVAL '1.000001 s' AS z,
      DATE '2024-01-01' + i % 400 AS day, i % 2 = 0 AS y, md5(i::text)::uuid AS u, ARRAY[i, NULL, -i] AS l,
      jsonb_build_object('i', i) AS j, decode(md5(i::text), 'hex') AS b, i * INTERVAL '1 min' AS v FROM generate_series(1, 20000) i`);
  await run({
    "pipelines/copied.sql": `INSERT INTO {{ sink('pg', 'copied', strategy: 'replace') }}\n` +
      `SELECT * FROM {{ source('pg', 'origin', partition_column: 'id', partitions: 4) }}\n`,
  });
  const difference =
    "SELECT count(*) FROM ((SELECT id, big, d, f, t, z, day, y, u, l, j::text, b, v FROM origin EXCEPT ALL " +
    "SELECT id, big, d, f, t, z, day, y, u, l, j::text, b, v FROM copied)) x";
  assert.deepEqual(await server.sql(difference), [["0"]]);
  assert.deepEqual(await server.sql("SELECT count(*) FROM copied"), [["20000"]]);
  assert.equal((await statements("SET TRANSACTION SNAPSHOT")).length, 4);
});

Deno.test("validate --connect tries the SQL on the columns that the server has, and tells options at their places", async () => {
  await server.sql("CREATE TABLE bare (id int, amount numeric(9,2), label text)");
  const validate = async (files: Files) => {
    await using folder = await TempDir.create();
    await writeFiles(folder.path, {
      "project.yml": `name: shop\nversion: "1"\n`,
      "connections.yml": CONNECTION,
      ...files,
    });
    return await runPz(["validate", "--connect"], { cwd: folder.path, env: { PG_SECRET: server.password } });
  };
  const copy = (select: string) =>
    `INSERT INTO {{ sink('pg', 'bare_copy', strategy: 'replace') }}\nSELECT ${select}\nFROM {{ source('pg', 'bare') }}\n`;
  const good = await validate({ "pipelines/p.sql": copy("id, amount + 1 AS more, upper(label) AS label") });
  assert.equal(good.code, 0, String(good));
  assert.doesNotMatch(good.stdout, /not dry-compiled/);
  const wrong = await validate({ "pipelines/p.sql": copy("id, amnt") });
  assert.equal(wrong.code, 2, String(wrong));
  assert.match(wrong.stderr, /^error PZ0401: pipeline 'p': .*amnt.* \(pipelines\/p\.sql:2:12\)/m);
  const keyed = await validate({
    "pipelines/p.sql": copy("id").replace("strategy: 'replace'", "strategy: 'merge', keys: ['nope']"),
  });
  assert.match(keyed.stderr, /^error PZ0401: .*'nope'.*\(pipelines\/p\.sql:1:\d+\) — hint: their columns are id$/m);
  const parts = (column: string) =>
    `${CONNECTION}  entities:\n    bare:\n      read:\n        partition_column: ${column}\n        partitions: 4\n`;
  const absent = await validate({ "connections.yml": parts("idd"), "pipelines/p.sql": copy("id") });
  assert.match(absent.stderr, /^error PZ0301: .*"idd", and .*bare.* has no such column \(connections\.yml:11:9\)/m);
  const text = await validate({ "connections.yml": parts("label"), "pipelines/p.sql": copy("id") });
  assert.match(
    text.stderr,
    /^error PZ0301: .*"label", a column whose values can't be divided \(connections\.yml:11:9\)/m,
  );
});
