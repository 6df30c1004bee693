import assert from "node:assert/strict";
import { drainArrow, DrainError, ingestArrow } from "../../../src/staging/mod.ts";
import type { RecordBatch } from "../../../src/util/arrow.ts";
import { withStaging } from "./harness.ts";
import { roundTrip } from "./round_trip_support.ts";

const MANY = 300_000;

async function all(batches: AsyncIterable<RecordBatch>): Promise<RecordBatch[]> {
  const list: RecordBatch[] = [];
  for await (const batch of batches) list.push(batch);
  return list;
}

/** The values of a column of numbers, over all batches. */
async function numbers(batches: AsyncIterable<RecordBatch>): Promise<number[]> {
  return (await all(batches)).flatMap((batch) => [...batch.getChildAt(0) ?? []].map(Number));
}

const COLUMNS = "range AS n, CASE WHEN range % 3 > 0 THEN 'some text ' || range END AS s, range % 5 = 0 AS b, " +
  "[range, NULL] AS l, {'c': 'constant', 'v': range} AS st, 7 AS seven, NULL::DATE AS nothing";

for (const rows of [0, 1, 2047, 2048, 2049, 122_881]) {
  Deno.test(`${rows} rows go out in batches of any size`, async () => {
    await withStaging(async (staging, connection) => {
      using writer = await staging.connect();
      await connection.run(`CREATE TABLE staging.a AS SELECT ${COLUMNS} FROM range(${rows})`);
      await connection.run("CHECKPOINT pz");
      for (const batchBytes of [1, 70_000, 1 << 24]) {
        if (batchBytes === 1 && rows > 3000) continue;
        const sizes: number[] = [];
        const drain = await drainArrow(connection, "a", { batchBytes });
        for await (const batch of drain.batches) sizes.push(batch.numRows);
        assert.equal(sizes.reduce((sum, size) => sum + size, 0), rows);
        if (batchBytes === 1) assert.deepEqual(new Set(sizes), new Set(rows === 0 ? [] : [1]));
        if (batchBytes === 1 << 24) assert.ok(sizes.length <= 2, `${sizes}`);
      }
      await roundTrip(connection, writer, { batchBytes: 70_000 });
    });
  });
}

Deno.test("chunks of any number of rows keep their NULLs in place", async () => {
  await withStaging(async (staging, connection) => {
    using writer = await staging.connect();
    await connection.run(`CREATE TABLE staging.source AS SELECT ${COLUMNS} FROM range(50000)`);
    await connection.run("CREATE TABLE staging.a AS SELECT * FROM staging.source WHERE hash(n) % 7 < 3");
    const query = "SELECT * FROM staging.source WHERE hash(n) % 7 < 3";
    await roundTrip(connection, writer, { query });
    await roundTrip(connection, writer, { query, orderBy: "hash(n)", batchBytes: 10_001 });
  });
});

Deno.test("a thousand columns with quotes, dots and letters of any script keep names and rows", async () => {
  await withStaging(async (staging, connection) => {
    using writer = await staging.connect();
    const columns = Array.from(
      { length: 1000 },
      (_, index) => `range + ${index} AS "${['a""', "ü.", "select ", "漢"][index % 4]}${index}"`,
    );
    await connection.run(`CREATE TABLE staging.a AS SELECT ${columns.join(", ")} FROM range(3000)`);
    const { schema, batches } = await drainArrow(connection, "a", { batchBytes: 4 << 20 });
    await ingestArrow(writer, "b", schema, batches, {});
    const facts = (table: string) => connection.rows(`SELECT count(*), sum(hash(t)) FROM staging.${table} t`);
    assert.deepEqual(await facts("b"), await facts("a"));
    assert.deepEqual(schema.fields.slice(0, 4).map(({ name }) => name), ['a"0', "ü.1", "select 2", "漢3"]);
  });
});

Deno.test("columns come as chosen, rows as ordered, and the first ones may be left out", async () => {
  await withStaging(async (_, connection) => {
    await connection.run(`CREATE TABLE staging."o""d" AS SELECT 'x' AS s, range AS n, -range AS m FROM range(5000)`);
    const options = { batchBytes: 10_000, columns: ["m", "n"], orderBy: "n DESC" };
    const drain = await drainArrow(connection, 'o"d', { ...options, offset: 4990n });
    assert.deepEqual(drain.schema.fields.map(({ name }) => name), ["m", "n"]);
    assert.deepEqual(await numbers(drain.batches), [-9, -8, -7, -6, -5, -4, -3, -2, -1, 0]);
    for (const offset of [5000n, 6000n]) {
      assert.deepEqual(await numbers((await drainArrow(connection, 'o"d', { ...options, offset })).batches), []);
    }
    await assert.rejects(drainArrow(connection, 'o"d', { batchBytes: 1, offset: 1n }), TypeError);
  });
});

Deno.test("a SELECT over the table is read instead of it", async () => {
  await withStaging(async (_, connection) => {
    await connection.run("CREATE TABLE staging.t AS SELECT range AS n FROM range(100)");
    const query = "SELECT n * 2 AS n FROM staging.t WHERE n >= 97";
    const { batches } = await drainArrow(connection, "t", { batchBytes: 1000, query, orderBy: "n" });
    assert.deepEqual(await numbers(batches), [194, 196, 198]);
  });
});

