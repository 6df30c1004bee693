import assert from "node:assert/strict";
import { type DuckDbConnection, openDuckDb } from "../../../src/duckdb/mod.ts";
import { barred, counted, markedRows } from "../../../src/engine/fused_marks.ts";

const ROWS = 10_000;
/** Text in which one value, on row 9,000, is no number. */
const SOURCE = `(SELECT i AS id, CASE WHEN i = 9000 THEN 'bad' ELSE i::VARCHAR END AS text, i % 7 AS g ` +
  `FROM range(${ROWS}) AS r(i))`;
/** The same with checks, as a scan of a declared file makes them; without `fails` nothing is bad. */
const checked = (fails: boolean) =>
  `(SELECT id, g, text, CASE WHEN n IS NULL AND ${fails} THEN error('bad value') ELSE n END AS n ` +
  `FROM (SELECT *, TRY_CAST(text AS INTEGER) AS n FROM ${SOURCE}))`;

/** A database whose view `s` is a barred relation, and which is locked like a run's. */
async function withView(relation: string, work: (connection: DuckDbConnection) => Promise<void>): Promise<void> {
  await using database = await openDuckDb({ threads: 2, allowedPaths: { files: [], folders: [] } });
  using connection = await database.connect();
  const columns = await connection.rows(`DESCRIBE SELECT * FROM ${relation}`);
  const { before, after } = barred("pz s", columns.map(([name]) => name ?? ""));
  await connection.run(`CREATE VIEW s AS ${before}${relation}${after}`);
  await work(connection);
}

/** Rows that a query read through the mark, and that it gave. */
async function readAndGiven(connection: DuckDbConnection, query: string): Promise<readonly (number | undefined)[]> {
  const { before, after } = counted("pz q");
  const statement = `CREATE OR REPLACE TEMP TABLE t AS ${before}(\n${query}\n)${after}`;
  const [line] = await connection.rows(`EXPLAIN (ANALYZE, FORMAT JSON) ${statement}`);
  const rows = markedRows(line?.[1] ?? "");
  const given = Number(await connection.integer("SELECT count(*) FROM t"));
  assert.equal(rows.get("pz q") ?? 0, given, query);
  return [rows.get("pz s"), given];
}

Deno.test("the profile tells the rows of every shape of query, read and given", async () => {
  await withView(checked(false), async (connection) => {
    const cases: readonly (readonly [query: string, given: number])[] = [
      ["FROM s", ROWS],
      ["SELECT id FROM s WHERE g = 1", 1429],
      ["SELECT count(*) FROM s", 1],
      ["SELECT 1 AS one FROM s", ROWS],
      ["SELECT g, sum(n) FROM s GROUP BY ROLLUP (g)", 8],
      ["SELECT id FROM s WHERE g = 1 UNION ALL SELECT 5 FROM range(10)", 1439],
      ["SELECT id FROM s EXCEPT SELECT 5", ROWS - 1],
      ["SELECT DISTINCT ON (g) g, id FROM s ORDER BY g, id", 7],
      ["SELECT id FROM s ORDER BY id DESC LIMIT 5", 5],
      ["SELECT id, row_number() OVER (PARTITION BY g ORDER BY id) AS place FROM s QUALIFY place < 3", 14],
      ["SELECT id FROM s AS a WHERE EXISTS (SELECT 1 FROM range(3) AS r(k) WHERE k = a.g)", 4287],
      ["SELECT id, (SELECT max(k) FROM range(9) AS r(k) WHERE k < a.g) AS m FROM s AS a", ROWS],
      ["WITH x AS (FROM s) SELECT a.id FROM x AS a JOIN x AS b USING (id)", ROWS],
      ["WITH x AS NOT MATERIALIZED (FROM s) SELECT a.id FROM x AS a JOIN x AS b USING (id)", ROWS],
      ["SELECT unnest([1, 2]) AS u FROM s", 2 * ROWS],
      ["UNPIVOT (SELECT id, g FROM s) ON id, g INTO NAME n VALUE v", 2 * ROWS],
      ["SUMMARIZE s", 4],
      ["SELECT * EXCLUDE (g) FROM s USING SAMPLE 10 ROWS -- and a comment", 10],
    ];
    for (const [query, given] of cases) assert.deepEqual(await readAndGiven(connection, query), [ROWS, given], query);
  });
});

