import assert from "node:assert/strict";
import { join } from "node:path";
import type { Resumption } from "../../../src/engine/mod.ts";
import { type Fingerprint, fingerprint, openStaging } from "../../../src/staging/mod.ts";
import { runPaths } from "../../../src/state/mod.ts";
import { FakeSink, MANY, universalSink } from "./fake_sink.ts";
import { Bench, csvCopy, type FixtureRun, nativeSource, pipeline, RUN_ID, sink, source } from "./fixture.ts";
import { facts, names } from "./fused_support.ts";

const BEFORE = "20270301T061500001Z-9f3c";

function resumption(more: Partial<Resumption>): Resumption {
  return {
    retryOf: BEFORE,
    effective: [],
    reused: new Map(),
    carried: [],
    compared: new Map(),
    tries: new Map(),
    inherited: [],
    redelivered: [],
    notes: [],
    ...more,
  };
}

/** Puts a table into the staging database that the next run of the bench opens; gives its fingerprint. */
async function stage({ root }: Bench, name: string, query: string): Promise<Fingerprint> {
  const { folder, staging: file, spill } = runPaths(root, RUN_ID);
  Deno.mkdirSync(folder, { recursive: true });
  await using staging = await openStaging({
    file,
    memoryLimitBytes: 2 ** 28,
    threads: 1,
    tempDirectory: spill,
    allowedPaths: { files: [], folders: [] },
    preserveInsertionOrder: false,
  });
  const connection = await staging.connect();
  await connection.run(`CREATE OR REPLACE TABLE staging.${name} AS ${query}`);
  return await fingerprint(connection, name);
}

const provenances = ({ receipt }: FixtureRun) =>
  receipt.nodes.map((node): unknown[] => [node.name, Reflect.get(node, "provenance"), node.rows]);

Deno.test("a load that is taken over is read from staging, and the receipt and events say so", async () => {
  await using bench = await Bench.create();
  await stage(bench, "src", "SELECT range AS i FROM range(5)");
  const run = await bench.run([
    source("src", {}),
    pipeline("p", "SELECT sum(i) AS s FROM staging.src", ["src"]),
  ], { options: { resume: resumption({ reused: new Map([["id-src", 5]]) }) } });
  assert.deepEqual(provenances(run), [["src", "reused", 5], ["p", undefined, 1]]);
  assert.deepEqual(names(run.events), [
    "run_started",
    "node_started src",
    "node_completed src",
    "node_started p",
    "node_completed p",
    "run_completed",
  ]);
  assert.equal(Reflect.get(run.receipt, "retryOf"), BEFORE);
});

Deno.test("what is carried forward is told before anything starts, and counts as succeeded", async () => {
  await using bench = await Bench.create();
  const [carried] = sink("lake.done", "p", csvCopy(join(bench.root, "out"), "done.csv"));
  const run = await bench.run([pipeline("p", "SELECT 1 AS i")], {
    options: { resume: resumption({ carried: [{ node: carried, rows: 7 }] }) },
  });
  assert.deepEqual(names(run.events).slice(0, 3), ["run_started", "node_completed lake.done", "node_started p"]);
  assert.deepEqual(run.events[0], { event: "run_started", projectName: "bench", nodeCount: 1 });
  assert.deepEqual(provenances(run), [["lake.done", "carried_forward", 7], ["p", undefined, 1]]);
  assert.equal(run.outcome.succeeded, 2);
});

Deno.test("an output is carried forward if its rows are the same, else it is written, unless it was appended", async () => {
  for (
    const [strategy, same] of [["replace", true], ["replace", false], ["append", true], ["append", false]] as const
  ) {
    await using bench = await Bench.create();
    const written = await stage(bench, "former", "SELECT range AS i FROM range(3)");
    const compared = new Map([["id-lake.x", { rows: 3, run: BEFORE, fingerprint: written }]]);
    const write = { strategy, keys: [], acceptDuplicates: false, schemaPolicy: "fail_on_change" as const, options: {} };
    const run = await bench.run([
      pipeline("p", `SELECT range AS i FROM range(${same ? 3 : 4})`),
      sink("lake.x", "p", csvCopy(join(bench.root, "out"), "x.csv"), { write }),
    ], { options: { resume: resumption({ compared }) } });
    const isWritten = strategy === "replace" && !same;
    assert.deepEqual(provenances(run)[1], isWritten ? ["lake.x", undefined, 4] : ["lake.x", "carried_forward", 3]);
    assert.equal(names(run.events).includes("node_started lake.x"), isWritten);
    assert.equal(run.warnings.length, strategy === "append" && !same ? 1 : 0, run.warnings.join());
    if (!isWritten) assert.throws(() => Deno.statSync(join(bench.root, "out")), Deno.errors.NotFound);
  }
});

Deno.test("a chain in which a node was done already is not run as one", async () => {
  await using bench = await Bench.create();
  await stage(bench, "src", "SELECT range AS i FROM range(5)");
  const run = await bench.run([
    nativeSource("src", "SELECT error('read again') AS i"),
    pipeline("p", "SELECT i FROM staging.src", ["src"]),
    sink("lake.x", "p", csvCopy(join(bench.root, "out"), "x.csv")),
  ], {
    chains: [["src", "p", "lake.x"]],
    options: { resume: resumption({ reused: new Map([["id-src", 5]]) }) },
  });
  assert.deepEqual(facts(run), [["src", "success", 5], ["p", "success", 5], ["lake.x", "success", 5]]);
});

Deno.test("an append is told the earlier tries of which nobody knows the end, and stops where its target can't tell", async () => {
  const prior = [{ run: BEFORE, ordinal: 2 }];
  const options = { resume: resumption({ tries: new Map([["id-lake.t", prior]]) }) };
  for (const provesAttempt of [true, false]) {
    await using bench = await Bench.create();
    const target = new FakeSink({ provesAttempt });
    const run = await bench.run([MANY, universalSink("t", { write: { strategy: "append" } })], {
      services: target.services,
      options,
    });
    assert.deepEqual(target.specs.map(({ attempt }) => attempt), [
      { node: "id-lake.t", run: RUN_ID, ordinal: 1, prior },
    ]);
    const [, node] = run.receipt.nodes;
    const begun = run.journal.filter((line) => Reflect.get(line, "started") === "id-lake.t");
    if (provesAttempt) {
      assert.deepEqual([node?.status, begun.length], ["success", 1]);
      continue;
    }
    assert.deepEqual([node?.status, node?.error?.code, begun.length], ["failed", "PZ0770", 0]);
    assert.match(
      node?.error?.message ?? "",
      /^Run \S+ was appending to 'lake\.t' .*\nhint: .*`pz retry --assume-delivered lake\.t`.*`pz retry --redeliver lake\.t`/,
    );
    assert.deepEqual(target.steps, { begin: 1, write: 0, commit: 0, abort: 1 });
  }
});

Deno.test("only an append notes that it begins, before its first row and once for each attempt", async () => {
  for (const strategy of ["append", "replace"] as const) {
    await using bench = await Bench.create();
    const lines: string[] = [];
    const target = new FakeSink({
      before: (step) => {
        if (step === "write") lines.push(Deno.readTextFileSync(runPaths(bench.root, RUN_ID).journal));
      },
    });
    const run = await bench.run([MANY, universalSink("t", { write: { strategy } })], { services: target.services });
    assert.equal(run.outcome.status, "success");
    const begun = `{"started":"id-lake.t","name":"lake.t","attempt":1}\n`;
    assert.equal(lines[0]?.includes(begun), strategy === "append");
    assert.equal(run.journal.length, strategy === "append" ? 3 : 2);
  }
});
