import fc from "fast-check";
import assert from "node:assert/strict";
import { Pacer } from "../../../src/engine/pacer.ts";
import { VirtualClock } from "./virtual_clock.ts";

const NEVER = new AbortController().signal;

function pacer(requestsPerMinute: number, burst: number, clock = new VirtualClock()): Pacer {
  return new Pacer({ ...clockOf(clock), rate: { requestsPerMinute, burst } });
}

function clockOf({ monotonic, pause }: VirtualClock) {
  return { monotonic, pause };
}

Deno.test("a bucket is full at first, fills up evenly and never over its burst", () => {
  const clock = new VirtualClock();
  const paced = pacer(60, 2, clock);
  const ask = () => paced.tryAcquire();
  assert.deepEqual([ask(), ask(), ask()], [0, 0, 1000]);
  clock.now = 400;
  assert.equal(ask(), 600);
  clock.now = 1000;
  assert.deepEqual([ask(), ask()], [0, 1000]);
  clock.now = 100_000;
  assert.deepEqual([ask(), ask(), ask()], [0, 0, 1000]);
});

Deno.test("without a rate only the system's own wishes hold anything back", () => {
  const clock = new VirtualClock();
  const paced = new Pacer(clockOf(clock));
  assert.deepEqual(Array.from({ length: 1000 }, () => paced.tryAcquire()), Array(1000).fill(0));
  paced.hold(50.5);
  assert.equal(paced.tryAcquire(), 51);
  paced.hold(10);
  assert.equal(paced.tryAcquire(), 51);
  clock.now = 51;
  assert.equal(paced.tryAcquire(), 0);
});

Deno.test("a budget that is used up holds until it is renewed, 15 minutes at the most, and another one does not", () => {
  const clock = new VirtualClock();
  const paced = new Pacer(clockOf(clock));
  assert.equal(paced.budget(3, 60_000), 0);
  assert.equal(paced.tryAcquire(), 0);
  assert.equal(paced.budget(0, 60_000), 60_000);
  assert.equal(paced.tryAcquire(), 60_000);
  assert.equal(paced.budget(0, 10 ** 12), 900_000);
  assert.equal(paced.tryAcquire(), 900_000);
  assert.equal(paced.budget(0, -5), 0);
  assert.equal(paced.tryAcquire(), 0);
});

Deno.test("who came first goes first, and who gives up makes room at once", async () => {
  const clock = new VirtualClock();
  const paced = pacer(60, 1, clock);
  const stop = new AbortController();
  const went: string[] = [];
  const go = async (name: string, signal = NEVER) => {
    await paced.acquire(signal);
    went.push(`${name} ${clock.now}`);
  };
  const all = [go("a"), go("b"), go("c", stop.signal), go("d")];
  await clock.pass(500);
  const third = assert.rejects(all[2] ?? assert.fail(), /^Error: enough$/);
  stop.abort(new Error("enough"));
  await third;
  assert.equal(paced.tryPass(), false);
  await clock.run(Promise.allSettled(all));
  assert.deepEqual(went, ["a 0", "b 1000", "d 2000"]);
  assert.equal(clock.sleeping, 0);
  await assert.rejects(paced.acquire(AbortSignal.abort(new Error("late"))), /^Error: late$/);
});

Deno.test("who comes when a wait is just over does not go before who waited", async () => {
  const clock = new VirtualClock();
  const paced = new Pacer(clockOf(clock));
  paced.hold(100);
  const waiting = paced.acquire(NEVER);
  await clock.settle();
  clock.now = 100;
  assert.equal(paced.tryPass(), false);
  await clock.run(waiting);
  assert.equal(paced.tryPass(), true);
});

/** What the tokens of a bucket are, counted in milliseconds of its filling, so that nothing is rounded. */
class Model {
  now = 0;
  credit: number;
  heldUntil = 0;
  budgetUntil = 0;

  constructor(readonly tokenMs: number, readonly burst: number) {
    this.credit = tokenMs * burst;
  }

  pass(ms: number): void {
    this.now += ms;
    this.credit = Math.min(this.tokenMs * this.burst, this.credit + ms);
  }

  /** How long an operation has to wait; at 0 it has gone. */
  ask(): number {
    const held = Math.max(this.heldUntil, this.budgetUntil) - this.now;
    const wait = Math.max(0, held, this.tokenMs - this.credit);
    if (wait === 0) this.credit -= this.tokenMs;
    return wait;
  }
}

type Real = { readonly clock: VirtualClock; readonly pacer: Pacer };

function step(name: string, run: (model: Model, real: Real) => void): fc.Command<Model, Real> {
  return { check: () => true, run, toString: () => name };
}

const commands = [
  fc.constant(step("ask", (model, { pacer }) => assert.equal(pacer.tryAcquire(), model.ask()))),
  fc.nat(5000).map((ms) =>
    step(`pass ${ms}`, (model, { clock }) => {
      clock.now += ms;
      model.pass(ms);
    })
  ),
  fc.nat(3000).map((ms) =>
    step(`hold ${ms}`, (model, { pacer }) => {
      pacer.hold(ms);
      model.heldUntil = Math.max(model.heldUntil, model.now + ms);
    })
  ),
  fc.tuple(fc.nat(2), fc.integer({ min: -1000, max: 2_000_000 })).map(([left, ms]) =>
    step(`budget ${left} for ${ms}`, (model, { pacer }) => {
      pacer.budget(left, ms);
      if (left === 0) model.budgetUntil = model.now + Math.min(Math.max(0, ms), 900_000);
    })
  ),
  fc.constant(step("charge", (model, { pacer }) => {
    pacer.charge();
    model.credit -= model.tokenMs;
  })),
];

Deno.test("whatever comes it paces as a plain count of tokens does", () => {
  const tokens = fc.constantFrom(1, 10, 60, 250, 1000, 60_000);
  const steps = fc.commands(commands, { maxCommands: 60 });
  fc.assert(fc.property(tokens, fc.integer({ min: 1, max: 20 }), steps, (tokenMs, burst, history) => {
    fc.modelRun(() => {
      const clock = new VirtualClock();
      return { model: new Model(tokenMs, burst), real: { clock, pacer: pacer(60_000 / tokenMs, burst, clock) } };
    }, history);
  }));
});

Deno.test("in no span of time more go than the burst and what fills up meanwhile, and nobody waits longer than needed", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 100_000 }),
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.nat(300), { minLength: 1, maxLength: 30 }),
      async (perMinute, burst, gaps) => {
        const clock = new VirtualClock();
        const paced = pacer(perMinute, burst, clock);
        const went: number[] = [];
        const all: Promise<void>[] = [];
        for (const gap of gaps) {
          await clock.pass(gap);
          all.push(paced.acquire(NEVER).then(() => void went.push(clock.now)));
        }
        await clock.run(Promise.all(all));
        const tokenMs = 60_000 / perMinute;
        for (let from = 0; from < went.length; from++) {
          for (let to = from; to < went.length; to++) {
            const span = (went[to] ?? 0) - (went[from] ?? 0);
            assert.ok(to - from + 1 <= burst + span / tokenMs + 1e-6, `${went}`);
          }
        }
        const last = went.at(-1) ?? 0;
        const came = gaps.reduce((sum, gap) => sum + gap, 0);
        assert.ok(last <= came + (gaps.length - 1) * (tokenMs + 1) + 1, `${last}`);
      },
    ),
    { numRuns: 60 },
  );
});
