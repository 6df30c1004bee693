import assert from "node:assert/strict";
import { join } from "node:path";
import { runPaths } from "../../../src/state/mod.ts";
import { Duck } from "../../harness/duck.ts";
import { Bench, csvCopy, nativeSource, pipeline, RUN_ID, sink } from "./fixture.ts";
import { facts, failures, names, outFiles } from "./fused_support.ts";

// How the rows of the source come into staging makes no difference to what reads them there.
const SOURCE = nativeSource("src", "SELECT i, 'ä' || i AS t FROM range(1000) AS r(i)");
const FROM_STAGED = [["[src]", "big", "lake.big"]];
const INTO_STAGED = [["src", "big", "[lake.big]"]];

/** Tables and views of schema staging that a run left. */
async function staged(bench: Bench): Promise<readonly string[]> {
  using duck = await Duck.open();
  await duck.run(`ATTACH '${runPaths(bench.root, RUN_ID).staging}' AS staged (READ_ONLY)`);
  const found = await duck.rows(
    "SELECT table_name FROM duckdb_tables() WHERE database_name = 'staged' AND schema_name = 'staging' UNION ALL " +
      "SELECT view_name FROM duckdb_views() WHERE database_name = 'staged' AND schema_name = 'staging' ORDER BY 1",
  );
  return found.map(([name]) => name ?? "");
}

Deno.test("what is staged of a source goes through its pipelines into the output without another table", async () => {
  await using bench = await Bench.create();
  const run = await bench.run([
    SOURCE,
    pipeline("even", "SELECT * FROM staging.src WHERE i % 2 = 0", ["src"]),
    pipeline("v", "SELECT * FROM staging.even WHERE i > 10", ["even"], { materialization: "view" }),
    pipeline("big", "SELECT i FROM staging.v WHERE i > 990 ORDER BY i DESC", ["v"]),
    sink("lake.big", "big", csvCopy(join(bench.root, "out"), "big.csv")),
  ], { chains: [["[src]", "even", "v", "big", "lake.big"]] });
  assert.deepEqual(run.outcome, { status: "success", interrupted: false, succeeded: 5, failed: 0, skipped: 0 });
  assert.deepEqual(facts(run), [
    ["src", "success", 1000],
    ["even", "success", 500],
    ["v", "success", 0],
    ["big", "success", 4],
    ["lake.big", "success", 4],
  ]);
  assert.deepEqual(names(run.events), [
    "run_started",
    "node_started src",
    "node_completed src",
    "node_started even",
    "node_completed even",
    "node_started v",
    "node_completed v",
    "node_started big",
    "node_completed big",
    "node_started lake.big",
    "node_completed lake.big",
    "run_completed",
  ]);
  assert.equal(Deno.readTextFileSync(join(bench.root, "out", "big.csv")), "i\n998\n996\n994\n992\n");
  assert.deepEqual(await staged(bench), ["src"]);
});

Deno.test("a source goes through its pipelines into the one table that an output is written from", async () => {
  await using bench = await Bench.create();
  const run = await bench.run([
    SOURCE,
    pipeline("some", "SELECT * FROM staging.src WHERE i > 10", ["src"]),
    pipeline("big", "SELECT i FROM staging.some WHERE i > 995 ORDER BY i DESC", ["some"]),
    sink("lake.big", "big", csvCopy(join(bench.root, "out"), "big.csv")),
  ], { chains: [["src", "some", "big", "[lake.big]"]] });
  assert.deepEqual(facts(run), [
    ["src", "success", 1000],
    ["some", "success", 989],
    ["big", "success", 4],
    ["lake.big", "success", 4],
  ]);
  assert.equal(Deno.readTextFileSync(join(bench.root, "out", "big.csv")), "i\n999\n998\n997\n996\n");
  assert.deepEqual(await staged(bench), ["big"]);
});

Deno.test("an ORDER BY that ends the pipeline is that of the table that is staged", async () => {
  await using bench = await Bench.create();
  await bench.run([
    nativeSource("src", "SELECT i, hash(i) % 1000 AS k FROM range(1500000) AS r(i)"),
    pipeline("big", "SELECT k, i FROM staging.src ORDER BY k, i DESC", ["src"]),
    sink("lake.big", "big", csvCopy(join(bench.root, "out"), "big.csv")),
  ], { chains: INTO_STAGED });
  using duck = await Duck.open();
  const places = `SELECT *, row_number() OVER () AS n FROM read_csv('${bench.root}/out/big.csv', parallel = false)`;
  const inversions = `SELECT count(*) FILTER (WHERE k < pk OR (k = pk AND i > pi)), count(*) FROM ` +
    `(SELECT k, i, lag(k) OVER (ORDER BY n) AS pk, lag(i) OVER (ORDER BY n) AS pi FROM (${places}))`;
  assert.deepEqual(await duck.rows(inversions), [["0", "1500000"]]);
});

