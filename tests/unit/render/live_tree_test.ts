import assert from "node:assert/strict";
import type { NodeCompleted, NodeKind, RunEvent } from "../../../src/events/mod.ts";
import { fitFrame, lastFrame, paint } from "../../../src/render/live_frame.ts";
import { LiveTree, type TreeLine } from "../../../src/render/live_tree.ts";
import { formatRate } from "../../../src/render/text.ts";
import { cutToWidth, textWidth } from "../../../src/render/text_width.ts";
import { completed } from "./events.ts";

function started(kind: NodeKind, name: string): RunEvent {
  return { event: "node_started", nodeId: name, kind, name };
}

function treeOf(...events: readonly RunEvent[]): LiveTree {
  const tree = new LiveTree();
  for (const event of events) tree.apply(event, 1000);
  return tree;
}

function shown(tree: LiveTree, now = 1000): readonly string[] {
  return texts(tree.lines(now));
}

function texts(lines: readonly TreeLine[], colour = false): readonly string[] {
  return paint(lines, colour).map(({ text }) => text);
}

Deno.test("the tree groups nodes by kind in a fixed order and sorts them by name", () => {
  const tree = treeOf(
    { event: "run_started", projectName: "p", nodeCount: 6 },
    started("SinkWrite", "lake.b"),
    started("Pipeline", "b"),
    started("Pipeline", "a"),
    started("Check", "check_a"),
    started("SourceLoad", "src_x__y"),
    completed({ nodeId: "a", name: "a", rows: 3, durationMs: 12 }),
  );
  assert.deepEqual(shown(tree, 1500), [
    "pz run (1/6)",
    "  sources",
    "    .. src_x__y 0 rows 500ms",
    "  pipelines",
    "    ok a 3 rows 12ms",
    "    .. b 0 rows 500ms",
    "  checks",
    "    .. check_a 0 rows 500ms",
    "  sinks",
    "    .. lake.b 0 rows 500ms",
  ]);
});

Deno.test("progress changes only the rows of its node", () => {
  const tree = treeOf(started("SourceLoad", "s"), {
    event: "node_progress",
    nodeId: "s",
    name: "s",
    rows: 7,
    bytes: 1,
    batches: 1,
  });
  assert.equal(shown(tree)[2], "    .. s 7 rows 0ms");
});

Deno.test("a row's details stand below it: error, hint, provenance, and the last warning", () => {
  const tree = treeOf(
    started("SourceLoad", "s"),
    { event: "lossy_integer_inference_detected", nodeId: "s", connection: "c", entity: "e", columns: ["n"] },
    {
      event: "source_drift_detected",
      nodeId: "s",
      connection: "c",
      entity: "e",
      policy: "fail",
      changes: [{ kind: "added", column: "x", from: null, to: "DATE" }],
      observed: [],
      hintsHash: "",
    },
    completed({
      nodeId: "s",
      kind: "SourceLoad",
      name: "s",
      status: "failed",
      durationMs: 100,
      errorCode: "PZ0331",
      errorMessage: "drift\nmore",
      timings: { producerStallMs: 0, consumerStallMs: 90 },
      provenance: "carried_forward",
    }),
  );
  assert.deepEqual(shown(tree).slice(2), [
    "    FAIL s 3 rows 100ms",
    "      PZ0331: drift",
    "      hint: s: source-bound — ingest idle 90% of the node's runtime",
    "      (carried forward)",
    "      drift: c.e (fail): added x",
  ]);
});

Deno.test("a node that never started has a row once it is skipped", () => {
  const tree = treeOf(
    completed({ nodeId: "k", kind: "SinkWrite", name: "lake.k", status: "skipped", rows: 0, durationMs: 0 }),
  );
  assert.deepEqual(shown(tree).slice(1), ["  sinks", "    skip lake.k 0 rows 0ms"]);
});

Deno.test("after run_completed the tree changes no more", () => {
  const tree = treeOf({
    event: "run_completed",
    status: "success",
    succeeded: 0,
    failed: 0,
    skipped: 0,
    durationMs: 1,
  });
  assert.equal(tree.done, true);
  assert.equal(tree.apply({ event: "retention_swept", runsSwept: 1, bytesFreed: 1, failures: 0 }, 1000), false);
  assert.equal(tree.apply(started("Pipeline", "late"), 1000), false);
  assert.deepEqual(shown(tree), ["pz run"]);
});

Deno.test("colour stands around the glyph of a row and around whole details", () => {
  const tree = treeOf(completed({ nodeId: "a", name: "a", status: "failed", errorCode: "PZ0501", errorMessage: "no" }));
  assert.deepEqual(texts(tree.lines(0), true).slice(2), [
    "    \x1b[31mFAIL\x1b[0m a 3 rows 12ms",
    "      \x1b[31mPZ0501: no\x1b[0m",
  ]);
});

