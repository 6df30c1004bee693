import assert from "node:assert/strict";
import type { ConfigMap } from "../../../src/connectors/mod.ts";
import type { RunServices } from "../../../src/engine/mod.ts";
import { pause } from "../../../src/engine/pause.ts";
import type { NodeCompleted, RunEvent } from "../../../src/events/mod.ts";
import type { Connection, RetryBlock } from "../../../src/project/mod.ts";
import { openStaging } from "../../../src/staging/mod.ts";
import { Log, openServed } from "../connectors/host/served_support.ts";
import { universalSink } from "./fake_sink.ts";
import { Bench, connection, type Fixture, pipeline, source } from "./fixture.ts";

const FAST: RetryBlock = { maxAttempts: 3, baseDelayMs: 1, maxDelayMs: 1 };

function load(name: string, options: ConfigMap, more: Partial<Connection> = {}) {
  return source(name, { strategy: "arrow_stream" }, {
    connection: connection("raw", { retry: FAST, ...more }),
    read: { options: { gated: true, plan: "single", ...options } },
  });
}

function services(log = new Log(), more: Partial<RunServices> = {}): RunServices {
  return { openStaging, random: () => 0, openSession: () => openServed(log), ...more };
}

function endOf(events: readonly RunEvent[], name: string): NodeCompleted {
  const end = events.find((event) => event.event === "node_completed" && event.name === name);
  return end?.event === "node_completed" ? end : assert.fail(`${name} has no end`);
}

Deno.test("a request that fails for the moment costs one request and not the node, and both are counted", async () => {
  await using bench = await Bench.create();
  const log = new Log();
  const { receipt, events } = await bench.run([load("one", { fates: "ok,busy,busy,ok" })], {
    services: services(log),
  });
  const [node] = receipt.nodes;
  assert.deepEqual([node?.status, node?.rows, node?.attempts], ["success", 6, 1]);
  assert.deepEqual(node?.ops, { executed: 8, retried: 2, throttle_wait_ms: 0 });
  assert.deepEqual(endOf(events, "one").ops, { executed: 8, retried: 2, throttleWaitMs: 0 });
  assert.equal(events.some(({ event }) => event === "retry_scheduled"), false);
});

Deno.test("a request that never succeeds fails one attempt of the node, and the breaker sees only that", async () => {
  await using bench = await Bench.create();
  const fates = Array(6).fill("busy").join(",");
  const { receipt, events } = await bench.run([load("one", { fates }, { retry: { ...FAST, maxAttempts: 2 } })], {
    engine: { breaker: { failureThreshold: 3, coolDownMs: 60_000 } },
    services: services(),
  });
  const [node] = receipt.nodes;
  assert.deepEqual([node?.status, node?.attempts, node?.error?.message], ["failed", 2, "busy"]);
  assert.equal(node?.ops?.retried, 2);
  assert.equal(events.some(({ event }) => event === "breaker_state_changed"), false);
  assert.equal(events.filter(({ event }) => event === "retry_scheduled").length, 1);
});

Deno.test("one bucket paces a connection, whichever of its nodes and processes ask", async () => {
  await using bench = await Bench.create();
  let now = 0;
  const paced = { rateLimit: { requestsPerMinute: 20, burst: 2 } };
  const { receipt } = await bench.run([load("dies", { stop: "exit" }, paced), load("lives", {}, paced)], {
    engine: { threads: 1 },
    services: services(new Log(), {
      monotonic: () => now,
      // Time passes by the waits for a token alone, each of which is longer than a second.
      pause: async (ms, signal) => {
        if (ms > 1000) now += ms;
        else if (ms === 1000) await pause(3_600_000, signal);
      },
    }),
  });
  const nodes = ["dies", "lives"].map((name) => receipt.nodes.find((node) => node.name === name));
  assert.deepEqual(nodes.map((node) => [node?.status, node?.attempts]), [["failed", 3], ["success", 1]]);
  const asked = nodes.map((node) => node?.ops?.executed);
  assert.deepEqual(asked, [12, 6]);
  assert.equal(now, (18 - 2) * 3000);
});

