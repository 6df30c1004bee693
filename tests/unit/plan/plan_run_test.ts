import { deepStrictEqual, ok, strictEqual, throws } from "node:assert/strict";
import type { CompiledDag } from "../../../src/compile/mod.ts";
import { planJson } from "../../../src/plan/mod.ts";
import type { Capability } from "../../../src/connectors/mod.ts";
import type { WriteBlock } from "../../../src/project/mod.ts";
import { check, connection, dagOf, ENGINE, pipeline, project, readEntity } from "../compile/support.ts";
import { connector, plan, planned, planOf, refusals } from "./support.ts";

const REPLACE: WriteBlock = {
  strategy: "replace",
  keys: [],
  acceptDuplicates: false,
  schemaPolicy: "fail_on_change",
  options: {},
};

function sample(write: Partial<WriteBlock> = {}, engine: Partial<typeof ENGINE> = {}): Promise<CompiledDag> {
  return dagOf(
    project(
      [connection("raw", readEntity("orders", "id int")), connection("lake", {}, "lakefiles")],
      [pipeline("a", "INSERT INTO {{ sink('lake', 'out') }} SELECT * FROM {{ source('raw', 'orders') }}", {
        checks: [check("row_count", { min: 1n })],
      })],
      { engine: { ...ENGINE, ...engine } },
    ),
    { "{{ sink('lake', 'out') }}": { ...REPLACE, ...write } },
  );
}

Deno.test("native connectors get the native tiers, with the mechanism first in the reason", async () => {
  const result = planOf(await sample());
  deepStrictEqual(
    result.nodes.map(({ kind, name, strategy, partitions, reason }) => [kind, name, strategy, partitions, reason]),
    [
      ["SourceLoad", "src_raw__orders", "native_scan", 1, "native scan: read_csv (localfiles, raw.orders, read=full)"],
      ["Pipeline", "a", "duck_sql", 1, "duckdb sql in-engine"],
      ["Check", "check_a_row_count", "duck_sql", 1, "check"],
      ["SinkWrite", "lake.out", "native_copy", 1, "native copy: parquet (localfiles, lake.out, strategy=replace)"],
    ],
  );
  strictEqual(planned(result, "src_raw__orders").scan?.fragment, "read_csv('x')");
});

Deno.test("a native copy is made anew for each attempt", async () => {
  const { copy } = planned(planOf(await sample()), "lake.out");
  strictEqual(copy?.({ run: "r1", ordinal: 2 }).statement("t", []), "COPY t TO 'r1.2'");
});

Deno.test("a connector that refuses a later attempt fails that attempt with its own code", async () => {
  const moody = connector({
    nativeCopy: (spec) =>
      spec.attempt.ordinal > 1
        ? { ok: false, problems: [{ code: "PZ0365", message: "outside", hint: "inside" }] }
        : { ok: true, value: { statement: () => "", setup: [], mechanism: "csv", folders: [], moves: [] } },
  });
  const { copy } = planned(planOf(await sample(), moody), "lake.out");
  throws(() => copy?.({ run: "r", ordinal: 2 }), { code: "PZ0365", message: "lake.out: outside" });
});

Deno.test("without a native path the universal path is used, with a batch size", async () => {
  const universal = connector({ nativeScan: () => undefined, universal: { read: true, write: false } });
  const { strategy, reason, batchBytes } = planned(planOf(await sample(), universal), "src_raw__orders");
  deepStrictEqual([strategy, reason, batchBytes], [
    "arrow_stream",
    "arrow stream: no native path (localfiles, raw.orders, read=full)",
    33_554_432,
  ]);
});

Deno.test("force_universal takes the universal path, or is refused where there is none", async () => {
  const dag = await sample({}, { forceUniversal: true, batchBytes: 5 });
  deepStrictEqual(
    refusals(dag, { localfiles: connector({ universal: { read: true, write: true } }), lakefiles: connector() }),
    [
      "PZ0312 connector 'localfiles' writes 'lake.out' only by DuckDB itself",
    ],
  );
  const reading = planOf(dag, connector({ universal: { read: true, write: true } }), []);
  deepStrictEqual(
    [planned(reading, "src_raw__orders").reason, planned(reading, "src_raw__orders").batchBytes],
    ["arrow stream: engine.force_universal is set (localfiles, raw.orders, read=full)", 5],
  );
});