Deno.test("a small terminal keeps failures, then running nodes, and says how many lines are hidden", () => {
  const tree = treeOf(
    { event: "run_started", projectName: "p", nodeCount: 9 },
    ...["a", "b", "c", "d"].map((name) => completed({ nodeId: name, name })),
    completed({ nodeId: "e", name: "e", status: "failed", errorCode: "PZ0501", errorMessage: "no" }),
    started("Pipeline", "f"),
  );
  const frame = (rows: number) => texts(fitFrame(tree.lines(1000), { columns: 80, rows }));
  assert.equal(frame(10).length, 9);
  assert.deepEqual(frame(7), [
    "pz run (5/9)",
    "  pipelines",
    "    FAIL e 3 rows 12ms",
    "      PZ0501: no",
    "    .. f 0 rows 0ms",
    "  … 4 more lines",
  ]);
  assert.deepEqual(frame(5), ["pz run (5/9)", "    FAIL e 3 rows 12ms", "      PZ0501: no", "  … 6 more lines"]);
  assert.equal(frame(1).length, 1);
});

Deno.test("no line of a frame is wider than the terminal", () => {
  const tree = treeOf(started("Pipeline", "漢字".repeat(30)), started("Pipeline", "x".repeat(200)));
  for (const columns of [1, 5, 12, 40, 80]) {
    for (const { text, width } of paint(fitFrame(tree.lines(1000), { columns, rows: 24 }), false)) {
      assert.equal(width, textWidth(text));
      assert.ok(width < columns || text.trim() === "", text);
    }
  }
});

Deno.test("a name gives way before the numbers behind it; at the end nothing but extras is left out", () => {
  const name = `src_${"x".repeat(40)}`;
  const tree = new LiveTree(new Map([[name, "native scan: read_csv"]]));
  tree.apply(started("SourceLoad", name), 1000);
  tree.apply({ event: "node_progress", nodeId: name, name, rows: 5_000_000, bytes: 1, batches: 1 }, 1000);
  const lines = tree.lines(3000);
  assert.equal(texts(fitFrame(lines, { columns: 40, rows: 24 }))[2], "    .. src_xxxxxxx… 5000000 rows 2000ms");
  assert.equal(texts(lastFrame(lines, { columns: 40, rows: 24 }))[2], `    .. ${name} 5000000 rows 2000ms`);
  assert.equal(
    texts(lastFrame(lines, { columns: 200, rows: 24 }))[2],
    `    .. ${name} 5000000 rows 2000ms · 2.5M/s · native scan: read_csv`,
  );
});

Deno.test("rates have three digits", () => {
  for (
    const [rows, ms, shown] of [
      [1500, 2000, "750/s"],
      [9994, 10_000, "999/s"],
      [9996, 10_000, "1k/s"],
      [123_456, 2000, "61.7k/s"],
      [999_499, 1000, "999k/s"],
      [999_500, 1000, "1M/s"],
      [5_000_000, 2000, "2.5M/s"],
      [1_234_567_890, 1000, "1230M/s"],
    ] as const
  ) assert.equal(formatRate(rows, ms), shown);
});

Deno.test("cutToWidth keeps what fits and marks a cut", () => {
  assert.equal(cutToWidth("abc", 3), "abc");
  assert.equal(cutToWidth("abcd", 3), "ab…");
  assert.equal(cutToWidth("漢字漢", 5), "漢字…");
  assert.equal(cutToWidth("é́e", 2), "é́e");
  assert.equal(cutToWidth("abc", 0), "");
});

Deno.test("a write that runs shows its rows, their rate, bytes and how they move", () => {
  const tree = new LiveTree(new Map([["mart.orders", "arrow stream: postgres"]]));
  tree.apply(started("SinkWrite", "mart.orders"), 1000);
  const progress = { rows: 163_840, bytes: 6_291_456, batches: 10 };
  tree.apply({ event: "node_progress", nodeId: "mart.orders", name: "mart.orders", ...progress }, 2000);
  const line = (columns: number) => texts(fitFrame(tree.lines(3000), { columns, rows: 24 }))[2];
  assert.equal(
    line(100),
    "    .. mart.orders 163840 rows 2000ms · 81.9k/s · 6.0 MB · arrow stream: postgres",
  );
  assert.equal(line(60), "    .. mart.orders 163840 rows 2000ms · 81.9k/s · 6.0 MB");
  const write: Partial<NodeCompleted> = { nodeId: "mart.orders", kind: "SinkWrite", name: "mart.orders" };
  const timings = { producerStallMs: 100, consumerStallMs: 3100 };
  tree.apply(completed({ ...write, rows: 327_680, durationMs: 4000, timings }), 5000);
  assert.deepEqual(texts(lastFrame(tree.lines(5000), { columns: 100, rows: 24 })).slice(2), [
    "    ok mart.orders 327680 rows 4000ms · 81.9k/s · arrow stream: postgres",
    "      hint: mart.orders: sink-bound — staging idle 77% of the node's runtime",
  ]);
});
