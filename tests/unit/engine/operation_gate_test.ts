import fc from "fast-check";
import assert from "node:assert/strict";
import type { OperationEnd, OperationRequest } from "../../../src/connectors/mod.ts";
import { EventBus, type RunEvent } from "../../../src/events/mod.ts";
import { type NodeGate, OperationGates } from "../../../src/engine/operation_gate.ts";
import type { Connection, RetryBlock } from "../../../src/project/mod.ts";
import { connection, pipeline, source } from "./fixture.ts";
import { VirtualClock } from "./virtual_clock.ts";

const NEVER = new AbortController().signal;
const BUSY: OperationEnd = { transient: true };

class Bench {
  readonly clock = new VirtualClock();
  readonly events: RunEvent[] = [];
  /** When the thread was lent and taken back, in turn. */
  readonly lends: number[] = [];
  random = 0.5;
  readonly #gates: OperationGates;

  constructor() {
    const subscriber = { handle: ({ event }: { readonly event: RunEvent }) => void this.events.push(event) };
    this.#gates = new OperationGates({
      bus: new EventBus({ runId: "r", now: () => "2027-03-02T06:15:00.004Z", subscribers: [subscriber] }),
      now: () => 1_000_000 + this.clock.now,
      random: () => this.random,
      monotonic: this.clock.monotonic,
      pause: this.clock.pause,
    });
  }

  gate(more: Partial<Connection> = {}, name = "one"): NodeGate {
    const [node] = source(name, {}, { connection: connection("raw", more) });
    return this.#gates.forNode(node, { signal: NEVER, lend: (wait) => this.#lend(wait) }) ?? assert.fail("no gate");
  }

  hasGate(node: Parameters<OperationGates["forNode"]>[0]): boolean {
    return this.#gates.forNode(node, { signal: NEVER, lend: (wait) => this.#lend(wait) }) !== undefined;
  }

  async #lend(wait: () => Promise<unknown>): Promise<void> {
    this.lends.push(this.clock.now);
    await wait();
    this.lends.push(this.clock.now);
  }
}

function operation(more: Partial<OperationRequest> = {}): OperationRequest {
  return { label: "page", idempotent: true, urgent: false, signal: NEVER, ...more };
}

/** An attempt that ends as the list says, one after the other, then well; keeps when each began. */
function script(bench: Bench, ...ends: readonly OperationEnd[]) {
  const at: number[] = [];
  const attempt = () => {
    at.push(bench.clock.now);
    return Promise.resolve(ends[at.length - 1]);
  };
  return { at, attempt };
}

Deno.test("an operation that may be repeated is, by the node's policy, and its last failure stands", async () => {
  const bench = new Bench();
  const gate = bench.gate({ retry: { maxAttempts: 3, baseDelayMs: 100, maxDelayMs: 150 } });
  const { at, attempt } = script(bench, BUSY, BUSY, BUSY);
  assert.deepEqual(await bench.clock.run(gate.execute(operation(), attempt)), BUSY);
  assert.deepEqual(at, [0, 50, 125]);
  assert.deepEqual(gate.stats, { executed: 3, retried: 2, throttleWaitMs: 0 });
});

Deno.test("one that may not be repeated is paced and tried once, like one whose failure will not pass", async () => {
  const bench = new Bench();
  const gate = bench.gate({ rateLimit: { requestsPerMinute: 60, burst: 1 } });
  for (const [ends, more] of [[[BUSY], { idempotent: false }], [[{ transient: false }], {}]] as const) {
    const { at, attempt } = script(bench, ...ends);
    assert.deepEqual(await bench.clock.run(gate.execute(operation(more), attempt)), ends[0]);
    assert.equal(at.length, 1);
  }
  assert.equal(bench.clock.now, 1000);
  assert.deepEqual(gate.stats, { executed: 2, retried: 0, throttleWaitMs: 1000 });
});

Deno.test("a wait that a system asks for holds all operations of its connection, and is never shortened", async () => {
  const bench = new Bench();
  bench.random = 0;
  const retry: RetryBlock = { baseDelayMs: 1, maxDelayMs: 1 };
  const one = script(bench, { transient: true, retryAfterMs: 60_000 });
  const first = bench.gate({ retry }).execute(operation(), one.attempt);
  await bench.clock.pass(10_000);
  const two = script(bench);
  const other = bench.gate({ retry }, "two");
  const second = other.execute(operation(), two.attempt);
  await bench.clock.run(Promise.all([first, second]));
  assert.deepEqual([one.at, two.at], [[0, 60_000], [60_000]]);
  assert.deepEqual(other.stats, { executed: 1, retried: 0, throttleWaitMs: 50_000 });
  const told = bench.events.flatMap((event) => event.event === "connector_log" ? [event.message] : []);
  assert.deepEqual(told, ["The system asks to be left alone for 60 s; its requests wait meanwhile"]);
});

