import assert from "node:assert/strict";
import { join } from "node:path";
import type { NativeScan } from "../../../src/connectors/mod.ts";
import { runPaths } from "../../../src/state/mod.ts";
import { Duck } from "../../harness/duck.ts";
import { Bench, connection, csvCopy, nativeSource, pipeline, RUN_ID, sink, source } from "./fixture.ts";
import { facts, failures, names, outFiles } from "./fused_support.ts";

const CHAIN = [["src", "big", "lake.big"]];
const ENDLESS =
  "SELECT sum(hash(a.range + b.range)) AS h FROM range(1000000000) AS a, range(1000000000) AS b, staging.src";

Deno.test("a fused chain tells of its nodes in order, with the rows of each", async () => {
  await using bench = await Bench.create();
  const run = await bench.run([
    nativeSource("src", "SELECT i, 'ä' || i AS t FROM range(5) AS r(i)"),
    pipeline("big", "SELECT * FROM staging.src WHERE i > 1 ORDER BY i DESC", ["src"]),
    sink("lake.big", "big", csvCopy(join(bench.root, "out", "deep"), "big.csv")),
  ], { chains: CHAIN });
  assert.deepEqual(run.outcome, { status: "success", interrupted: false, succeeded: 3, failed: 0, skipped: 0 });
  assert.deepEqual(run.warnings, []);
  assert.deepEqual(names(run.events), [
    "run_started",
    "node_started src",
    "node_completed src",
    "node_started big",
    "node_completed big",
    "node_started lake.big",
    "node_completed lake.big",
    "run_completed",
  ]);
  assert.equal(Deno.readTextFileSync(join(bench.root, "out", "deep", "big.csv")), "i,t\n4,ä4\n3,ä3\n2,ä2\n");
  assert.deepEqual(await outFiles(bench), ["out/deep/big.csv"]);
  assert.deepEqual(facts(run), [["src", "success", 5], ["big", "success", 3], ["lake.big", "success", 3]]);
  assert.deepEqual(run.journal, run.receipt.nodes);
  assert.deepEqual(
    run.receipt.nodes.map(({ connection, strategy, attempts, stages }) => [
      connection,
      strategy,
      attempts,
      Object.keys(stages ?? {}),
    ]),
    [["raw", "native_scan", 1, ["ingestMs"]], [undefined, "duck_sql", 1, []], ["lake", "native_copy", 1, ["writeMs"]]],
  );
});

Deno.test("a fused chain stages nothing, and no other node sees its relations", async () => {
  await using bench = await Bench.create();
  const found = "SELECT table_name FROM information_schema.tables WHERE table_name IN ('src', 'big')";
  const run = await bench.run([
    nativeSource("src", "SELECT i FROM range(5) AS r(i)"),
    nativeSource("other", found),
    pipeline("big", "SELECT * FROM staging.src", ["src"]),
    pipeline("seen", "SELECT * FROM staging.other", ["other"]),
    sink("lake.big", "big", csvCopy(join(bench.root, "out"), "big.csv")),
  ], { chains: CHAIN, engine: { threads: 1 } });
  assert.equal(run.outcome.succeeded, 5);
  using duck = await Duck.open();
  await duck.run(`ATTACH '${runPaths(bench.root, RUN_ID).staging}' AS staged (READ_ONLY)`);
  const staged = await duck.rows(
    "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'staging' UNION ALL " +
      "SELECT view_name FROM duckdb_views() WHERE schema_name = 'staging' ORDER BY 1",
  );
  assert.deepEqual(staged, [["other"], ["seen"]]);
});

Deno.test("several pipelines in a row are fused, each with its rows; a view counts none", async () => {
  await using bench = await Bench.create();
  const run = await bench.run([
    nativeSource("src", "SELECT i FROM range(100) AS r(i)"),
    pipeline("even", "SELECT * FROM staging.src WHERE i % 2 = 0", ["src"]),
    pipeline("small", "SELECT * FROM staging.even WHERE i < 40", ["even"], { materialization: "view" }),
    pipeline("total", "SELECT count(*) AS n, sum(i) AS s FROM staging.small", ["small"]),
    sink("lake.total", "total", csvCopy(join(bench.root, "out"), "total.csv")),
  ], { chains: [["src", "even", "small", "total", "lake.total"]] });
  assert.deepEqual(facts(run), [
    ["src", "success", 100],
    ["even", "success", 50],
    ["small", "success", 0],
    ["total", "success", 1],
    ["lake.total", "success", 1],
  ]);
  assert.equal(Deno.readTextFileSync(join(bench.root, "out", "total.csv")), "n,s\n20,380\n");
});

