import FakeTimers from "@sinonjs/fake-timers";
import assert from "node:assert/strict";
import { NodeTimeout, STOP_GRACE_MS, withNodeTimeout } from "../../../src/engine/node_timeout.ts";
import { ConnectorError } from "../../../src/connectors/mod.ts";
import { openStaging } from "../../../src/staging/mod.ts";
import { Schema } from "../../../src/util/arrow.ts";
import { Bench, connection, pipeline, source } from "./fixture.ts";
import { fakeSession } from "./session_support.ts";

const never = new AbortController().signal;

/** Ends when it is told to stop, after `afterMs`. */
function stoppable(afterMs: number): (signal: AbortSignal) => Promise<string> {
  return (signal) =>
    new Promise((_, reject) =>
      signal.addEventListener("abort", () => setTimeout(() => reject(signal.reason), afterMs), { once: true })
    );
}

async function withClock(work: (clock: ReturnType<typeof FakeTimers.install>) => Promise<void>): Promise<void> {
  const clock = FakeTimers.install({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    await work(clock);
    assert.equal(clock.countTimers(), 0);
  } finally {
    clock.uninstall();
  }
}

Deno.test("without a limit the work gets the given signal itself", async () => {
  const result = await withNodeTimeout(undefined, never, (signal) => Promise.resolve(signal));
  assert.equal(result, never);
});

Deno.test("work that ends in time keeps its result and leaves no timer", async () => {
  await withClock(async () => {
    assert.equal(await withNodeTimeout(1000, never, () => Promise.resolve("done")), "done");
    await assert.rejects(withNodeTimeout(1000, never, () => Promise.reject(new Error("mine"))), /mine/);
  });
});

Deno.test("work that stops when the limit passes is a timeout", async () => {
  await withClock(async (clock) => {
    const result = withNodeTimeout(1000, never, stoppable(10));
    const check = assert.rejects(result, (error) => error instanceof NodeTimeout && !error.unresponsive);
    await clock.tickAsync(999);
    await clock.tickAsync(11);
    await check;
  });
});

Deno.test("work that ends well after the limit all the same keeps its result", async () => {
  await withClock(async (clock) => {
    const work = (signal: AbortSignal) =>
      new Promise<string>((resolve) => signal.addEventListener("abort", () => resolve("committed"), { once: true }));
    const result = withNodeTimeout(1000, never, work);
    await clock.tickAsync(1000);
    assert.equal(await result, "committed");
  });
});

Deno.test("work that does not stop is given up 30 seconds after it was told to", async () => {
  await withClock(async (clock) => {
    const settled: unknown[] = [];
    const result = withNodeTimeout(1000, never, () => new Promise(() => {}));
    result.catch((error: unknown) => settled.push(error));
    await clock.tickAsync(1000 + STOP_GRACE_MS - 1);
    assert.deepEqual(settled, []);
    await clock.tickAsync(1);
    const error: unknown = settled.at(0);
    assert.ok(error instanceof NodeTimeout && error.unresponsive);
  });
});

Deno.test("a stop from outside reaches the work and is no timeout, however long it takes to stop", async () => {
  await withClock(async (clock) => {
    const controller = new AbortController();
    const reason = new Error("stop");
    const result = withNodeTimeout(1000, controller.signal, stoppable(5000));
    const check = assert.rejects(result, (error) => error === reason);
    controller.abort(reason);
    await clock.tickAsync(5000);
    await check;
  });
});

Deno.test("a statement that runs too long is interrupted, fails with PZ0525 and leaves the rest to run", async () => {
  await using bench = await Bench.create();
  const { outcome, receipt } = await bench.run([
    pipeline("slow", "SELECT sum(hash(a.range + b.range)) FROM range(1000000000) a, range(1000000000) b"),
    pipeline("after", "SELECT * FROM staging.slow", ["slow"]),
    pipeline("other", "SELECT 1"),
  ], { engine: { nodeTimeoutMs: 500 } });
  assert.equal(outcome.status, "completed_with_failures");
  assert.deepEqual(Object.fromEntries(receipt.nodes.map(({ name, status }) => [name, status])), {
    slow: "failed",
    after: "skipped",
    other: "success",
  });
  const error = receipt.nodes.find(({ name }) => name === "slow")?.error;
  assert.deepEqual([error?.code, error?.cause], ["PZ0525", "timeout"]);
  assert.match(error?.message ?? "", /'slow' ran longer than engine\.node_timeout \(0\.5s\)/);
});

Deno.test("a node that can't be stopped fails with PZ0526, stops the run, and the receipt still ends", async () => {
  await using bench = await Bench.create();
  const opened: AsyncDisposable[] = [];
  const clock = FakeTimers.install({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const stuck = Promise.withResolvers<Schema>();
    const running = bench.run([
      source("stuck", { strategy: "arrow_stream" }, { connection: connection("raw") }),
      pipeline("after", "SELECT * FROM staging.stuck", ["stuck"]),
      pipeline("zlast", "SELECT 1"),
    ], {
      engine: { nodeTimeoutMs: 1000, threads: 1 },
      services: {
        openStaging: async (options) => {
          const staging = await openStaging(options);
          opened.push(staging);
          return staging;
        },
        openSession: () =>
          fakeSession({
            getSchema: () => {
              clock.tickAsync(1000 + STOP_GRACE_MS);
              return stuck.promise;
            },
            [Symbol.asyncDispose]: () => {
              stuck.reject(new ConnectorError("closed", { transient: false }));
              return Promise.resolve();
            },
          }),
      },
    });
    const { outcome, receipt } = await running;
    assert.deepEqual(outcome, {
      status: "completed_with_failures",
      interrupted: false,
      succeeded: 0,
      failed: 1,
      skipped: 2,
    });
    const error = receipt.nodes.find(({ name }) => name === "stuck")?.error;
    assert.deepEqual([error?.code, error?.cause], ["PZ0526", "timeout"]);
    assert.equal(receipt.status, "completed_with_failures");
  } finally {
    clock.uninstall();
    // The run leaves it open for the node that still holds it.
    for (const staging of opened) await staging[Symbol.asyncDispose]();
  }
});
