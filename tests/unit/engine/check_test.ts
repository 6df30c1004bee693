import assert from "node:assert/strict";
import type { Check } from "../../../src/project/mod.ts";
import { Bench, check, csvCopy, pipeline, sink } from "./fixture.ts";

const ROWS = `SELECT * FROM (VALUES
  (1, 'a', 'x', TIMESTAMP '2027-03-01 00:00:00'),
  (2, NULL, 'y', TIMESTAMP '2027-03-02 00:00:00'),
  (2, 'c', 'z"q', NULL)) AS t(id, "first name", code, seen)`;

type Case = {
  readonly title: string;
  readonly check: Partial<Check> & Pick<Check, "type">;
  readonly rows?: string;
  readonly violations: number;
  readonly message?: RegExp;
  readonly sampleValues?: boolean;
};

const NOW = Date.UTC(2027, 2, 2, 12);
const HOUR = 3_600_000;

const CASES: readonly Case[] = [
  { title: "not_null passes", check: { type: "not_null", columns: ["id", "code"] }, violations: 0 },
  {
    title: "not_null counts rows with NULL in any column and shows them",
    check: { type: "not_null", columns: ["first name", "seen"] },
    violations: 2,
    message: /^2 rows of 't' have NULL in \[first name, seen\]\n {2}\{'id': 2, 'first name': NULL, .*\n {2}\{'id': 2,/,
  },
  {
    title: "without samples only the count is told",
    check: { type: "not_null", columns: ["seen"] },
    violations: 1,
    message: /^1 row of 't' has NULL in \[seen\]$/,
    sampleValues: false,
  },
  { title: "unique passes", check: { type: "unique", columns: ["code"] }, violations: 0 },
  { title: "unique looks at all columns together", check: { type: "unique", columns: ["id", "code"] }, violations: 0 },
  {
    title: "unique counts values that stand more than once",
    check: { type: "unique", columns: ["id"] },
    violations: 1,
    message: /^1 value of \[id\] stands in more than one row of 't'\n {2}\{'id': 2, 'count': 2\}$/,
  },
  { title: "row_count passes at its bounds", check: { type: "row_count", min: 3n, max: 3n }, violations: 0 },
  {
    title: "row_count fails below its minimum",
    check: { type: "row_count", min: 4n },
    violations: 1,
    message: /^'t' has 3 rows, expected at least 4$/,
  },
  {
    title: "row_count fails above its maximum",
    check: { type: "row_count", min: 0n, max: 2n },
    violations: 1,
    message: /^'t' has 3 rows, expected 0 to 2$/,
  },
  {
    title: "freshness passes at the limit",
    check: { type: "freshness", columns: ["seen"], maxAgeMs: 12 * HOUR },
    violations: 0,
  },
  {
    title: "freshness fails beyond the limit and shows the newest value",
    check: { type: "freshness", columns: ["seen"], maxAgeMs: 12 * HOUR - 1 },
    violations: 1,
    message: /older than 2027-03-02 00:00:00\.001 UTC\n {2}\{'newest': '?2027-03-02 00:00:00'?\}$/,
  },
  {
    title: "freshness understands moments with a zone",
    check: { type: "freshness", columns: ["seen"], maxAgeMs: HOUR },
    rows: "SELECT TIMESTAMPTZ '2027-03-02 13:30:00+02' AS seen",
    violations: 0,
  },
  {
    title: "freshness fails without any value",
    check: { type: "freshness", columns: ["seen"], maxAgeMs: HOUR },
    rows: "SELECT NULL::DATE AS seen WHERE false",
    violations: 1,
    message: /^The newest value of \[seen\] in 't' is missing or older/,
  },
  {
    title: "accepted_values passes over NULL and quotes its values",
    check: { type: "accepted_values", columns: ["code"], values: ["x", "y", 'z"q', "it's", null] },
    violations: 0,
  },
  {
    title: "accepted_values counts rows and shows distinct values",
    check: { type: "accepted_values", columns: ["first name"], values: ["a"] },
    violations: 1,
    message: /^1 row of 't' has a value in \[first name\] that is not accepted\n {2}\{'first name': '?c'?\}$/,
  },
  {
    title: "accepted_values takes numbers for numbers",
    check: { type: "accepted_values", columns: ["id"], values: [1, 2n] },
    violations: 0,
  },
  {
    title: "accepted_values takes numbers for texts of a text column",
    check: { type: "accepted_values", columns: ["code"], values: [1, "x"] },
    violations: 2,
  },
  {
    title: "accepted_values takes booleans",
    check: { type: "accepted_values", columns: ["flag"], values: [true] },
    rows: "SELECT * FROM (VALUES (true), (false), (NULL)) AS t(flag)",
    violations: 1,
  },
  {
    title: "custom_sql passes without rows, whatever ends it",
    check: { type: "custom_sql", name: "mine", sql: "SELECT * FROM staging.t WHERE id > 9 -- all\n ; ;\n" },
    violations: 0,
  },
  {
    title: "custom_sql counts its rows",
    check: { type: "custom_sql", name: "mine", sql: "WITH b AS (SELECT id FROM staging.t) SELECT * FROM b ORDER BY 1" },
    violations: 3,
    message: /^3 rows returned by the query of check 'mine'\n {2}\{'id': 1\}\n {2}\{'id': 2\}\n {2}\{'id': 2\}$/,
  },
];

for (const { title, check: what, rows = ROWS, violations, message, sampleValues = true } of CASES) {
  Deno.test(`check: ${title}`, async () => {
    await using bench = await Bench.create();
    const { receipt } = await bench.run([
      pipeline("t", rows),
      check("the check", "t", what, { sampleValues }),
    ], { options: { clock: { now: () => NOW } } });
    const record = receipt.nodes[1];
    assert.equal(record?.rows, violations, record?.error?.message);
    assert.equal(record?.status, violations === 0 ? "success" : "failed");
    assert.equal(record?.error?.code ?? null, violations === 0 ? null : "PZ0510");
    if (message !== undefined) assert.match(record?.error?.message ?? "", message);
  });
}

Deno.test("check: at most five samples are shown, long ones cut", async () => {
  await using bench = await Bench.create();
  const { receipt } = await bench.run([
    pipeline("t", "SELECT NULL AS n, repeat('x', 1000) AS long FROM range(20)"),
    check("c", "t", { type: "not_null", columns: ["n"] }),
  ]);
  const lines = (receipt.nodes[1]?.error?.message ?? "").split("\n");
  assert.equal(lines.length, 6);
  assert.ok(lines.every((line) => line.length < 420));
});

Deno.test("check: a query that is wrong fails with PZ0501, cause sql", async () => {
  await using bench = await Bench.create();
  const { receipt } = await bench.run([
    pipeline("t", "SELECT 1 AS a"),
    check("c", "t", { type: "not_null", columns: ["b"] }),
  ]);
  assert.deepEqual([receipt.nodes[1]?.error?.code, receipt.nodes[1]?.error?.cause], ["PZ0501", "sql"]);
});

Deno.test("check: a custom query can't hold a second statement, however it is written", async () => {
  await using bench = await Bench.create();
  for (const sql of ["SELECT 1 WHERE false; DROP TABLE staging.t", "SELECT 1) AS x; DROP TABLE staging.t; SELECT (1"]) {
    const { receipt } = await bench.run([
      pipeline("t", "SELECT 1 AS a"),
      check("c", "t", { type: "custom_sql", name: "mine", sql }),
      sink("lake.t", "t", csvCopy(`${bench.root}/out`, "t.csv")),
    ], { engine: { threads: 1 } });
    assert.deepEqual(receipt.nodes.map(({ status }) => status), ["success", "failed", "success"]);
  }
});

Deno.test("an alerting check that fails does not hold its pipeline's sink back", async () => {
  await using bench = await Bench.create();
  const { outcome } = await bench.run([
    pipeline("t", "SELECT NULL AS a"),
    check("c", "t", { type: "not_null", columns: ["a"] }),
    sink("lake.t", "t", csvCopy(`${bench.root}/out`, "t.csv")),
  ]);
  assert.deepEqual([outcome.succeeded, outcome.failed, outcome.skipped], [2, 1, 0]);
});

Deno.test("a gating check that fails holds back the sinks that depend on it, and pipelines run", async () => {
  await using bench = await Bench.create();
  const { outcome, receipt } = await bench.run([
    pipeline("t", "SELECT NULL AS a"),
    pipeline("u", "SELECT * FROM staging.t", ["t"]),
    pipeline("v", "SELECT * FROM staging.u", ["u"]),
    pipeline("w", "SELECT 1 AS b"),
    check("c", "t", { type: "not_null", columns: ["a"], severity: "gate" }),
    sink("lake.t", "t", csvCopy(`${bench.root}/out`, "t.csv"), { dependsOn: ["id-t", "id-c"] }),
    sink("lake.v", "v", csvCopy(`${bench.root}/out`, "v.csv"), { dependsOn: ["id-v", "id-c"] }),
    sink("lake.w", "w", csvCopy(`${bench.root}/out`, "w.csv")),
  ]);
  assert.equal(outcome.status, "completed_with_failures");
  const status = Object.fromEntries(receipt.nodes.map((node) => [node.name, node.status]));
  assert.deepEqual(status, {
    t: "success",
    u: "success",
    v: "success",
    w: "success",
    c: "failed",
    "lake.t": "skipped",
    "lake.v": "skipped",
    "lake.w": "success",
  });
});

Deno.test("a gating check that passes lets its sinks through", async () => {
  await using bench = await Bench.create();
  const { outcome } = await bench.run([
    pipeline("t", "SELECT 1 AS a"),
    check("c", "t", { type: "not_null", columns: ["a"], severity: "gate" }),
    sink("lake.t", "t", csvCopy(`${bench.root}/out`, "t.csv"), { dependsOn: ["id-t", "id-c"] }),
  ]);
  assert.deepEqual([outcome.status, outcome.succeeded], ["success", 3]);
});
