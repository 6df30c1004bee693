import assert from "node:assert/strict";
import { planJson } from "../../../src/plan/mod.ts";
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

type Seen = {
  readonly names: readonly string[];
  readonly obstacle: string | null;
  readonly from?: string;
  readonly to?: string;
};

async function chains(pipelines: readonly PipelineFile[], init: Init = {}): Promise<readonly Seen[]> {
  const at = { file: "connections.yml", line: 1, column: 1 };
  const raw = connection("raw", {
    o: { name: "o", read: { options: {}, ...init.read }, position: at },
    c: { name: "c", read: { options: {} }, position: at },
  });
  const dag = await dagOf(project([raw, connection("lake")], pipelines, init.project), {
    "{{ sink('lake', 'x') }}": { ...REPLACE, ...init.write },
    "{{ sink('lake', 'y') }}": REPLACE,
  });
  const names = new Map(dag.nodes.map((node) => [node.id, node.name]));
  const { chains } = planOf(dag, connector(init.connector), []);
  const nameOf = (id: string) => names.get(id) ?? id;
  return chains.map(({ nodes, obstacle, from, to }) => ({
    names: nodes.map(nameOf),
    obstacle: obstacle ?? null,
    ...(from === undefined ? {} : { from: nameOf(from) }),
    ...(to === undefined ? {} : { to: nameOf(to) }),
  }));
}

const UNIVERSAL = { read: true, write: true };
const NO_SCAN: Init = { connector: { nativeScan: () => undefined, universal: UNIVERSAL } };
const NO_COPY: Init = { connector: { nativeCopy: () => undefined, universal: UNIVERSAL } };

Deno.test("a full native source, one pipeline and a native replace are one statement", async () => {
  assert.deepEqual(await chains([OUT]), [{ names: ["src_raw__o", "a", "lake.x"], obstacle: null }]);
});

Deno.test("pipelines in a row are one statement with source and output, views among them too", async () => {
  const pipelines = [
    pipeline("a", `SELECT * FROM ${S}`),
    pipeline("b", "SELECT * FROM {{ ref('a') }}", { materialization: "view" }),
    pipeline("c", "INSERT INTO {{ sink('lake', 'x') }} SELECT * FROM {{ ref('b') }}"),
  ];
  assert.deepEqual(await chains(pipelines), [{ names: ["src_raw__o", "a", "b", "c", "lake.x"], obstacle: null }]);
});

Deno.test("each output has a chain of its own", async () => {
  const other = "INSERT INTO {{ sink('lake', 'y') }} SELECT * FROM {{ source('raw', 'c') }}";
  assert.deepEqual(await chains([OUT, pipeline("b", other)]), [
    { names: ["src_raw__o", "a", "lake.x"], obstacle: null },
    { names: ["src_raw__c", "b", "lake.y"], obstacle: null },
  ]);
});

Deno.test("an output that no source feeds has no chain", async () => {
  assert.deepEqual(await chains([pipeline("a", "INSERT INTO {{ sink('lake', 'x') }} SELECT 1 AS id")]), []);
});

Deno.test("the first condition that fails is named, from the output on", async () => {
  const intoX = (sql: string) => `INSERT INTO {{ sink('lake', 'x') }} ${sql}`;
  const gate = { ...check("row_count", { min: 1n }), severity: "gate" as const };
  const cases: readonly (readonly [readonly PipelineFile[], Init, string])[] = [
    [[pipeline("a", intoX(`SELECT * FROM ${S}, {{ source('raw', 'c') }}`))], {}, "'a' reads 2 inputs"],
    [[OUT, pipeline("b", `SELECT * FROM ${S}`)], {}, "'src_raw__o' has 2 readers"],
    [[{ ...OUT, checks: [check("row_count", { min: 1n })] }], {}, "a check reads 'a'"],
    [[OUT, pipeline("b", "SELECT * FROM {{ ref('a') }}")], {}, "'a' has 2 readers"],
    [
      [
        { ...pipeline("a", `SELECT * FROM ${S}`), checks: [gate] },
        pipeline("b", intoX("SELECT * FROM {{ ref('a') }}")),
      ],
      {},
      "a gating check holds the write back",
    ],
    [
      [
        { ...pipeline("a", `SELECT * FROM ${S}`), checks: [check("row_count", { min: 1n })] },
        pipeline("b", intoX("SELECT * FROM {{ ref('a') }}")),
      ],
      {},
      "a check reads 'a'",
    ],
    [
      [pipeline("a", intoX(`SELECT * FROM ${S} WHERE id > {{ watermark('raw', 'o') }}`))],
      { write: { strategy: "append" } },
      "'a' compares with a watermark",
    ],
    [[pipeline("a", intoX(`SELECT * FROM (PIVOT ${S} ON id USING count(*))`))], {}, "'a' uses PIVOT"],
    [
      [pipeline("a", intoX(`WITH recursive r AS (SELECT 1 AS n UNION SELECT id FROM ${S}, r) SELECT * FROM r`))],
      {},
      "'a' uses RECURSIVE",
    ],
    [
      [pipeline("a", intoX(`SELECT * FROM ${S} AS x JOIN ${S} AS y USING (id)`))],
      {},
      "'a' reads 'src_raw__o' more than once",
    ],
    [[OUT], { project: { engine: { ...ENGINE, staging: "always" } } }, "engine.staging is always"],
    [
      [OUT],
      { read: { sync: { mode: "incremental", cursor: "id" } }, write: { strategy: "append" } },
      "'src_raw__o' is not read in full",
    ],
    [[OUT], { project: { onSourceDrift: "warn" } }, "'src_raw__o' is watched for drift"],
    [[OUT], { write: { strategy: "append" } }, "the strategy is append"],
    [[OUT], { ...NO_SCAN, write: { strategy: "append" } }, "the strategy is append"],
    [[OUT], { ...NO_SCAN, project: { engine: { ...ENGINE, staging: "always" } } }, "engine.staging is always"],
    [[OUT], { ...NO_SCAN, project: { onSourceDrift: "warn" } }, "'src_raw__o' is watched for drift"],
    [
      [OUT],
      { connector: { nativeScan: () => undefined, nativeCopy: () => undefined, universal: UNIVERSAL } },
      "'src_raw__o' is not read by DuckDB itself",
    ],
    [[{ ...OUT, materialization: "view" }], NO_COPY, "'a' is a view"],
  ];
  for (const [pipelines, init, expected] of cases) {
    assert.deepEqual((await chains(pipelines, init)).map(({ obstacle }) => obstacle), [expected], expected);
  }
});

