import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { compileProject, dryCompile, Workbench } from "../../../src/compile/mod.ts";
import { formatError } from "../../../src/errors/mod.ts";
import type { PipelineFile } from "../../../src/project/mod.ts";
import { connection, dagOf, pipeline, project, readEntity } from "./support.ts";

const RAW = connection("raw", readEntity("orders", "id int, kind varchar"));

/** Numbers of pipelines around the size of a batch. */
const MANY = 450;

async function compile(pipelines: readonly PipelineFile[]) {
  const outcome = await dryCompile(await dagOf(project([RAW], pipelines)));
  return outcome.ok
    ? { checked: outcome.value.checked, notices: outcome.notices }
    : { errors: outcome.errors.map(formatError) };
}

/** A chain `p000` to `p449`, some links of which are given. */
function chain(links: { readonly [index: number]: string }): PipelineFile[] {
  return Array.from({ length: MANY }, (_, index) => {
    const before = index === 0 ? "{{ source('raw', 'orders') }}" : `{{ ref('${name(index - 1)}') }}`;
    return pipeline(name(index), links[index] ?? `SELECT id + 1 AS id, kind FROM ${before} -- ${index}`);
  });
}

function name(index: number): string {
  return `p${String(index).padStart(3, "0")}`;
}

Deno.test("a long chain of pipelines compiles, each against the columns of the one before", async () => {
  deepStrictEqual(await compile(chain({})), { checked: MANY, notices: [] });
});

Deno.test("mistakes among many pipelines are each found at their place, and what is behind them is left alone", async () => {
  deepStrictEqual(
    await compile(chain({ 7: "SELECT id, kin\nFROM {{ ref('p006') }}", 300: "SELECT 1 AS id FORM x y" })),
    {
      errors: [
        "PZ0401: pipeline 'p007': Referenced column \"kin\" not found in FROM clause (pipelines/p007.sql:1:12) — hint: did you mean 'kind'?",
        "PZ0401: pipeline 'p300': syntax error at or near \"FORM\" (pipelines/p300.sql:1:16)",
      ],
    },
  );
});

Deno.test("a text that is a query only with what is put around it is refused", async () => {
  for (
    const sql of [
      "SELECT 1) UNION ALL (SELECT 2",
      "SELECT 1 AS n) WITH NO DATA; CREATE TABLE staging.x AS (SELECT 2 AS n",
      "SELECT 1; SELECT 2",
      "-- nothing",
      "SELECT 1 AS n WITH NO DATA",
      "DESCRIBE SELECT 1",
      "INSERT INTO x SELECT 1",
    ]
  ) {
    const { errors = [] } = await compile([pipeline("a", sql), pipeline("b", "SELECT 1 AS n")]);
    ok(errors.length === 1 && errors[0]?.startsWith("PZ0401: pipeline 'a'"), `${sql}: ${errors}`);
  }
});

Deno.test("every form of a query compiles, alone and among others", async () => {
  const forms = [
    "VALUES (1, 'a')",
    "FROM {{ source('raw', 'orders') }}",
    "(SELECT 1 AS n) UNION (SELECT 2) ORDER BY 1 LIMIT 3 -- end",
    "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 3) FROM t /* end */",
    "SELECT ';' AS semicolon, \"kind\" FROM {{ source('raw', 'orders') }} WINDOW w AS (ORDER BY id) QUALIFY row_number() OVER w = 1",
    "TABLE {{ source('raw', 'orders') }}",
    "PIVOT {{ source('raw', 'orders') }} ON kind IN ('a', 'b') USING count(*)",
    "PIVOT {{ source('raw', 'orders') }} ON kind USING count(*)",
    "SELECT * FROM {{ source('raw', 'orders') }} USING SAMPLE 10%",
    "SELECT * FROM {{ source('raw', 'orders') }} TABLESAMPLE 10%",
    "SELECT id FROM {{ source('raw', 'orders') }} data",
  ];
  for (const form of forms) deepStrictEqual(await compile([pipeline("a", form)]), { checked: 1, notices: [] }, form);
  const all = forms.map((form, index) => pipeline(`f${index}`, form));
  deepStrictEqual(await compile(all), { checked: forms.length, notices: [] });
});

Deno.test("one workbench serves compiling and planning", async () => {
  await using workbench = new Workbench();
  const of = project([RAW], [pipeline("a", "SELECT id FROM {{ source('raw', 'orders') }} WHERE kind = 'x'")]);
  const options = { runId: "20270101T000000000Z-0000", runStartedAt: "2027-01-01T00:00:00.000Z", env: {} };
  const compiled = await compileProject(of, { ...options, workbench });
  ok(compiled.ok);
  const planned = await dryCompile(compiled.value, { workbench });
  strictEqual(planned.ok && planned.value.checked, 1);
});