Deno.test("a server that asks for two seconds is not asked again before", async () => {
  const asked: number[] = [];
  let answered = 0;
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => {
    asked.push(performance.now());
    if (asked.length > 1) return new Response("ok");
    answered = performance.now();
    return new Response("slow down", { status: 429, headers: { "retry-after": "2" } });
  });
  await using bench = await Bench.create();
  const url = `http://127.0.0.1:${server.addr.port}/`;
  const { receipt } = await bench.run([load("one", { url })], { services: services() });
  assert.deepEqual([receipt.nodes[0]?.status, receipt.nodes[0]?.attempts], ["success", 1]);
  assert.equal(asked.length, 7);
  assert.ok((asked[1] ?? 0) - answered >= 2000, `asked again after ${(asked[1] ?? 0) - answered} ms`);
});

for (
  const [what, fates, more] of [
    ["its pace", "ok", { rateLimit: { requestsPerMinute: 1, burst: 1 } }],
    ["the next try of a request", "busy:3600000", {}],
    ["what the system has asked for", "budget:9999999999999", {}],
  ] as const
) {
  Deno.test(`a stop ends a read that waits for ${what} at once`, async () => {
    const stop = new AbortController();
    await using bench = await Bench.create();
    const log = new Log();
    let stopped = 0;
    const fixture: Fixture = {
      options: { signal: stop.signal },
      services: services(log, {
        pause: async (ms, signal) => {
          if (ms > 10_000) {
            stopped = performance.now();
            stop.abort(new Error("stop"));
          }
          await pause(ms, signal);
        },
      }),
    };
    const { outcome } = await bench.run([load("one", { fates }, more)], fixture);
    assert.ok(performance.now() - stopped < 2000);
    assert.deepEqual([outcome.status, outcome.skipped, outcome.interrupted], ["fatal", 1, true]);
    assert.equal(log.lines.filter((line) => line.startsWith("page")).length, 1);
  });
}

Deno.test("a stop takes back a write that waits for its pace, and does not wait for that", async () => {
  const stop = new AbortController();
  await using bench = await Bench.create();
  const log = new Log();
  const { outcome } = await bench.run([
    pipeline("t", "SELECT range AS n FROM range(10000)"),
    universalSink("t", {
      plan: { batchBytes: 10_000 },
      write: { options: { gated: true } },
      rateLimit: { requestsPerMinute: 1, burst: 1 },
    }),
  ], {
    options: { signal: stop.signal },
    services: services(log, {
      pause: async (ms, signal) => {
        if (ms > 10_000) stop.abort(new Error("stop"));
        await pause(ms, signal);
      },
    }),
  });
  assert.deepEqual([outcome.status, outcome.skipped], ["fatal", 1]);
  assert.deepEqual(log.lines.slice(-2), ["undo ok", "abort after 1024 rows"]);
});

Deno.test("while a load waits long for its pace others have its thread", async () => {
  await using bench = await Bench.create();
  const other = Promise.withResolvers<void>();
  let skipped = 0;
  const { receipt } = await bench.run([
    load("slow", {}, { rateLimit: { requestsPerMinute: 1, burst: 1 } }),
    pipeline("quick", "SELECT 1 AS n"),
  ], {
    engine: { threads: 1 },
    onEvent: (event) => {
      if (event.event === "node_completed" && event.name === "quick") other.resolve();
    },
    services: services(new Log(), {
      monotonic: () => performance.now() + skipped,
      pause: async (ms, signal) => {
        signal.throwIfAborted();
        if (ms <= 10_000) return;
        await other.promise;
        skipped += ms;
      },
    }),
  });
  assert.deepEqual(receipt.nodes.map(({ name, status }) => `${name} ${status}`), ["quick success", "slow success"]);
});