Deno.test("chains and other nodes run side by side, and a chain that is not whole runs node by node", async () => {
  await using bench = await Bench.create();
  const run = await bench.run([
    nativeSource("src", "SELECT 1 AS a"),
    nativeSource("src2", "SELECT 2 AS a"),
    pipeline("big", "SELECT * FROM staging.src", ["src"]),
    pipeline("other", "SELECT * FROM staging.src2", ["src2"]),
    sink("lake.big", "big", csvCopy(join(bench.root, "out"), "big.csv")),
  ], { chains: [...CHAIN, ["src2", "other", "lake.other"]] });
  assert.deepEqual(facts(run).sort(), [
    ["big", "success", 1],
    ["lake.big", "success", 1],
    ["other", "success", 1],
    ["src", "success", 1],
    ["src2", "success", 1],
  ]);
});

Deno.test("a source and an output of one connection need one permit of it", async () => {
  await using bench = await Bench.create();
  const both = { connection: connection("lake", { maxConcurrency: 1 }) };
  const run = await bench.run([
    nativeSource("src", "SELECT 1 AS a", both),
    pipeline("big", "SELECT * FROM staging.src", ["src"]),
    sink("lake.big", "big", csvCopy(join(bench.root, "out"), "big.csv"), both),
  ], { chains: CHAIN });
  assert.equal(run.outcome.succeeded, 3);
});

Deno.test("an ORDER BY that ends the pipeline orders a file of many rows", async () => {
  await using bench = await Bench.create();
  await bench.run([
    nativeSource("src", "SELECT i, hash(i) % 1000 AS k FROM range(1500000) AS r(i)"),
    pipeline("big", "SELECT k, i FROM staging.src ORDER BY k, i DESC", ["src"]),
    sink("lake.big", "big", csvCopy(join(bench.root, "out"), "big.csv")),
  ], { chains: CHAIN });
  using duck = await Duck.open();
  const places = `SELECT *, row_number() OVER () AS n FROM read_csv('${bench.root}/out/big.csv', parallel = false)`;
  const inversions = `SELECT count(*) FILTER (WHERE k < pk OR (k = pk AND i > pi)), count(*) FROM ` +
    `(SELECT k, i, lag(k) OVER (ORDER BY n) AS pk, lag(i) OVER (ORDER BY n) AS pi FROM (${places}))`;
  assert.deepEqual(await duck.rows(inversions), [["0", "1500000"]]);
});

Deno.test("preserve_order keeps the source's order in a fused chain", async () => {
  await using bench = await Bench.create();
  await bench.run([
    nativeSource("src", "SELECT i FROM range(500000) AS r(i)"),
    pipeline("big", "SELECT * FROM staging.src WHERE i % 3 <> 0", ["src"]),
    sink("lake.big", "big", csvCopy(join(bench.root, "out"), "big.csv")),
  ], { chains: CHAIN, engine: { preserveOrder: true } });
  const lines = Deno.readTextFileSync(join(bench.root, "out", "big.csv")).trimEnd().split("\n").slice(1).map(Number);
  assert.equal(lines.length, 333333);
  assert.ok(lines.every((value, index) => index === 0 || value > (lines[index - 1] ?? 0)));
});

Deno.test("a stop interrupts the statement, leaves nothing and skips the whole chain", async () => {
  await using bench = await Bench.create();
  const controller = new AbortController();
  const run = await bench.run([
    nativeSource("src", "SELECT 1 AS i"),
    pipeline("big", ENDLESS, ["src"]),
    sink("lake.big", "big", csvCopy(join(bench.root, "out"), "big.csv")),
  ], {
    chains: CHAIN,
    options: { signal: controller.signal },
    onEvent: (event) => {
      if (event.event === "node_started") {
        setTimeout(() => controller.abort(new Error("stop")), 50);
      }
    },
  });
  assert.deepEqual(run.outcome, { status: "fatal", interrupted: true, succeeded: 0, failed: 0, skipped: 3 });
  assert.deepEqual(facts(run).map(([, status]) => status), ["skipped", "skipped", "skipped"]);
  assert.deepEqual(names(run.events).slice(1, -1), [
    "node_started src",
    "node_completed src",
    "node_completed big",
    "node_completed lake.big",
  ]);
  assert.deepEqual(await outFiles(bench), []);
});