for (
  const [type, value] of [
    ["UNION(a INTEGER, b VARCHAR)", "1"],
    ["STRUCT(u UNION(a INTEGER, b VARCHAR))[]", "NULL"],
    ["BIGNUM", "1"],
  ] as const
) {
  Deno.test(`a column of type ${type} is refused by name before any row moves`, async () => {
    await withStaging(async (_, connection) => {
      await connection.run(`CREATE TABLE staging.t (n INTEGER, odd ${type})`);
      await connection.run(`INSERT INTO staging.t VALUES (1, ${value})`);
      await assert.rejects(drainArrow(connection, "t", { batchBytes: 1000 }), (error) => {
        assert.ok(error instanceof DrainError);
        assert.match(error.message, /^Column "odd" has the type .*, which Arrow can't carry$/);
        return true;
      });
    });
  });
}

Deno.test("an interval beyond Arrow's nanoseconds is refused with its column", async () => {
  await withStaging(async (_, connection) => {
    await connection.run("CREATE TABLE staging.t AS SELECT to_microseconds(9223372036854775807) AS i");
    const { batches } = await drainArrow(connection, "t", { batchBytes: 1000 });
    await assert.rejects(all(batches), {
      name: "DrainError",
      message: 'Column "i": An interval has more microseconds than Arrow\'s nanoseconds can hold',
    });
    assert.equal(await connection.integer("SELECT 1"), 1n);
  });
});

Deno.test("rows that DuckDB loses on the way are an error", async () => {
  await withStaging(async (_, connection) => {
    await connection.run(`CREATE TABLE staging.t AS SELECT range AS n FROM range(${MANY})`);
    const query = "SELECT CASE WHEN n = 200000 THEN error('lost') ELSE n END AS n FROM staging.t";
    const { batches } = await drainArrow(connection, "t", { batchBytes: 100_000, query });
    await assert.rejects(all(batches), { name: "DrainError", message: /^\d+ of the 300000 rows of "t" were read$/ });
    assert.equal(await connection.integer("SELECT 1"), 1n);
  });
});

Deno.test("other statements of the connection wait until the drain has ended", async () => {
  await withStaging(async (_, connection) => {
    await connection.run(`CREATE TABLE staging.t AS SELECT range AS n FROM range(${MANY})`);
    const { batches } = await drainArrow(connection, "t", { batchBytes: 100_000 });
    const order: string[] = [];
    let other: Promise<unknown> | undefined;
    let rows = 0;
    for await (const batch of batches) {
      rows += batch.numRows;
      other ??= connection.run("SELECT 1").then(() => order.push("statement"));
    }
    order.push("drain");
    await other;
    assert.equal(rows, MANY);
    assert.equal(order.includes("statement"), true);
  });
});

Deno.test("a reader that stops early leaves the connection usable", async () => {
  await withStaging(async (_, connection) => {
    await connection.run(`CREATE TABLE staging.t AS SELECT range AS n FROM range(${MANY})`);
    for (let round = 0; round < 20; round++) {
      const { batches } = await drainArrow(connection, "t", { batchBytes: 20_000, orderBy: round % 2 ? "n" : "rowid" });
      for await (const batch of batches) {
        assert.ok(batch.numRows > 0);
        break;
      }
      assert.equal(await connection.integer("SELECT count(*) FROM staging.t"), BigInt(MANY));
    }
    assert.equal((await numbers((await drainArrow(connection, "t", { batchBytes: 1 << 20 })).batches)).length, MANY);
  });
});

Deno.test("an abort ends the drain with the signal's reason and leaves the connection usable", async () => {
  await withStaging(async (_, connection) => {
    await connection.run(`CREATE TABLE staging.t AS SELECT range AS n FROM range(${MANY})`);
    const reason = new Error("stopped");
    const before = AbortSignal.abort(reason);
    await assert.rejects(drainArrow(connection, "t", { batchBytes: 1, signal: before }), (error) => error === reason);
    const stop = new AbortController();
    const { batches } = await drainArrow(connection, "t", { batchBytes: 20_000, signal: stop.signal });
    let seen = 0;
    await assert.rejects(async () => {
      for await (const _batch of batches) if (++seen === 2) stop.abort(reason);
    }, (error) => error === reason);
    assert.equal(seen, 2);
    assert.equal(await connection.integer("SELECT 1"), 1n);
  });
});

Deno.test("an abort interrupts a drain whose first rows take long", async () => {
  await withStaging(async (_, connection) => {
    await connection.run("CREATE TABLE staging.t AS SELECT range AS n FROM range(3000)");
    const reason = new Error("stopped");
    const stop = new AbortController();
    const query = "SELECT sum(a.n) AS n FROM staging.t a, staging.t b, staging.t c, staging.t d";
    const { batches } = await drainArrow(connection, "t", { batchBytes: 1000, query, signal: stop.signal });
    const reading = assert.rejects(all(batches), (error) => error === reason);
    queueMicrotask(() => stop.abort(reason));
    await reading;
    assert.equal(await connection.integer("SELECT 1"), 1n);
  });
});

Deno.test("closing the connection ends a drain that nobody reads any more", async () => {
  await withStaging(async (staging) => {
    const connection = await staging.connect();
    await connection.run(`CREATE TABLE staging.t AS SELECT range AS n FROM range(${MANY})`);
    const { batches } = await drainArrow(connection, "t", { batchBytes: 20_000 });
    const reader = batches[Symbol.asyncIterator]();
    await reader.next();
    await connection.close();
    await assert.rejects(async () => {
      for (;;) if ((await reader.next()).done === true) break;
    }, { name: "DuckDbError" });
  });
});

Deno.test("a batch keeps its rows while later ones are read", async () => {
  await withStaging(async (_, connection) => {
    await connection.run(`CREATE TABLE staging.t AS SELECT range AS n FROM range(50000)`);
    const { batches } = await drainArrow(connection, "t", { batchBytes: 10_000, orderBy: "n" });
    const values = await numbers(batches);
    assert.deepEqual(values, Array.from({ length: 50_000 }, (_, index) => index));
  });
});
