import assert from "node:assert/strict";
import type { DagNode } from "../../../src/compile/mod.ts";
import { ConnectorError, type OperationEnd } from "../../../src/connectors/mod.ts";
import { type DuckDbDatabase, DuckDbError, openDuckDb } from "../../../src/duckdb/mod.ts";
import type { Perform } from "../../../src/engine/attempts.ts";
import { pause } from "../../../src/engine/pause.ts";
import type { Session } from "../../../src/engine/run_context.ts";
import { PzError } from "../../../src/errors/mod.ts";
import type { PlannedNode } from "../../../src/plan/mod.ts";
import { Schema } from "../../../src/util/arrow.ts";
import { Bench, check, connection, csvCopy, nativeSource, pipeline, sink } from "./fixture.ts";
import { fakeSession } from "./session_support.ts";

const SEEDS = 100;
/** Just too many for a receipt after each. */
const NODES = 201;
const AT_ONCE = 10;
const THREADS = 16;
const NODE_TIMEOUT_MS = 20;
/** Waits take this part of their time, so that threads are lent within a time limit too. */
const HASTE = 100;

/** Numbers in [0, 1) that a seed decides. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A graph of nodes of every kind in which each comes after some of the last ones before it. */
function randomNodes(random: () => number, root: string): (readonly [DagNode, PlannedNode])[] {
  const busy = { retry: { maxAttempts: 3, baseDelayMs: 1, maxDelayMs: 1 } };
  const nodes: (readonly [DagNode, PlannedNode])[] = [];
  for (let index = 0; index < NODES; index++) {
    const name = `n${index}`;
    const parents = index < 4 ? [] : Array.from(
      { length: Math.floor(random() * 3) },
      () => `n${index - 1 - Math.floor(random() * Math.min(index, 12))}`,
    );
    const dependsOn = [...new Set(parents)].map((id) => `id-${id}`);
    const pick = random();
    const limited = connection(pick < 0.1 ? "one" : "three", {
      ...busy,
      maxConcurrency: pick < 0.1 ? 1 : 3,
      rateLimit: { requestsPerMinute: 300_000, burst: 2 },
    });
    if (index < 4 || pick < 0.15) {
      nodes.push(nativeSource(name, "SELECT 1", { dependsOn, connection: limited }));
    } else if (pick < 0.2) nodes.push(sink(name, "x", csvCopy(root, name), { dependsOn, connection: limited }));
    else if (pick < 0.4) nodes.push(check(name, "x", { type: "not_null" }, { dependsOn }));
    else nodes.push(pipeline(name, "SELECT 1", [], { dependsOn }));
  }
  return nodes;
}

/** A session that asks the gate before each of its requests, which end as chance says; some system asks for patience. */
function randomSession(random: () => number): Session {
  const attempt = async (): Promise<OperationEnd> => {
    await new Promise((done) => setTimeout(done, 0));
    const fate = random();
    if (fate < 0.7) return undefined;
    if (fate < 0.75) return { transient: false };
    return fate < 0.95 ? { transient: true } : { transient: true, retryAfterMs: 4 + random() * 2000 };
  };
  return fakeSession({
    through: (gate) => ({
      ...fakeSession(),
      getSchema: async (_, signal) => {
        const operation = { label: "page", idempotent: random() < 0.7, urgent: random() < 0.1, signal };
        if (random() < 0.05) gate.reportBudget(0, Date.now() + 1500);
        const requests = Array.from({ length: 1 + Math.floor(random() * 3) }, () => gate.execute(operation, attempt));
        const ends = await Promise.all(requests);
        const failed = ends.find((end) => end !== undefined);
        if (failed !== undefined) throw new ConnectorError("the request failed", failed);
        return new Schema([]);
      },
    }),
  });
}

/**
 * Does what chance says, of all that a node may do; at least now and then the loop turns meanwhile. `asking` is called
 * with the part of it in which others may have the node's thread.
 */
