import assert from "node:assert/strict";
import FakeTimers from "@sinonjs/fake-timers";
import { Heartbeat } from "../../../../src/connectors/host/heartbeat.ts";

function beat(isBusy: () => boolean, answers: (heartbeat: Heartbeat) => void) {
  const clock = FakeTimers.install({ toFake: ["setInterval", "clearInterval"] });
  const seen = { asked: 0, dead: 0 };
  const heartbeat = new Heartbeat({
    everyMs: 15_000,
    limitMs: 30_000,
    isBusy,
    ask: () => {
      seen.asked++;
      answers(heartbeat);
    },
    dead: () => seen.dead++,
  });
  const end = () => {
    heartbeat.stop();
    clock.uninstall();
  };
  return { clock, seen, end };
}

Deno.test("a process that answers is asked again and again", () => {
  const { clock, seen, end } = beat(() => true, (heartbeat) => heartbeat.answered());
  clock.tick(150_000);
  end();
  assert.deepEqual(seen, { asked: 10, dead: 0 });
});

Deno.test("a process that does not answer for 30 s is dead, once", () => {
  const { clock, seen, end } = beat(() => true, () => {});
  clock.tick(44_999);
  assert.equal(seen.dead, 0);
  clock.tick(100_000);
  end();
  assert.deepEqual(seen, { asked: 2, dead: 1 });
});

Deno.test("a process without anything to do is not asked", () => {
  const { clock, seen, end } = beat(() => false, () => {});
  clock.tick(150_000);
  end();
  assert.deepEqual(seen, { asked: 0, dead: 0 });
});
