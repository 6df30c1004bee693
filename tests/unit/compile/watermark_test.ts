import { deepStrictEqual, ok } from "node:assert/strict";
import type { SourceLoadNode, SqlWatermark } from "../../../src/compile/mod.ts";
import { formatError } from "../../../src/errors/mod.ts";
import type { PipelineFile } from "../../../src/project/mod.ts";
import { build, connection, pipeline, project, readEntity } from "./support.ts";

const CONTRACT = "id bigint, ts timestamp, day date, price decimal, name varchar, s STRUCT(ts TIMESTAMP)";
const RAW = connection("raw", {
  ...readEntity("o", CONTRACT),
  ...readEntity("p", CONTRACT),
  ...readEntity("loose"),
});
const S = "{{ source('raw', 'o') }}";
const W = "{{ watermark('raw', 'o') }}";
const SENTINEL = "__pz_watermark__raw__o";

type Told = {
  readonly errors: readonly string[];
  readonly notices: readonly string[];
  /** By entity. */
  readonly followed: { readonly [entity: string]: SqlWatermark };
};

async function told(pipelines: readonly PipelineFile[]): Promise<Told> {
  const outcome = await build(project([RAW], pipelines));
  if (!outcome.ok) return { errors: outcome.errors.map(formatError), notices: [], followed: {} };
  const loads = outcome.value.nodes.filter((node): node is SourceLoadNode => node.kind === "SourceLoad");
  const followed = loads.flatMap(({ entity, watermark }) =>
    watermark === undefined ? [] : [[entity, watermark] as const]
  );
  return { errors: [], notices: outcome.notices, followed: Object.fromEntries(followed) };
}

async function of(sql: string) {
  return await told([pipeline("a", sql)]);
}

/** What is told of a condition on one source, without code and name of the call. */
async function misuse(where: string, from = `${S} AS o`): Promise<readonly string[]> {
  const { errors } = await of(`SELECT * FROM ${from} WHERE ${where}`);
  return errors.map((error) => error.replace("PZ0224: watermark('raw', 'o') ", "").split(" — hint: ")[0] ?? "");
}

Deno.test("each operator on each side says where the rows begin or end, and whether with the value", async () => {
  for (
    const [where, upper, inclusive] of [
      [`ts > ${W}`, false, false],
      [`ts >= ${W}`, false, true],
      [`${W} < ts`, false, false],
      [`${W} <= ts`, false, true],
      [`ts < ${W} AND ts > ${W}`, true, false],
      [`ts <= ${W} AND ts > ${W}`, true, true],
      [`${W} > ts AND ts > ${W}`, true, false],
      [`NOT (ts <= ${W})`, false, false],
    ] as const
  ) {
    const { followed, errors } = await of(`SELECT id FROM ${S} WHERE ${where}`);
    deepStrictEqual(errors, [], where);
    deepStrictEqual(followed["o"]?.cursor, "ts", where);
    deepStrictEqual(followed["o"]?.bounds[0], {
      pipeline: "a",
      sentinel: SENTINEL,
      upper,
      inclusive,
      value: `'${SENTINEL}'`,
    }, where);
  }
});

Deno.test("the value keeps what stands around the watermark", async () => {
  for (
    const [value, sql] of [
      [`${W} - INTERVAL 2 HOUR`, `('${SENTINEL}' - to_hours(CAST(trunc(CAST(2 AS DOUBLE)) AS BIGINT)))`],
      [`coalesce(${W}, DATE '2020-01-01')`, `COALESCE('${SENTINEL}', CAST('2020-01-01' AS DATE))`],
      [`${W}::TIMESTAMP`, `CAST('${SENTINEL}' AS TIMESTAMP)`],
      [`least(${W}, '2030-01-01')`, `least('${SENTINEL}', '2030-01-01')`],
    ] as const
  ) {
    const { followed, errors } = await of(`SELECT * FROM ${S} WHERE TS >= ${value}`);
    deepStrictEqual(errors, []);
    deepStrictEqual([followed["o"]?.cursor, followed["o"]?.bounds[0]?.value], ["ts", sql]);
  }
});

Deno.test("a cursor is found by its alias, by its relation's name, and where the source is read inside", async () => {
  for (
    const sql of [
      `SELECT * FROM ${S} AS o JOIN {{ source('raw', 'p') }} AS p USING (id) WHERE o.ts > ${W}`,
      `SELECT * FROM ${S} WHERE src_raw__o.ts > ${W}`,
      `SELECT * FROM ${S} WHERE staging.src_raw__o.ts > ${W}`,
      `WITH new AS (SELECT * FROM ${S} WHERE ts > ${W}) SELECT * FROM new JOIN {{ source('raw', 'p') }} USING (id)`,
      `SELECT * FROM {{ source('raw', 'p') }} AS p WHERE EXISTS (FROM ${S} AS o WHERE o.ts > ${W} AND o.id = p.id)`,
      `SELECT * FROM {{ source('raw', 'p') }} AS p JOIN ${S} AS o ON o.id = p.id AND o.ts > ${W}`,
    ]
  ) {
    const { followed, errors } = await of(sql);
    deepStrictEqual([errors, followed["o"]?.cursor], [[], "ts"], sql);
  }
});

