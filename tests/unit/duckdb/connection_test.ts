import assert from "node:assert/strict";
import { type DuckDbConnection, DuckDbError, openDuckDb } from "../../../src/duckdb/mod.ts";

async function withConnection(work: (connection: DuckDbConnection) => Promise<void>): Promise<void> {
  await using database = await openDuckDb({ threads: 2 });
  await work(await database.connect());
}

async function failureOf(work: Promise<unknown>): Promise<DuckDbError> {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof DuckDbError);
    return error;
  }
  return assert.fail("nothing was thrown");
}

Deno.test("rows are DuckDB's own text of each value", async () => {
  await withConnection(async (connection) => {
    const sql = `SELECT 9007199254740993 AS a, 1.50 AS a, 1e20::DOUBLE, 0.1::FLOAT, NULL, true, 'x''y',
      ['a b', NULL], {'k': DATE '2020-01-02'}, TIMESTAMPTZ '2020-01-01 00:00:00+02', INTERVAL 1 DAY, '\\xFF'::BLOB; -- end`;
    assert.deepEqual(await connection.rows(sql), [[
      "9007199254740993",
      "1.50",
      "1e+20",
      "0.1",
      null,
      "true",
      "x'y",
      "[a b, NULL]",
      "{'k': 2020-01-02}",
      "2019-12-31 22:00:00+00",
      "1 day",
      "\\xFF",
    ]]);
  });
});

