import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { inlineEphemerals, type NamedQuery } from "../../../src/compile/inline.ts";
import { openDuckDb } from "../../../src/duckdb/mod.ts";
import type { SegmentMap } from "../../../src/template/mod.ts";

/** Offsets as columns of a file of that name. */
function mapOf(file: string): SegmentMap {
  return { positionAt: (offset) => ({ file, line: 1, column: offset }) };
}

function query(name: string, sql: string): NamedQuery {
  return { name, sql, map: mapOf(name) };
}

const EPHEMERALS = [
  "SELECT 1 AS n UNION ALL SELECT 2",
  "-- a note\nSELECT 1 AS n UNION ALL SELECT 2 -- the end",
  "WITH x AS (SELECT 1 AS n UNION ALL SELECT 2) FROM x",
  "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 2) SELECT * FROM r",
  "VALUES (1), (2)",
  "(SELECT 1 AS n) UNION ALL (SELECT 2)",
  "/* b */ FROM range(1, 3) t(n) ORDER BY n DESC LIMIT 2",
];

const CONSUMERS = [
  "SELECT count(*) AS c FROM __pz_cte__e",
  "FROM __pz_cte__e SELECT count(*) AS c",
  "-- first\n/* WITH */ SELECT count(*) AS c FROM __pz_cte__e -- last",
  "WITH t AS (FROM __pz_cte__e) SELECT count(*) AS c FROM t",
  "with/* */t AS MATERIALIZED (FROM __pz_cte__e), u AS (FROM t) SELECT count(*) AS c FROM u",
  "-- note\nWiTh\n\trecursive r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r WHERE i < (SELECT count(*) FROM __pz_cte__e)) SELECT max(i) AS c FROM r",
  "WITH recursive_thing AS (SELECT 1) SELECT count(*) AS c FROM __pz_cte__e, recursive_thing",
  "(SELECT 0 AS c WHERE false) UNION ALL (SELECT count(*) FROM __pz_cte__e)",
  "SELECT (SELECT count(*) FROM __pz_cte__e) AS c",
];

Deno.test("every form of consumer reads every form of ephemeral", async () => {
  await using database = await openDuckDb({});
  using connection = await database.connect();
  for (const consumer of CONSUMERS) {
    for (const ephemeral of EPHEMERALS) {
      const { sql } = inlineEphemerals(query("p", consumer), [query("e", ephemeral)]);
      strictEqual(await connection.integer(sql), 2n, sql);
      deepStrictEqual((await connection.prepare(sql)).columns.map(({ name }) => name), ["c"], sql);
    }
  }
});

Deno.test("offsets of the inlined text lead to the text that they come from", () => {
  for (
    const consumer of [
      "SELECT 1 FROM __pz_cte__a, __pz_cte__b",
      "WITH t AS (SELECT 1) SELECT 2 FROM t, __pz_cte__a, __pz_cte__b",
    ]
  ) {
    const { sql, map } = inlineEphemerals(query("p", consumer), [
      query("a", "SELECT 'in a'"),
      query("b", "SELECT 'in b'"),
    ]);
    const at = (text: string) => {
      const { file, column } = map.positionAt(sql.indexOf(text));
      return `${file}:${column}`;
    };
    strictEqual(at("'in a'"), "a:7");
    strictEqual(at("'in b'"), "b:7");
    const last = consumer.indexOf("__pz_cte__a, __pz_cte__b");
    strictEqual(map.positionAt(sql.lastIndexOf("__pz_cte__a, __pz_cte__b")).column, last);
    strictEqual(map.positionAt(sql.length).column, consumer.length);
    strictEqual(map.positionAt(sql.indexOf("__pz_cte__a AS")).file, "a");
  }
});
