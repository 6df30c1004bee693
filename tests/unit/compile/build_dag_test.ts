import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { manifestJson } from "../../../src/compile/mod.ts";
import type { ReadBlock, WriteBlock } from "../../../src/project/mod.ts";
import { build, check, connection, dagOf, errorsOf, pipeline, project, readEntity } from "./support.ts";

const RAW = connection("raw", { ...readEntity("orders"), ...readEntity("customers") });
const LAKE = connection("lake");
const CSV: ReadBlock = { options: { format: "csv" } };
const APPEND: WriteBlock = {
  strategy: "append",
  keys: [],
  acceptDuplicates: false,
  schemaPolicy: "fail_on_change",
  options: {},
};

Deno.test("a project becomes loads, pipelines, checks and writes in the order in which they may run", async () => {
  const dag = await dagOf(
    project([RAW, LAKE], [
      pipeline(
        "enriched",
        "INSERT INTO {{ sink('lake', 'curated') }} SELECT * FROM {{ ref('stg') }} JOIN {{ source('raw', 'customers') }} USING (id)",
        {
          tags: ["daily"],
          checks: [check("not_null", { columns: ["id", "email"] }), check("unique", { columns: ["id"] })],
        },
      ),
      pipeline("stg", "SELECT * FROM {{ source('raw', 'orders') }}"),
    ]),
  );
  deepStrictEqual(dag.nodes.map((node) => `${node.kind} ${node.name}`), [
    "SourceLoad src_raw__customers",
    "SourceLoad src_raw__orders",
    "Pipeline stg",
    "Pipeline enriched",
    "Check check_enriched_not_null_id_email",
    "Check check_enriched_unique_id",
    "SinkWrite lake.curated",
  ]);
  const ids = new Map(dag.nodes.map((node) => [node.name, node.id]));
  const needs = (name: string) => dag.nodes.find((node) => node.name === name)?.dependsOn;
  deepStrictEqual(needs("enriched"), [ids.get("src_raw__customers"), ids.get("stg")].sort());
  deepStrictEqual(needs("lake.curated"), [ids.get("enriched")]);
  deepStrictEqual(needs("check_enriched_unique_id"), [ids.get("enriched")]);
  for (const node of dag.nodes) ok(/^[0-9a-f]{16}$/.test(node.id));
});

Deno.test("the manifest names every node with its edges, tags and file", async () => {
  const dag = await dagOf(project([RAW, LAKE], [
    pipeline("a", "INSERT INTO {{ sink('lake', 'a') }} SELECT * FROM {{ source('raw', 'orders') }}", { tags: ["x"] }),
  ]));
  const [load, a, sink] = dag.nodes;
  strictEqual(
    manifestJson(dag),
    `${
      JSON.stringify(
        {
          project: "demo",
          version: "1",
          generatedBy: "pz",
          nodes: [
            {
              id: load?.id,
              kind: "source_load",
              name: "src_raw__orders",
              dependsOn: [],
              tags: [],
              file: "connections.yml",
            },
            { id: a?.id, kind: "pipeline", name: "a", dependsOn: [load?.id], tags: ["x"], file: "pipelines/a.sql" },
            { id: sink?.id, kind: "sink_write", name: "lake.a", dependsOn: [a?.id], tags: [], file: "pipelines/a.sql" },
          ],
        },
        null,
        2,
      )
    }\n`,
  );
});

Deno.test("fan-out gives one write for each output, all from one pipeline", async () => {
  const dag = await dagOf(
    project([LAKE], [pipeline("a", "INSERT INTO [{{ sink('lake', 'x') }}, {{ sink('lake', 'y') }}] SELECT 1 AS n")]),
  );
  deepStrictEqual(dag.nodes.map((node) => node.name), ["a", "lake.x", "lake.y"]);
  strictEqual(dag.nodes[0]?.kind === "Pipeline" && dag.nodes[0].sql, "SELECT 1 AS n");
});

Deno.test("unresolved names are all reported at their calls, with what was probably meant", async () => {
  const outcome = await build(project([RAW, LAKE], [
    pipeline("a", "SELECT *\nFROM {{ ref('stgg') }}, {{ source('rawe', 'orders') }}"),
    pipeline("b", "INSERT INTO {{ sink('nowhere', 'x') }} SELECT * FROM {{ ref('a') }}"),
    pipeline("stg", "SELECT 1"),
  ]));
  ok(!outcome.ok);
  deepStrictEqual(
    outcome.errors.map((
      { code, message, file, line, column, hint },
    ) => [code, message, `${file}:${line}:${column}`, hint]),
    [
      ["PZ0201", "ref('stgg') names no pipeline", "pipelines/a.sql:2:6", "did you mean 'stg'?"],
      ["PZ0201", "source('rawe', 'orders') names no connection", "pipelines/a.sql:2:25", "did you mean 'raw'?"],
      [
        "PZ0201",
        "sink('nowhere', 'x') names no connection",
        "pipelines/b.sql:1:13",
        "add 'nowhere' to connections.yml",
      ],
    ],
  );
});

