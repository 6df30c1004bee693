import assert from "node:assert/strict";
import { join } from "node:path";
import type { NativeCopy, NativeScan } from "../../../src/connectors/mod.ts";
import type { RunServices } from "../../../src/engine/mod.ts";
import { openStaging } from "../../../src/staging/mod.ts";
import { Bench, csvCopy, nativeSource, pipeline, sink, source } from "./fixture.ts";
import { facts, failures, outFiles } from "./fused_support.ts";

const CHAIN = [["src", "big", "lake.big"]];

const CHECKED = "SELECT CASE WHEN i = 70000 THEN error('Column \"i\" is bad') ELSE i END AS i, i % 2 AS half " +
  "FROM range(100000) AS r(i)";

Deno.test("a source that fails is told as the source's, even where the pipeline would not see the bad value", async () => {
  for (
    const sql of [
      "SELECT * FROM staging.src",
      "SELECT half FROM staging.src WHERE half > 5",
      "SELECT 1 AS one FROM staging.src",
    ]
  ) {
    await using bench = await Bench.create();
    const run = await bench.run([
      nativeSource("src", CHECKED),
      pipeline("big", sql, ["src"]),
      sink("lake.big", "big", csvCopy(join(bench.root, "new", "out"), "big.csv")),
    ], { chains: CHAIN });
    assert.deepEqual(run.outcome, {
      status: "completed_with_failures",
      interrupted: false,
      succeeded: 0,
      failed: 1,
      skipped: 2,
    });
    assert.deepEqual(facts(run), [["src", "failed", 0], ["big", "skipped", 0], ["lake.big", "skipped", 0]], sql);
    assert.deepEqual(failures(run), { src: { code: "PZ0501", message: 'Column "i" is bad', cause: "read" } });
    assert.deepEqual(await outFiles(bench), []);
    assert.throws(() => Deno.statSync(join(bench.root, "new")), Deno.errors.NotFound);
  }
});

Deno.test("a source that fails is explained by its connector, with the place in the user's file", async () => {
  await using bench = await Bench.create();
  const scan: NativeScan = {
    fragment: `(${CHECKED})`,
    setup: [],
    mechanism: "query",
    schemaInferred: false,
    diagnose: () =>
      Promise.resolve({
        message: "no number",
        file: join(bench.root, "data", "a.csv"),
        line: 70_002,
        column: "i",
        hint: "correct the file",
      }),
  };
  const run = await bench.run([
    source("src", { scan }),
    pipeline("big", "SELECT * FROM staging.src", ["src"]),
    sink("lake.big", "big", csvCopy(join(bench.root, "out"), "big.csv")),
  ], { chains: CHAIN });
  assert.deepEqual(failures(run), {
    src: { code: "PZ0501", message: "no number (data/a.csv:70002)\nhint: correct the file", cause: "read" },
  });
});

