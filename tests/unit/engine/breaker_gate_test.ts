import assert from "node:assert/strict";
import { ConnectorError } from "../../../src/connectors/mod.ts";
import type { Perform } from "../../../src/engine/attempts.ts";
import { SERVICES } from "../../../src/engine/services.ts";
import { Bench, connection, type FixtureRun, nativeSource, pipeline } from "./fixture.ts";

const ONCE = { retry: { maxAttempts: 1, baseDelayMs: 1, maxDelayMs: 1 } };

function source(name: string, connectionName = "crm") {
  return nativeSource(name, "SELECT 1", { connection: connection(connectionName, ONCE) });
}

/** What a run tells of its breakers and of the ends of its nodes. */
function story({ events }: FixtureRun): string[] {
  return events.flatMap((event) => {
    if (event.event === "breaker_state_changed") return [`${event.instance} ${event.newState}`];
    return event.event === "node_completed" ? [`${event.name} ${event.errorCode ?? event.status}`] : [];
  });
}

/** Lets the nodes of these names fail for the moment, as often as said; the others succeed. */
function failing(times: { [name: string]: number }, calls: string[] = []): Perform {
  return (_, node) => {
    calls.push(node.name);
    const left = times[node.name] ?? 0;
    times[node.name] = left - 1;
    if (left > 0) return Promise.reject(new ConnectorError("busy", { transient: true }));
    return Promise.resolve({ rows: 1 });
  };
}

const engine = { threads: 1, breaker: { failureThreshold: 1, coolDownMs: 20 } };

Deno.test("while a connection is left alone other nodes use its thread, and then one probe tells that it works again", async () => {
  await using bench = await Bench.create();
  const nodes = [source("a"), source("b"), source("c"), source("other", "erp"), pipeline("p", "SELECT 1")];
  const run = await bench.run(nodes, { engine, services: { ...SERVICES, perform: failing({ a: 1 }) } });
  const told = story(run);
  const moves = ["conn:crm open", "conn:crm half_open", "conn:crm closed"];
  assert.deepEqual(told.filter((line) => line.startsWith("conn:")), moves);
  const ends = ["a PZ0501", "b success", "c success", "other success", "p success"];
  assert.deepEqual(told.filter((line) => !line.startsWith("conn:")).toSorted(), ends);
  const begun = run.events.flatMap((event) => event.event === "node_started" ? [event.name] : []);
  assert.deepEqual(begun.slice(0, 4), ["a", "b", "c", "other"]);
  assert.ok(told.indexOf("other success") < Math.min(told.indexOf("b success"), told.indexOf("c success")));
});

Deno.test("a node that has waited twice in vain fails with PZ0506 and its connector is not asked", async () => {
  await using bench = await Bench.create();
  const calls: string[] = [];
  const run = await bench.run([source("a"), source("b"), source("c")], {
    engine,
    // By this clock it never cools down.
    services: { ...SERVICES, perform: failing({ a: 1 }, calls), monotonic: () => 0 },
  });
  assert.deepEqual(calls, ["a"]);
  assert.deepEqual(run.outcome.failed, 3);
  for (const { error, attempts } of run.receipt.nodes.slice(1)) {
    assert.equal(error?.code, "PZ0506");
    assert.equal(attempts, undefined);
    assert.match(error?.message ?? "", /^Connection 'crm' keeps failing: .*\nhint: /);
  }
});

Deno.test("failures that are no fault of the moment, and a stop, open nothing", async () => {
  await using bench = await Bench.create();
  const perform: Perform = (_, node) =>
    Promise.reject(node.name === "a" ? new ConnectorError("no", { transient: false }) : new Error("bug"));
  const run = await bench.run([source("a"), source("b"), source("c")], {
    engine,
    services: { ...SERVICES, perform },
  });
  assert.deepEqual(story(run), ["a PZ0501", "b PZ0501", "c PZ0501"]);
});

Deno.test("a stop ends the wait for a breaker at once", async () => {
  await using bench = await Bench.create();
  const stop = new AbortController();
  const run = await bench.run([source("a"), source("b"), pipeline("p", "SELECT 1")], {
    engine: { threads: 1, breaker: { failureThreshold: 1, coolDownMs: 3_600_000 } },
    options: { signal: stop.signal },
    services: {
      ...SERVICES,
      perform: async (context, node) => {
        if (node.name === "p") stop.abort(new DOMException("stop", "AbortError"));
        return await failing({ a: 1 })(context, node);
      },
    },
  });
  assert.deepEqual(story(run).toSorted(), ["a PZ0501", "b skipped", "conn:crm open", "p success"]);
  assert.equal(run.outcome.interrupted, true);
});
