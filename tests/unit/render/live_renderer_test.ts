import assert from "node:assert/strict";
import FakeTimers from "@sinonjs/fake-timers";
import fc from "fast-check";
import { Console, LiveRenderer } from "../../../src/render/mod.ts";
import { CollectingSink, HungSink } from "./byte_sinks.ts";
import { completed, stamped } from "./events.ts";
import { Terminal } from "./terminal.ts";

/** A live tree on a terminal, with the clock that it draws by. */
type Scene = {
  readonly live: LiveRenderer;
  readonly terminal: Terminal;
  readonly stdout: CollectingSink;
  readonly clock: FakeTimers.Clock;
  /** Lets time pass and the terminal show what was drawn. */
  readonly pass: (ms: number) => Promise<void>;
  /** Lets the program know of the terminal's width. */
  readonly tell: () => void;
};

async function onTerminal(
  work: (scene: Scene) => Promise<void>,
  { columns = 80, tiers = new Map<string, string>() } = {},
): Promise<void> {
  await withClock(async (clock) => {
    const stdout = new CollectingSink();
    const console = new Console({ stdout, stderr: new CollectingSink() });
    const terminal = new Terminal(columns, 24);
    let known = columns;
    const tell = () => known = terminal.columns;
    const size = () => ({ columns: known, rows: terminal.rows });
    using live = new LiveRenderer(console, { colour: false, size, now: () => Date.now(), tiers });
    let shown = 0;
    const pass = async (ms: number) => {
      await clock.tickAsync(ms);
      await console.flush(Infinity);
      terminal.write(stdout.text.slice(shown));
      shown = stdout.text.length;
    };
    await work({ live, terminal, stdout, clock, pass, tell });
  });
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

const STARTED = stamped({ event: "node_started", nodeId: "a", kind: "Pipeline", name: "a" });
const DONE = stamped({
  event: "run_completed",
  status: "success",
  succeeded: 1,
  failed: 0,
  skipped: 0,
  durationMs: 1,
});

Deno.test("the tree is drawn in place, and in full at the end", () =>
  onTerminal(async ({ live, terminal, stdout, clock, pass }) => {
    live.handle(STARTED);
    assert.equal(stdout.text, "");
    await pass(100);
    assert.deepEqual(terminal.lines, ["pz run", "  pipelines", "    .. a 0 rows 100ms"]);
    await pass(100);
    live.handle(stamped(completed({ nodeId: "a", name: "a" })));
    live.handle(DONE);
    live.handle(stamped({ event: "retention_swept", runsSwept: 1, bytesFreed: 1, failures: 0 }));
    await pass(0);
    assert.deepEqual(terminal.lines, ["pz run", "  pipelines", "    ok a 3 rows 12ms"]);
    assert.equal(clock.countTimers(), 0);
  }));

Deno.test("what the tree has no place for stays above it, and the tree goes on at once", () =>
  onTerminal(async ({ live, terminal, pass }) => {
    live.handle(STARTED);
    await pass(100);
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
    await pass(0);
    assert.deepEqual(terminal.lines, [
      "retry: a attempt 2/3 in 5ms (429)",
      "warning: careful",
      "pz run",
      "  pipelines",
      "    .. a 0 rows 100ms",
    ]);
  }));

Deno.test("loads and writes show their rate and how their bytes move, as far as there is room", async () => {
  const tiers = new Map([["s", "native scan: read_csv"]]);
  const shown: (readonly string[])[] = [];
  for (const columns of [80, 50, 30, 16]) {
    await onTerminal(async ({ live, terminal, pass }) => {
      live.handle(stamped({ event: "node_started", nodeId: "s", kind: "SourceLoad", name: "src_raw__customers" }));
      live.handle(
        stamped({ event: "node_progress", nodeId: "s", name: "s", rows: 123_456, bytes: 1, batches: 10 }),
      );
      await pass(2000);
      shown.push(terminal.lines.slice(2));
    }, { columns, tiers });
  }
  assert.deepEqual(shown, [
    ["    .. src_raw__customers 123456 rows 2000ms · 61.7k/s · native scan: read_csv"],
    ["    .. src_raw__customers 123456 rows 2000ms"],
    ["    .. src_r… 123456 rows 20…"],
    ["    .. src_r… …"],
  ]);
});

/** A new width, how long the terminal keeps it to itself, and how many nodes run by then. */
const RESIZES = fc.array(
  fc.record({
    columns: fc.integer({ min: 12, max: 120 }),
    delayMs: fc.integer({ min: 0, max: 250 }),
    nodes: fc.integer({ min: 1, max: 12 }),
  }),
  { minLength: 1, maxLength: 6 },
);

Deno.test("once a terminal has its new width, one whole tree stands there and nothing of an older one", () =>
  fc.assert(
    fc.asyncProperty(RESIZES, (steps) =>
      onTerminal(async ({ live, terminal, tell, pass }) => {
        terminal.write("$ pz run\n");
        for (const { columns, delayMs, nodes } of steps) {
          for (let index = 0; index < nodes; index++) {
            const name = `node_${index}_${"x".repeat(index * 7)}`;
            live.handle(stamped({ event: "node_started", nodeId: name, kind: "Pipeline", name }));
          }
          await pass(100);
          terminal.resize(columns);
          await pass(delayMs);
          tell();
          await pass(500);
          const shown = terminal.lines.slice(terminal.lines.findIndex((line) => line === "pz run"));
          const above = terminal.lines.slice(0, -shown.length);
          assert.ok(above.join("") === "" || above.join("") === "$ pz run", JSON.stringify(terminal.lines));
          assert.equal(shown[1], "  pipelines");
          assert.ok(shown.slice(2).every((line) => line.startsWith("    .. ")), JSON.stringify(terminal.lines));
          assert.ok(shown.every((line) => line.length < columns));
        }
        live.handle(DONE);
        await pass(0);
      })),
    { numRuns: 100 },
  ));

Deno.test("a terminal that hangs gets no more frames", () =>
  withClock(async (clock) => {
    const stdout = new HungSink();
    const console = new Console({ stdout, stderr: new CollectingSink() });
    using live = new LiveRenderer(console, {
      colour: false,
      size: () => ({ columns: 80, rows: 24 }),
      now: () => Date.now(),
    });
    live.handle(STARTED);
    await clock.tickAsync(2000);
    stdout.release();
    await console.flush(Infinity);
    assert.equal(stdout.writes, 1);
  }));
