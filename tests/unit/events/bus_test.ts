import FakeTimers from "@sinonjs/fake-timers";
import assert from "node:assert/strict";
import { EventBus, type RunEvent, type StampedEvent, type Subscriber } from "../../../src/events/mod.ts";

const event = (name: string): RunEvent => ({ event: "node_started", nodeId: name, kind: "Check", name });

function bus(...subscribers: readonly Subscriber[]): EventBus {
  return new EventBus({ runId: "r", now: () => "2027-03-02T06:15:00.004Z", subscribers });
}

function recorder(log: string[], more: (stamped: StampedEvent) => void | Promise<void> = () => {}): Subscriber {
  return {
    handle: (stamped) => {
      if ("name" in stamped.event) log.push(stamped.event.name);
      return more(stamped);
    },
  };
}

Deno.test("every subscriber gets every event, stamped, in the order of the bus", async () => {
  const slow: string[] = [];
  const quick: string[] = [];
  const stamps: StampedEvent[] = [];
  const events = bus(
    recorder(slow, () => new Promise((resolve) => setTimeout(resolve, 1))),
    recorder(quick, (stamped) => void stamps.push(stamped)),
  );
  for (const name of ["a", "b", "c"]) assert.equal(events.publish(event(name)), true);
  assert.equal(await events.close(5000), true);
  assert.deepEqual([slow, quick], [["a", "b", "c"], ["a", "b", "c"]]);
  assert.deepEqual(stamps[0], { at: "2027-03-02T06:15:00.004Z", runId: "r", event: event("a") });
});

Deno.test("an event that is published while one is handled comes after it", async () => {
  const log: string[] = [];
  const events = bus(recorder(log, ({ event: { event: kind } }) => {
    if (kind === "node_started" && log.length === 1) events.publish(event("inner"));
  }));
  events.publish(event("outer"));
  await events.close(5000);
  assert.deepEqual(log, ["outer", "inner"]);
});

Deno.test("a subscriber that throws or rejects loses its own event and nothing else", async () => {
  const log: string[] = [];
  const events = bus(
    { handle: () => assert.fail("broken") },
    { handle: () => Promise.reject(new Error("broken")) },
    recorder(log),
  );
  events.publish(event("a"));
  events.publish(event("b"));
  assert.equal(await events.close(5000), true);
  assert.deepEqual(log, ["a", "b"]);
});

Deno.test("publishing to a closed bus is refused", async () => {
  const log: string[] = [];
  const events = bus(recorder(log));
  await events.close(5000);
  assert.equal(events.publish(event("late")), false);
  assert.deepEqual(log, []);
});

Deno.test("a subscriber that hangs never blocks publishing, and closing gives up in time", async () => {
  const clock = FakeTimers.install({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const events = bus({ handle: () => new Promise(() => {}) });
    assert.equal(events.publish(event("a")), true);
    assert.equal(events.publish(event("b")), true);
    const closed = events.close(5000);
    await clock.tickAsync(5000);
    assert.equal(await closed, false);
    assert.equal(clock.countTimers(), 0);
  } finally {
    clock.uninstall();
  }
});
