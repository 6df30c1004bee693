import assert from "node:assert/strict";
import type { Check } from "../../../src/project/mod.ts";
import { errorsOf, load, loaded, marked, places } from "./helpers.ts";

const FILE = "pipelines/configs/x.yml";

function files(checks: string): { readonly [path: string]: string } {
  return { "pipelines/x.sql": "select 1", [FILE]: `pipeline: x\nchecks:\n${checks}\n` };
}

async function checksOf(checks: string): Promise<readonly Check[]> {
  return (await loaded(files(checks))).pipelines[0]?.checks ?? [];
}

Deno.test("every type of check is read, in list form and in map form", async () => {
  const checks = await checksOf(`
  - not_null: [id, email]
  - not_null: { column: id, sample_values: false, severity: gate }
  - unique: { columns: [id] }
  - row_count: { min: 1, max: 99999999999999999999, severity: gate }
  - row_count: { max: -1 }
  - freshness: { column: at, max_age: 2d }
  - accepted_values: { columns: [state], values: [a, "1", 1, 1.5, true, null] }
  - custom_sql:
      name: no_bad
      sql: |
        select 1
        where 'x' = ':'`);
  assert.deepEqual(checks.map(({ position: _position, places: _places, ...check }) => check), [
    { type: "not_null", columns: ["id", "email"], severity: "alert" },
    { type: "not_null", columns: ["id"], severity: "gate", sampleValues: false },
    { type: "unique", columns: ["id"], severity: "alert" },
    { type: "row_count", columns: [], severity: "gate", min: 1n, max: 99999999999999999999n },
    { type: "row_count", columns: [], severity: "alert", max: -1n },
    { type: "freshness", columns: ["at"], severity: "alert", maxAgeMs: 172_800_000 },
    { type: "accepted_values", columns: ["state"], severity: "alert", values: ["a", "1", 1n, 1.5, true, "null"] },
    { type: "custom_sql", columns: [], severity: "alert", name: "no_bad", sql: "select 1\nwhere 'x' = ':'\n" },
  ]);
  assert.deepEqual(checks[1]?.position, { file: FILE, line: 5, column: 5 });
});

Deno.test("a wrong check is PZ0113 at its place", async () => {
  const cases = [
    "- §not_null",
    "- §5",
    "- §[id]",
    "- §{}",
    "- §uniqe: [id]",
    "- unique: [id]\n    §not_null: [id]",
    "- §not_null:",
    "- not_null: §id",
    "- §not_null: {}",
    "- not_null: { §columns: [] }",
    "- not_null: §[]",
    "- not_null: [id, §[a]]",
    "- not_null: { §column: a, columns: [b] }",
    "- not_null: { column: §[a] }",
    "- not_null: { §column: }",
    "- not_null: { columns: §a }",
    "- not_null: { column: a, §colunms: [b] }",
    "- not_null: { column: a, sample_values: §no }",
    "- not_null: { column: a, severity: §error }",
    "- §row_count: {}",
    "- §row_count:",
    "- row_count: §[a]",
    "- row_count: §5",
    "- row_count: { min: §1.5 }",
    "- row_count: { min: §'1' }",
    "- row_count: { §min: 2, max: 1 }",
    "- row_count: { min: 1, §columns: [a] }",
    "- §freshness: { column: a }",
    "- §freshness: { max_age: 1h }",
    "- freshness: { column: a, max_age: §0h }",
    "- freshness: { column: a, max_age: §1 }",
    "- freshness: { §columns: [a, b], max_age: 1h }",
    "- §freshness: [a]",
    "- §accepted_values: { column: a }",
    "- accepted_values: { column: a, values: §[] }",
    "- accepted_values: { column: a, values: §b }",
    "- accepted_values: { column: a, values: [b, §[c]] }",
    "- §custom_sql: { sql: x }",
    "- §custom_sql: { name: x }",
    "- custom_sql: { name: x, sql: §'' }",
    "- custom_sql: { name: §Bad, sql: x }",
    "- custom_sql: { name: §1x, sql: x }",
    "- custom_sql: { name: x, sql: x, §columns: [a] }",
  ];
  for (const check of cases) {
    const { text, at } = marked(`pipeline: x\nchecks:\n  ${check}\n`);
    const errors = await errorsOf({ "pipelines/x.sql": "", [FILE]: text });
    assert.deepEqual(places(errors), [`PZ0113 ${FILE}:${at}`], `${check}: ${errors}`);
  }
});

Deno.test("a check that stands twice is refused, whatever its samples and severity", async () => {
  const cases = [
    "- unique: [id]\n  - §unique: { columns: [id], sample_values: false, severity: gate }",
    "- row_count: { min: 1 }\n  - §row_count: { min: 1 }",
    "- custom_sql: { name: a, sql: x }\n  - §custom_sql: { name: a, sql: y }",
  ];
  for (const check of cases) {
    const { text, at } = marked(`pipeline: x\nchecks:\n  ${check}\n`);
    const errors = await errorsOf({ "pipelines/x.sql": "", [FILE]: text });
    assert.deepEqual(places(errors), [`PZ0113 ${FILE}:${at}`], check);
  }
  const distinct = await checksOf(
    "  - unique: [id]\n  - unique: [id, at]\n  - not_null: [id]\n  - row_count: { min: 1 }\n  - row_count: { max: 1 }",
  );
  assert.equal(distinct.length, 5);
});

Deno.test("every wrong check of a file is reported", async () => {
  const errors = await errorsOf(files("  - a: 1\n  - b: 2\n  - not_null: { severity: x, sample_values: y }"));
  assert.deepEqual(places(errors), [
    `PZ0113 ${FILE}:3:5`,
    `PZ0113 ${FILE}:4:5`,
    `PZ0113 ${FILE}:5:5`,
    `PZ0113 ${FILE}:5:27`,
    `PZ0113 ${FILE}:5:45`,
  ]);
});

Deno.test("a bound by another tool's name is one error, with pz's name for it", async () => {
  for (const [wrong, meant] of [["minimum", "min"], ["max_rows", "max"], ["at_least", "min"]]) {
    const outcome = await load(files(`  - row_count: { ${wrong}: 1 }`));
    assert.ok(!outcome.ok);
    assert.deepEqual(outcome.errors.map(({ code, hint }) => [code, hint]), [["PZ0113", `Did you mean '${meant}'?`]]);
  }
});