Deno.test("a cycle is named with its file, a self-reference too, also through an ephemeral", async () => {
  deepStrictEqual(
    await errorsOf(project([], [
      pipeline("c", "SELECT * FROM {{ ref('a') }}"),
      pipeline("a", "SELECT * FROM {{ ref('b') }}"),
      pipeline("b", "SELECT * FROM {{ ref('c') }}", { materialization: "ephemeral" }),
      pipeline("me", "SELECT 1, (SELECT 2 FROM {{ ref('me') }})"),
      pipeline("behind", "SELECT * FROM {{ ref('a') }}"),
    ])),
    [
      "PZ0202: dependency cycle: a -> b -> c -> a (pipelines/a.sql:1:15)",
      "PZ0202: dependency cycle: me -> me (pipelines/me.sql:1:26)",
    ],
  );
});

Deno.test("two pipelines for one output are one PZ0206, at the second", async () => {
  deepStrictEqual(
    await errorsOf(
      project([LAKE], [
        pipeline("z", "INSERT INTO {{ sink('lake', 'x') }} SELECT 1"),
        pipeline("a", "INSERT INTO {{ sink('lake', 'x') }} SELECT 1"),
      ]),
      { "{{ sink('lake', 'x') }}": APPEND },
    ),
    ["PZ0206: pipelines 'a' and 'z' both load 'lake.x' (pipelines/z.sql:1:13)"],
  );
});

Deno.test("options in the file and in the call are PZ0341 on both sides; two calls with other options too", async () => {
  const lake = connection("lake", {
    x: { name: "x", write: APPEND, position: { file: "connections.yml", line: 9, column: 5 } },
  });
  deepStrictEqual(
    await errorsOf(
      project([RAW, lake], [
        pipeline("a", "INSERT INTO {{ sink('lake', 'x') }} SELECT * FROM {{ source('raw', 'orders') }}"),
      ]),
      { "{{ sink('lake', 'x') }}": APPEND, "{{ source('raw', 'orders') }}": CSV },
    ),
    [
      "PZ0341: the write of 'lake.x' is declared twice: in this call and in connections.yml:9 (pipelines/a.sql:1:13)",
      "PZ0341: the read of 'raw.orders' is declared twice: in this call and in connections.yml:1 (pipelines/a.sql:1:51)",
    ],
  );
});

Deno.test("a call's options hold for every call of the entity, and calls that agree are fine", async () => {
  const dag = await dagOf(
    project([connection("raw")], [
      pipeline("a", "SELECT * FROM {{ source('raw', 'orders') }}"),
      pipeline("b", "SELECT * FROM {{ source('raw', 'orders') }}"),
    ]),
    { "{{ source('raw', 'orders') }}": CSV },
  );
  const [load] = dag.nodes;
  deepStrictEqual(load?.kind === "SourceLoad" && [load.read.options, load.position.file], [
    { format: "csv" },
    "pipelines/a.sql",
  ]);
});

Deno.test("entities that fold to one relation collide, whatever their case or connection", async () => {
  deepStrictEqual(
    await errorsOf(project([connection("raw"), connection("RAW")], [
      pipeline("a", "SELECT * FROM {{ source('raw', 'a.b') }}, {{ source('raw', 'a_b') }}, {{ source('RAW', 'A_B') }}"),
    ])),
    [
      "PZ0110: sources 'RAW.A_B' and 'raw.a.b' share the relation 'staging.src_raw__a_b' (pipelines/a.sql:1:15)",
      "PZ0110: sources 'RAW.A_B' and 'raw.a_b' share the relation 'staging.src_raw__a_b' (pipelines/a.sql:1:43)",
    ],
  );
});

Deno.test("a pipeline named like a source's relation is PZ0230", async () => {
  deepStrictEqual(
    await errorsOf(project([RAW], [pipeline("SRC_raw__orders", "SELECT * FROM {{ source('raw', 'orders') }}")])),
    ["PZ0230: pipeline 'SRC_raw__orders' has the name of the relation that 'raw.orders' lands in (pipelines/SRC_raw__orders.sql)"],
  );
});

Deno.test("misuse of ephemerals is reported: sinks, checks and chains", async () => {
  const init = { materialization: "ephemeral" } as const;
  deepStrictEqual(
    await errorsOf(project([LAKE], [
      pipeline("a", "SELECT 1", { ...init, checks: [check("row_count", { min: 1n })] }),
      pipeline("b", "SELECT * FROM {{ ref('a') }}", init),
    ])),
    [
      "PZ0204: ephemeral pipeline 'b' refs the ephemeral pipeline 'a' (pipelines/b.sql:1:15)",
      "PZ0205: pipeline 'a' is ephemeral and can't have checks (pipelines/configs/c.yml:1:1)",
    ],
  );
  deepStrictEqual(
    await errorsOf(project([LAKE], [pipeline("a", "INSERT INTO {{ sink('lake', 'x') }} SELECT 1", init)])),
    [
      "PZ0208: pipeline 'a' is ephemeral and can't load into a sink (pipelines/a.sql:1:13)",
    ],
  );
});

