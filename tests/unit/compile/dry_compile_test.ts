import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { dryCompile } from "../../../src/compile/mod.ts";
import { formatError } from "../../../src/errors/mod.ts";
import type { PipelineFile } from "../../../src/project/mod.ts";
import { connection, dagOf, pipeline, project, readEntity } from "./support.ts";

const RAW = connection("raw", {
  ...readEntity(
    "orders",
    "id int, amount decimal, status varchar, ordered_at timestamp, open boolean, day date, n bigint, f double",
  ),
  ...readEntity("loose"),
});

async function compile(...pipelines: readonly PipelineFile[]) {
  const outcome = await dryCompile(await dagOf(project([RAW, connection("lake")], pipelines)));
  return outcome.ok
    ? { checked: outcome.value.checked, notices: outcome.notices }
    : { errors: outcome.errors.map(formatError) };
}

Deno.test("pipelines compile against contracts and against each other", async () => {
  deepStrictEqual(
    await compile(
      pipeline(
        "a",
        "INSERT INTO {{ sink('lake', 'a') }} SELECT id, amount * 2 AS twice FROM {{ source('raw', 'orders') }};",
      ),
      pipeline("b", "SELECT twice, count(*) AS n FROM {{ ref('a') }} GROUP BY ALL", { materialization: "view" }),
      pipeline("c", "SELECT n + 1 FROM {{ ref('b') }} WHERE twice > 1 -- done"),
    ),
    { checked: 3, notices: [] },
  );
});

Deno.test("columns of one name are told, since DuckDB renames them; names that only look so are not", async () => {
  const outcome = await dryCompile(
    await dagOf(project([RAW], [
      pipeline(
        "twice",
        "-- both\nSELECT * FROM {{ source('raw', 'orders') }} a JOIN {{ ref('other') }} b ON a.id = b.id",
      ),
      pipeline("other", "SELECT 1 AS id, 2 AS AMOUNT, 3 AS free"),
      pipeline("named", "SELECT 1 AS id, 2 AS id_1"),
      pipeline("following", "SELECT id_1 FROM {{ ref('twice') }}"),
    ])),
  );
  ok(outcome.ok);
  deepStrictEqual(outcome.warnings.map(formatError), [
    "PZ0705: pipeline 'twice' selects 'id', 'AMOUNT' more than once; DuckDB numbers what comes later " +
    "(pipelines/twice.sql:1:1) — hint: name one of them otherwise, or leave it out: SELECT * EXCLUDE (id), or JOIN … USING (id)",
  ]);
});

Deno.test("an unknown column is found at its place in the template, behind the cut prefix and wide characters", async () => {
  deepStrictEqual(
    await compile(
      pipeline(
        "a",
        "INSERT INTO {{ sink('lake', 'a') }}\nSELECT 'é😀' AS x,\n  amont\nFROM {{ source('raw', 'orders') }}",
      ),
    ),
    {
      errors: [
        "PZ0401: pipeline 'a': Referenced column \"amont\" not found in FROM clause (pipelines/a.sql:3:3) — hint: did you mean 'amount'?",
      ],
    },
  );
});

Deno.test("a syntax error, an unknown function and a dependent's error are all reported, each at its place", async () => {
  deepStrictEqual(
    await compile(
      pipeline("a", "SELECT id FORM {{ source('raw', 'orders') }} x y"),
      pipeline("b", "SELECT floo(1.5) AS v"),
      pipeline("c", "SELECT id,\n  idd FROM {{ ref('d') }}"),
      pipeline("d", "SELECT id FROM {{ source('raw', 'orders') }}"),
    ),
    {
      errors: [
        `PZ0401: pipeline 'a': syntax error at or near "staging.src_raw__orders" (pipelines/a.sql:1:16)`,
        "PZ0401: pipeline 'b': Scalar Function with name floo does not exist (pipelines/b.sql:1:8) — hint: did you mean 'floor'?",
        `PZ0401: pipeline 'c': Referenced column "idd" not found in FROM clause (pipelines/c.sql:2:3) — hint: did you mean 'id'?`,
      ],
    },
  );
});