Deno.test("after a source that a connector's process reads, the pipelines and the output are one statement", async () => {
  const pipelines = [
    pipeline("a", `SELECT * FROM ${S}`, { materialization: "view" }),
    pipeline("b", "INSERT INTO {{ sink('lake', 'x') }} SELECT * FROM {{ ref('a') }}"),
  ];
  assert.deepEqual(await chains(pipelines, NO_SCAN), [
    { names: ["a", "b", "lake.x"], obstacle: null, from: "src_raw__o" },
  ]);
});

Deno.test("before an output that a connector's process writes, the source and the pipelines are one statement", async () => {
  const pipelines = [
    pipeline("a", `SELECT * FROM ${S}`, { materialization: "view" }),
    pipeline("b", "INSERT INTO {{ sink('lake', 'x') }} SELECT * FROM {{ ref('a') }}"),
  ];
  for (const strategy of ["replace", "append"] as const) {
    assert.deepEqual(await chains(pipelines, { ...NO_COPY, write: { strategy } }), [
      { names: ["src_raw__o", "a", "b"], obstacle: null, to: "lake.x" },
    ]);
  }
});

Deno.test("two outputs of one pipeline are told apart and neither is fused", async () => {
  const both = `INSERT INTO [{{ sink('lake', 'x') }}, {{ sink('lake', 'y') }}] SELECT * FROM ${S}`;
  assert.deepEqual(await chains([pipeline("a", both)]), [
    { names: ["a", "lake.x"], obstacle: "'a' has 2 readers" },
    { names: ["a", "lake.y"], obstacle: "'a' has 2 readers" },
  ]);
});

Deno.test("unpivoting keeps no chain apart", async () => {
  const sql = `INSERT INTO {{ sink('lake', 'x') }} UNPIVOT ${S} ON id INTO NAME n VALUE v`;
  assert.deepEqual((await chains([pipeline("a", sql)])).map(({ obstacle }) => obstacle), [null]);
});

Deno.test("plan.json tells of each chain whether it is fused, or why not", async () => {
  const dag = await dagOf(project([connection("raw", {}), connection("lake")], [OUT]), {
    "{{ sink('lake', 'x') }}": REPLACE,
  });
  const written: { readonly chains?: unknown } = JSON.parse(planJson(planOf(dag, connector())));
  const ids = dag.nodes.map(({ id }) => id);
  assert.deepEqual(written.chains, [{ nodes: ids, fused: true, reason: null }]);
  const always = await dagOf(
    project([connection("raw", {}), connection("lake")], [OUT], { engine: { ...ENGINE, staging: "always" } }),
    { "{{ sink('lake', 'x') }}": REPLACE },
  );
  const staged: { readonly chains?: unknown } = JSON.parse(planJson(planOf(always, connector())));
  assert.deepEqual(staged.chains, [{ nodes: ids, fused: false, reason: "engine.staging is always" }]);
  for (
    const [init, expected] of [
      [NO_SCAN, { nodes: ids.slice(1), fused: true, reason: null, from: ids[0] }],
      [NO_COPY, { nodes: ids.slice(0, 2), fused: true, reason: null, to: ids[2] }],
    ] as const
  ) {
    const partly: { readonly chains?: unknown } = JSON.parse(planJson(planOf(dag, connector(init.connector))));
    assert.deepEqual(partly.chains, [expected]);
  }
});

Deno.test("a row of more pipelines than planning them together is worth is no chain", async () => {
  const row = (length: number) =>
    Array.from({ length }, (_, index) => {
      const last = index === length - 1;
      const from = index === 0 ? S : `{{ ref('p${String(index - 1).padStart(2, "0")}') }}`;
      return pipeline(
        `p${String(index).padStart(2, "0")}`,
        `${last ? "INSERT INTO {{ sink('lake', 'x') }} " : ""}SELECT * FROM ${from}`,
      );
    });
  assert.deepEqual((await chains(row(16))).map(({ obstacle }) => obstacle), [null]);
  assert.deepEqual((await chains(row(17))).map(({ obstacle }) => obstacle), ["more than 16 pipelines stand in a row"]);
});
