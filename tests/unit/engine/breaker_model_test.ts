import fc from "fast-check";
import assert from "node:assert/strict";
import { ConnectorError } from "../../../src/connectors/mod.ts";
import { Breakers } from "../../../src/engine/breaker_gate.ts";
import { EventBus, type RunEvent } from "../../../src/events/mod.ts";
import type { EngineConfig } from "../../../src/project/mod.ts";
import { connection, makeProject, source } from "./fixture.ts";
import { VirtualClock } from "./virtual_clock.ts";

const NEVER = new AbortController().signal;

function breakers(clock: VirtualClock, breaker: EngineConfig["breaker"], tell: (event: RunEvent) => void): Breakers {
  const subscriber = { handle: ({ event }: { readonly event: RunEvent }) => tell(event) };
  const bus = new EventBus({ runId: "r", now: () => "2027-03-02T06:15:00.004Z", subscribers: [subscriber] });
  const project = makeProject("/p", { engine: breaker === undefined ? {} : { breaker } });
  return new Breakers({ project, bus, pause: clock.pause }, clock.monotonic);
}

function gateOf(all: Breakers, name: string) {
  return all.gateFor(source(name, {}, { connection: connection("raw") })[0]) ?? assert.fail("no gate");
}

Deno.test("who waits for a probe waits as long as that takes, and is not told to give up", async () => {
  const clock = new VirtualClock();
  const all = breakers(clock, { failureThreshold: 1, coolDownMs: 1000 }, () => {});
  const [first, probe, other] = ["a", "b", "c"].map((name) => gateOf(all, name));
  const park = (wait: () => Promise<unknown>) => wait().then(() => {});
  await first?.enter({ signal: NEVER, park });
  first?.settle({ error: new ConnectorError("busy", { transient: true }) });
  const entered: boolean[] = [];
  const probing = probe?.enter({ signal: NEVER, park });
  await clock.pass(1000);
  assert.equal(await probing, true);
  void other?.enter({ signal: NEVER, park }).then((isIn) => entered.push(isIn));
  await clock.pass(3_600_000);
  assert.deepEqual(entered, []);
  probe?.settle();
  await clock.settle();
  assert.deepEqual(entered, [true]);
});

type Life = {
  readonly afterMs: number;
  /** The ends of its attempts: how long each takes, and what it ends with. */
  readonly attempts: readonly { readonly ms: number; readonly end: "well" | "busy" | "patience" | "no" | "stop" }[];
};

const lives: fc.Arbitrary<readonly Life[]> = fc.array(
  fc.record({
    afterMs: fc.nat(300),
    attempts: fc.array(
      fc.record({
        ms: fc.nat(200),
        end: fc.constantFrom<"well" | "busy" | "patience" | "no" | "stop">(
          "well",
          "busy",
          "busy",
          "patience",
          "no",
          "stop",
        ),
      }),
      { minLength: 1, maxLength: 4 },
    ),
  }),
  { minLength: 1, maxLength: 14 },
);

const PATIENCE_MS = 400;

Deno.test("whatever nodes do behind a breaker, none gets through while it is open, one at a time as a probe, and all end", async () => {
  await fc.assert(
    fc.asyncProperty(lives, fc.integer({ min: 1, max: 3 }), async (all, failureThreshold) => {
      const clock = new VirtualClock();
      const coolDownMs = 100;
      let state = "closed";
      let openUntil = 0;
      let openings = 0;
      const inside = new Set<number>();
      const gates = breakers(clock, { failureThreshold, coolDownMs }, (event) => {
        if (event.event !== "breaker_state_changed") return;
        assert.equal(event.oldState, state);
        state = event.newState;
        if (state !== "open") return;
        openings++;
        openUntil = clock.now + event.coolDownMs;
        assert.ok(event.coolDownMs === coolDownMs || event.coolDownMs === PATIENCE_MS);
      });
      const park = (wait: () => Promise<unknown>) => wait().then(() => {});
      const live = async ({ afterMs, attempts }: Life, index: number) => {
        const gate = gateOf(gates, `n${index}`);
        await clock.pause(afterMs, NEVER);
        for (const { ms, end } of attempts) {
          const openingsBefore = openings;
          const isIn = await gate.enter({ signal: NEVER, park });
          if (!isIn) {
            assert.equal(state, "open");
            assert.ok(openings > openingsBefore || clock.now < openUntil);
            return;
          }
          assert.ok(state === "closed" || state === "half_open", state);
          if (state === "half_open") {
            assert.ok(clock.now >= openUntil, "it has not cooled down");
            assert.ok(!probing, "two probes at once");
            probing = true;
          }
          const isProbe = state === "half_open";
          inside.add(index);
          await clock.pause(ms, NEVER);
          inside.delete(index);
          if (isProbe) probing = false;
          if (end === "well") gate.settle();
          else if (end === "busy") gate.settle({ error: new ConnectorError("busy", { transient: true }) });
          else if (end === "no") gate.settle({ error: new ConnectorError("no", { transient: false }) });
          else if (end === "stop") gate.settle({ error: new DOMException("stop", "AbortError") });
          else gate.settle({ error: new ConnectorError("later", { transient: true, retryAfterMs: PATIENCE_MS }) });
          if (end === "well" || end === "no" || end === "stop") return;
        }
      };
      let probing = false;
      await clock.run(Promise.all(all.map(live)));
      assert.equal(inside.size, 0);
      // It is never stuck: the next one gets through, at the latest once it has cooled down.
      await clock.pass(PATIENCE_MS);
      const last = gateOf(gates, "last");
      assert.equal(await last.enter({ signal: NEVER, park }), true);
      last.settle();
      assert.equal(state, "closed");
    }),
    { numRuns: 200 },
  );
});
