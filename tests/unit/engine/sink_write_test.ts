import assert from "node:assert/strict";
import { join } from "node:path";
import type { NativeCopy } from "../../../src/connectors/mod.ts";
import type { RunServices } from "../../../src/engine/mod.ts";
import { openStaging } from "../../../src/staging/mod.ts";
import { listFiles } from "../../harness/temp_dir.ts";
import { Bench, csvCopy, nativeSource, pipeline, sink } from "./fixture.ts";

async function outFiles(bench: Bench): Promise<string[]> {
  return (await listFiles(bench.root)).filter((path) => !path.startsWith(".pz/"));
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}

Deno.test("a sink replaces the file that was there", async () => {
  await using bench = await Bench.create();
  Deno.mkdirSync(join(bench.root, "out"));
  Deno.writeTextFileSync(join(bench.root, "out", "t.csv"), "old and longer than the new content\n");
  const { outcome } = await bench.run([
    pipeline("t", "SELECT 7 AS a"),
    sink("lake.t", "t", csvCopy(join(bench.root, "out"), "t.csv")),
  ]);
  assert.equal(outcome.status, "success");
  assert.equal(Deno.readTextFileSync(join(bench.root, "out", "t.csv")), "a\n7\n");
  assert.deepEqual(await outFiles(bench), ["out/t.csv"]);
});

Deno.test("a sink whose statement fails leaves the old file, no temporary one and no new folder", async () => {
  await using bench = await Bench.create();
  Deno.mkdirSync(join(bench.root, "out"));
  Deno.writeTextFileSync(join(bench.root, "out", "t.csv"), "old\n");
  const failing = (folder: string): NativeCopy => ({
    ...csvCopy(folder, "t.csv"),
    statement: (relation) =>
      `COPY (SELECT CASE WHEN a < 200000 THEN a ELSE error('at ' || a) END AS a FROM ${relation}) ` +
      `TO '${folder}/.t.csv.tmp' (FORMAT csv)`,
  });
  const { receipt } = await bench.run([
    pipeline("t", "SELECT range AS a FROM range(300000)"),
    sink("lake.t", "t", failing(join(bench.root, "out"))),
    sink("lake.u", "t", failing(join(bench.root, "new", "deep"))),
  ]);
  assert.deepEqual(receipt.nodes.map(({ status }) => status), ["success", "failed", "failed"]);
  assert.deepEqual(receipt.nodes[1]?.error?.code, "PZ0501");
  assert.deepEqual(receipt.nodes[1]?.error?.cause, "write");
  assert.deepEqual(await outFiles(bench), ["out/t.csv"]);
  assert.equal(Deno.readTextFileSync(join(bench.root, "out", "t.csv")), "old\n");
  assert.throws(() => Deno.statSync(join(bench.root, "new")), Deno.errors.NotFound);
});

Deno.test("a publish that fails is told as a commit and leaves no temporary file", async () => {
  await using bench = await Bench.create();
  const copy = csvCopy(join(bench.root, "out"), "t.csv");
  const broken = { ...copy, moves: copy.moves.map(({ from }) => ({ from, to: join(bench.root, "missing", "t.csv") })) };
  const { receipt } = await bench.run([pipeline("t", "SELECT 1 AS a"), sink("lake.t", "t", broken)]);
  assert.deepEqual([receipt.nodes[1]?.error?.code, receipt.nodes[1]?.error?.cause], ["PZ0501", "commit"]);
  assert.deepEqual(await outFiles(bench), []);
});

Deno.test("a sink that is stopped while it writes leaves nothing", async () => {
  await using bench = await Bench.create();
  const controller = new AbortController();
  const temporary = join(bench.root, "out", ".t.csv.tmp");
  let watch: ReturnType<typeof setInterval> | undefined;
  const { outcome } = await bench.run([
    pipeline("t", "SELECT range AS a FROM range(1000)"),
    sink("lake.t", "t", {
      ...csvCopy(join(bench.root, "out"), "t.csv"),
      statement: (relation) =>
        `COPY (SELECT sum(hash(x.a + y.range)) AS s FROM ${relation} x, range(1000000000) y) ` +
        `TO '${temporary}' (FORMAT csv)`,
    }),
  ], {
    options: { signal: controller.signal },
    onEvent: (event) => {
      if (event.event !== "node_started" || event.name !== "lake.t") return;
      watch = setInterval(() => {
        if (exists(temporary)) controller.abort(new Error("stop"));
      }, 5);
    },
  });
  clearInterval(watch);
  assert.deepEqual([outcome.status, outcome.succeeded, outcome.skipped], ["fatal", 1, 1]);
  assert.deepEqual(await outFiles(bench), []);
  assert.throws(() => Deno.statSync(join(bench.root, "out")), Deno.errors.NotFound);
});