Deno.test("a source that can't be opened, and one that can't be set up, are told as the source's", async () => {
  await using bench = await Bench.create();
  const broken: NativeScan = { fragment: "nowhere", setup: [], mechanism: "query", schemaInferred: false };
  for (
    const [scan, code, message] of [
      [broken, "PZ0501", /nowhere/],
      [{ ...broken, setup: ["ATTACH 'secret word'"] }, "PZ0311", /Connection 'raw' can't be set up/],
    ] as const
  ) {
    const run = await bench.run([
      source("src", { scan }),
      pipeline("big", "SELECT * FROM staging.src", ["src"]),
      sink("lake.big", "big", csvCopy(join(bench.root, "out"), "big.csv")),
    ], { chains: CHAIN });
    const failed = failures(run);
    assert.deepEqual(Object.keys(failed), ["src"]);
    assert.equal(failed["src"]?.code, code);
    assert.match(failed["src"]?.message ?? "", message);
    assert.doesNotMatch(JSON.stringify(failed), /secret word/);
  }
});

Deno.test("a pipeline that fails is told with its place in its file, when it is bound and when it runs", async () => {
  const cases: readonly (readonly [sql: string, message: RegExp])[] = [
    ["SELECT 'ü' AS u,\n  nope\nFROM staging.src", /^[^\n]*"nope"[^\n]* \(pipelines\/big\.sql:2:3\)\n/],
    ["SELECT 'ü' AS u, i\nFROM staging.src WHERE", /syntax error.*/],
    [
      "SELECT 'ü' AS u,\n  CAST('x' || i AS BIGINT) AS n\nFROM staging.src",
      /^Could not convert string 'x\d+'[^\n]* \(pipelines\/big\.sql:2:3\)/,
    ],
  ];
  for (const [sql, message] of cases) {
    await using bench = await Bench.create();
    const run = await bench.run([
      nativeSource("src", "SELECT i FROM range(1000) AS r(i)"),
      pipeline("big", sql, ["src"]),
      sink("lake.big", "big", csvCopy(join(bench.root, "out"), "big.csv")),
    ], { chains: CHAIN });
    assert.deepEqual(facts(run), [["src", "success", 1000], ["big", "failed", 0], ["lake.big", "skipped", 0]], sql);
    assert.match(failures(run)["big"]?.message ?? "", message);
    assert.equal(failures(run)["big"]?.cause, "sql");
    assert.deepEqual(await outFiles(bench), []);
  }
});

Deno.test("of several pipelines the one that fails is told, and a bad source before any of them", async () => {
  for (
    const [query, first, second, culprit] of [
      ["SELECT i FROM range(1000) AS r(i)", "i", "CAST('y' || i AS BIGINT)", "second"],
      ["SELECT i FROM range(1000) AS r(i)", "CAST('x' || i AS BIGINT)", "i", "first"],
      ["SELECT i FROM range(1000) AS r(i)", "CAST('x' || i AS BIGINT)", "CAST('y' || i AS BIGINT)", "first"],
      [CHECKED, "CAST('x' || i AS BIGINT)", "i", "src"],
    ] as const
  ) {
    await using bench = await Bench.create();
    const run = await bench.run([
      nativeSource("src", query),
      pipeline("first", `SELECT ${first} AS i FROM staging.src`, ["src"]),
      pipeline("second", `SELECT ${second} AS n FROM staging.first`, ["first"]),
      sink("lake.x", "second", csvCopy(join(bench.root, "out"), "x.csv")),
    ], { chains: [["src", "first", "second", "lake.x"]] });
    assert.deepEqual(Object.keys(failures(run)), [culprit]);
    const place = ["src", "first", "second", "lake.x"].indexOf(culprit);
    assert.deepEqual(facts(run).map(([, status]) => status), [
      ...Array.from({ length: place }, () => "success"),
      "failed",
      ...Array.from({ length: 3 - place }, () => "skipped"),
    ]);
    for (const { rows } of run.receipt.nodes.slice(0, place)) assert.equal(rows, 1000);
  }
});

Deno.test("what a view's SQL does wrong is told, with its place, as of the node that reads the view", async () => {
  const cases = [
    { reader: undefined, expected: [["src", "success", 9], ["v", "success", 0], ["lake.x", "failed", 0]] },
    {
      reader: "SELECT * FROM staging.v",
      expected: [["src", "success", 9], ["v", "success", 0], ["t", "failed", 0], ["lake.x", "skipped", 0]],
    },
  ];
  for (const { reader, expected } of cases) {
    await using bench = await Bench.create();
    const run = await bench.run([
      nativeSource("src", "SELECT i FROM range(9) AS r(i)"),
      pipeline("v", "SELECT\n  CAST('x' || i AS BIGINT) AS n FROM staging.src", ["src"], { materialization: "view" }),
      ...(reader === undefined ? [] : [pipeline("t", reader, ["v"])]),
      sink("lake.x", reader === undefined ? "v" : "t", csvCopy(join(bench.root, "out"), "x.csv")),
    ], { chains: [["src", "v", ...(reader === undefined ? [] : ["t"]), "lake.x"]] });
    assert.deepEqual(facts(run), expected);
    const [failure] = Object.values(failures(run));
    assert.match(failure?.message ?? "", /^Could not convert string 'x\d'[^\n]* \(pipelines\/v\.sql:2:3\)/);
  }
});

/** Lets DuckDB write to the device that is always full. */
const FULL_DISK: RunServices = {
  openSession: () => assert.fail("no session is needed"),
  openStaging: (options) => {
    const { files, folders } = options.allowedPaths;
    return openStaging({ ...options, allowedPaths: { files: [...files, "/dev/full"], folders } });
  },
};

/** A copy whose temporary file is on a disk that is full. */
function fullDisk(folder: string): NativeCopy {
  Deno.mkdirSync(folder, { recursive: true });
  Deno.symlinkSync("/dev/full", join(folder, ".big.csv.tmp"));
  return csvCopy(folder, "big.csv");
}

Deno.test({
  name: "a full disk is told as the output's",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    await using bench = await Bench.create();
    const run = await bench.run([
      nativeSource("src", "SELECT i FROM range(300000) AS r(i)"),
      pipeline("big", "SELECT * FROM staging.src", ["src"]),
      sink("lake.big", "big", fullDisk(join(bench.root, "out"))),
    ], { chains: CHAIN, services: FULL_DISK });
    assert.deepEqual(facts(run), [["src", "success", 300000], ["big", "success", 300000], ["lake.big", "failed", 0]]);
    assert.equal(failures(run)["lake.big"]?.cause, "disk_full");
    assert.deepEqual(await outFiles(bench), []);
  },
});