Deno.test("a wait that several operations are told is told to people once, and a short one not at all", async () => {
  const bench = new Bench();
  const once = operation({ idempotent: false });
  const gate = bench.gate();
  const told = () => bench.events.length;
  await Promise.all([30_000, 29_000, 31_000].map((retryAfterMs) => {
    return gate.execute(once, () => Promise.resolve({ transient: true, retryAfterMs }));
  }));
  assert.equal(told(), 1);
  gate.reportBudget(0, 1_000_000 + 20_000);
  gate.reportBudget(0, 1_000_000 + 20_000);
  assert.equal(told(), 2);
  await bench.clock.pass(60_000);
  await gate.execute(once, () => Promise.resolve({ transient: true, retryAfterMs: 9999 }));
  assert.equal(told(), 2);
});

Deno.test("a month of waiting is a month", async () => {
  const bench = new Bench();
  const month = 31 * 24 * 3_600_000;
  const { at, attempt } = script(bench, { transient: true, retryAfterMs: month });
  await bench.clock.run(bench.gate().execute(operation(), attempt));
  assert.ok((at[1] ?? 0) >= month);
});

Deno.test("a budget that is used up holds the next operation until it is renewed", async () => {
  const bench = new Bench();
  const gate = bench.gate();
  gate.reportBudget(0, 1_005_000);
  gate.reportBudget(5, 2_000_000);
  const { at, attempt } = script(bench);
  await bench.clock.run(gate.execute(operation(), attempt));
  assert.deepEqual(at, [5000]);
});

Deno.test("what takes back a write does not wait, and what comes later makes up for it", async () => {
  const bench = new Bench();
  const gate = bench.gate({ rateLimit: { requestsPerMinute: 60, burst: 1 } });
  const { at, attempt } = script(bench);
  await gate.execute(operation(), attempt);
  await gate.execute(operation({ urgent: true }), attempt);
  await bench.clock.run(gate.execute(operation(), attempt));
  assert.deepEqual(at, [0, 0, 2000]);
});

Deno.test("a stop ends each kind of wait at once, with its reason", async () => {
  const stop = new AbortController();
  const slow = { rateLimit: { requestsPerMinute: 1, burst: 1 } };
  const bench = new Bench();
  const paced = bench.gate(slow);
  await paced.execute(operation(), () => Promise.resolve(undefined));
  const { at, attempt } = script(bench, BUSY);
  const waits = [
    paced.execute(operation({ signal: stop.signal }), attempt),
    new Bench().gate().execute(operation({ signal: stop.signal }), attempt),
  ];
  const ends = waits.map((wait) => assert.rejects(wait, /^Error: stop$/));
  await bench.clock.pass(10);
  stop.abort(new Error("stop"));
  await Promise.all(ends);
  assert.deepEqual(at, [0]);
  await assert.rejects(paced.execute(operation({ signal: stop.signal }), attempt), /^Error: stop$/);
  assert.deepEqual(paced.stats, { executed: 1, retried: 0, throttleWaitMs: 10 });
});

Deno.test("a stop while a request is made is no reason to count another try, and before it to make it", async () => {
  const bench = new Bench();
  const gate = bench.gate();
  const stop = new AbortController();
  const end = await gate.execute(operation({ signal: stop.signal }), () => {
    stop.abort(new Error("stop"));
    return Promise.resolve(BUSY);
  });
  assert.deepEqual(end, BUSY);
  const never = () => assert.fail("it was made");
  await assert.rejects(gate.execute(operation({ signal: stop.signal }), never), /^Error: stop$/);
  assert.deepEqual(gate.stats, { executed: 1, retried: 0, throttleWaitMs: 0 });
});

Deno.test("a node whose operations all wait for longer than a moment lends out its thread until one of them goes", async () => {
  const bench = new Bench();
  const gate = bench.gate({ rateLimit: { requestsPerMinute: 6, burst: 1 } });
  const long = Promise.withResolvers<OperationEnd>();
  await gate.execute(operation(), () => Promise.resolve(undefined));
  const waiting = gate.execute(operation(), () => long.promise);
  await bench.clock.pass(10_500);
  assert.deepEqual(bench.lends, [1000, 10_000]);
  // While one is under way nothing is lent, however long the others wait.
  const later = gate.execute(operation(), () => Promise.resolve(undefined));
  await bench.clock.pass(4500);
  long.resolve(undefined);
  await bench.clock.run(Promise.all([waiting, later]));
  assert.deepEqual(bench.lends, [1000, 10_000, 16_000, 20_000]);
});

Deno.test("short waits keep the thread, and the end of an attempt takes it back", async () => {
  const bench = new Bench();
  const gate = bench.gate({ rateLimit: { requestsPerMinute: 75, burst: 1 } });
  for (let count = 0; count < 5; count++) {
    await bench.clock.run(gate.execute(operation(), () => Promise.resolve(undefined)));
  }
  assert.deepEqual(bench.lends, []);
  const stop = new AbortController();
  const held = bench.gate();
  held.reportBudget(0, 1_000_000 + bench.clock.now + 60_000);
  const waiting = held.execute(operation({ signal: stop.signal }), () => Promise.resolve(undefined));
  const ended = assert.rejects(waiting);
  await bench.clock.pass(5000);
  await held.endAttempt();
  assert.deepEqual(bench.lends, [4200, 8200]);
  stop.abort();
  await ended;
});

