import assert from "node:assert/strict";
import { ConnectorError } from "../../../src/connectors/mod.ts";
import type { NodeCompleted, RetryScheduled } from "../../../src/events/mod.ts";
import { drainArrow } from "../../../src/staging/mod.ts";
import { FakeSink, MANY, SMALL, universalSink } from "./fake_sink.ts";
import { Bench, type FixtureRun } from "./fixture.ts";

function transient(text: string): ConnectorError {
  return new ConnectorError(text, { transient: true });
}

function ended({ events }: FixtureRun): NodeCompleted {
  const found = events.find((event) => event.event === "node_completed" && event.kind === "SinkWrite");
  return found?.event === "node_completed" ? found : assert.fail("the sink has no end");
}

type Fault = { readonly at: "begin" | "write" | "commit"; readonly write?: number; readonly error?: ConnectorError };

function failing(
  { at, write = 0, error = new ConnectorError("no", { transient: false }) }: Fault,
  more = {},
): FakeSink {
  return new FakeSink({
    before: (step, number) => {
      if (step === at && number === write) throw error;
    },
    ...more,
  });
}

const unknown = (transient: boolean) => new ConnectorError("connection lost", { transient, outcomeUnknown: true });

// What failed, how many writers there are, and what was called of the commits and aborts.
const ENDS: readonly (readonly [string, Fault, number, readonly string[], string])[] = [
  ["a begin", { at: "begin" }, 1, [], "write"],
  ["the begin of the second of three", { at: "begin", write: 1 }, 3, ["abort 0"], "write"],
  ["a write", { at: "write" }, 1, ["abort 0"], "write"],
  ["a write of the second of three", { at: "write", write: 1 }, 3, ["abort 0", "abort 1", "abort 2"], "write"],
  ["a commit", { at: "commit", error: unknown(false) }, 1, ["commit 0"], "commit"],
  [
    "the commit of the second of three",
    { at: "commit", write: 1, error: unknown(false) },
    3,
    ["abort 2", "commit 0", "commit 1"],
    "commit",
  ],
];

for (const [title, fault, writers, calls, cause] of ENDS) {
  Deno.test(`${title} that fails: each write ends by its commit or its abort, never by both`, async () => {
    await using bench = await Bench.create();
    const sink = failing(fault);
    const { receipt } = await bench.run([
      MANY,
      universalSink("t", { plan: { ...SMALL, writers }, write: { strategy: "append" } }),
    ], { services: sink.services });
    assert.deepEqual(sink.log.filter((line) => /^(commit|abort)/.test(line)).sort(), calls);
    const { code, cause: told, message } = receipt.nodes[1]?.error ?? {};
    assert.deepEqual([code, told], ["PZ0501", cause]);
    assert.match(message ?? "", cause === "commit" ? /outcome unknown: connection lost/ : /^no$/);
  });
}

Deno.test("an abort that fails too does not hide why it was needed", async () => {
  await using bench = await Bench.create();
  const sink = new FakeSink({
    before: (step) => {
      if (step === "write") throw new ConnectorError("disk quota", { transient: false });
      if (step === "abort") throw new Error("abort broke");
    },
  });
  const { receipt } = await bench.run([MANY, universalSink("t")], { services: sink.services });
  assert.equal(receipt.nodes[1]?.error?.message, "disk quota");
});

Deno.test("rows that get lost between staging and sink are never committed", async () => {
  await using bench = await Bench.create();
  const sink = new FakeSink({
    drain: async (connection, table, options) => {
      const drain = await drainArrow(connection, table, options);
      return {
        schema: drain.schema,
        batches: (async function* () {
          let first = true;
          for await (const batch of drain.batches) {
            if (!first) yield batch;
            first = false;
          }
        })(),
      };
    },
  });
  const { receipt } = await bench.run([MANY, universalSink("t", { plan: SMALL })], { services: sink.services });
  assert.deepEqual([sink.steps.commit, sink.steps.abort], [0, 1]);
  assert.match(receipt.nodes[1]?.error?.message ?? "", /^\d+ of 10000 staged rows came out of staging/);
});

Deno.test("a drain that fails aborts the write and is what is told", async () => {
  await using bench = await Bench.create();
  const sink = new FakeSink({
    drain: async (connection, table, options) => {
      const { schema, batches } = await drainArrow(connection, table, options);
      return {
        schema,
        batches: (async function* () {
          yield* batches;
          throw new Error("staging broke");
        })(),
      };
    },
  });
  const { receipt } = await bench.run([MANY, universalSink("t", { plan: SMALL })], { services: sink.services });
  assert.deepEqual([sink.steps.commit, sink.steps.abort], [0, 1]);
  assert.deepEqual([receipt.nodes[1]?.error?.message, receipt.nodes[1]?.error?.cause], ["staging broke", "write"]);
});

