import { deepStrictEqual } from "node:assert/strict";
import { chainsOf } from "../../../src/plan/mod.ts";
import type { PipelineFile, Project, ReadBlock, WriteBlock } from "../../../src/project/mod.ts";
import { check, connection, dagOf, ENGINE, pipeline, project } from "../compile/support.ts";
import { connector, planOf } from "./support.ts";

const S = "{{ source('raw', 'o') }}";
const REPLACE: WriteBlock = {
  strategy: "replace",
  keys: [],
  acceptDuplicates: true,
  schemaPolicy: "fail_on_change",
  options: {},
};
const OUT = pipeline("a", `INSERT INTO {{ sink('lake', 'x') }} SELECT * FROM ${S}`);

type Init = {
  readonly read?: Partial<ReadBlock>;
  readonly write?: Partial<WriteBlock>;
  readonly project?: Partial<Project>;
  readonly connector?: Parameters<typeof connector>[0];
};

/** What keeps each chain from being one statement; null where nothing does. */
async function obstacles(pipelines: readonly PipelineFile[], init: Init = {}): Promise<readonly (string | null)[]> {
  const at = { file: "connections.yml", line: 1, column: 1 };
  const raw = connection("raw", {
    o: { name: "o", read: { options: {}, ...init.read }, position: at },
    c: { name: "c", read: { options: {} }, position: at },
  });
  const dag = await dagOf(project([raw, connection("lake")], pipelines, init.project), {
    "{{ sink('lake', 'x') }}": { ...REPLACE, ...init.write },
    "{{ sink('lake', 'y') }}": REPLACE,
  });
  const { nodes } = planOf(dag, connector(init.connector), []);
  return chainsOf(dag, nodes).map(({ obstacle }) => obstacle ?? null);
}

Deno.test("a full native source, one pipeline and a native replace can be one statement", async () => {
  deepStrictEqual(await obstacles([OUT]), [null]);
});

Deno.test("the first condition that fails is named", async () => {
  const universal = { read: true, write: true };
  const cases: readonly [readonly PipelineFile[], Init, string][] = [
    [
      [pipeline("a", `INSERT INTO {{ sink('lake', 'x') }} SELECT * FROM ${S}, {{ source('raw', 'c') }}`)],
      {},
      "the pipeline reads 2 inputs",
    ],
    [[OUT, pipeline("b", `SELECT * FROM ${S}`)], {}, "the source has several readers"],
    [[{ ...OUT, checks: [check("row_count", { min: 1n })] }], {}, "a check reads the pipeline"],
    [
      [pipeline("a", `INSERT INTO [{{ sink('lake', 'x') }}, {{ sink('lake', 'y') }}] SELECT * FROM ${S}`)],
      {},
      "the pipeline has 2 consumers",
    ],
    [[OUT, pipeline("b", "SELECT * FROM {{ ref('a') }}")], {}, "the pipeline has 2 consumers"],
    [[pipeline("a", `INSERT INTO {{ sink('lake', 'x') }} SELECT * FROM ${S} WHERE id > {{ watermark('raw', 'o') }}`)], {
      write: { strategy: "append" },
    }, "the pipeline compares with a watermark"],
    [[OUT], { project: { engine: { ...ENGINE, staging: "always" } } }, "engine.staging is always"],
    [
      [OUT],
      { read: { sync: { mode: "incremental", cursor: "id" } }, write: { strategy: "append" } },
      "the source is not read in full",
    ],
    [[OUT], { project: { onSourceDrift: "warn" } }, "the source is watched for drift"],
    [[OUT], { write: { strategy: "append" } }, "the strategy is append"],
    [[OUT], { connector: { nativeScan: () => undefined, universal } }, "the source is not read by DuckDB itself"],
    [[OUT], { connector: { nativeCopy: () => undefined, universal } }, "the output is not written by DuckDB itself"],
  ];
  for (const [pipelines, init, expected] of cases) {
    deepStrictEqual(await obstacles(pipelines, init), [expected], expected);
  }
});

Deno.test("a pipeline between other pipelines is no chain", async () => {
  deepStrictEqual(
    await obstacles([
      pipeline("a", `SELECT * FROM ${S}`),
      pipeline("b", "INSERT INTO {{ sink('lake', 'x') }} SELECT * FROM {{ ref('a') }}"),
    ]),
    [],
  );
});