Deno.test("comparisons that can't be followed are refused with the reason", async () => {
  const cases: readonly (readonly [string, string])[] = [
    [`ts = ${W}`, "is compared by something other than >, >=, < or <="],
    [`ts <> ${W}`, "is compared by something other than >, >=, < or <="],
    [`ts IS DISTINCT FROM ${W}`, "is compared by something other than >, >=, < or <="],
    [`ts BETWEEN ${W} AND '2030-01-01'`, "stands outside of a comparison by >, >=, < or <="],
    [`ts IN (${W})`, "stands outside of a comparison by >, >=, < or <="],
    [`${W} IS NULL`, "stands outside of a comparison by >, >=, < or <="],
    [`date_trunc('day', ts) > ${W}`, "is compared with something other than a column"],
    [`ts::DATE > ${W}`, "is compared with something other than a column"],
    [`o.s.ts > ${W}`, "is compared with 'o.s.ts', which is no column of a relation here"],
    [`s.ts > ${W}`, "is compared with 's.ts', which is no column of a relation here"],
    [`ts > ${W} - to_days(id::INTEGER)`, "is compared together with 'id'"],
    [`ts > (SELECT ${W})`, "is compared together with a subquery or window"],
    [`ts > least(${W}, ${W})`, "stands in one comparison with another watermark()"],
    [`ts > least(${W}, now())`, "is compared together with 'now()', which gives no fixed value"],
    [`ts > nosuch(${W})`, "is compared together with 'nosuch()', which DuckDB does not know"],
    [`ts > least(${W}, current_timestamp)`, "is compared together with 'current_timestamp'"],
  ];
  for (const [where, message] of cases) {
    const found = await misuse(where);
    ok(found[0]?.startsWith(`${message} (pipelines/a.sql:1:`), `${where}: ${found}`);
  }
  const joined = `${S} AS o JOIN {{ source('raw', 'p') }} AS p USING (id)`;
  ok((await misuse(`ts > ${W}`, joined))[0]?.startsWith("is compared with 'ts', which may be of several relations ("));
  ok((await misuse(`p.ts > ${W}`, joined))[0]?.startsWith("is compared with 'ts' of another source ("));
  const derived = `(FROM ${S}) AS d`;
  ok((await misuse(`ts > ${W}`, derived))[0]?.startsWith("is compared with a column of 'd', which is no source ("));
});

Deno.test("a good comparison does not excuse a loose call, and each is told at its own place, once", async () => {
  deepStrictEqual(
    (await told([
      pipeline("e", `SELECT *, ${W} AS w\nFROM ${S} WHERE ts > ${W}\n  AND ts <> ${W}`, {
        materialization: "ephemeral",
      }),
      pipeline("a", "SELECT * FROM {{ ref('e') }}"),
      pipeline("b", "SELECT 1 AS n, * FROM {{ ref('e') }}"),
    ])).errors.map((error) => error.split(" — hint: ")[0]),
    [
      "PZ0224: watermark('raw', 'o') stands outside of a comparison by >, >=, < or <= (pipelines/e.sql:1:11)",
      "PZ0224: watermark('raw', 'o') is compared by something other than >, >=, < or <= (pipelines/e.sql:3:13)",
    ],
  );
});

Deno.test("a source is followed by one column of its contract that has an order, from somewhere on", async () => {
  const where = (...conditions: readonly string[]) =>
    told(conditions.map((condition, index) => pipeline(`p${index}`, `SELECT * FROM ${S} WHERE ${condition}`)));
  deepStrictEqual((await where(`ts > ${W}`, `day > ${W}`)).errors, [
    "PZ0231: watermark('raw', 'o') is compared with 'day', and elsewhere with 'ts' (pipelines/p1.sql:1:52) — hint: follow one column of a source",
  ]);
  deepStrictEqual((await where(`ts < ${W}`)).errors, [
    "PZ0351: watermark('raw', 'o') says where the rows end, and nothing says where they begin (pipelines/p0.sql:1:51) — hint: compare by > or >= as well",
  ]);
  deepStrictEqual((await where(`name > ${W}`)).errors, [
    "PZ0227: watermark('raw', 'o') is compared with 'name', which has the type 'varchar' (pipelines/p0.sql:1:53) — hint: a cursor is int, bigint, decimal, date, timestamp",
  ]);
  deepStrictEqual((await where(`tss > ${W}`)).errors, [
    "PZ0227: watermark('raw', 'o') is compared with 'tss', which is not in the columns: contract (pipelines/p0.sql:1:52) — hint: did you mean 'ts'?",
  ]);
  const both = await where(`ts < ${W}`, `ts >= ${W}`);
  deepStrictEqual([both.errors, both.followed["o"]?.bounds.map(({ upper }) => upper)], [[], [true, false]]);
});

Deno.test("without a contract the cursor is not verified, which is told", async () => {
  const loose = await of("SELECT * FROM {{ source('raw', 'loose') }} WHERE Changed > {{ watermark('raw', 'loose') }}");
  deepStrictEqual([loose.errors, loose.followed["loose"]?.cursor], [[], "Changed"]);
  deepStrictEqual(loose.notices, [
    "the cursor 'Changed' of 'raw.loose' is unverified until the first run: it has no columns: contract",
  ]);
});