Deno.test("a column that Arrow can't carry fails the node before its connector hears of it", async () => {
  await using bench = await Bench.create();
  const sink = new FakeSink({
    drain: () => Promise.reject(new Error("no such type")),
  });
  const { receipt } = await bench.run([MANY, universalSink("t")], { services: sink.services });
  assert.deepEqual([receipt.nodes[1]?.error?.message, sink.log], ["no such type", []]);
});

for (const [point, aborts] of [["begin", 1], ["write", 1], ["last write", 1]] as const) {
  Deno.test(`a stop during ${point} takes the write back and skips the node`, async () => {
    await using bench = await Bench.create();
    const controller = new AbortController();
    let writes = 0;
    const sink = new FakeSink({
      before: (step, _, signal) => {
        if (step === "write") writes++;
        const isNow = point === "begin" ? step === "begin" : point === "write" ? writes === 3 : writes === 1;
        if (isNow) controller.abort(new Error("stop"));
        if (step === "begin" && isNow) assert.equal(signal?.aborted, true);
      },
    });
    const plan = point === "last write" ? {} : SMALL;
    const { outcome } = await bench.run([MANY, universalSink("t", { plan })], {
      services: sink.services,
      options: { signal: controller.signal },
    });
    assert.deepEqual([outcome.status, outcome.succeeded, outcome.skipped], ["fatal", 1, 1]);
    assert.deepEqual([sink.steps.commit, sink.steps.abort], [0, aborts]);
  });
}

Deno.test("a stop during the commit lets it end, and the node has succeeded", async () => {
  await using bench = await Bench.create();
  const controller = new AbortController();
  const sink = new FakeSink({
    before: async (step) => {
      if (step !== "commit") return;
      controller.abort(new Error("stop"));
      await new Promise((resolve) => setTimeout(resolve, 0));
    },
  });
  const { receipt } = await bench.run([MANY, universalSink("t")], {
    services: sink.services,
    options: { signal: controller.signal },
  });
  assert.equal(receipt.nodes[1]?.status, "success");
  assert.deepEqual([sink.steps.commit, sink.steps.abort], [1, 0]);
});

Deno.test("a write that is still waiting when another fails is stopped by its signal before the abort", async () => {
  await using bench = await Bench.create();
  const order: string[] = [];
  const hangs = Promise.withResolvers<void>();
  const sink = new FakeSink({
    before: async (step, number, signal) => {
      if (step === "abort") order.push(`abort ${number}`);
      if (step !== "write") return;
      if (number === 1) {
        await hangs.promise;
        throw new ConnectorError("broken", { transient: false });
      }
      hangs.resolve();
      await new Promise((_, reject) =>
        signal?.addEventListener("abort", () => {
          order.push(`stopped ${number}`);
          reject(signal.reason);
        }, { once: true })
      );
    },
  });
  const { receipt } = await bench.run([
    MANY,
    universalSink("t", { plan: { ...SMALL, writers: 2 }, write: { strategy: "append" } }),
  ], { services: sink.services });
  assert.deepEqual(order, ["stopped 0", "abort 0", "abort 1"]);
  assert.equal(receipt.nodes[1]?.error?.message, "broken");
});

// The strategy, the error of the first commit, and whether a second attempt is made.
const REPEATS: readonly (readonly ["append" | "merge" | "replace", ConnectorError, boolean])[] = [
  ["append", unknown(true), false],
  ["merge", unknown(true), true],
  ["replace", unknown(true), true],
  ["replace", unknown(false), false],
  ["append", new ConnectorError("not landed", { transient: true, outcomeUnknown: false }), true],
  ["append", transient("a write that failed late"), true],
];

for (const [strategy, error, repeated] of REPEATS) {
  const what = `${error.message}, ${error.transient ? "transient" : "permanent"}`;
  Deno.test(`a commit that fails (${what}) is ${repeated ? "" : "not "}tried again for ${strategy}`, async () => {
    await using bench = await Bench.create();
    const sink = failing({ at: "commit", write: 0, error });
    const { receipt, events } = await bench.run([
      MANY,
      universalSink("t", { write: { strategy, keys: strategy === "merge" ? ["n"] : [] }, retry: { maxAttempts: 3 } }),
    ], { services: sink.services });
    assert.deepEqual(sink.specs.map(({ attempt }) => attempt.ordinal), repeated ? [1, 2] : [1]);
    assert.equal(receipt.nodes[1]?.status, repeated ? "success" : "failed");
    const waits = events.filter((event): event is RetryScheduled => event.event === "retry_scheduled");
    assert.equal(waits.length, repeated ? 1 : 0);
    if (!repeated) {
      assert.match(receipt.nodes[1]?.error?.message ?? "", /^The commit failed, outcome unknown: connection lost/);
    }
  });
}