Deno.test("whatever else keeps an output from being written is told as the output's and leaves the old file", async () => {
  const blocked = (folder: string): NativeCopy => {
    Deno.writeTextFileSync(join(folder, "file"), "");
    return csvCopy(join(folder, "file", "below"), "big.csv");
  };
  const cases: readonly (readonly [name: string, cause: string, copy: (folder: string) => NativeCopy])[] = [
    ["no folder", "write", blocked],
    [
      "no statement",
      "write",
      (folder) => ({ ...csvCopy(folder, "big.csv"), statement: () => "COPY nothing TO nowhere" }),
    ],
    [
      "fails while it writes",
      "write",
      (folder) => ({
        ...csvCopy(folder, "big.csv"),
        statement: (relation) =>
          `COPY (SELECT CASE WHEN i < 200000 THEN i ELSE error('at ' || i) END AS i FROM ${relation}) ` +
          `TO '${folder}/.big.csv.tmp' (FORMAT csv)`,
      }),
    ],
    [
      "can't be published",
      "commit",
      (folder) => ({
        ...csvCopy(folder, "big.csv"),
        moves: [{ from: `${folder}/.big.csv.tmp`, to: `${folder}/no/x` }],
      }),
    ],
  ];
  for (const [name, cause, copy] of cases) {
    await using bench = await Bench.create();
    const folder = join(bench.root, "out");
    Deno.mkdirSync(folder);
    Deno.writeTextFileSync(join(folder, "big.csv"), "old\n");
    const run = await bench.run([
      nativeSource("src", "SELECT i FROM range(300000) AS r(i)"),
      pipeline("big", "SELECT * FROM staging.src", ["src"]),
      sink("lake.big", "big", copy(folder)),
    ], { chains: CHAIN });
    assert.deepEqual(
      facts(run),
      [["src", "success", 300000], ["big", "success", 300000], ["lake.big", "failed", 0]],
      name,
    );
    assert.equal(failures(run)["lake.big"]?.cause, cause, name);
    assert.equal(Deno.readTextFileSync(join(folder, "big.csv")), "old\n");
    assert.deepEqual((await outFiles(bench)).filter((path) => path !== "out/file"), ["out/big.csv"], name);
  }
});