Deno.test("a query that can't give a row reads none", async () => {
  await withView(checked(false), async (connection) => {
    assert.deepEqual(await readAndGiven(connection, "SELECT id FROM s WHERE false"), [undefined, 0]);
  });
});

Deno.test("a bad value is met whatever a query reads, chooses and filters", async () => {
  await withView(checked(true), async (connection) => {
    for (
      const query of [
        "FROM s",
        "SELECT id FROM s",
        "SELECT count(*) FROM s",
        "SELECT 1 AS one FROM s",
        "SELECT id FROM s WHERE id < 100",
        "SELECT id FROM s WHERE text = 'x'",
        "SELECT id FROM s WHERE g IN (SELECT k FROM range(2) AS r(k))",
        "SELECT g, count(*) FROM s WHERE text LIKE 'b%' GROUP BY g",
        "SELECT id FROM s ORDER BY id LIMIT 3",
      ]
    ) {
      await assert.rejects(readAndGiven(connection, query), /bad value/, query);
    }
  });
});

Deno.test("a relation of many columns is barred as a whole", async () => {
  const columns = Array.from({ length: 100 }, (_, index) => `i + ${index} AS "c ${index}"`);
  const last = `CASE WHEN i = 5 THEN error('bad value') ELSE i END AS last`;
  await withView(`(SELECT ${columns.join(", ")} FROM range(9) AS r(i))`, async (connection) => {
    assert.deepEqual(await readAndGiven(connection, `SELECT "c 99" FROM s WHERE "c 0" > 3`), [9, 5]);
    assert.deepEqual(await connection.rows(`SELECT sum("c 0"), sum("c 31"), sum("c 32"), sum("c 99") FROM s`), [
      ["36", "315", "324", "927"],
    ]);
  });
  await withView(`(SELECT ${columns.join(", ")}, ${last} FROM range(9) AS r(i))`, async (connection) => {
    await assert.rejects(readAndGiven(connection, `SELECT "c 1" FROM s WHERE "c 2" < 0`), /bad value/);
  });
});

Deno.test("a mark keeps names and types of every column", async () => {
  const columns = `1::TINYINT AS "a b", [1, 2] AS l, {x: 1, "Y": 'ä'} AS st, MAP {'k': 1.50} AS m, 'é' AS "Ü", ` +
    `'a'::ENUM ('a', 'b') AS e, NULL AS nothing, 170141183460469231731687303715884105727::HUGEINT AS h, ` +
    `'\\x00'::BLOB AS bytes, TIMESTAMPTZ '2020-01-01 00:00:00+01' AS tz, 5::DECIMAL(38, 10) AS d`;
  await withView(`(SELECT ${columns})`, async (connection) => {
    const shape = (query: string) => connection.rows(`SELECT column_name, column_type FROM (DESCRIBE ${query})`);
    const { before, after } = counted("pz q");
    for (const relation of ["FROM s", `${before}(SELECT ${columns})${after}`]) {
      assert.deepEqual(await shape(relation), await shape(`SELECT ${columns}`));
      assert.deepEqual(await connection.rows(relation), await connection.rows(`SELECT ${columns}`));
    }
  });
});

Deno.test("names that stand twice get the endings that a table would give them", async () => {
  const query = `SELECT 1 AS a, 2 AS a, 3 AS "A", 4 AS b`;
  await withView(`(${query})`, async (connection) => {
    await connection.run(`CREATE TEMP TABLE expected AS ${query}`);
    const names = (relation: string) => connection.rows(`SELECT column_name FROM (DESCRIBE ${relation})`);
    const { before, after } = counted("pz q");
    await connection.run(`CREATE TEMP VIEW q AS ${before}(\n${query}\n)${after}`);
    assert.deepEqual(await names("q"), await names("expected"));
    assert.deepEqual(await names("s"), await names("expected"));
  });
});
