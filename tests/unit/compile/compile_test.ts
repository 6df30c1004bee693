import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { compiledFiles, compileProject } from "../../../src/compile/mod.ts";
import type { PipelineFile } from "../../../src/project/mod.ts";
import { connection, pipeline, project, readEntity } from "./support.ts";

const OPTIONS = {
  runId: "20270101T000000000Z-0000",
  runStartedAt: "2027-01-01T00:00:00.000Z",
  env: { TOKEN: "s3cret" },
};

function compile(pipelines: readonly PipelineFile[], options: { readonly inspectSql?: boolean } = {}) {
  const raw = connection("raw", readEntity("orders"));
  return compileProject(project([raw, connection("lake")], pipelines), { ...OPTIONS, ...options });
}

Deno.test("broken templates of several pipelines are reported together, each with its own file", async () => {
  const outcome = await compile([
    pipeline("b", "SELECT {{ nothing }}"),
    pipeline("a", "SELECT\n  {{ var('nope') }}"),
    pipeline("c", "SELECT 1"),
  ]);
  ok(!outcome.ok);
  deepStrictEqual(outcome.errors.map(({ code, file, line }) => [code, file, line]), [
    ["PZ0104", "pipelines/a.sql", 2],
    ["PZ0104", "pipelines/b.sql", 1],
  ]);
});

Deno.test("without reading SQL a project compiles to the same nodes, with neither hints nor reserved relations found", async () => {
  const of = [pipeline("a", "SELECT id FROM {{ source('raw', 'orders') }}, staging.other")];
  const outcome = await compile(of, { inspectSql: false });
  ok(outcome.ok);
  const [load] = outcome.value.nodes;
  deepStrictEqual([load?.name, load?.kind === "SourceLoad" && load.hints], ["src_raw__orders", undefined]);
  const inspected = await compile(of);
  strictEqual(!inspected.ok && inspected.errors[0]?.code, "PZ0702");
});

Deno.test("compiled files show outputs and SQL with values of env() masked", async () => {
  const outcome = await compile([
    pipeline("e", "SELECT {{ env('TOKEN') }} AS t", { materialization: "ephemeral" }),
    pipeline(
      "a",
      "INSERT INTO [{{ sink('lake', 'y', format: 'csv') }}, {{ sink('lake', 'x') }}]\r\nSELECT * FROM {{ ref('e') }} WHERE t <> {{ env('TOKEN') }};",
    ),
  ]);
  ok(outcome.ok);
  const [file] = compiledFiles(outcome.value);
  strictEqual(file?.pipeline, "a");
  ok(
    file.text.startsWith("-- output: lake.x (append)\n-- output: lake.y (csv, append)\nWITH __pz_cte__e AS (\nSELECT "),
  );
  ok(file.text.includes("***") && !file.text.includes("s3cret") && !file.text.includes("\r"));
  ok(file.text.endsWith("\n") && !file.text.includes(";"));
  const node = outcome.value.nodes.find(({ kind }) => kind === "Pipeline");
  strictEqual(node?.kind === "Pipeline" && node.sql.split("s3cret").length, 3);
});
