import assert from "node:assert/strict";
import type { ConfigMap } from "../../../src/connectors/mod.ts";
import type { RunServices } from "../../../src/engine/mod.ts";
import type { NodeCompleted, RunEvent } from "../../../src/events/mod.ts";
import { openStaging } from "../../../src/staging/mod.ts";
import { Log, openServed } from "../connectors/host/served_support.ts";
import { universalSink } from "./fake_sink.ts";
import { Bench, connection, type Fixture, type FixtureRun, pipeline, source } from "./fixture.ts";

type Written = FixtureRun & { readonly log: Log };

/** Writes 10,000 numbers to a connector in a process of its own, which does what the options say. */
async function write(
  bench: Bench,
  options: ConfigMap,
  more: { readonly strategy?: "append" | "merge"; readonly attempts?: number; readonly log?: Log } & Fixture = {},
): Promise<Written> {
  const { strategy = "append", attempts = 1, log = new Log(), ...fixture } = more;
  const services: RunServices = { openStaging, random: () => 0, openSession: () => openServed(log) };
  const keys = strategy === "merge" ? ["n"] : [];
  const run = await bench.run([
    pipeline("t", "SELECT range AS n FROM range(10000)"),
    universalSink("t", {
      plan: { batchBytes: 10_000 },
      write: { strategy, keys, options },
      retry: { maxAttempts: attempts },
    }),
  ], { services, ...fixture });
  return { ...run, log };
}

function endOf(events: readonly RunEvent[]): NodeCompleted {
  const end = events.find((event) => event.event === "node_completed" && event.kind === "SinkWrite");
  return end?.event === "node_completed" ? end : assert.fail("the sink has no end");
}

Deno.test("a process gets every row once and commits them", async () => {
  await using bench = await Bench.create();
  const { receipt, log } = await write(bench, {});
  assert.deepEqual([receipt.nodes[1]?.error, receipt.nodes[1]?.rows], [null, 10_000]);
  assert.equal(log.lines.at(-1), "commit 10000 rows, sum 49995000, 0 deleted");
});

Deno.test("a process that dies while rows are written is followed by a new one", async () => {
  await using bench = await Bench.create();
  const { receipt, log, events } = await write(bench, { at: "write", do: "kill" }, { attempts: 2 });
  assert.deepEqual([receipt.nodes[1]?.attempts, receipt.nodes[1]?.error?.cause], [2, "connector_died"]);
  assert.equal(log.lines.filter((line) => line.startsWith("begin")).length, 2);
  assert.equal(endOf(events).delivery?.abortSemantics, "best_effort");
});

Deno.test("a process that dies in its commit leaves the outcome unknown, which only a merge tries again", async () => {
  await using bench = await Bench.create();
  const died = { at: "commit", do: "kill" };
  const appended = await write(bench, died, { attempts: 2 });
  const { code, cause, message } = appended.receipt.nodes[1]?.error ?? {};
  assert.deepEqual([code, cause, appended.receipt.nodes[1]?.attempts], ["PZ0501", "commit", 1]);
  assert.match(message ?? "", /^The commit failed, outcome unknown: /);
  const merged = await write(bench, died, { attempts: 2, strategy: "merge" });
  assert.deepEqual([merged.receipt.nodes[1]?.error?.cause, merged.receipt.nodes[1]?.attempts], ["commit", 2]);
});

Deno.test("a commit that says that nothing landed is told as it is", async () => {
  await using bench = await Bench.create();
  const { receipt } = await write(bench, { at: "commit", do: "known" });
  assert.deepEqual([receipt.nodes[1]?.error?.message, receipt.nodes[1]?.error?.cause], ["a constraint", "commit"]);
});

Deno.test("a stop while the process is busy takes the write back", async () => {
  await using bench = await Bench.create();
  const controller = new AbortController();
  const log = new Log();
  log.until("waiting in write").then(() => controller.abort(new Error("stop")));
  const { outcome } = await write(bench, { at: "write", do: "wait" }, { log, options: { signal: controller.signal } });
  assert.deepEqual([outcome.status, outcome.skipped], ["fatal", 1]);
  assert.equal(log.lines.at(-1), "abort after 0 rows");
});

Deno.test("partitions come from a process one by one, and a read that fails is told", async () => {
  await using bench = await Bench.create();
  const services: RunServices = { openStaging, openSession: () => openServed() };
  const load = (options: ConfigMap) =>
    source("one", { strategy: "arrow_stream", streamsPartitions: true }, {
      connection: connection("raw"),
      read: { options, retry: { maxAttempts: 1 } },
    });
  const whole = await bench.run([load({})], { services });
  assert.deepEqual([whole.receipt.nodes[0]?.error, whole.receipt.nodes[0]?.rows], [null, 12]);
  const failed = await bench.run([load({ fail: "read" })], { services });
  assert.deepEqual([failed.receipt.nodes[0]?.error?.message, failed.receipt.nodes[0]?.error?.cause], ["lost", "read"]);
});