Deno.test("a chain that runs longer than a node may is stopped and told once", async () => {
  await using bench = await Bench.create();
  const run = await bench.run([
    nativeSource("src", "SELECT 1 AS i"),
    pipeline("big", ENDLESS, ["src"]),
    sink("lake.big", "big", csvCopy(join(bench.root, "out"), "big.csv")),
  ], { chains: CHAIN, engine: { nodeTimeoutMs: 200 } });
  assert.deepEqual(Object.keys(failures(run)), ["src"]);
  assert.equal(failures(run)["src"]?.code, "PZ0525");
  assert.deepEqual(run.outcome, {
    status: "completed_with_failures",
    interrupted: false,
    succeeded: 0,
    failed: 1,
    skipped: 2,
  });
});

Deno.test("with fail-fast a chain that failed stops the rest; a chain that never started is skipped whole", async () => {
  await using bench = await Bench.create();
  const run = await bench.run([
    nativeSource("a", "SELECT nope"),
    nativeSource("src", "SELECT 1 AS i"),
    pipeline("b", "SELECT * FROM staging.a", ["a"]),
    pipeline("big", "SELECT * FROM staging.src", ["src"]),
    sink("lake.b", "b", csvCopy(join(bench.root, "out"), "b.csv")),
    sink("lake.big", "big", csvCopy(join(bench.root, "out"), "big.csv")),
  ], { chains: [["a", "b", "lake.b"], ...CHAIN], engine: { threads: 1 }, options: { failFast: true } });
  assert.deepEqual(run.outcome, {
    status: "completed_with_failures",
    interrupted: false,
    succeeded: 0,
    failed: 1,
    skipped: 5,
  });
  assert.deepEqual(names(run.events).filter((name) => name.startsWith("node_started")), [
    "node_started a",
  ]);
  assert.equal(run.receipt.nodes.length, 6);
});

Deno.test("journal and receipt hold all nodes of a chain before its first end is told, and the file stands", async () => {
  await using bench = await Bench.create();
  const folder = runPaths(bench.root, RUN_ID);
  const seen: unknown[] = [];
  await bench.run([
    nativeSource("src", "SELECT 1 AS i"),
    pipeline("big", "SELECT * FROM staging.src", ["src"]),
    sink("lake.big", "big", csvCopy(join(bench.root, "out"), "big.csv")),
  ], {
    chains: CHAIN,
    onEvent: (event) => {
      if (event.event !== "node_completed") return;
      const journal = Deno.readTextFileSync(folder.journal).trimEnd().split("\n").length;
      const receipt: { nodes: unknown[] } = JSON.parse(Deno.readTextFileSync(folder.results));
      seen.push([journal, receipt.nodes.length, Deno.readTextFileSync(join(bench.root, "out", "big.csv"))]);
    },
  });
  assert.deepEqual(seen, [[3, 3, "i\n1\n"], [3, 3, "i\n1\n"], [3, 3, "i\n1\n"]]);
});

Deno.test("a scan that can count its rows is read in part, and still tells them all", async () => {
  await using bench = await Bench.create();
  const scan: NativeScan = {
    // Which columns are read can be seen by what fails.
    fragment: "(SELECT i, error('was read') AS unread FROM range(1000) AS r(i))",
    rowCount: "SELECT 1000",
    setup: [],
    mechanism: "query",
    schemaInferred: false,
  };
  const run = await bench.run([
    source("src", { scan }),
    pipeline("big", "SELECT i FROM staging.src WHERE i < 10", ["src"]),
    sink("lake.big", "big", csvCopy(join(bench.root, "out"), "big.csv")),
  ], { chains: CHAIN });
  assert.deepEqual(facts(run), [["src", "success", 1000], ["big", "success", 10], ["lake.big", "success", 10]]);
});

Deno.test("a scan whose types were guessed is asked once, and what is doubtful about them is told", async () => {
  await using bench = await Bench.create();
  let asked = 0;
  const scan = (fragment: string): NativeScan => ({ fragment, setup: [], mechanism: "query", schemaInferred: true });
  const run = await bench.run([
    source("src", {
      scan: {
        ...scan("(SELECT 'guess' AS i)"),
        infer: () => {
          asked++;
          return Promise.resolve(scan("(SELECT 1e17::DOUBLE AS i)"));
        },
      },
    }),
    pipeline("big", "SELECT * FROM staging.src", ["src"]),
    sink("lake.big", "big", csvCopy(join(bench.root, "out"), "big.csv")),
  ], { chains: CHAIN });
  assert.equal(asked, 1);
  assert.deepEqual(facts(run)[0], ["src", "success", 1]);
  const lint = run.events.find(({ event }) => event === "lossy_integer_inference_detected");
  assert.deepEqual(lint, {
    event: "lossy_integer_inference_detected",
    nodeId: "id-src",
    connection: "raw",
    entity: "src",
    columns: ["i"],
  });
});