Deno.test("what goes on after the end of its attempt lends nothing of the next one", async () => {
  const bench = new Bench();
  const stop = new AbortController();
  const failing = Promise.withResolvers<OperationEnd>();
  const gate = bench.gate({ retry: { baseDelayMs: 60_000, maxDelayMs: 60_000 } });
  const ended = assert.rejects(gate.execute(operation({ signal: stop.signal }), () => failing.promise));
  await bench.clock.settle();
  await gate.endAttempt();
  failing.resolve(BUSY);
  await bench.clock.pass(5000);
  assert.equal(bench.clock.sleeping, 1);
  assert.deepEqual(bench.lends, []);
  stop.abort();
  await ended;
});

Deno.test("only loads and writes have a gate", () => {
  const bench = new Bench();
  assert.equal(bench.hasGate(pipeline("p", "SELECT 1")[0]), false);
  assert.equal(bench.hasGate(source("s", {})[0]), true);
});

type Script = {
  readonly afterMs: number;
  readonly idempotent: boolean;
  readonly tookMs: number;
  readonly ends: readonly ("well" | "busy" | "no" | number)[];
};

const scripts: fc.Arbitrary<readonly Script[]> = fc.array(
  fc.record({
    afterMs: fc.nat(500),
    idempotent: fc.boolean(),
    tookMs: fc.nat(300),
    ends: fc.array(
      fc.oneof(
        fc.constantFrom<Script["ends"][number]>("well", "busy", "busy", "no"),
        fc.integer({ min: 0, max: 9000 }),
      ),
      { maxLength: 5 },
    ),
  }),
  { minLength: 1, maxLength: 12 },
);

Deno.test("whatever operations do, each is tried as often as it may be, none too early, and all come to an end", async () => {
  const rates = fc.option(
    fc.record({ requestsPerMinute: fc.integer({ min: 6, max: 6000 }), burst: fc.integer({ min: 1, max: 4 }) }),
    {
      nil: undefined,
    },
  );
  await fc.assert(
    fc.asyncProperty(scripts, rates, fc.integer({ min: 1, max: 4 }), async (all, rateLimit, maxAttempts) => {
      const bench = new Bench();
      const more = { retry: { maxAttempts, baseDelayMs: 200, maxDelayMs: 1000 }, ...(rateLimit && { rateLimit }) };
      const gates = [bench.gate(more), bench.gate(more, "two")];
      const began: number[] = [];
      let [retried, heldUntil] = [0, 0];
      const run = async ({ afterMs, idempotent, tookMs, ends }: Script, index: number) => {
        await bench.clock.pause(afterMs, NEVER);
        let tries = 0;
        let earliest = bench.clock.now;
        const end = await gates[index % 2]?.execute(operation({ idempotent }), async () => {
          const now = bench.clock.now;
          assert.ok(now >= earliest && now >= heldUntil, `began at ${now}, not before ${earliest} and ${heldUntil}`);
          began.push(now);
          const fate = ends[tries++] ?? "well";
          await bench.clock.pause(tookMs, NEVER);
          if (fate === "well") return undefined;
          if (fate === "no") return { transient: false };
          if (fate === "busy") return BUSY;
          heldUntil = Math.max(heldUntil, bench.clock.now + fate);
          earliest = bench.clock.now + fate;
          return { transient: true, retryAfterMs: fate };
        });
        retried += tries - 1;
        const may = idempotent ? maxAttempts : 1;
        const stops = ends.findIndex((fate) => fate === "well" || fate === "no");
        const wanted = Math.min(may, (stops < 0 ? ends.length : stops) + 1);
        assert.equal(tries, wanted);
        const last = ends[tries - 1] ?? "well";
        assert.equal(end === undefined, last === "well");
      };
      await bench.clock.run(Promise.all(all.map(run)));
      const stats = gates.map((gate) => gate.stats ?? { executed: 0, retried: 0 });
      assert.equal(stats.reduce((sum, one) => sum + one.executed, 0), began.length);
      assert.equal(stats.reduce((sum, one) => sum + one.retried, 0), retried);
      if (rateLimit === undefined) return;
      const tokenMs = 60_000 / rateLimit.requestsPerMinute;
      for (let from = 0; from < began.length; from++) {
        for (let to = from; to < began.length; to++) {
          const span = (began[to] ?? 0) - (began[from] ?? 0);
          assert.ok(to - from + 1 <= rateLimit.burst + span / tokenMs + 1e-6, `${began}`);
        }
      }
    }),
    { numRuns: 100 },
  );
});