Deno.test("a refusal of a node that does not run stands in its reason, by code only", async () => {
  const dag = await sample();
  const refusing = connector({
    nativeScan: () => ({ ok: false, problems: [{ code: "PZ0353", message: "no file /secret/x.csv" }] }),
  });
  const outcome = plan(dag, refusing);
  ok(!outcome.ok);
  deepStrictEqual(outcome.errors.map(({ code, message, file, line }) => [code, message, file, line]), [
    ["PZ0353", "raw.orders: no file /secret/x.csv", "connections.yml", 1],
  ]);
  const { reason } = planned(planOf(dag, refusing, []), "src_raw__orders");
  strictEqual(
    reason,
    "refused: PZ0353 NativePathContractMismatch — arrow stream: native path refused (localfiles, raw.orders, read=full)",
  );
});

Deno.test("connectors that are unknown or not there yet are told once for each connection", async () => {
  deepStrictEqual(refusals(await sample(), { lakefiles: "planned" }), [
    "PZ0701 connection 'raw' uses connector 'localfiles', which this pz does not know",
    "PZ0700 connection 'lake' uses connector 'lakefiles', which this pz does not support yet",
  ]);
});

Deno.test("write strategies need their capability", async () => {
  deepStrictEqual(refusals(await sample(), connector({ capabilities: [] })), [
    "PZ0324 connector 'localfiles' can't write 'lake.out' with strategy 'replace'",
  ]);
  deepStrictEqual(refusals(await sample({ strategy: "append" }), connector({ capabilities: [] })), []);
  deepStrictEqual(refusals(await sample({ options: { partition_by: "day" } }), connector()), [
    "PZ0314 connector 'localfiles' can't write 'lake.out' with partition_by",
  ]);
  const folders = { partition_by: "day", path: "days/{yyyy}/{MM}" };
  const columns = connector({ capabilities: ["ReplaceWrites", "ColumnPartitionedWrites"] });
  deepStrictEqual(refusals(await sample({ options: folders }), columns), [
    "PZ0314 connector 'localfiles' can't write 'lake.out' into folders by date, as its path asks",
  ]);
  deepStrictEqual(refusals(await sample({ options: { ...folders, path: "days" } }), columns), []);
});

Deno.test("warnings of a connector do not stop a plan", async () => {
  const warning = connector({
    nativeScan: () => ({ ok: false, problems: [{ code: "PZ0364", message: "odd" }] }),
    universal: { read: true, write: false },
  });
  const outcome = plan(await sample(), warning);
  ok(outcome.ok);
  deepStrictEqual(outcome.warnings.map(({ code }) => code), ["PZ0364"]);
});

Deno.test("limits come from the machine unless the project sets them", async () => {
  const GIB = 1024 ** 3;
  const free = planOf(await sample());
  deepStrictEqual(free.limits, { memoryLimitBytes: 6 * GIB, threads: 6 });
  deepStrictEqual(
    [free.memoryBudget.duckdbBytes, free.memoryBudget.channelBytes, free.memoryBudget.totalBytes],
    [6 * GIB, 268_435_456, 6 * GIB + 2 * 268_435_456],
  );
  ok(free.memoryBudget.duckdbDisclaimer?.includes("memory_limit is not set"));
  ok(free.memoryBudget.duckdbThreadsDisclaimer?.includes("uses 6"));
  const set = planOf(
    await sample({}, { channelBytes: 1000, duckdb: { memoryLimit: "1.5 GiB", threads: 2, tempDirectory: "spill" } }),
  );
  deepStrictEqual(set.limits, { memoryLimitBytes: 1.5 * GIB, threads: 2, tempDirectory: "/project/spill" });
  deepStrictEqual(set.memoryBudget, {
    duckdbBytes: 1.5 * GIB,
    duckdbDisclaimer: null,
    channelBytes: 1000,
    fixedOverheadBytes: 268_435_456,
    totalBytes: 1.5 * GIB + 1000 + 268_435_456,
    duckdbThreadsDisclaimer: null,
  });
  for (const [memoryLimit, bytes] of [["512M", 512_000_000], ["2 gigabytes", 2_000_000_000]] as const) {
    strictEqual(planOf(await sample({}, { duckdb: { memoryLimit } })).limits.memoryLimitBytes, bytes);
  }
  deepStrictEqual(refusals(await sample({}, { duckdb: { memoryLimit: "lots" } })), [
    "PZ0120 engine.duckdb.memory_limit is 'lots', which is no size",
  ]);
});

Deno.test("batches are so small that two of each node that may run fit in flight, unless the project sets their size", async () => {
  const universal = connector({ nativeScan: () => undefined, universal: { read: true, write: false } });
  const bytes = async (engine: Partial<typeof ENGINE>) =>
    planned(planOf(await sample({}, engine), universal), "src_raw__orders").batchBytes;
  deepStrictEqual(
    [
      await bytes({}),
      await bytes({ threads: 1 }),
      await bytes({ threads: 16 }),
      await bytes({ threads: 4, channelBytes: 8 * 1024 ** 2 }),
      await bytes({ channelBytes: 1000 }),
      await bytes({ threads: 16, batchBytes: 50_000_000 }),
    ],
    [33_554_432, 33_554_432, 8_388_608, 1024 ** 2, 65_536, 50_000_000],
  );
});

