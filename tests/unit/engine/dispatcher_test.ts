import fc from "fast-check";
import assert from "node:assert/strict";
import { NODE_KINDS } from "../../../src/compile/mod.ts";
import { dispatch, type Dispatchable, type DispatchOptions, type Verdict } from "../../../src/engine/dispatcher.ts";

const RANK = new Map<string, number>(NODE_KINDS.map((kind, rank) => [kind, rank]));

function node(id: string, after: readonly string[] = [], more: Partial<Dispatchable> = {}): Dispatchable {
  return { id, name: id, kind: "Pipeline", after, connections: [], ...more };
}

function options(
  nodes: readonly Dispatchable[],
  more: Partial<DispatchOptions<Dispatchable>> = {},
): DispatchOptions<Dispatchable> {
  return {
    nodes,
    threads: 4,
    connectionLimits: new Map(),
    failFast: false,
    signal: new AbortController().signal,
    execute: () => Promise.resolve("success"),
    onSkipped: () => {},
    ...more,
  };
}

/** Keeps every node running until the test ends it. */
class Stage {
  readonly started: string[] = [];
  readonly skipped: string[] = [];
  readonly #ends = new Map<string, (verdict: Verdict) => void>();

  readonly execute = ({ id }: Dispatchable, { signal }: { signal: AbortSignal }): Promise<Verdict> => {
    this.started.push(id);
    return new Promise((resolve) => {
      this.#ends.set(id, resolve);
      signal.addEventListener("abort", () => resolve("skipped"), { once: true });
    });
  };

  readonly onSkipped = ({ id }: Dispatchable): void => {
    this.skipped.push(id);
  };

