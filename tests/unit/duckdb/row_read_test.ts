import assert from "node:assert/strict";
import { type DuckDbConnection, hasValue, openDuckDb, type RowRead } from "../../../src/duckdb/mod.ts";

async function withConnection(work: (connection: DuckDbConnection) => Promise<void>): Promise<void> {
  await using database = await openDuckDb({ threads: 2, memoryLimitBytes: 500_000_000 });
  await work(await database.connect());
}

/** How many rows are left, and the sum of the first column, of whole numbers of 64 bits. */
async function sumUp(read: RowRead): Promise<{ rows: number; sum: bigint }> {
  let rows = 0;
  let sum = 0n;
  for (let chunk = await read.next(); chunk !== undefined; chunk = await read.next()) {
    const column = chunk.columns[0];
    assert.ok(column !== undefined);
    const values = column.values(8);
    for (const value of new BigInt64Array(values.buffer, values.byteOffset, chunk.rows)) sum += value;
    rows += chunk.rows;
  }
  return { rows, sum };
}

Deno.test("a read gives every row once and then no more", async () => {
  await withConnection(async (connection) => {
    await using read = await connection.openRead("SELECT range FROM range(100001)");
    assert.deepEqual(await sumUp(read), { rows: 100_001, sum: 5_000_050_000n });
    assert.equal(await read.next(), undefined);
  });
});

Deno.test("texts of any length are read with their NULLs, from any row on", async () => {
  await withConnection(async (connection) => {
    const texts = Array.from({ length: 3000 }, (_, row) => row % 5 === 0 ? null : "ü".repeat(row % 31));
    await connection.run(
      "CREATE TABLE t AS SELECT range AS n, " +
        "CASE WHEN range % 5 > 0 THEN repeat('ü', (range % 31)::INTEGER) END AS s FROM range(3000)",
    );
    await using read = await connection.openRead("SELECT s FROM t ORDER BY n");
    const found: (string | null)[] = [];
    for (let chunk = await read.next(); chunk !== undefined; chunk = await read.next()) {
      const column = chunk.columns[0];
      assert.ok(column !== undefined);
      for (const [from, to] of [[0, 7], [7, chunk.rows]] as const) {
        const target: Uint8Array = new Uint8Array(column.textBytes(from, to - from) + 3);
        const ends: Int32Array = new Int32Array(to - from + 1);
        const end: number = column.copyTexts(from, to - from, target, 3, ends, 1);
        assert.equal(end, target.length);
        ends[0] = 3;
        for (let row = from; row < to; row++) {
          const text = new TextDecoder().decode(target.subarray(ends[row - from], ends[row - from + 1]));
          found.push(hasValue(column.validity(), row) ? text : null);
        }
      }
    }
    assert.deepEqual(found, texts);
  });
});

Deno.test("a query that can't be read leaves the connection free", async () => {
  await withConnection(async (connection) => {
    await assert.rejects(connection.openRead("SELECT nothing"), { name: "DuckDbError", kind: "Binder" });
    assert.equal(await connection.integer("SELECT 1"), 1n);
  });
});

Deno.test("reads of one connection wait for each other", async () => {
  await withConnection(async (connection) => {
    const first = await connection.openRead("SELECT range FROM range(50000)");
    const second = connection.openRead("SELECT range FROM range(3)");
    const statement = connection.integer("SELECT 7");
    assert.equal((await sumUp(first)).rows, 50_000);
    await first.close();
    await using read = await second;
    assert.deepEqual(await sumUp(read), { rows: 3, sum: 3n });
    await read.close();
    assert.equal(await statement, 7n);
  });
});

Deno.test("a read that is closed early frees the connection, gives no more rows and may be closed again", async () => {
  await withConnection(async (connection) => {
    const read = await connection.openRead("SELECT range FROM range(10000000)");
    await read.next();
    await read.close();
    await read.close();
    await assert.rejects(read.next(), { name: "DuckDbError", message: "The read is closed" });
    assert.equal(await connection.integer("SELECT 1"), 1n);
  });
});

Deno.test("a read that ends within a transaction leaves it as it was", async () => {
  await withConnection(async (connection) => {
    await connection.run("CREATE TABLE t AS SELECT range AS n FROM range(100000)");
    await connection.run("BEGIN; INSERT INTO t VALUES (-1)");
    const read = await connection.openRead("SELECT n FROM t");
    await read.next();
    await read.close();
    await connection.run("COMMIT");
    assert.equal(await connection.integer("SELECT min(n) FROM t"), -1n);
  });
});

Deno.test("an abort while a read waits for its turn rejects with the signal's reason and loses no turn", async () => {
  await withConnection(async (connection) => {
    const reason = new Error("stopped");
    const stop = new AbortController();
    const first = await connection.openRead("SELECT range FROM range(50000)");
    const second = assert.rejects(
      connection.openRead("SELECT 1", { signal: stop.signal }),
      (error) => error === reason,
    );
    stop.abort(reason);
    await first.close();
    await second;
    assert.equal(await connection.integer("SELECT 1"), 1n);
  });
});

Deno.test("closing a connection ends the read that is open and those that wait", async () => {
  await withConnection(async (connection) => {
    const first = await connection.openRead("SELECT range FROM range(10000000)");
    const second = connection.openRead("SELECT range FROM range(10000000)");
    await first.next();
    await connection.close();
    await assert.rejects(first.next(), { name: "DuckDbError" });
    await assert.rejects(async () => await (await second).next(), { name: "DuckDbError" });
  });
});

Deno.test("types are taken apart with their names, labels and lengths", async () => {
  await withConnection(async (connection) => {
    const columns = await connection.typedColumns(
      "SELECT NULL::STRUCT(a DECIMAL(10,2), b ENUM('x', 'y')[3])[] AS s, NULL::MAP(VARCHAR, JSON) AS m",
    );
    const plain = (name: string) => ({ kind: "plain", name });
    assert.deepEqual(columns.map(({ name, tree }) => ({ name, tree })), [
      {
        name: "s",
        tree: {
          kind: "list",
          item: {
            kind: "struct",
            fields: [
              { name: "a", type: { kind: "decimal", width: 10, scale: 2 } },
              { name: "b", type: { kind: "array", item: { kind: "enum", labels: ["x", "y"] }, length: 3 } },
            ],
          },
        },
      },
      { name: "m", tree: { kind: "map", key: plain("VARCHAR"), value: { ...plain("VARCHAR"), alias: "JSON" } } },
    ]);
  });
});
