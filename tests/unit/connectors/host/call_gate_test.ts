import assert from "node:assert/strict";
import { CallGate, type OperationEnd, type OperationRequest } from "../../../../src/connectors/host/operation_gate.ts";
import type { Message } from "../../../../src/connectors/protocol/messages.ts";
import { FrameError } from "../../../../src/connectors/protocol/frame.ts";

type Waiting = { readonly operation: OperationRequest; readonly go: () => Promise<OperationEnd> };

class Bench {
  readonly said: Message[] = [];
  readonly waits: boolean[] = [];
  readonly waiting: Waiting[] = [];
  readonly ends: OperationEnd[] = [];
  readonly gate = new CallGate(
    {
      execute: (operation, attempt) => {
        const { promise, resolve, reject } = Promise.withResolvers<OperationEnd>();
        operation.signal.addEventListener("abort", () => reject(operation.signal.reason), { once: true });
        const go = async () => {
          const end = await attempt();
          this.ends.push(end);
          resolve(end);
          return end;
        };
        this.waiting.push({ operation, go });
        return promise;
      },
      reportBudget: () => {},
    },
    (message) => this.said.push(message),
    (isWaiting) => this.waits.push(isWaiting),
  );

  ask(requestId: number, more: object = {}): void {
    assert.equal(this.gate.hear({ m: "GateAcquire", requestId, label: "page", idempotent: true, ...more }), true);
  }

  complete(requestId: number, error?: object): void {
    this.gate.hear({ m: "GateComplete", requestId, ...(error === undefined ? {} : { error }) });
  }
}

const turn = () => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test("a request that has ended leaves nothing behind of its operations", async () => {
  const bench = new Bench();
  bench.ask(1);
  bench.ask(2);
  const under = bench.waiting[1]?.go();
  bench.gate.end(new Error("over"));
  assert.deepEqual(bench.waiting.map(({ operation }) => operation.signal.aborted), [true, true]);
  assert.deepEqual(await under, { transient: false });
  await turn();
  assert.equal(bench.waits.at(-1), false);
});

Deno.test("after a request is given up its operations are urgent, and those before wait no more", async () => {
  const bench = new Bench();
  bench.ask(1);
  bench.gate.giveUp(new Error("stop"));
  await turn();
  assert.deepEqual(bench.said, [{ m: "GateEnd", requestId: 1 }]);
  bench.ask(2);
  assert.deepEqual(bench.waiting.map(({ operation }) => operation.urgent), [false, true]);
  assert.equal(bench.waiting[1]?.operation.signal.aborted, false);
});

Deno.test("it is told whether something waits, not how many", async () => {
  const bench = new Bench();
  bench.ask(1);
  bench.ask(2);
  void bench.waiting[0]?.go();
  void bench.waiting[1]?.go();
  bench.complete(1, { transient: true, retryAfterMs: 5 });
  await turn();
  assert.deepEqual(bench.waits, [true, true, true, false, true, false]);
  assert.deepEqual(bench.ends, [{ transient: true, retryAfterMs: 5 }]);
});

Deno.test("an answer to nobody is left alone, and what no connector says is a breach", () => {
  const bench = new Bench();
  bench.complete(7);
  assert.equal(bench.gate.hear({ m: "Partition", id: "a" }), false);
  bench.ask(1);
  assert.throws(() => bench.ask(1), FrameError);
  for (const wrong of [{ requestId: "x" }, { requestId: 2, label: 3 }, { requestId: 2, idempotent: "yes" }]) {
    assert.throws(() => bench.ask(9, wrong), FrameError);
  }
  assert.throws(() => bench.complete(1, { transient: "perhaps" }), FrameError);
  assert.throws(() => bench.gate.hear({ m: "GateBudget", remaining: -1, resetAtMs: 0 }), FrameError);
  assert.throws(() => {
    for (let requestId = 2; requestId < 20_000; requestId++) bench.ask(requestId);
  }, /too many operations at once/);
});

Deno.test("a label is shown as one line without anything that a terminal obeys", () => {
  const bench = new Bench();
  bench.ask(1, { label: `a\x1b[31m\n${"x".repeat(100)}` });
  const label = bench.waiting[0]?.operation.label ?? "";
  assert.ok(label.length === 64 && !/\p{Cc}/u.test(label), label);
});