Deno.test("a pipeline that fails is told with its place, whichever end stays outside", async () => {
  for (const chains of [FROM_STAGED, INTO_STAGED]) {
    await using bench = await Bench.create();
    const run = await bench.run([
      SOURCE,
      pipeline("big", "SELECT 'ü' AS u,\n  CAST(t AS BIGINT) AS n\nFROM staging.src", ["src"]),
      sink("lake.big", "big", csvCopy(join(bench.root, "out"), "big.csv")),
    ], { chains });
    assert.deepEqual(facts(run), [["src", "success", 1000], ["big", "failed", 0], ["lake.big", "skipped", 0]]);
    assert.match(failures(run)["big"]?.message ?? "", /^Could not convert string 'ä\d+'.*\(pipelines\/big\.sql:2:3\)/);
    assert.equal(failures(run)["big"]?.cause, "sql");
    assert.deepEqual(await outFiles(bench), []);
    assert.deepEqual(await staged(bench), chains === FROM_STAGED ? ["src"] : []);
  }
});

Deno.test("of several pipelines over staged rows the one that fails is told, and those before it have succeeded", async () => {
  await using bench = await Bench.create();
  const run = await bench.run([
    SOURCE,
    pipeline("first", "SELECT t FROM staging.src", ["src"]),
    pipeline("second", "SELECT CAST(t AS BIGINT) AS n FROM staging.first", ["first"]),
    sink("lake.big", "second", csvCopy(join(bench.root, "out"), "big.csv")),
  ], { chains: [["[src]", "first", "second", "lake.big"]] });
  assert.deepEqual(facts(run), [
    ["src", "success", 1000],
    ["first", "success", 1000],
    ["second", "failed", 0],
    ["lake.big", "skipped", 0],
  ]);
});

Deno.test("an output that can't be written is told as the output's", async () => {
  await using bench = await Bench.create();
  Deno.writeTextFileSync(join(bench.root, "file"), "");
  const run = await bench.run([
    SOURCE,
    pipeline("big", "SELECT * FROM staging.src", ["src"]),
    sink("lake.big", "big", csvCopy(join(bench.root, "file"), "big.csv")),
  ], { chains: FROM_STAGED });
  assert.deepEqual(Object.keys(failures(run)), ["lake.big"]);
  assert.deepEqual(facts(run).map(([, status]) => status), ["success", "success", "failed"]);
});

Deno.test("a source that fails on its way into the staged table is told as the source's", async () => {
  await using bench = await Bench.create();
  const run = await bench.run([
    nativeSource("src", "SELECT CASE WHEN i = 700 THEN error('bad') ELSE i END AS i, 1 AS k FROM range(1000) AS r(i)"),
    pipeline("big", "SELECT k FROM staging.src", ["src"]),
    sink("lake.big", "big", csvCopy(join(bench.root, "out"), "big.csv")),
  ], { chains: INTO_STAGED });
  assert.deepEqual(failures(run), { src: { code: "PZ0501", message: "bad", cause: "read" } });
  assert.deepEqual(facts(run).map(([, status]) => status), ["failed", "skipped", "skipped"]);
});

Deno.test("what runs after a chain on the same connection sees staging, not the chain's views", async () => {
  await using bench = await Bench.create();
  const run = await bench.run([
    SOURCE,
    pipeline("big", "SELECT * FROM staging.src WHERE i < 3", ["src"]),
    sink("lake.big", "big", csvCopy(join(bench.root, "out"), "big.csv")),
    pipeline(
      "seen",
      "SELECT count(*) AS n FROM duckdb_views() WHERE view_name = 'big' AND database_name = current_database()",
    ),
    sink("lake.seen", "seen", csvCopy(join(bench.root, "out"), "seen.csv")),
  ], { chains: FROM_STAGED, engine: { threads: 1 } });
  assert.equal(run.outcome.succeeded, 5);
  assert.equal(Deno.readTextFileSync(join(bench.root, "out", "seen.csv")), "n\n0\n");
});

Deno.test("a chain over staged rows that is stopped tells its first node as begun", async () => {
  await using bench = await Bench.create();
  const controller = new AbortController();
  const run = await bench.run([
    nativeSource("src", "SELECT 1 AS i"),
    pipeline(
      "big",
      "SELECT sum(hash(a.range + b.range)) AS h FROM range(1000000000) a, range(1000000000) b, staging.src",
      [
        "src",
      ],
    ),
    sink("lake.big", "big", csvCopy(join(bench.root, "out"), "big.csv")),
  ], {
    chains: FROM_STAGED,
    options: { signal: controller.signal },
    onEvent: (event) => {
      if (event.event === "node_started" && event.name === "big") {
        setTimeout(() => controller.abort(new Error("stop")), 50);
      }
    },
  });
  assert.deepEqual(run.outcome, { status: "fatal", interrupted: true, succeeded: 1, failed: 0, skipped: 2 });
  assert.deepEqual(run.receipt.nodes.map(({ name, status, attempts }) => [name, status, attempts ?? null]), [
    ["src", "success", 1],
    ["big", "skipped", 1],
    ["lake.big", "skipped", null],
  ]);
});
