import assert from "node:assert/strict";
import FakeTimers from "@sinonjs/fake-timers";
import { Console, LiveRenderer } from "../../../src/render/mod.ts";
import { CollectingSink, HungSink } from "./byte_sinks.ts";
import { completed, stamped } from "./events.ts";

const OPTIONS = { colour: false, size: () => ({ columns: 80, rows: 24 }), now: () => Date.now() };

const ESC = "\x1b";
const ERASE = new RegExp(`(${ESC}\\[\\d+A${ESC}\\[0J|\n)`);
const UP = new RegExp(`^${ESC}\\[(\\d+)A`);

/** What a terminal shows after it got the text: enough of one for cursor-up and clear-to-end. */
function screen(text: string): string[] {
  let lines = [""];
  for (const part of text.split(ERASE)) {
    const up = UP.exec(part);
    if (up) lines = [...lines.slice(0, lines.length - 1 - Number(up[1])), ""];
    else if (part === "\n") lines.push("");
    else lines.push(`${lines.pop() ?? ""}${part}`);
  }
  return lines;
}

async function withClock(work: (clock: FakeTimers.Clock) => Promise<void>): Promise<void> {
  const clock = FakeTimers.install({
    now: Date.parse("2027-03-02T06:15:00.004Z"),
    toFake: ["setTimeout", "clearTimeout", "Date"],
  });
  try {
    await work(clock);
  } finally {
    clock.uninstall();
  }
}

Deno.test("the tree is drawn in place, and in full at the end", () =>
  withClock(async (clock) => {
    const stdout = new CollectingSink();
    const console = new Console({ stdout, stderr: new CollectingSink() });
    const live = new LiveRenderer(console, OPTIONS);
    live.handle(stamped({ event: "node_started", nodeId: "a", kind: "Pipeline", name: "a" }));
    assert.equal(stdout.text, "");
    await clock.tickAsync(100);
    await console.flush(Infinity);
    assert.deepEqual(screen(stdout.text), ["pz run", "  pipelines", "    .. a 0 rows 100ms", ""]);
    await clock.tickAsync(100);
    live.handle(stamped(completed({ nodeId: "a", name: "a" })));
    live.handle(
      stamped({ event: "run_completed", status: "success", succeeded: 1, failed: 0, skipped: 0, durationMs: 1 }),
    );
    live.handle(stamped({ event: "retention_swept", runsSwept: 1, bytesFreed: 1, failures: 0 }));
    await console.flush(Infinity);
    assert.deepEqual(screen(stdout.text), ["pz run", "  pipelines", "    ok a 3 rows 12ms", ""]);
    assert.equal(clock.countTimers(), 0);
  }));

Deno.test("what the tree has no place for stays above it", () =>
  withClock(async (clock) => {
    const stdout = new CollectingSink();
    const console = new Console({ stdout, stderr: new CollectingSink() });
    using live = new LiveRenderer(console, OPTIONS);
    live.handle(stamped({ event: "node_started", nodeId: "a", kind: "Pipeline", name: "a" }));
    await clock.tickAsync(100);
    live.handle(
      stamped({
        event: "retry_scheduled",
        nodeId: "a",
        name: "a",
        attempt: 2,
        maxAttempts: 3,
        delayMs: 5,
        reason: "429",
      }),
    );
    live.above("warning: careful");
    await clock.tickAsync(100);
    await console.flush(Infinity);
    assert.deepEqual(screen(stdout.text), [
      "retry: a attempt 2/3 in 5ms (429)",
      "warning: careful",
      "pz run",
      "  pipelines",
      "    .. a 0 rows 200ms",
      "",
    ]);
  }));

Deno.test("a terminal that hangs gets no more frames", () =>
  withClock(async (clock) => {
    const stdout = new HungSink();
    const console = new Console({ stdout, stderr: new CollectingSink() });
    using live = new LiveRenderer(console, OPTIONS);
    live.handle(stamped({ event: "node_started", nodeId: "a", kind: "Pipeline", name: "a" }));
    await clock.tickAsync(2000);
    stdout.release();
    await console.flush(Infinity);
    assert.equal(stdout.writes, 1);
  }));