Deno.test("what hangs on a broken pipeline is not reported again", async () => {
  const outcome = await compile(
    pipeline("a", "SELECT nope FROM {{ source('raw', 'orders') }}"),
    pipeline("b", "SELECT * FROM {{ ref('a') }}"),
  );
  strictEqual(outcome.errors?.length, 1);
});

Deno.test("several statements, none and other statements than a query are refused", async () => {
  const { errors = [] } = await compile(
    pipeline("a", "SELECT 1; DROP TABLE x"),
    pipeline("b", "-- nothing here"),
    pipeline("c", "COPY (SELECT 1) TO 'x.csv'"),
    pipeline("d", "SELECT 1 AS a; SELECT 2 AS b"),
    pipeline("e", "DESCRIBE SELECT 1"),
  );
  deepStrictEqual(errors.map((error) => error.split(" (")[0]), [
    "PZ0401: pipeline 'a' holds 2 statements",
    "PZ0401: pipeline 'b' holds no query",
    `PZ0401: pipeline 'c': syntax error at or near "COPY"`,
    "PZ0401: pipeline 'd' holds 2 statements",
    "PZ0401: pipeline 'e': it is no SELECT",
  ]);
});

Deno.test("a PIVOT over unknown values compiles, and what reads it is left out", async () => {
  deepStrictEqual(
    await compile(
      pipeline("a", "PIVOT {{ source('raw', 'orders') }} ON status USING sum(amount)"),
      pipeline("b", "SELECT shipped FROM {{ ref('a') }}"),
    ),
    { checked: 1, notices: [] },
  );
});

Deno.test("pipelines behind a source without a contract are left out, with one notice for the source", async () => {
  deepStrictEqual(
    await compile(
      pipeline("a", "SELECT whatever FROM {{ source('raw', 'loose') }}"),
      pipeline("b", "SELECT 1 FROM {{ ref('a') }}, {{ source('raw', 'orders') }}"),
      pipeline("c", "SELECT id FROM {{ source('raw', 'orders') }}"),
    ),
    { checked: 1, notices: ["dataset 'raw.loose' has no columns: contract — 2 pipelines not dry-compiled"] },
  );
});

Deno.test("a contract's words and DuckDB's own types become columns; anything else is PZ0301", async () => {
  const of = (contract: string, sql: string) =>
    dagOf(
      project([connection("raw", readEntity("t", contract))], [
        pipeline("a", `SELECT ${sql} FROM {{ source('raw', 't') }}`),
      ]),
    );
  for (
    const type of [
      "INT) --",
      "INT) AS x FROM (SELECT 1",
      "INT); DROP SCHEMA staging; --",
      "integr",
      "VARCHAR) IS NULL AND (TRUE",
      "",
    ]
  ) {
    const outcome = await dryCompile(await of(`a ${type}`, "a"));
    ok(!outcome.ok, type);
    strictEqual(outcome.errors[0]?.code, "PZ0301", type);
  }
  const types = await dryCompile(
    await of(
      "a int, b decimal, c timestamp, d STRUCT(x INTEGER[]), e uuid, f hugeint, g JSON",
      "d.x[1] + f, b / 2, g->>'k', date_part('year', c)",
    ),
  );
  deepStrictEqual(types.ok, true);
});

Deno.test("a pipeline that opens a file by itself is left out with a notice", async () => {
  deepStrictEqual(await compile(pipeline("a", "SELECT * FROM read_csv('/etc/passwd')")), {
    checked: 1,
    notices: ["pipeline 'a' opens files by itself and is not dry-compiled"],
  });
});