function randomly(random: () => number, asking: <T>(work: () => Promise<T>) => Promise<T>): Perform {
  return async ({ run, signal }, node) => {
    if ((node.kind === "SourceLoad" || node.kind === "SinkWrite") && random() < 0.5) {
      const spec = { connection: "", entity: "", config: {}, options: {} };
      await asking(() => run.sessions.get(node.connection).getSchema(spec, signal));
    }
    for (let turn = Math.floor(random() * 3); turn > 0; turn--) await new Promise((done) => setTimeout(done, 0));
    const fate = random();
    if (fate < 0.8) return { rows: 1 };
    if (fate < 0.83) throw new ConnectorError("busy", { transient: true });
    if (fate < 0.86) throw new ConnectorError("come again", { transient: true, retryAfterMs: 1 });
    if (fate < 0.88) throw new ConnectorError("no", { transient: false });
    if (fate < 0.9) throw new DuckDbError("no such table", "Catalog");
    if (fate < 0.92) throw new PzError("PZ0501", "no");
    if (fate < 0.94) return { rows: 3, failure: { code: "PZ0510", message: "3 rows" } };
    if (fate < 0.96) throw "not even an error";
    if (fate < 0.98) {
      // Ends only when it is told to, in its own words.
      await aborted(signal);
      throw new Error("stopped");
    }
    await aborted(signal);
    return { rows: 1 };
  };
}

function aborted(signal: AbortSignal): Promise<unknown> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}

/** Runs one random graph with faults; everything is looked at that a run promises. */
async function runRandomly(seed: number, database: DuckDbDatabase): Promise<void> {
  const openStaging = () =>
    Promise.resolve({
      connect: () => database.connect(),
      setup: () => Promise.resolve(),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    });
  const random = randomOf(seed);
  await using bench = await Bench.create();
  const nodes = randomNodes(random, bench.root);
  const stop = new AbortController();
  let left = seed % 3 === 0 ? Math.floor(random() * NODES) : Infinity;
  let running = 0;
  let most = 0;
  const perform = randomly(random, async (work) => {
    running--;
    try {
      return await work();
    } finally {
      running++;
    }
  });
  const run = await bench.run(nodes, {
    engine: {
      threads: THREADS,
      nodeTimeoutMs: NODE_TIMEOUT_MS,
      ...(seed % 2 === 0 ? { breaker: { failureThreshold: 2, coolDownMs: 5 } } : {}),
    },
    options: { signal: stop.signal, failFast: seed % 7 === 0 },
    services: {
      openStaging,
      openSession: () => randomSession(random),
      random,
      pause: (ms, signal) => pause(Math.ceil(ms / HASTE), signal),
      perform: async (context, node) => {
        if (left-- === 0) stop.abort(new DOMException("stop", "AbortError"));
        most = Math.max(most, ++running);
        try {
          return await perform(context, node);
        } finally {
          running--;
        }
      },
    },
  });

  const told = `seed ${seed}`;
  assert.ok(most <= THREADS, told);
  assert.equal(running, 0, told);
  const status = new Map<string, string>();
  const started = new Set<string>();
  for (const event of run.events) {
    if (event.event === "node_started") {
      const { id, dependsOn } = nodes.find(([node]) => node.id === event.nodeId)?.[0] ?? assert.fail(told);
      for (const parent of dependsOn) assert.equal(status.get(parent), "success", `${told}: ${id}`);
      assert.ok(!started.has(id) && !status.has(id), `${told}: ${id}`);
      started.add(id);
    } else if (event.event === "node_completed") {
      assert.ok(!status.has(event.nodeId), `${told}: ${event.nodeId} ended twice`);
      if (event.status !== "skipped") assert.ok(started.has(event.nodeId), told);
      status.set(event.nodeId, event.status);
    }
  }
  const ids = nodes.map(([node]) => node.id).toSorted();
  assert.deepEqual([...status.keys()].toSorted(), ids, told);
  assert.deepEqual(run.journal.map(({ id }) => id).toSorted(), ids, told);
  assert.deepEqual(run.receipt.nodes.map(({ id }) => id).toSorted(), ids, told);
  assert.deepEqual(run.journal.map(({ id, status }) => [id, status]), [...status], told);
  const { succeeded, failed, skipped } = run.outcome;
  const count = (wanted: string) => [...status.values()].filter((one) => one === wanted).length;
  assert.deepEqual([succeeded, failed, skipped], ["success", "failed", "skipped"].map(count), told);
  assert.equal(run.events.filter(({ event }) => event === "run_completed").length, 1, told);
  assert.equal(run.receipt.status, run.outcome.status, told);
}

Deno.test("whatever nodes do, a run of 201 nodes on 16 threads ends, each node exactly once and none too early", async () => {
  await using database = await openDuckDb({});
  const seeds = Array.from({ length: SEEDS }, (_, index) => index + 1);
  const work = async () => {
    for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) await runRandomly(seed, database);
  };
  // None of them may use the database any more when it is closed.
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, work));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
});
