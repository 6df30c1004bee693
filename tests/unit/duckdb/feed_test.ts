import assert from "node:assert/strict";
import { openDuckDb, VECTOR_ROWS } from "../../../src/duckdb/mod.ts";

Deno.test("a fed relation gives its rows to a query, and only the columns it asks for", async () => {
  await using database = await openDuckDb({ threads: 2 });
  using connection = await database.connect();
  let left = 3;
  const asked = new Set<number>();
  using feed = await connection.openFeed(
    [{ name: "a", type: "INTEGER" }, { name: "b b", type: "VARCHAR" }, { name: "c", type: "DOUBLE" }],
    (columns, writers) => {
      if (left-- === 0) return 0;
      columns.forEach((column, index) => {
        asked.add(column);
        const values = column === 0 ? new Int32Array(VECTOR_ROWS).fill(2) : new Float64Array(VECTOR_ROWS).fill(0.5);
        writers[index]?.values(values, 0, VECTOR_ROWS);
      });
      return VECTOR_ROWS;
    },
  );
  const sums = await connection.rows(`SELECT count(*), sum(a), sum(c) FROM ${feed.sql}`);
  assert.deepEqual(sums, [[String(3 * VECTOR_ROWS), String(6 * VECTOR_ROWS), `${1.5 * VECTOR_ROWS}.0`]]);
  assert.deepEqual(asked, new Set([0, 2]));
});

Deno.test("what a feed throws fails the statement and is kept as it was thrown", async () => {
  await using database = await openDuckDb({ threads: 2 });
  using connection = await database.connect();
  const failure = new RangeError("no such row");
  using feed = await connection.openFeed([{ name: "a", type: "INTEGER" }], () => {
    throw failure;
  });
  await assert.rejects(connection.run(`SELECT * FROM ${feed.sql}`), { name: "DuckDbError", message: "no such row" });
  assert.equal(feed.failure, failure);
  assert.equal(await connection.integer("SELECT 1"), 1n);
});

Deno.test("a feed is gone when it is disposed", async () => {
  await using database = await openDuckDb({ threads: 2 });
  using connection = await database.connect();
  const feed = await connection.openFeed([{ name: "a", type: "INTEGER" }], () => 0);
  assert.deepEqual(await connection.rows(`SELECT * FROM ${feed.sql}`), []);
  feed[Symbol.dispose]();
  await assert.rejects(connection.run(`SELECT * FROM ${feed.sql}`), { name: "DuckDbError", kind: "Binder" });
});

Deno.test("a statement over a feed that never ends can be aborted", async () => {
  await using database = await openDuckDb({ threads: 2 });
  using connection = await database.connect();
  const stop = new AbortController();
  let calls = 0;
  using feed = await connection.openFeed([{ name: "a", type: "INTEGER" }], (_, writers) => {
    if (++calls === 10) stop.abort(new Error("enough"));
    writers[0]?.values(new Int32Array(VECTOR_ROWS), 0, VECTOR_ROWS);
    return VECTOR_ROWS;
  });
  const endless = connection.run(`CREATE TABLE t AS SELECT * FROM ${feed.sql}`, { signal: stop.signal });
  await assert.rejects(endless, { message: "enough" });
});
