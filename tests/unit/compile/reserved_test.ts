import { deepStrictEqual, ok } from "node:assert/strict";
import { build, check, connection, pipeline, project, readEntity } from "./support.ts";
import { formatError } from "../../../src/errors/mod.ts";
import type { PipelineFile } from "../../../src/project/mod.ts";

const RAW = connection("raw", readEntity("orders"));

async function told(...pipelines: readonly PipelineFile[]): Promise<readonly string[]> {
  const outcome = await build(project([RAW], pipelines));
  return outcome.ok ? [] : outcome.errors.map(formatError);
}

Deno.test("a relation of staging that no call stands for is refused where it stands, with the call to write", async () => {
  deepStrictEqual(
    await told(
      pipeline("a", "SELECT 'é' AS x\nFROM staging.b, STAGING.src_raw__orders, {{ ref('c') }}"),
      pipeline("b", "SELECT * FROM {{ source('raw', 'orders') }}, staging.nothing"),
      pipeline("c", "SELECT 1 AS n"),
    ),
    [
      "PZ0702: pipeline 'a' names 'staging.b', which no call of it stands for, so it might run too early (pipelines/a.sql:2:6) — hint: write {{ ref('b') }}",
      "PZ0702: pipeline 'a' names 'STAGING.src_raw__orders', which no call of it stands for, so it might run too early (pipelines/a.sql:2:17) — hint: write {{ source('raw', 'orders') }}",
      "PZ0702: pipeline 'b' names 'staging.nothing', which no call of it stands for, so it might run too early (pipelines/b.sql:1:46) — hint: read sources by source() and pipelines by ref()",
    ],
  );
});

Deno.test("relations that calls stand for, CTEs and names in texts and comments are fine, at any depth", async () => {
  deepStrictEqual(
    await told(
      pipeline(
        "a",
        "WITH staging AS (SELECT 1 AS b) SELECT staging.b, 'staging.b' FROM staging -- staging.b\n WHERE EXISTS (FROM {{ ref('b') }})",
      ),
      pipeline("b", "SELECT * FROM staging.src_raw__orders x, {{ source('raw', 'orders') }}"),
      pipeline("c", "SELECT * FROM {{ ref('e') }}"),
      pipeline("e", "SELECT * FROM {{ ref('b') }}", { materialization: "ephemeral" }),
    ),
    [],
  );
});

Deno.test("what is pz's own is refused wherever it hides", async () => {
  for (
    const sql of [
      "SELECT * FROM pz_meta.format",
      "SELECT (SELECT count(*) FROM PZ_META.format)",
      "WITH t AS (SELECT * FROM pz.staging.x) SELECT * FROM t",
      "SELECT 1 UNION ALL SELECT id FROM pz_warehouse.main.t",
      "SELECT * FROM pz_feed(1)",
      "PIVOT pz_meta.format ON version IN (1) USING count(*)",
      "SELECT * FROM (DESCRIBE pz_meta.format)",
    ]
  ) {
    const errors = await told(pipeline("a", sql));
    ok(errors.length === 1 && errors[0]?.startsWith("PZ0702: pipeline 'a' names"), `${sql}: ${errors}`);
  }
});

Deno.test("what pz keeps beside the rows is no more to be read by a text that is run as SQL, or taken as a name", async () => {
  for (
    const sql of [
      "FROM query('FROM pz_meta.partitions_done')",
      "SELECT (SELECT count(*) FROM query('SELECT * FROM \"pz_meta\".format'))",
      "FROM query_table('pz_meta.format')",
      "FROM query_table(['pz_meta.format'])",
      "FROM pragma_storage_info('pz_meta.partition_checkpoints')",
      "FROM json_execute_serialized_sql(json_serialize_sql('FROM pz.pz_meta.format'))",
      "FROM query('FROM staging.__pz_part__ab__0123456789abcdef')",
    ]
  ) {
    const errors = await told(pipeline("a", sql));
    ok(errors.length === 1, `${sql}: ${errors}`);
    ok(/^PZ0702: pipeline 'a' names '(pz_meta|__pz_part__\w+)', which is pz's own/.test(`${errors[0]}`), errors[0]);
  }
  ok((await told(pipeline("a", "SELECT 'pz_meta' AS x FROM query('SELECT 1 AS y')"))).length === 0);
});

Deno.test("functions that change DuckDB itself are refused, also in a text that is run as SQL", async () => {
  for (
    const sql of [
      "FROM enable_logging(storage := 'stdout')",
      "SELECT * FROM Disable_Logging()",
      "FROM enable_profiling()",
      "SELECT (SELECT count(*) FROM force_checkpoint())",
      "WITH t AS (FROM checkpoint()) FROM t",
      "FROM truncate_duckdb_logs()",
      "FROM query('FROM enable_logging()')",
      "FROM json_execute_serialized_sql(json_serialize_sql('FROM enable_logging ()'))",
    ]
  ) {
    const errors = await told(pipeline("a", sql));
    ok(errors.length === 1, `${sql}: ${errors}`);
    ok(
      /^PZ0702: pipeline 'a' names '\w+\(\)', which changes the DuckDB that pz works with/.test(`${errors[0]}`),
      errors[0],
    );
  }
  const checks = [check("custom_sql", { name: "own", sql: "SELECT * FROM staging.a, enable_logging()" })];
  ok((await told(pipeline("a", "SELECT 1 AS n", { checks })))[0]?.startsWith("PZ0702: check 'check_a_own' names"));
  deepStrictEqual(
    await told(pipeline("a", "SELECT enable_x, 'enable_logging()' AS checkpoint FROM (SELECT 1 AS enable_x)")),
    [],
  );
});

Deno.test("a custom_sql check reads its own pipeline only", async () => {
  const checks = [
    check("custom_sql", { name: "own", sql: "SELECT * FROM staging.a WHERE n < 0" }),
    check("custom_sql", { name: "other", sql: "SELECT * FROM staging.a JOIN staging.b USING (n)" }),
  ];
  deepStrictEqual(await told(pipeline("a", "SELECT 1 AS n", { checks }), pipeline("b", "SELECT 1 AS n")), [
    "PZ0702: check 'check_a_other' names 'staging.b', which no call of it stands for, so it might run too early (pipelines/configs/c.yml:1:1) — hint: a check may read 'staging.a' only",
  ]);
});
