import assert from "node:assert/strict";
import { ident } from "../../../src/duckdb/mod.ts";
import { wholeOrder } from "../../../src/staging/mod.ts";
import { withStaging } from "./harness.ts";

Deno.test("rows come in one order however they were laid down, and zeros keep their sign", async () => {
  await withStaging(async (_, connection) => {
    const columns = [`"a ""b"`, "f", "l", "s", "t"];
    const rows = [
      `(2, '-0.0'::FLOAT, ['-0.0'::DOUBLE, NULL], {'x': '-0.0'::DOUBLE}, 'x')`,
      `(1, '0.0'::FLOAT, ['0.0'::DOUBLE], {'x': NULL}, NULL)`,
      `(1, '-0.0'::FLOAT, ['0.0'::DOUBLE], {'x': NULL}, NULL)`,
      `(1, 'nan'::FLOAT, NULL, {'x': 'inf'::DOUBLE}, 'y')`,
      `(NULL, NULL, [], NULL, 'DOUBLE')`,
    ];
    const read = async (name: string, laid: readonly string[]) => {
      const list = `${columns.join(", ")}`;
      await connection.run(
        `CREATE TABLE staging.${ident(name)} AS SELECT * FROM (VALUES ${laid.join(", ")}) v(${list})`,
      );
      const order = await wholeOrder(connection, name);
      const all = await connection.rows(`SELECT * FROM (SELECT * FROM staging.${ident(name)} ORDER BY ${order})`);
      return all.map((row) => row.map((cell) => cell === null ? "NULL" : String(cell)).join(" "));
    };
    const expected = [
      "1 0.0 [0.0] {'x': NULL} NULL",
      "1 -0.0 [0.0] {'x': NULL} NULL",
      "1 nan NULL {'x': inf} y",
      "2 -0.0 [-0.0, NULL] {'x': -0.0} x",
      "NULL NULL [] NULL DOUBLE",
    ];
    assert.deepEqual(await read("one", rows), expected);
    assert.deepEqual(await read('o"ther', rows.toReversed()), expected);
  });
});
