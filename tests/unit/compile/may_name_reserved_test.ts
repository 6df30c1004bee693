import { ok, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import type { CheckNode } from "../../../src/compile/mod.ts";
import { mayNameReserved, reservedInCheck } from "../../../src/compile/reserved.ts";
import { queryTrees } from "../../../src/compile/statements.ts";
import { openDuckDb } from "../../../src/duckdb/mod.ts";
import { check } from "./support.ts";

const OWN = new Set(["own"]);

Deno.test("most texts are told to name nothing reserved without reading them", () => {
  for (
    const sql of [
      "SELECT 1",
      "SELECT id FROM staging.own WHERE id > 1",
      "SELECT own.id FROM staging.own AS o JOIN Staging.OWN AS p ON o.id = p.id;",
      "WITH __pz_cte__e AS (SELECT 1) SELECT * FROM __pz_cte__e, stg_staging.x, xpz.y",
      "",
    ]
  ) strictEqual(mayNameReserved(sql, OWN), false, sql);
});

Deno.test("texts that could name something reserved are read", () => {
  for (
    const sql of [
      "FROM staging.other",
      "FROM staging.own2",
      "FROM staging.owné",
      "FROM staging.own$x",
      'FROM staging."own"',
      'FROM "staging".own',
      "FROM staging /* */ . own",
      "FROM STAGING\n.other",
      "FROM pz_meta.format",
      "FROM pz.staging.own",
      'FROM "PZ_meta".format',
      'FROM U&"\\0070z_meta".format',
      "SELECT pz_feed(1)",
    ]
  ) strictEqual(mayNameReserved(sql, OWN), true, sql);
});

const word = fc.constantFrom(
  "staging",
  "STAGING",
  '"staging"',
  "own",
  '"own"',
  "other",
  "pz",
  '"pz_meta"',
  "pz_meta",
  "pzz",
  "stg_staging",
  'U&"\\0070z"',
  "x",
  "$1",
);
const dot = fc.constantFrom(".", ".", ".", " . ", "/* . */.", "\n.");
const relation = fc.tuple(word, dot, word, dot, word, fc.nat(2)).map(([a, one, b, two, c, parts]) =>
  parts === 0 ? a : parts === 1 ? `${a}${one}${b}` : `${a}${one}${b}${two}${c}`
);
const source = fc.oneof(
  relation,
  relation.map((name) => `(FROM ${name})`),
  relation.map((name) => `${name} AS pzx`),
  relation.map((name) => `(DESCRIBE ${name})`),
  word.map((name) => `${name}(1)`),
);
const query = fc.tuple(fc.constantFrom("SELECT * FROM ", "FROM ", "WITH own AS (SELECT 1) FROM "), source, source)
  .map(([start, a, b]) => `${start}${a}, ${b}`);

Deno.test("whatever reading a text finds reserved, it was not told to be free of", async () => {
  await using database = await openDuckDb({});
  using connection = await database.connect();
  const texts = fc.sample(query, { numRuns: 5000, seed: 7 });
  const trees = await queryTrees(connection, texts);
  let found = 0;
  for (const [index, sql] of texts.entries()) {
    const tree = trees[index];
    if (tree === undefined || reservedInCheck(checkNode(sql), tree).length === 0) continue;
    found++;
    ok(mayNameReserved(sql, OWN), sql);
  }
  ok(found > 500, `only ${found} texts name something reserved`);
});

function checkNode(sql: string): CheckNode {
  return {
    kind: "Check",
    id: "",
    name: "check_own_sql",
    dependsOn: [],
    file: "pipelines/own.sql",
    tags: [],
    pipeline: "own",
    relation: "own",
    check: check("custom_sql", { sql }),
    sampleValues: false,
  };
}