Deno.test("an error inside an inlined ephemeral points into the ephemeral's file, once for all its consumers", async () => {
  const { errors } = await compile(
    pipeline("e", "-- first\nSELECT idd FROM {{ source('raw', 'orders') }} -- last", { materialization: "ephemeral" }),
    pipeline("a", "-- top\nWITH RECURSIVE t AS (SELECT 1 AS n)\nSELECT * FROM {{ ref('e') }}, t"),
  );
  deepStrictEqual(errors, [
    `PZ0401: pipeline 'a': Referenced column "idd" not found in FROM clause (pipelines/e.sql:2:8) — hint: did you mean 'id'?`,
  ]);
});

Deno.test("a watermark compiles as an unknown value, and positions behind it stay right", async () => {
  const W = "{{ watermark('raw', 'orders') }}";
  const of = (where: string) => pipeline("a", `SELECT id FROM {{ source('raw', 'orders') }} WHERE ${where}`);
  deepStrictEqual(
    await compile(of(`ordered_at >= ${W} - INTERVAL 2 HOUR AND ordered_at < coalesce(${W}, DATE '2030-01-01')`)),
    {
      checked: 1,
      notices: [],
    },
  );
  deepStrictEqual(await compile(of(`ordered_at > ${W} AND amont > 1`)), {
    errors: [
      "PZ0401: pipeline 'a': Referenced column \"amont\" not found in FROM clause (pipelines/a.sql:1:102) — hint: did you mean 'amount'?",
    ],
  });
});

Deno.test("where DuckDB may look, a source without a contract has the columns that it finds there", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const file = `${folder}/loose.csv`;
    await Deno.writeTextFile(file, "id,name\n1,a\n");
    const scan = (path: string) => ({
      scanOf: () => ({ fragment: `read_csv('${path}')`, setup: [] }),
      allowedPaths: { files: [], folders: [folder] },
    });
    const dag = (sql: string) =>
      dagOf(project([RAW], [pipeline("a", `SELECT ${sql} FROM {{ source('raw', 'loose') }}`)]));
    const good = await dryCompile(await dag("name, id + 1"), scan(file));
    deepStrictEqual(good.ok && [good.value, good.notices], [
      { checked: 1 },
      ["dataset 'raw.loose' has no columns: contract — its columns are those that are there now"],
    ]);
    const bad = await dryCompile(await dag("nam"), scan(file));
    ok(!bad.ok);
    strictEqual(bad.errors[0]?.hint, "did you mean 'name'?");
    for (const path of [`${folder}/absent.csv`, "/etc/passwd"]) {
      const outcome = await dryCompile(await dag("nam"), scan(path));
      deepStrictEqual(outcome.ok && outcome.notices, [
        "dataset 'raw.loose' has no columns: contract — 1 pipeline not dry-compiled",
      ]);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("columns by which a merge works are looked for among those of its rows, whatever their case", async () => {
  const call = "{{ sink('lake', 'a') }}";
  const merge = (keys: readonly string[], orderBy?: readonly string[]) => ({
    [call]: {
      strategy: "merge",
      keys,
      acceptDuplicates: false,
      schemaPolicy: "fail_on_change",
      options: {},
      ...(orderBy === undefined ? {} : { orderBy }),
    } as const,
  });
  const told = async (source: string, options: ReturnType<typeof merge>) => {
    const files = [pipeline("a", `INSERT INTO ${call} SELECT * FROM {{ source('raw', '${source}') }}`)];
    const outcome = await dryCompile(await dagOf(project([RAW, connection("lake")], files), options));
    return outcome.ok ? [] : outcome.errors.map(formatError);
  };
  deepStrictEqual(await told("orders", merge(["ID"], ["ordered_at DESC", "Status"])), []);
  deepStrictEqual(await told("loose", merge(["nosuch"])), []);
  deepStrictEqual(await told("orders", merge(["id", "stats"], ["nothing_like desc"])), [
    "PZ0401: 'keys' of output 'a' names the column 'stats', which its rows do not have (pipelines/a.sql:1:13) — hint: did you mean 'status'?",
    "PZ0401: 'order_by' of output 'a' names the column 'nothing_like', which its rows do not have (pipelines/a.sql:1:13) — hint: their columns are id, amount, status, ordered_at, open, day, n, f",
  ]);
});
