import assert from "node:assert/strict";
import { type DuckDbConnection, type FillRows, openDuckDb, VECTOR_ROWS } from "../../../src/duckdb/mod.ts";

const COLUMNS = [{ name: "a", type: "INTEGER" }, { name: "b b", type: "DOUBLE" }];
const TARGET = { schema: "main", table: "t", columns: COLUMNS };

async function withTable(work: (connection: DuckDbConnection) => Promise<void>): Promise<void> {
  await using database = await openDuckDb({ threads: 2 });
  using connection = await database.connect();
  await connection.run('CREATE TABLE t (a INTEGER, "b b" DOUBLE)');
  await work(connection);
}

/** So many full chunks of the same row. */
function chunks(count: number): FillRows {
  let left = count;
  return (columns, writers) => {
    if (left-- <= 0) return 0;
    columns.forEach((column, index) => {
      const values = column === 0 ? new Int32Array(VECTOR_ROWS).fill(2) : new Float64Array(VECTOR_ROWS).fill(0.5);
      writers[index]?.values(values, 0, VECTOR_ROWS);
    });
    return VECTOR_ROWS;
  };
}

Deno.test("a load writes what is filled, in several goes, and counts it", async () => {
  await withTable(async (connection) => {
    using load = await connection.openLoad(TARGET);
    assert.equal(await load.write(chunks(50)), 50 * VECTOR_ROWS);
    assert.equal(await load.write(chunks(0)), 0);
    assert.equal(await load.write(chunks(3)), 3 * VECTOR_ROWS);
    const sums = await connection.rows('SELECT count(*), sum(a), sum("b b") FROM t');
    assert.deepEqual(sums, [[String(53 * VECTOR_ROWS), String(106 * VECTOR_ROWS), `${26.5 * VECTOR_ROWS}.0`]]);
  });
});

Deno.test("a load takes part in the transaction of its connection", async () => {
  await withTable(async (connection) => {
    await connection.run("BEGIN");
    using load = await connection.openLoad(TARGET);
    await load.write(chunks(20));
    await connection.run("ROLLBACK");
    assert.equal(await connection.integer("SELECT count(*) FROM t"), 0n);
  });
});

Deno.test("what fill throws ends the load and is thrown as it was", async () => {
  await withTable(async (connection) => {
    using load = await connection.openLoad(TARGET);
    const failure = new RangeError("no such row");
    const broken: FillRows = () => {
      throw failure;
    };
    await assert.rejects(load.write(broken), (error) => error === failure);
    assert.equal(await load.write(chunks(1)), VECTOR_ROWS);
  });
});

Deno.test("a load that never ends can be aborted", async () => {
  await withTable(async (connection) => {
    using load = await connection.openLoad(TARGET);
    const stop = new AbortController();
    const endless = chunks(Infinity);
    let calls = 0;
    const fill: FillRows = (columns, writers) => {
      if (++calls === 10) stop.abort(new Error("enough"));
      return endless(columns, writers);
    };
    await connection.run("BEGIN");
    await assert.rejects(load.write(fill, stop.signal), { message: "enough" });
    await connection.run("ROLLBACK");
    assert.equal(await connection.integer("SELECT count(*) FROM t"), 0n);
  });
});

Deno.test("the event loop turns while a load writes", async () => {
  await withTable(async (connection) => {
    using load = await connection.openLoad(TARGET);
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    await load.write(chunks(500));
    clearInterval(timer);
    assert.ok(turns > 5, `${turns} turns`);
  });
});

Deno.test("values of another type than their column's are cast with its checks", async () => {
  await withTable(async (connection) => {
    await connection.run("CREATE TABLE j (j JSON)");
    const target = { schema: "main", table: "j", columns: [{ name: "j", type: "VARCHAR" }] };
    const texts = (text: string): FillRows => {
      const bytes = new TextEncoder().encode(text);
      let left = 1;
      return (_, writers) => {
        if (left-- <= 0) return 0;
        writers[0]?.texts(new Int32Array([0, bytes.length]), bytes, 0, 1, true);
        return 1;
      };
    };
    using load = await connection.openLoad(target);
    assert.equal(await load.write(texts('{"a":1}')), 1);
    await assert.rejects(load.write(texts("{")), { message: /^Malformed JSON/ });
    assert.deepEqual(await connection.rows("SELECT j->>'a' FROM j"), [["1"]]);
  });
});