Deno.test("grants are listed for each used connection, by name", async () => {
  deepStrictEqual(
    planOf(await sample()).grants.map(({ connection, connector: by, grant }) => [connection, by, grant.read]),
    [
      ["lake", "lakefiles", ["/data"]],
      ["raw", "localfiles", ["/data"]],
    ],
  );
});

Deno.test("plan.json keeps its order of keys, ends with the chains and a line end", async () => {
  const universal = connector({ nativeScan: () => undefined, universal: { read: true, write: false } });
  const text = planJson(planOf(await sample(), universal));
  ok(text.endsWith("}\n"));
  const document: { [key: string]: unknown } = JSON.parse(text);
  deepStrictEqual(Object.keys(document), ["version", "nodes", "memoryBudget", "chains"]);
  const nodes = document["nodes"];
  ok(Array.isArray(nodes));
  deepStrictEqual(Object.keys(nodes[0]), ["id", "kind", "name", "strategy", "partitions", "reason", "batchBytes"]);
  deepStrictEqual(Object.keys(nodes[1]), ["id", "kind", "name", "strategy", "partitions", "reason"]);
});

Deno.test("what pz understands but does not do yet is PZ0700 for nodes that would run, and only for them", async () => {
  const everything = connector({
    capabilities: [
      "NativeScan",
      "NativeCopy",
      "ReplaceWrites",
      "Merge",
      "ChangeCapture",
      "ApplyDeletes",
      "GatedOperations",
    ],
    universal: { read: true, write: true },
  });
  const dag = await dagOf(
    project(
      [
        connection("raw", {
          o: {
            name: "o",
            read: { options: {}, sync: { mode: "cdc" } },
            position: { file: "connections.yml", line: 7, column: 3 },
          },
        }),
        connection("lake"),
      ],
      [pipeline("a", "INSERT INTO {{ sink('lake', 'out') }} SELECT * FROM {{ source('raw', 'o') }}")],
      { onSourceDrift: "warn", engine: ENGINE },
    ),
    {
      "{{ sink('lake', 'out') }}": {
        ...REPLACE,
        strategy: "merge",
        keys: ["id"],
        onDelete: "soft",
        orderBy: ["ts"],
      },
    },
  );
  deepStrictEqual(refusals(dag, everything), [
    "PZ0700 'sync: { mode: cdc }' of 'raw.o' does not run yet",
    "PZ0700 'on_delete' of 'lake.out' does not run yet",
    "PZ0700 'on_source_drift: warn' does not run yet",
  ]);
  deepStrictEqual(refusals(dag, everything, []), []);
  ok(
    planned(planOf(dag, everything, []), "src_raw__o").reason.startsWith(
      "refused: PZ0700 NotYetSupported — native scan",
    ),
  );
});

Deno.test("a rate limit sends reads and writes through the process, which asks, and is refused where only DuckDB could", async () => {
  const paced = (name: string) => ({ ...connection(name), rateLimit: { requestsPerMinute: 5, burst: 1 } });
  const dag = await dagOf(project([paced("raw"), paced("lake")], [
    pipeline("a", "INSERT INTO {{ sink('lake', 'out') }} SELECT * FROM {{ source('raw', 'o') }}"),
  ]));
  const capabilities = ["NativeScan", "NativeCopy", "ReplaceWrites", "GatedOperations"] as const;
  const asks = planOf(dag, connector({ capabilities, universal: { read: true, write: true } }));
  const reasons = ["src_raw__o", "lake.out"].map((name) => planned(asks, name).reason.split(" (")[0]);
  deepStrictEqual(reasons, Array(2).fill("arrow stream: rate_limit paces its requests"));
  deepStrictEqual(refusals(dag, connector({ capabilities })), [
    "PZ0317 connector 'localfiles' of 'raw' can't be paced by rate_limit",
    "PZ0317 connector 'localfiles' of 'lake' can't be paced by rate_limit",
  ]);
});

Deno.test("a write through a connector's process is planned with its reason and a batch size", async () => {
  const universal = connector({ nativeCopy: () => undefined, universal: { read: true, write: true } });
  const { strategy, reason, batchBytes, writers } = planned(planOf(await sample(), universal), "lake.out");
  deepStrictEqual([strategy, reason, batchBytes, writers], [
    "arrow_stream",
    "arrow stream: no native path (localfiles, lake.out, strategy=replace)",
    33_554_432,
    undefined,
  ]);
});

