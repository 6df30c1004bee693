import fc from "fast-check";
import assert from "node:assert/strict";
import { Breaker, type BreakerMove, type Ticket } from "../../../src/engine/breaker.ts";

class Bench {
  now = 0;
  readonly moves: BreakerMove[] = [];
  readonly breaker: Breaker;

  constructor(failureThreshold: number, coolDownMs: number) {
    this.breaker = new Breaker({
      failureThreshold,
      coolDownMs,
      monotonic: () => this.now,
      onMove: (move) => this.moves.push(move),
    });
  }

  enter(): Ticket {
    const entry = this.breaker.tryEnter();
    if (!entry.entered) assert.fail(`denied for ${entry.retryInMs} ms`);
    return entry.ticket;
  }

  /** How long it denies; undefined: until it moves. */
  deniedFor(): number | undefined {
    const entry = this.breaker.tryEnter();
    if (entry.entered) assert.fail("let through");
    return entry.retryInMs;
  }

  get path(): string {
    return this.moves.map(({ newState, coolDownMs }) => `${newState} ${coolDownMs}`).join(", ");
  }
}

Deno.test("failures in a row open it, a success in between starts the count again", () => {
  const bench = new Bench(3, 100);
  for (const end of ["fail", "fail", "succeed", "fail", "fail"] as const) bench.breaker[end](bench.enter());
  assert.deepEqual(bench.moves, []);
  bench.breaker.fail(bench.enter());
  assert.deepEqual(bench.moves, [
    { oldState: "closed", newState: "open", trigger: "3 transient failures in a row", coolDownMs: 100 },
  ]);
  assert.equal(bench.deniedFor(), 100);
  bench.now = 60;
  assert.equal(bench.deniedFor(), 40);
});

Deno.test("once cooled down one probe goes through, and its end decides", () => {
  const bench = new Bench(1, 100);
  bench.breaker.fail(bench.enter());
  bench.now = 100;
  const probe = bench.enter();
  assert.equal(bench.deniedFor(), undefined);
  bench.breaker.fail(probe, 500);
  assert.equal(bench.deniedFor(), 500);
  bench.now = 600;
  bench.breaker.succeed(bench.enter());
  bench.enter();
  bench.enter();
  assert.equal(bench.path, "open 100, half_open 0, open 500, half_open 0, closed 0");
});

Deno.test("a probe that tells nothing makes room for the next one", () => {
  const bench = new Bench(1, 100);
  bench.breaker.fail(bench.enter());
  bench.now = 100;
  const first = bench.enter();
  bench.breaker.leave(first);
  const second = bench.enter();
  bench.breaker.leave(first);
  assert.equal(bench.deniedFor(), undefined);
  bench.breaker.succeed(second);
  assert.equal(bench.path, "open 100, half_open 0, closed 0");
});

Deno.test("what calls from before say later counts for nothing", () => {
  const bench = new Bench(1, 100);
  const [late, later, latest] = [bench.enter(), bench.enter(), bench.enter()];
  bench.breaker.fail(bench.enter());
  bench.breaker.succeed(late);
  assert.equal(bench.deniedFor(), 100);
  bench.now = 100;
  const probe = bench.enter();
  bench.breaker.fail(later);
  bench.breaker.succeed(latest);
  assert.equal(bench.deniedFor(), undefined);
  bench.breaker.succeed(probe);
  assert.equal(bench.path, "open 100, half_open 0, closed 0");
});

Deno.test("who waits is told of each move and of a probe that told nothing", async () => {
  const bench = new Bench(1, 100);
  let told = 0;
  const listen = () => void bench.breaker.moved.then(() => told++);
  listen();
  bench.breaker.fail(bench.enter());
  await Promise.resolve();
  assert.equal(told, 1);
  bench.now = 100;
  const probe = bench.enter();
  listen();
  bench.breaker.leave(probe);
  await Promise.resolve();
  assert.equal(told, 2);
});

type Step =
  | { readonly do: "enter" }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "succeed" | "fail" | "leave"; readonly which: number; readonly retryAfterMs: number };

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.constant<Step>({ do: "enter" }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant<"wait">("wait"), ms: fc.nat(80) }) },
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constantFrom<"succeed" | "fail" | "leave">("succeed", "fail", "fail", "leave"),
        which: fc.nat(20),
        retryAfterMs: fc.constantFrom(0, 0, 0, 120),
      }),
    },
  ),
  { maxLength: 60 },
);

Deno.test("whatever happens it does as a plain model of it does, and is never stuck", () => {
  fc.assert(fc.property(steps, fc.integer({ min: 1, max: 3 }), (history, threshold) => {
    const COOL = 50;
    const bench = new Bench(threshold, COOL);
    const out: { readonly ticket: Ticket; readonly era: number; readonly probe: boolean }[] = [];
    let [state, era, failures, until, probing] = ["closed", 0, 0, 0, false];
    const open = (retryAfterMs: number) => {
      [state, failures, probing] = ["open", 0, false];
      era++;
      until = bench.now + Math.max(COOL, retryAfterMs);
    };
    for (const step of history) {
      if (step.do === "wait") bench.now += step.ms;
      else if (step.do === "enter") {
        if (state === "open" && bench.now >= until) state = "half_open";
        const expected = state === "closed" || (state === "half_open" && !probing);
        const entry = bench.breaker.tryEnter();
        assert.equal(entry.entered, expected);
        if (entry.entered) {
          out.push({ ticket: entry.ticket, era, probe: state === "half_open" });
          probing = state === "half_open";
        } else assert.equal(entry.retryInMs, state === "open" ? until - bench.now : undefined);
      } else {
        const [call] = out.splice(step.which % Math.max(1, out.length), 1);
        if (call === undefined) continue;
        bench.breaker[step.do](call.ticket, step.retryAfterMs);
        if (call.era !== era) continue;
        if (step.do === "leave") probing = call.probe ? false : probing;
        else if (step.do === "fail") {
          if (state === "half_open" || ++failures >= threshold) open(step.retryAfterMs);
        } else [state, failures, probing] = ["closed", 0, false];
      }
    }
    for (const { ticket } of out) bench.breaker.leave(ticket);
    bench.now += 1000;
    bench.breaker.succeed(bench.enter());
    bench.enter();
    const states = ["closed", ...bench.moves.map(({ newState }) => newState)];
    assert.deepEqual(bench.moves.map(({ oldState }) => oldState), states.slice(0, -1));
  }));
});
