import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { dryCompile } from "../../../src/compile/mod.ts";
import { RESERVED_WORDS } from "../../../src/compile/reserved_words.ts";
import { openDuckDb } from "../../../src/duckdb/mod.ts";
import { connection, dagOf, pipeline, project, readEntity } from "./support.ts";

async function hintOf(sql: string): Promise<string | undefined> {
  const raw = connection("raw", readEntity("o", "id int"));
  const outcome = await dryCompile(await dagOf(project([raw, connection("lake")], [pipeline("a", sql)])));
  return outcome.ok ? undefined : outcome.errors[0]?.hint;
}

Deno.test("the reserved words are DuckDB's", async () => {
  await using database = await openDuckDb({ allowedPaths: { files: [], folders: [] } });
  const own = await database.connect();
  const rows = await own.rows(
    "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category IN ('reserved', 'type_function')",
  );
  deepStrictEqual([...RESERVED_WORDS].sort(), rows.map(([word]) => word).sort());
});

Deno.test("a reserved word in the place of a column's name is to be quoted", async () => {
  for (
    const [word, sql] of [
      ["at", "SELECT id, at FROM {{ source('raw', 'o') }}"],
      ["at", "SELECT at, id FROM {{ source('raw', 'o') }}"],
      ["order", "SELECT id, order FROM {{ source('raw', 'o') }}"],
      ["order", "SELECT count(order) FROM {{ source('raw', 'o') }}"],
      ["group", "SELECT id, group FROM {{ source('raw', 'o') }}"],
      ["end", "SELECT id FROM {{ source('raw', 'o') }} WHERE end > 1"],
      ["desc", "SELECT id FROM {{ source('raw', 'o') }} ORDER BY desc"],
      ["table", "SELECT id, table, 1 AS x FROM {{ source('raw', 'o') }}"],
    ] as const
  ) {
    strictEqual(
      await hintOf(sql),
      `'${word}' is a reserved word: as the name of a column it stands in quotes, "${word}"`,
      sql,
    );
  }
});

Deno.test("a reserved word in its own place is not to blame", async () => {
  for (
    const sql of [
      "SELECT id FROM FROM {{ source('raw', 'o') }}",
      "SELECT id FROM {{ source('raw', 'o') }} WHERE GROUP BY id",
      "SELECT id FROM {{ source('raw', 'o') }} WHERE LIMIT 5",
      "SELECT id FROM {{ source('raw', 'o') }} WHERE id = 1 AND AND id = 2",
      "SELECT (id FROM {{ source('raw', 'o') }}",
    ]
  ) strictEqual(await hintOf(sql), undefined, sql);
});

Deno.test("a call without its braces is shown with them", async () => {
  strictEqual(await hintOf("SELECT * FROM ref('x')"), "write {{ ref('x') }}");
  strictEqual(await hintOf("SELECT * FROM source('raw', 'o') AS o"), "write {{ source('raw', 'o') }}");
  strictEqual(await hintOf("SELECT var('day') AS day"), "write {{ var('day') }}");
});