  async end(id: string, verdict: Verdict = "success"): Promise<void> {
    this.#ends.get(id)?.(verdict);
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}

Deno.test("an empty set of nodes is done at once", async () => {
  assert.deepEqual(await dispatch(options([])), { succeeded: 0, failed: 0, skipped: 0, interrupted: false });
});

Deno.test("a limit below one is refused before anything runs", async () => {
  for (const threads of [0, -1, NaN]) await assert.rejects(dispatch(options([node("a")], { threads })), RangeError);
  const connectionLimits = new Map([["crm", 0]]);
  await assert.rejects(dispatch(options([node("a")], { connectionLimits })), RangeError);
});

Deno.test("nodes that are ready together start by kind, then by name", async () => {
  const stage = new Stage();
  const nodes = [
    node("1", [], { kind: "SinkWrite", name: "a" }),
    node("2", [], { kind: "Check", name: "a" }),
    node("3", [], { kind: "Pipeline", name: "b" }),
    node("4", [], { kind: "Pipeline", name: "B" }),
    node("5", [], { kind: "SourceLoad", name: "z" }),
  ];
  const done = dispatch(options(nodes, { ...stage, execute: stage.execute, threads: 1 }));
  for (const id of ["5", "4", "3", "2", "1"]) await stage.end(id);
  await done;
  assert.deepEqual(stage.started, ["5", "4", "3", "2", "1"]);
});

Deno.test("a failed middle of a diamond skips its descendants and nothing else", async () => {
  const skipped: string[] = [];
  const nodes = [
    node("top"),
    node("left", ["top"]),
    node("right", ["top"]),
    node("bottom", ["left", "right"]),
    node("below", ["bottom"]),
    node("apart"),
  ];
  const summary = await dispatch(options(nodes, {
    execute: ({ id }) => Promise.resolve(id === "left" ? "failed" : "success"),
    onSkipped: ({ id }) => skipped.push(id),
  }));
  assert.deepEqual(summary, { succeeded: 3, failed: 1, skipped: 2, interrupted: false });
  assert.deepEqual(skipped, ["bottom", "below"]);
});

Deno.test("a node that waits for a busy connection holds no thread", async () => {
  const stage = new Stage();
  const nodes = ["a1", "a2", "a3"].map((id) => node(id, [], { kind: "SourceLoad", connections: ["slow"] }));
  nodes.push(node("b", [], { kind: "SinkWrite", connections: ["fast"] }));
  const done = dispatch(options(nodes, {
    execute: stage.execute,
    onSkipped: stage.onSkipped,
    threads: 2,
    connectionLimits: new Map([["slow", 1]]),
  }));
  assert.deepEqual(stage.started, ["a1", "b"]);
  await stage.end("b");
  assert.deepEqual(stage.started, ["a1", "b"]);
  await stage.end("a1");
  assert.deepEqual(stage.started, ["a1", "b", "a2"]);
  await stage.end("a2");
  await stage.end("a3");
  assert.equal((await done).succeeded, 4);
});

Deno.test("a node that needs two connections waits for both and holds neither meanwhile", async () => {
  const stage = new Stage();
  const done = dispatch(options([
    node("a", [], { kind: "SourceLoad", connections: ["y"] }),
    node("b", [], { kind: "SourceLoad", connections: ["x", "y"] }),
    node("c", [], { kind: "SinkWrite", connections: ["x"] }),
  ], {
    execute: stage.execute,
    onSkipped: stage.onSkipped,
    threads: 3,
    connectionLimits: new Map([["x", 1], ["y", 1]]),
  }));
  assert.deepEqual(stage.started, ["a", "c"]);
  await stage.end("a");
  assert.deepEqual(stage.started, ["a", "c"]);
  await stage.end("c");
  assert.deepEqual(stage.started, ["a", "c", "b"]);
  await stage.end("b");
  assert.equal((await done).succeeded, 3);
});

Deno.test("an executor that throws is a failure and descendants are skipped", async () => {
  const execute = () => Promise.reject(new Error("bug"));
  const summary = await dispatch(options([node("a"), node("b", ["a"])], { execute }));
  assert.deepEqual(summary, { succeeded: 0, failed: 1, skipped: 1, interrupted: false });
});

Deno.test("with fail-fast the first failure stops running nodes and skips the rest", async () => {
  const stage = new Stage();
  const nodes = [node("a"), node("b"), node("c"), node("d", ["c"])];
  const done = dispatch(options(nodes, {
    execute: stage.execute,
    onSkipped: stage.onSkipped,
    threads: 2,
    failFast: true,
  }));
  await stage.end("a", "failed");
  assert.deepEqual(await done, { succeeded: 0, failed: 1, skipped: 3, interrupted: false });
  assert.deepEqual(stage.started, ["a", "b"]);
  assert.deepEqual(stage.skipped, ["c", "d"]);
});

Deno.test("a stop from outside skips what has not started and interrupts what runs", async () => {
  const stage = new Stage();
  const controller = new AbortController();
  const nodes = [node("a"), node("b", ["a"]), node("c")];
  const done = dispatch(options(nodes, {
    execute: stage.execute,
    onSkipped: stage.onSkipped,
    threads: 1,
    signal: controller.signal,
  }));
  controller.abort();
  assert.deepEqual(await done, { succeeded: 0, failed: 0, skipped: 3, interrupted: true });
  assert.deepEqual(stage.started, ["a"]);
});

Deno.test("a stop before the start runs nothing", async () => {
  const stage = new Stage();
  const done = dispatch(options([node("a"), node("b")], {
    execute: stage.execute,
    onSkipped: stage.onSkipped,
    signal: AbortSignal.abort(),
  }));
  assert.deepEqual(await done, { succeeded: 0, failed: 0, skipped: 2, interrupted: true });
  assert.deepEqual(stage.started, []);
});

Deno.test("a stop that keeps no node from its end is no interruption", async () => {
  const controller = new AbortController();
  const summary = await dispatch(options([node("a")], {
    signal: controller.signal,
    execute: () => {
      controller.abort();
      return Promise.resolve("success");
    },
  }));
  assert.deepEqual(summary, { succeeded: 1, failed: 0, skipped: 0, interrupted: false });
});

Deno.test("a node can stop the whole dispatch", async () => {
  const skipped: string[] = [];
  const summary = await dispatch(options([node("a"), node("b", ["a"]), node("c")], {
    threads: 1,
    execute: ({ id }, { stopAll }) => {
      if (id === "a") stopAll(new Error("stuck"));
      return Promise.resolve("failed");
    },
    onSkipped: ({ id }) => skipped.push(id),
  }));
  assert.deepEqual(summary, { succeeded: 0, failed: 1, skipped: 2, interrupted: false });
  assert.deepEqual(skipped, ["b", "c"]);
});

Deno.test("a parked node holds neither thread nor permit, and goes on before others begin", async () => {
  const wait = Promise.withResolvers<void>();
  const log: string[] = [];
  const done = dispatch(options(["a", "b", "c", "d"].map((id) => node(id, [], { connections: ["slow"] })), {
    threads: 1,
    connectionLimits: new Map([["slow", 1]]),
    execute: async ({ id }, { park }) => {
      log.push(`${id} begins`);
      if (id === "a") await park(() => wait.promise);
      if (id === "b") {
        wait.resolve();
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
      log.push(`${id} ends`);
      return "success";
    },
  }));
  assert.equal((await done).succeeded, 4);
  assert.deepEqual(log, ["a begins", "b begins", "b ends", "a ends", "c begins", "c ends", "d begins", "d ends"]);
});

Deno.test("a node that lends its thread keeps its permits, and needs none to go on", async () => {
  const wait = Promise.withResolvers<void>();
  const order: string[] = [];
  const nodes = [node("a", [], { connections: ["x"] }), node("b", [], { connections: ["x"] }), node("c")];
  await dispatch(options(nodes, {
    threads: 1,
    connectionLimits: new Map([["x", 1]]),
    execute: async ({ id }, { lend }) => {
      order.push(id);
      if (id === "c") wait.resolve();
      if (id === "a") {
        await lend(() => wait.promise);
        order.push("a again");
      }
      return "success";
    },
  }));
  assert.deepEqual(order, ["a", "c", "a again", "b"]);
});

Deno.test("a dispatch of which every node is parked is not over, and what a wait throws comes after the return", async () => {
  const summary = await dispatch(options([node("a"), node("b", ["a"])], {
    threads: 1,
    execute: async (_, { park }) => {
      await assert.rejects(
        park(() => new Promise((_, reject) => setTimeout(() => reject(new Error("late")), 0))),
        /late/,
      );
      return "success";
    },
  }));
  assert.deepEqual(summary, { succeeded: 2, failed: 0, skipped: 0, interrupted: false });
});

Deno.test("a stop lets parked nodes come to their end, whatever is busy", async () => {
  const controller = new AbortController();
  const skipped: string[] = [];
  const summary = await dispatch(options([node("a"), node("b"), node("c")], {
    threads: 1,
    signal: controller.signal,
    execute: async ({ id }, { park, signal }) => {
      if (id === "b") {
        controller.abort();
        await new Promise((resolve) => setTimeout(resolve, 5));
        return "success";
      }
      await park(() => new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true })));
      return "skipped";
    },
    onSkipped: ({ id }) => skipped.push(id),
  }));
  assert.deepEqual(summary, { succeeded: 1, failed: 0, skipped: 2, interrupted: true });
  assert.deepEqual(skipped, ["c"]);
});