Deno.test("rows keep the order of ORDER BY, and work for DESCRIBE, EXPLAIN and RETURNING", async () => {
  await withConnection(async (connection) => {
    const ordered = await connection.rows("SELECT x / 2 FROM range(3000) t(x) ORDER BY x DESC");
    assert.deepEqual(ordered.slice(0, 2), [["1499.5"], ["1499.0"]]);
    assert.equal(ordered.at(-1)?.[0], "0.0");
    assert.deepEqual((await connection.rows("DESCRIBE SELECT 1 AS a"))[0]?.slice(0, 2), ["a", "INTEGER"]);
    assert.match((await connection.rows("EXPLAIN (FORMAT JSON) SELECT 1"))[0]?.[1] ?? "", /^\[/);
    await connection.run("CREATE TABLE t (n INTEGER)");
    assert.deepEqual(await connection.rows("INSERT INTO t VALUES (5) RETURNING n"), [["5"]]);
  });
});

Deno.test("an integer is exact at any size", async () => {
  await withConnection(async (connection) => {
    assert.equal(await connection.integer("SELECT 5"), 5n);
    assert.equal(await connection.integer("SELECT count(*) FROM range(10)"), 10n);
    assert.equal(await connection.integer("SELECT sum(9007199254740993) FROM range(2)"), 18014398509481986n);
    for (const sql of ["SELECT 1.5::DOUBLE", "SELECT NULL", "SELECT 1 WHERE false", "SELECT 'a'"]) {
      await assert.rejects(connection.integer(sql), {
        name: "TypeError",
        message: `Expected one integer from: ${sql}`,
      });
    }
  });
});

Deno.test("run tells how many rows changed", async () => {
  await withConnection(async (connection) => {
    await connection.run("CREATE TABLE t AS FROM range(5)");
    assert.deepEqual(await connection.run("INSERT INTO t FROM range(3)"), { rowsChanged: 3 });
    assert.deepEqual(await connection.run("DELETE FROM t WHERE range = 0"), { rowsChanged: 2 });
  });
});

for (
  const [sql, kind, position, message] of [
    [
      "SELECT 'é', nope FROM t",
      "Binder",
      13,
      'Referenced column "nope" not found in FROM clause!\nCandidate bindings: "name"',
    ],
    ["SELEC 1", "Parser", 0, 'syntax error at or near "SELEC"'],
    ["SELECT 1 +", "Parser", 10, "syntax error at end of input"],
    ["SELECT 1 FROM missing", "Catalog", 14, 'Table with name missing does not exist!\nDid you mean "pg_settings"?'],
    ["SELECT 'abc'::INTEGER", "Conversion", 12, "Could not convert string 'abc' to INT32"],
    ["SELECT error('boom\nLINE 1: kept')", "Invalid Input", undefined, "boom\nLINE 1: kept"],
    ["INSERT INTO t VALUES (1)", "Binder", undefined, "table t has 2 columns but 1 values were supplied"],
  ] as const
) {
  Deno.test(`a failure has DuckDB's kind, a byte position and no echo of the SQL: ${sql}`, async () => {
    await withConnection(async (connection) => {
      await connection.run("CREATE TABLE t (id INTEGER, name VARCHAR)");
      for (const call of [connection.run(sql), connection.rows(sql)]) {
        const error = await failureOf(call);
        assert.equal(error.kind, kind);
        assert.equal(error.position, position);
        if (kind !== "Catalog") assert.equal(error.message, message);
        assert.equal(error.interrupted, false);
      }
    });
  });
}

Deno.test("a failure names the candidates that DuckDB offers", async () => {
  await withConnection(async (connection) => {
    await connection.run("CREATE TABLE t (id INTEGER, name VARCHAR)");
    assert.deepEqual((await failureOf(connection.run("SELECT idd FROM t"))).candidates, ["id"]);
    assert.deepEqual((await failureOf(connection.run("SELECT 1 FROM"))).candidates, []);
  });
});

const ENDLESS = "SELECT count(*) FROM range(1000000000000)";

Deno.test("an abort stops the statement with the signal's reason and leaves the connection usable", async () => {
  await withConnection(async (connection) => {
    for (const delay of [0, 1, 30]) {
      const reason = new Error(`after ${delay}`);
      const stop = new AbortController();
      const timer = setTimeout(() => stop.abort(reason), delay);
      await assert.rejects(connection.run(ENDLESS, { signal: stop.signal }), (error) => error === reason);
      clearTimeout(timer);
      assert.equal(await connection.integer("SELECT 1"), 1n);
    }
  });
});

Deno.test("an abort in the same turn as the call is not lost", async () => {
  await withConnection(async (connection) => {
    const stop = new AbortController();
    const running = connection.rows(ENDLESS, { signal: stop.signal });
    stop.abort(new Error("now"));
    await assert.rejects(running, { message: "now" });
    await assert.rejects(connection.run("SELECT 1", { signal: stop.signal }), { message: "now" });
  });
});

Deno.test("a statement that ended in spite of the abort keeps its result", async () => {
  await withConnection(async (connection) => {
    const stop = new AbortController();
    const done = connection.run("CREATE TABLE t (n INTEGER)", { signal: stop.signal });
    const result = await done;
    stop.abort();
    assert.deepEqual(result, { rowsChanged: 0 });
    assert.equal(await connection.integer("SELECT count(*) FROM t"), 0n);
  });
});

Deno.test("an interrupt without a signal is told apart from a failure", async () => {
  await withConnection(async (connection) => {
    const timer = setInterval(() => connection.interrupt(), 5);
    const error = await failureOf(connection.run(ENDLESS));
    clearInterval(timer);
    assert.equal(error.interrupted, true);
    assert.equal(error.kind, "Interrupt");
  });
});

Deno.test("statements of one connection run one after another, a failure in between does not matter", async () => {
  await withConnection(async (connection) => {
    const calls = await Promise.allSettled([
      connection.run("CREATE TABLE t (n INTEGER)"),
      connection.run("INSERT INTO t VALUES (1)"),
      connection.run("INSERT INTO nowhere VALUES (1)"),
      connection.integer("SELECT count(*) FROM t"),
    ]);
    assert.deepEqual(calls.map(({ status }) => status), ["fulfilled", "fulfilled", "rejected", "fulfilled"]);
  });
});

Deno.test("statementCount counts without running", async () => {
  await withConnection(async (connection) => {
    for (
      const [sql, count] of [["SELECT 1", 1], ["SELECT 1; CREATE TABLE t (n INT); ;", 2], ["", 0], [
        " -- c",
        0,
      ]] as const
    ) {
      assert.equal(await connection.statementCount(sql), count, sql);
    }
    assert.equal((await failureOf(connection.statementCount("SELEC 1"))).kind, "Parser");
    assert.equal((await failureOf(connection.run("FROM t"))).kind, "Catalog");
  });
});

Deno.test("prepare tells names and types that read back as the same types", async () => {
  await withConnection(async (connection) => {
    const types = [
      "DECIMAL(18,4)",
      "TIMESTAMP WITH TIME ZONE",
      "TIMESTAMP_NS",
      "TIME_NS",
      "HUGEINT",
      "JSON",
      "JSON[]",
      "UUID",
      "INTERVAL",
      "ENUM('a', 'it''s')",
      "INTEGER[3]",
      "MAP(INTEGER, JSON)",
      'STRUCT("a" INTEGER, "b ""c" VARCHAR[])',
      'UNION("a" INTEGER, "b" VARCHAR)',
      "BIT",
      "BLOB",
    ];
    const sql = types.map((type, index) => `NULL::${type} AS c${index}`).join(", ");
    const { columns } = await connection.prepare(`SELECT ${sql}`);
    assert.deepEqual(columns, types.map((type, index) => ({ name: `c${index}`, type })));
    assert.equal((await failureOf(connection.prepare("SELECT nope"))).position, 7);
    assert.equal((await failureOf(connection.prepare("SELECT 1; SELECT 2"))).kind, "Invalid Input");
  });
});

Deno.test("prepare runs nothing", async () => {
  await withConnection(async (connection) => {
    await connection.run("CREATE TABLE t (n INTEGER)");
    await connection.prepare("INSERT INTO t VALUES (1)");
    assert.equal(await connection.integer("SELECT count(*) FROM t"), 0n);
  });
});

Deno.test("a tree of SQL goes to JavaScript and back without a changed number", async () => {
  await withConnection(async (connection) => {
    const numbers = "9007199254740993, 170141183460469231731687303715884105727, 1e+300, 1.50, -9223372036854775807";
    const tree = await connection.serializeSql(`SELECT ${numbers} FROM t WHERE name = 'é'`);
    const sql = await connection.deserializeSql(tree);
    assert.equal(
      sql,
      `SELECT ${numbers} FROM t WHERE ("name" = 'é')`,
    );
    assert.deepEqual(await connection.serializeSql(""), { error: false, statements: [] });
    assert.equal((await failureOf(connection.serializeSql("CREATE TABLE t (n INT)"))).kind, "Not implemented");
    const parser = await failureOf(connection.serializeSql("SELECT 'é' FROM"));
    assert.deepEqual([parser.kind, typeof parser.position], ["Parser", "number"]);
  });
});

Deno.test("the trees of many texts come in their order, each as it comes alone", async () => {
  await withConnection(async (connection) => {
    const texts = [
      "SELECT 18446744073709551615, 1.50",
      "SELEC",
      "",
      "SELECT 'é' /* ; */; SELECT 2",
      "CREATE TABLE t (n INT)",
      ...Array.from({ length: 3000 }, (_, index) => `SELECT ${index}`),
    ];
    const trees = await connection.serializeEachSql(texts);
    assert.equal(trees.length, texts.length);
    for (const index of [0, 2, 3, 5, 2052, 2053, 3004]) {
      assert.deepEqual(trees[index], await connection.serializeSql(texts[index] ?? ""));
    }
    for (const index of [1, 4]) {
      const alone = await failureOf(connection.serializeSql(texts[index] ?? ""));
      const among = trees[index];
      assert.ok(among instanceof DuckDbError);
      assert.deepEqual([among.message, among.kind, among.position], [alone.message, alone.kind, alone.position]);
    }
    assert.deepEqual(await connection.serializeEachSql([]), []);
  });
});