Deno.test("an append with an unclear commit is tried again where the next attempt finds out what has landed", async () => {
  await using bench = await Bench.create();
  const sink = failing({ at: "commit", write: 0, error: unknown(true) }, { provesAttempt: true });
  const { receipt } = await bench.run([
    MANY,
    universalSink("t", { write: { strategy: "append" }, retry: { maxAttempts: 3 } }),
  ], { services: sink.services });
  assert.deepEqual(sink.specs.map(({ attempt }) => attempt.ordinal), [1, 2]);
  assert.equal(receipt.nodes[1]?.status, "success");
});

for (const outcomeUnknown of [false, undefined]) {
  Deno.test(`a part that has been committed is not added again (the other: ${outcomeUnknown})`, async () => {
    await using bench = await Bench.create();
    const error = new ConnectorError("busy", { transient: true, outcomeUnknown });
    const sink = failing({ at: "commit", write: 1, error });
    const { receipt } = await bench.run([
      MANY,
      universalSink("t", { plan: { ...SMALL, writers: 2 }, write: { strategy: "append" }, retry: { maxAttempts: 3 } }),
    ], { services: sink.services });
    assert.deepEqual([receipt.nodes[1]?.attempts, receipt.nodes[1]?.error?.cause], [1, "commit"]);
    assert.match(receipt.nodes[1]?.error?.message ?? "", /outcome unknown: busy/);
  });
}

Deno.test("a transient failure while writing is tried again as a whole, whatever the strategy", async () => {
  await using bench = await Bench.create();
  const sink = failing({ at: "write", write: 0, error: transient("busy") });
  const { receipt } = await bench.run([
    MANY,
    universalSink("t", { write: { strategy: "append" }, retry: { maxAttempts: 2 } }),
  ], { services: sink.services });
  assert.equal(receipt.nodes[1]?.status, "success");
  assert.equal(sink.written[1]?.reduce((sum, { numRows }) => sum + numRows, 0), 10_000);
});

Deno.test("what may be left of a failed write is told where the sink can't take everything back", async () => {
  await using bench = await Bench.create();
  const run = async (init: Parameters<typeof failing>[1]) => {
    let writes = 0;
    const sink = new FakeSink({
      before: (step) => {
        if (step === "write" && ++writes === 3) throw new ConnectorError("full", { transient: false });
      },
      ...init,
    });
    const found = await bench.run([MANY, universalSink("t", { plan: SMALL })], { services: sink.services });
    const handed = sink.written[0]?.slice(0, 2).reduce((sum, { numRows }) => sum + numRows, 0) ?? 0;
    return { found, handed };
  };
  assert.equal(ended((await run({ abortSemantics: "discards_all" })).found).delivery, undefined);
  for (const abortSemantics of ["best_effort", "none"] as const) {
    const { found, handed } = await run({ abortSemantics });
    const { delivery } = ended(found);
    assert.equal(delivery?.abortSemantics, abortSemantics);
    assert.equal(delivery.resumedRows, 0);
    // The batch that was refused counts too.
    assert.ok(delivery.rowsVisible > handed && delivery.rowsVisible < 10_000, `${delivery.rowsVisible} of ${handed}`);
    assert.deepEqual(found.journal.at(-1)?.delivery, {
      abort_semantics: abortSemantics,
      rows_visible: delivery.rowsVisible,
      resumed_rows: 0,
    });
  }
});

Deno.test("a write that runs too long is stopped, taken back and told with what it may have left", async () => {
  await using bench = await Bench.create();
  const sink = new FakeSink({
    abortSemantics: "none",
    before: async (step, _, signal) => {
      if (step !== "write") return;
      await new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason), { once: true }));
    },
  });
  const run = await bench.run([MANY, universalSink("t")], {
    services: sink.services,
    engine: { nodeTimeoutMs: 300 },
  });
  assert.equal(run.receipt.nodes[1]?.error?.code, "PZ0525");
  assert.deepEqual(ended(run).delivery, { abortSemantics: "none", rowsVisible: 10_000, resumedRows: 0 });
  assert.equal(sink.steps.abort, 1);
});