Deno.test("several writers are planned where their writes can be apart: no replace, no transaction", async () => {
  const writers = async (write: Partial<WriteBlock>, ...more: Capability[]) => {
    const universal = connector({
      nativeCopy: () => undefined,
      universal: { read: true, write: true },
      parallelWriters: 4,
      capabilities: ["NativeScan", "ReplaceWrites", "Merge", ...more],
    });
    const node = planned(planOf(await sample(write), universal), "lake.out");
    return [node.writers, node.batchBytes, node.reason.includes("4 writers")];
  };
  deepStrictEqual(await writers({ strategy: "append" }), [4, 8_388_608, true]);
  deepStrictEqual(await writers({ strategy: "merge", keys: ["id"] }), [4, 8_388_608, true]);
  deepStrictEqual(await writers({}), [undefined, 33_554_432, false]);
  deepStrictEqual(await writers({ strategy: "append" }, "Transactional"), [undefined, 33_554_432, false]);
});

Deno.test("order_by is for merges alone", async () => {
  const merging = connector({ capabilities: ["NativeScan", "NativeCopy", "ReplaceWrites", "Merge"] });
  deepStrictEqual(refusals(await sample({ strategy: "merge", keys: ["id"], orderBy: ["id desc"] }), merging), []);
  deepStrictEqual(refusals(await sample({ orderBy: ["id"] }), merging), [
    "PZ0334 'order_by' of 'lake.out' needs strategy 'merge', not 'replace'",
  ]);
});

Deno.test("watermark() is PZ0700 at its place", async () => {
  const dag = await dagOf(
    project([connection("raw", readEntity("o"))], [
      pipeline("a", "SELECT * FROM {{ source('raw', 'o') }}\nWHERE id > {{ watermark('raw', 'o') }}"),
    ]),
  );
  const outcome = plan(dag);
  ok(!outcome.ok);
  deepStrictEqual(outcome.errors.map(({ code, line, column }) => [code, line, column]), [["PZ0700", 2, 12]]);
});

Deno.test("capability gates of reads: windows, changes, pacing and checkpoints, the last three once for a connection", async () => {
  const at = { file: "connections.yml", line: 2, column: 3 };
  const cdc = { options: {}, sync: { mode: "cdc" } } as const;
  const dag = await dagOf(project([
    {
      ...connection("raw", {
        a: { name: "a", read: cdc, position: at },
        b: { name: "b", read: cdc, position: at },
        w: {
          name: "w",
          read: {
            options: {},
            columns: [{ name: "id", type: "int" }],
            sync: { mode: "incremental", cursor: "id", initial: "0", maxWindow: "5" },
          },
          position: at,
        },
      }),
      rateLimit: { requestsPerMinute: 5, burst: 1 },
    },
  ], [pipeline("p", "SELECT * FROM {{ source('raw', 'a') }}, {{ source('raw', 'b') }}, {{ source('raw', 'w') }}")]));
  deepStrictEqual(
    refusals(dag, connector({ capabilities: ["CheckpointableReads"] })).filter((text) => !text.startsWith("PZ0700")),
    [
      "PZ0338 connector 'localfiles' of 'raw' can't capture changes",
      "PZ0317 connector 'localfiles' of 'raw' can't be paced by rate_limit",
      "PZ0319 connector 'localfiles' of 'raw' checkpoints its reads but has no stable partition ids",
      "PZ0313 connector 'localfiles' can't read 'raw.w' in bounded windows",
    ],
  );
});

Deno.test("an end of the rows that watermark() sets needs a connector that keeps to it", async () => {
  const w = "{{ watermark('raw', 'o') }}";
  const read = (where: string) =>
    dagOf(
      project([connection("raw", readEntity("o"))], [
        pipeline("a", `SELECT * FROM {{ source('raw', 'o') }} WHERE ${where}`),
      ]),
    );
  const coded = async (where: string, ...more: "BoundedWindow"[]) =>
    refusals(await read(where), connector({ capabilities: ["NativeScan", ...more] })).filter((text) =>
      text.startsWith("PZ0313")
    );
  deepStrictEqual(await coded(`id > ${w} AND id < ${w}`), [
    "PZ0313 connector 'localfiles' can't end the rows of 'raw.o' where watermark() says",
  ]);
  deepStrictEqual(await coded(`id > ${w} AND id < ${w}`, "BoundedWindow"), []);
  deepStrictEqual(await coded(`id > ${w}`), []);
});