Deno.test("a sink whose statement publishes by itself has succeeded, even if a stop comes right after it", async () => {
  await using bench = await Bench.create();
  const controller = new AbortController();
  const copy: NativeCopy = {
    statement: (relation) => `INSERT INTO staging.target SELECT * FROM ${relation}`,
    setup: [],
    mechanism: "insert",
    folders: [],
    moves: [],
  };
  const services: RunServices = {
    openSession: () => assert.fail("no session is needed"),
    openStaging: async (options) => {
      const staging = await openStaging(options);
      const connect = staging.connect.bind(staging);
      staging.connect = async () => {
        const connection = await connect();
        const run = connection.run.bind(connection);
        connection.run = async (sql, more) => {
          const result = await run(sql, more);
          if (sql === copy.statement('"staging"."t"', [])) controller.abort(new Error("stop"));
          return result;
        };
        return connection;
      };
      return staging;
    },
  };
  const { receipt } = await bench.run([
    pipeline("target", "SELECT 1 AS a WHERE false"),
    pipeline("t", "SELECT 7 AS a", ["target"]),
    sink("lake.t", "t", copy),
  ], { services, options: { signal: controller.signal } });
  assert.equal(controller.signal.aborted, true);
  assert.deepEqual(receipt.nodes.map(({ name, status }) => [name, status]), [
    ["target", "success"],
    ["t", "success"],
    ["lake.t", "success"],
  ]);
});

Deno.test("a folder as target is swapped as a whole", async () => {
  await using bench = await Bench.create();
  const target = join(bench.root, "out", "t");
  Deno.mkdirSync(join(target, "k=old"), { recursive: true });
  Deno.writeTextFileSync(join(target, "k=old", "x.csv"), "old\n");
  const from = join(bench.root, "out", ".t.tmp");
  const { receipt } = await bench.run([
    pipeline("t", "SELECT range AS a, range % 2 AS k FROM range(4)"),
    sink("lake.t", "t", {
      statement: (relation) =>
        `COPY (SELECT * FROM ${relation}) TO '${from}' (FORMAT csv, PARTITION_BY (k), FILENAME_PATTERN 'part_{i}')`,
      setup: [],
      mechanism: "copy csv",
      folders: [join(bench.root, "out")],
      moves: [{ from, to: target }],
    }),
  ]);
  assert.equal(receipt.nodes[1]?.status, "success", receipt.nodes[1]?.error?.message);
  assert.deepEqual((await outFiles(bench)).map((path) => path.replace(/[^/]*$/, "")), ["out/t/k=0/", "out/t/k=1/"]);
});

Deno.test("a sink without a planned way to write is told so", async () => {
  await using bench = await Bench.create();
  const [node, planned] = sink("lake.t", "t", csvCopy(join(bench.root, "out"), "t.csv"));
  const { copy: _, ...rest } = planned;
  const { receipt } = await bench.run([pipeline("t", "SELECT 1 AS a"), [node, rest]]);
  assert.equal(receipt.nodes[1]?.error?.code, "PZ0700");
});

Deno.test("a merge that is told which duplicate to keep gets that one, and no warning", async () => {
  await using bench = await Bench.create();
  const write = {
    strategy: "merge",
    keys: ["k"],
    orderBy: ["v DESC", "w"],
    acceptDuplicates: false,
    schemaPolicy: "fail_on_change",
    options: {},
  } as const;
  const { receipt, events } = await bench.run([
    pipeline(
      "t",
      "SELECT * FROM (VALUES (1, 5, 'b'), (1, 9, 'b'), (1, 9, 'a'), (2, NULL, 'x'), (2, 1, 'y')) t(k, v, w)",
    ),
    sink("lake.t", "t", csvCopy(join(bench.root, "out"), "t.csv"), { write }),
  ]);
  assert.deepEqual([receipt.nodes[1]?.error, receipt.nodes[1]?.rows], [null, 2]);
  const lines = Deno.readTextFileSync(join(bench.root, "out", "t.csv")).trimEnd().split("\n");
  assert.deepEqual(lines.sort(), ["1,9,a", "2,1,y", "k,v,w"]);
  assert.equal(events.some(({ event }) => event === "merge_key_duplicates_detected"), false);
});

Deno.test("setup that fails is told without a word of its statements", async () => {
  await using bench = await Bench.create();
  const copy = { ...csvCopy(join(bench.root, "out"), "t.csv"), setup: ["ATTACH 'postgres://u:hunter2@h/x' AS q"] };
  const { receipt } = await bench.run([pipeline("t", "SELECT 1 AS a"), sink("lake.t", "t", copy)]);
  assert.equal(receipt.nodes[1]?.error?.code, "PZ0311");
  assert.doesNotMatch(JSON.stringify(receipt), /hunter2/);
});

const SHUFFLED = "SELECT hash(i) AS k FROM staging.src";

for (
  const [title, sql] of [
    ["an ORDER BY that ends a pipeline", `${SHUFFLED} ORDER BY k`],
    ["an ORDER BY with a LIMIT", `WITH s AS (${SHUFFLED}) SELECT k FROM s ORDER BY k LIMIT 500000`],
    ["an ORDER BY after a UNION", `${SHUFFLED} WHERE i % 2 = 0 UNION ALL ${SHUFFLED} WHERE i % 2 = 1 ORDER BY 1`],
  ] as const
) {
  Deno.test(`${title} orders the rows of the file`, async () => {
    await using bench = await Bench.create();
    const { receipt } = await bench.run([
      nativeSource("src", "SELECT range AS i FROM range(600000)"),
      pipeline("t", sql, ["src"]),
      sink("lake.t", "t", csvCopy(join(bench.root, "out"), "t.csv")),
    ]);
    assert.deepEqual(receipt.nodes.map(({ error }) => error), [null, null, null]);
    const keys = Deno.readTextFileSync(join(bench.root, "out", "t.csv")).trimEnd().split("\n").slice(1).map(BigInt);
    assert.ok(keys.length >= 500_000);
    const inversions = keys.filter((key, index) => key < (keys[index - 1] ?? 0n)).length;
    assert.equal(inversions, 0);
  });
}
