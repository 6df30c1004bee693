import assert from "node:assert/strict";
import fc from "fast-check";
import { ident, literal, openDuckDb, qualified } from "../../../src/duckdb/mod.ts";

Deno.test("any text survives as a literal and as a name", async () => {
  await using database = await openDuckDb({ threads: 1 });
  using connection = await database.connect();
  // NUL has no literal; a name must have a letter; DuckDB's texts hold no lone surrogates.
  const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }).filter((value) => !value.includes("\0"));
  await fc.assert(
    fc.asyncProperty(text, async (value) => {
      assert.deepEqual(await connection.rows(`SELECT ${literal(value)}`), [[value]]);
      const { columns } = await connection.prepare(`SELECT 1 AS ${ident(value)}`);
      assert.equal(columns[0]?.name, value);
    }),
    { numRuns: 200 },
  );
});

Deno.test("a literal can't hold NUL", () => {
  assert.throws(() => literal("a\0b"), RangeError);
});

Deno.test("qualified names are quoted one by one", () => {
  assert.equal(qualified("staging", 'a"b.c'), '"staging"."a""b.c"');
});
