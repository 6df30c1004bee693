import assert from "node:assert/strict";
import fc from "fast-check";
import { fingerprint, isSameContent, LEDGER_SETUP, SinkDeliveryLedger } from "../../../src/staging/mod.ts";
import { withStaging } from "./harness.ts";

const ROWS = "SELECT range AS n, 'row ' || range AS t, if(range % 7 = 0, NULL, range / 3) AS d FROM range(1000)";

Deno.test("a fingerprint is that of the rows, whatever their order, and of the names and types of their columns", async () => {
  await withStaging(async (_, connection) => {
    const of = async (sql: string, placed = false) => {
      await connection.run(`CREATE OR REPLACE TABLE staging.t AS ${sql}`);
      return await fingerprint(connection, "t", { placed });
    };
    const base = await of(ROWS);
    assert.equal(base.rows, 1000n);
    assert.ok(isSameContent(base, await of(`SELECT * FROM (${ROWS}) ORDER BY hash(n)`)));
    for (
      const other of [
        `SELECT * FROM (${ROWS}) WHERE n <> 3`,
        `SELECT * FROM (${ROWS}) UNION ALL SELECT 3, 'row 3', 1`,
        `SELECT * REPLACE (if(n = 3, 'row 4', t) AS t) FROM (${ROWS})`,
        `SELECT * REPLACE (coalesce(d, 0) AS d) FROM (${ROWS})`,
        `SELECT n AS m, t, d FROM (${ROWS})`,
        `SELECT t, n, d FROM (${ROWS})`,
        `SELECT n::INTEGER AS n, t, d FROM (${ROWS})`,
        `SELECT * FROM (${ROWS}) WHERE n NOT IN (3, 4) UNION ALL FROM (${ROWS}) WHERE n = 5 ` +
        `UNION ALL FROM (${ROWS}) WHERE n = 6`,
      ]
    ) {
      assert.ok(!isSameContent(base, await of(other)), other);
    }
    const placed = await of(`SELECT * FROM (${ROWS}) ORDER BY n`, true);
    assert.ok(isSameContent(placed, await of(`SELECT * FROM (${ROWS}) ORDER BY t, n`, true)) === false);
    assert.ok(isSameContent(placed, await of(`SELECT * FROM (${ROWS}) ORDER BY n`, true)));
    assert.deepEqual((await of("SELECT 1 AS a WHERE false")).rows, 0n);
  });
});

Deno.test("every type can stand in a fingerprint, and in the order of a drain", async () => {
  await withStaging(async (_, connection) => {
    await connection.run(
      "CREATE TABLE staging.t AS SELECT MAP {'a': 1} AS m, '{}'::JSON AS j, [1, NULL] AS l, {'a': 1} AS s, " +
        "'x'::BLOB AS b, uuid() AS u, 'nan'::DOUBLE AS d, now() AS z, INTERVAL 1 DAY AS i, 5::HUGEINT AS h, " +
        "'101'::BIT AS bits, '10:00:00+01'::TIMETZ AS tz, 'a'::ENUM ('a', 'b') AS e, 1.5::DECIMAL(38, 4) AS c, NULL AS none",
    );
    assert.equal((await fingerprint(connection, "t")).rows, 1n);
    assert.equal((await connection.rows("SELECT h FROM staging.t ORDER BY ALL")).length, 1);
  });
});

Deno.test("any shuffle of any rows has their fingerprint, and any other rows have not", async () => {
  await withStaging(async (_, connection) => {
    const of = async (rows: readonly (readonly [number | null, number])[]) => {
      const values = rows.map(([a, b]) => `(${a ?? "NULL"}, ${b})`).join(", ");
      await connection.run(
        `CREATE OR REPLACE TABLE staging.t (a INTEGER, b INTEGER);INSERT INTO staging.t VALUES ${values}`,
      );
      return await fingerprint(connection, "t");
    };
    const key = (rows: readonly (readonly [number | null, number])[]) => JSON.stringify(rows.map(String).sort());
    const row = fc.tuple(fc.option(fc.integer({ min: 0, max: 3 })), fc.integer({ min: 0, max: 3 }));
    const rows = fc.array(row, { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(rows, rows, async (one, other) => {
        const mixed = [...one].reverse();
        assert.ok(isSameContent(await of(one), await of(mixed)));
        assert.equal(isSameContent(await of(one), await of(other)), key(one) === key(other));
      }),
      { numRuns: 60 },
    );
  });
});

Deno.test("of each output the last word is kept", async () => {
  await withStaging(async (staging, connection) => {
    await staging.setup(LEDGER_SETUP);
    const [one, other] = [new SinkDeliveryLedger("it's one"), new SinkDeliveryLedger("other")];
    assert.equal(await one.read(connection), undefined);
    const of = { rows: 18446744073709n, hash: "170141183460469231731687303715884105727 ab" };
    await one.save(connection, { acknowledged: 5n, of });
    await other.save(connection, { acknowledged: 6n, of });
    await one.save(connection, { acknowledged: 9007199254740993n, of: { ...of, rows: 2n } });
    assert.deepEqual(await one.read(connection), { acknowledged: 9007199254740993n, of: { ...of, rows: 2n } });
    assert.deepEqual((await other.read(connection))?.acknowledged, 6n);
  });
});