Deno.test("sink calls that are misplaced or repeated are PZ0208 at their place", async () => {
  deepStrictEqual(
    await errorsOf(project([LAKE], [
      pipeline("a", "WITH t AS (SELECT 1)\r\nINSERT INTO {{ sink('lake', 'x') }} SELECT * FROM t"),
      pipeline("b", "INSERT INTO [{{ sink('lake', 'y') }}, {{ sink('lake', 'y') }}] SELECT 1"),
    ])),
    [
      "PZ0208: pipeline 'a': sink() may stand only behind a leading `INSERT INTO` (pipelines/a.sql:2:13)",
      "PZ0208: pipeline 'b' names the output 'lake.y' twice (pipelines/b.sql:1:39)",
    ],
  );
});

Deno.test("an ephemeral is inlined in front of the consumer's own CTEs and hands on what it reads", async () => {
  const dag = await dagOf(project([RAW], [
    pipeline("e2", "-- two\nSELECT 2 AS b;", { materialization: "ephemeral" }),
    pipeline("e1", "WITH x AS (SELECT * FROM {{ source('raw', 'orders') }}) SELECT * FROM x -- one", {
      materialization: "ephemeral",
    }),
    pipeline("a", "/* top */ with\n t AS (SELECT 1) SELECT * FROM {{ ref('e2') }}, {{ ref('e1') }}, t", {
      checks: [check("row_count", { min: 0n })],
    }),
  ]));
  deepStrictEqual(dag.nodes.map((node) => node.name), ["src_raw__orders", "a", "check_a_row_count"]);
  strictEqual(
    dag.nodes[1]?.kind === "Pipeline" && dag.nodes[1].sql,
    "/* top */ with\n__pz_cte__e1 AS (\nWITH x AS (SELECT * FROM staging.src_raw__orders) SELECT * FROM x\n),\n" +
      "__pz_cte__e2 AS (\n-- two\nSELECT 2 AS b\n),\n t AS (SELECT 1) SELECT * FROM __pz_cte__e2, __pz_cte__e1, t",
  );
  deepStrictEqual(dag.nodes[1]?.dependsOn, [dag.nodes[0]?.id]);
});

Deno.test("a pipeline that nothing uses is a warning; a check is a use", async () => {
  const outcome = await build(project([LAKE], [
    pipeline("dead", "SELECT 1"),
    pipeline("checked", "SELECT 1", { checks: [check("row_count", { min: 1n })] }),
    pipeline("used", "SELECT 1"),
    pipeline("out", "INSERT INTO {{ sink('lake', 'x') }} SELECT * FROM {{ ref('used') }}"),
  ]));
  ok(outcome.ok);
  deepStrictEqual(outcome.warnings.map(({ code, file }) => [code, file]), [["PZ0223", "pipelines/dead.sql"]]);
});

Deno.test("a gating check holds back every write behind its pipeline, an alerting one none", async () => {
  const dag = await dagOf(project([LAKE], [
    pipeline("a", "SELECT 1", {
      checks: [check("row_count", { min: 1n, severity: "gate" }), check("unique", { columns: ["x"] })],
    }),
    pipeline("e", "SELECT * FROM {{ ref('a') }}", { materialization: "ephemeral" }),
    pipeline("b", "INSERT INTO {{ sink('lake', 'b') }} SELECT * FROM {{ ref('e') }}"),
    pipeline("c", "INSERT INTO {{ sink('lake', 'c') }} SELECT 1"),
  ]));
  const named = new Map(dag.nodes.map((node) => [node.name, node]));
  deepStrictEqual(named.get("lake.b")?.dependsOn, [named.get("b")?.id, named.get("check_a_row_count")?.id].sort());
  deepStrictEqual(named.get("lake.c")?.dependsOn, [named.get("c")?.id]);
});

Deno.test("checks with one name are numbered, and their samples follow the engine unless told otherwise", async () => {
  const dag = await dagOf(
    project([], [pipeline("a", "SELECT 1", {
      checks: [
        check("accepted_values", { columns: ["x_y"], values: [1n] }),
        check("accepted_values", { columns: ["x", "y"], values: [2n], sampleValues: true }),
        check("custom_sql", { name: "odd", sql: "SELECT 1" }),
      ],
    })], { engine: { ...project([], []).engine, checkSamples: false } }),
  );
  deepStrictEqual(dag.nodes.flatMap((node) => node.kind === "Check" ? [[node.name, node.sampleValues]] : []), [
    ["check_a_accepted_values_x_y", false],
    ["check_a_accepted_values_x_y_2", true],
    ["check_a_odd", false],
  ]);
});

Deno.test("names of the prototype chain are no connections", async () => {
  deepStrictEqual(await errorsOf(project([], [pipeline("a", "SELECT * FROM {{ source('constructor', 'x') }}")])), [
    "PZ0201: source('constructor', 'x') names no connection (pipelines/a.sql:1:15)",
  ]);
});