type Graph = {
  readonly nodes: readonly Dispatchable[];
  readonly verdicts: ReadonlyMap<string, Verdict>;
  readonly delays: ReadonlyMap<string, number>;
};

/** A random graph whose edges point to earlier nodes, with a fate and a duration for each node. */
const graphs: fc.Arbitrary<Graph> = fc.array(
  fc.record({
    kind: fc.constantFrom(...NODE_KINDS),
    connections: fc.uniqueArray(fc.constantFrom("x", "y", "z"), { maxLength: 2 }),
    after: fc.array(fc.nat(1000), { maxLength: 4 }),
    verdict: fc.constantFrom<Verdict>("success", "success", "success", "success", "failed"),
    delay: fc.nat(6),
  }),
  { maxLength: 40 },
).map((drafts) => ({
  nodes: drafts.map(({ kind, connections, after }, index) => ({
    id: `n${index}`,
    name: `name ${index % 7}`,
    kind,
    after: index === 0 ? [] : [...new Set(after.map((seed) => `n${seed % index}`))],
    connections,
  })),
  verdicts: new Map(drafts.map(({ verdict }, index) => [`n${index}`, verdict])),
  delays: new Map(drafts.map(({ delay }, index) => [`n${index}`, delay])),
}));

Deno.test("on random graphs every node ends once, in order, within all limits, and only failures are contagious", async () => {
  await fc.assert(fc.asyncProperty(
    graphs,
    fc.constantFrom(1, 1, 2, 3, 6),
    fc.dictionary(fc.constantFrom("x", "y", "z"), fc.integer({ min: 1, max: 3 })),
    fc.boolean(),
    fc.constantFrom(0, 1, 3),
    fc.boolean(),
    async ({ nodes, verdicts, delays }, threads, limits, failFast, parkAt, withPermits) => {
      const connectionLimits = new Map(Object.entries(limits));
      const ends = new Map<string, Verdict>();
      const running = new Set<Dispatchable>();
      const holding = new Set<Dispatchable>();
      const started = new Set<string>();
      const problems: string[] = [];
      const on = (name: string) => [...holding].filter(({ connections }) => connections.includes(name)).length;
      const end = (id: string, verdict: Verdict) => {
        if (ends.has(id)) problems.push(`${id} ended twice`);
        ends.set(id, verdict);
      };
      const canStart = (other: Dispatchable) =>
        !started.has(other.id) && !ends.has(other.id) &&
        other.after.every((id) => ends.get(id) === "success") &&
        other.connections.every((name) => on(name) < (connectionLimits.get(name) ?? Infinity));
      const summary = await dispatch(options(nodes, {
        threads,
        connectionLimits,
        failFast,
        execute: async (current, { signal, park, lend }) => {
          const expect = (fact: boolean, problem: string) => fact || problems.push(`${current.id}: ${problem}`);
          expect(current.after.every((id) => ends.get(id) === "success"), "started too early");
          // With several threads a node may have ended here before the dispatcher has heard of it.
          const rank = RANK.get(current.kind) ?? 0;
          for (const other of threads === 1 && parkAt === 0 ? nodes.filter(canStart) : []) {
            const otherRank = RANK.get(other.kind) ?? 0;
            expect(otherRank > rank || (otherRank === rank && other.name >= current.name), `${other.id} goes before`);
          }
          started.add(current.id);
          running.add(current);
          holding.add(current);
          expect(running.size <= threads, "more nodes than threads");
          for (const [name, limit] of connectionLimits) expect(on(name) <= limit, `too many on ${name}`);
          for (let turn = delays.get(current.id) ?? 0; turn > 0; turn--) {
            if (turn !== parkAt) {
              await Promise.resolve();
              continue;
            }
            running.delete(current);
            if (withPermits) holding.delete(current);
            await (withPermits ? park : lend)(() => Promise.resolve());
            running.add(current);
            holding.add(current);
            expect(signal.aborted || running.size <= threads, "more nodes than threads after a wait");
            for (const [name, limit] of connectionLimits) {
              expect(signal.aborted || on(name) <= limit, `too many on ${name} after a wait`);
            }
          }
          running.delete(current);
          holding.delete(current);
          const verdict = signal.aborted ? "skipped" : verdicts.get(current.id) ?? "success";
          end(current.id, verdict);
          return verdict;
        },
        onSkipped: ({ id }) => end(id, "skipped"),
      }));
      assert.deepEqual(problems, []);
      assert.equal(ends.size, nodes.length);
      const count = (verdict: Verdict) => [...ends.values()].filter((other) => other === verdict).length;
      assert.deepEqual(summary, {
        succeeded: count("success"),
        failed: count("failed"),
        skipped: count("skipped"),
        interrupted: false,
      });
      if (failFast) return;
      for (const { id, after } of nodes) {
        const blocked = after.some((parent) => ends.get(parent) !== "success");
        assert.equal(ends.get(id), blocked ? "skipped" : verdicts.get(id));
      }
    },
  ));
});

Deno.test("a stop at any moment of a random graph still gives every node one end", async () => {
  await fc.assert(fc.asyncProperty(graphs, fc.nat(30), async ({ nodes, verdicts, delays }, stopAt) => {
    const controller = new AbortController();
    const ends: string[] = [];
    let turns = 0;
    const summary = await dispatch(options(nodes, {
      threads: 3,
      signal: controller.signal,
      execute: async ({ id }, { signal }) => {
        for (let turn = 0; turn < (delays.get(id) ?? 0); turn++) {
          if (turns++ === stopAt) controller.abort();
          await Promise.resolve();
        }
        ends.push(id);
        return signal.aborted ? "skipped" : verdicts.get(id) ?? "success";
      },
      onSkipped: ({ id }) => ends.push(id),
    }));
    assert.deepEqual(ends.toSorted(), nodes.map(({ id }) => id).toSorted());
    assert.equal(summary.succeeded + summary.failed + summary.skipped, nodes.length);
    assert.equal(summary.interrupted && !controller.signal.aborted, false);
  }));
});
