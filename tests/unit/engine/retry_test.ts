import fc from "fast-check";
import assert from "node:assert/strict";
import { ConnectorError } from "../../../src/connectors/mod.ts";
import type { RunServices } from "../../../src/engine/mod.ts";
import { retryDelayMs, retryPolicy, transientError } from "../../../src/engine/retry.ts";
import { StepError } from "../../../src/engine/failure.ts";
import type { RetryScheduled, RunEvent } from "../../../src/events/mod.ts";
import type { RetryBlock } from "../../../src/project/mod.ts";
import { openStaging } from "../../../src/staging/mod.ts";
import { Schema } from "../../../src/util/arrow.ts";
import { Bench, connection, pipeline, source } from "./fixture.ts";
import { fakeSession } from "./session_support.ts";

const FAST: RetryBlock = { maxAttempts: 3, baseDelayMs: 1, maxDelayMs: 1 };

/** A connector whose plan fails with the given errors, one for each attempt, and then is empty. */
function failing(...errors: readonly unknown[]): { services: RunServices; calls: () => number } {
  let calls = 0;
  return {
    calls: () => calls,
    services: {
      openStaging,
      random: () => 0.5,
      openSession: () =>
        fakeSession({
          getSchema: () => Promise.resolve(new Schema([])),
          planRead: () => {
            const error = errors[calls++];
            return error === undefined ? Promise.resolve([]) : Promise.reject(error);
          },
        }),
    },
  };
}

function load(retry?: RetryBlock): ReturnType<typeof source> {
  const more = { connection: connection("raw", retry === undefined ? {} : { retry }) };
  return source("one", { strategy: "arrow_stream" }, more);
}

const transient = (text: string) => new ConnectorError(text, { transient: true });
const retries = (events: readonly RunEvent[]) =>
  events.filter((event): event is RetryScheduled => event.event === "retry_scheduled");

Deno.test("a transient failure is tried up to the limit and told before each wait", async () => {
  await using bench = await Bench.create();
  const fake = failing(transient("busy\nsecond line"), transient("busy"), transient("still busy"));
  const { receipt, events } = await bench.run([load(FAST)], { services: fake.services });
  assert.equal(fake.calls(), 3);
  assert.deepEqual(
    retries(events).map(({ attempt, maxAttempts, delayMs, reason }) => [
      attempt,
      maxAttempts,
      delayMs,
      reason,
    ]),
    [[2, 3, 1, "busy"], [3, 3, 1, "busy"]],
  );
  assert.deepEqual([receipt.nodes[0]?.status, receipt.nodes[0]?.attempts], ["failed", 3]);
  assert.deepEqual(receipt.nodes[0]?.error?.message, "still busy");
  assert.equal(events.filter(({ event }) => event === "node_started").length, 1);
});

Deno.test("a failure that is not transient is told at once, whoever raised it", async () => {
  for (const error of [new ConnectorError("no such table", { transient: false }), new TypeError("bug")]) {
    await using bench = await Bench.create();
    const fake = failing(error);
    const { receipt, events } = await bench.run([load(FAST)], { services: fake.services });
    assert.deepEqual([fake.calls(), retries(events).length, receipt.nodes[0]?.attempts], [1, 0, 1]);
  }
});

Deno.test("a stop during the wait skips the node", async () => {
  await using bench = await Bench.create();
  const controller = new AbortController();
  const fake = failing(transient("busy"));
  const { outcome } = await bench.run([load({ baseDelayMs: 3_600_000, maxDelayMs: 3_600_000 })], {
    services: fake.services,
    options: { signal: controller.signal },
    onEvent: ({ event }) => {
      if (event === "retry_scheduled") controller.abort(new Error("stop"));
    },
  });
  assert.deepEqual([outcome.status, outcome.skipped, fake.calls()], ["fatal", 1, 1]);
});

Deno.test("a pipeline is tried once", async () => {
  await using bench = await Bench.create();
  const { receipt, events } = await bench.run([pipeline("p", "SELECT nope")]);
  assert.deepEqual([retries(events).length, receipt.nodes[0]?.attempts], [0, 1]);
});

Deno.test("each field of the policy comes from the nearest place that sets it", () => {
  const [plain] = source("one", {});
  assert.deepEqual(retryPolicy(plain), { maxAttempts: 3, baseDelayMs: 1000, maxDelayMs: 30_000 });
  const [tuned] = source("one", {}, {
    connection: connection("raw", { retry: { maxAttempts: 5, baseDelayMs: 7 } }),
    read: { options: {}, retry: { maxAttempts: 9 } },
  });
  assert.deepEqual(retryPolicy(tuned), { maxAttempts: 9, baseDelayMs: 7, maxDelayMs: 30_000 });
});

Deno.test("what failed while publishing is never tried again by itself", () => {
  const error = transient("busy");
  assert.equal(transientError(new StepError("read", error)), error);
  assert.equal(transientError(new StepError("commit", error)), undefined);
});

Deno.test("a commit whose repetition does no harm is tried again like anything else", () => {
  const error = transient("busy");
  assert.equal(transientError(new StepError("commit", error, { outcomeUnknown: true, repeatable: true })), error);
  assert.equal(transientError(new StepError("commit", error, { outcomeUnknown: true, repeatable: false })), undefined);
  const permanent = new ConnectorError("no", { transient: false });
  assert.equal(transientError(new StepError("commit", permanent, { repeatable: true })), undefined);
});

Deno.test("waits are spread from nothing to a bound that doubles up to its own, and a requested wait comes first", () => {
  const policy = { maxAttempts: 9, baseDelayMs: 100, maxDelayMs: 1000 };
  const bounds = [1, 2, 3, 4, 5, 60, 2000].map((attempt) => retryDelayMs(policy, attempt, undefined, 1));
  assert.deepEqual(bounds, [100, 200, 400, 800, 1000, 1000, 1000]);
  assert.deepEqual([0, 0.5].map((random) => retryDelayMs(policy, 3, undefined, random)), [0, 200]);
  assert.deepEqual([0, 0.5].map((random) => retryDelayMs(policy, 3, 60_000, random)), [60_000, 60_200]);
  fc.assert(fc.property(
    fc.integer({ min: 1, max: 10_000 }),
    fc.option(fc.double({ min: 0, max: 10 ** 12, noNaN: true }), { nil: undefined }),
    fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    (attempt, retryAfter, random) => {
      const delay = retryDelayMs(policy, attempt, retryAfter, random);
      const floor = retryAfter ?? 0;
      const bound = Math.min(1000, 100 * 2 ** (attempt - 1));
      assert.ok(delay >= floor && delay <= floor + bound + 1, `${delay}`);
    },
  ));
});
