import assert from "node:assert/strict";
import { ConnectorError } from "../../../../src/connectors/mod.ts";
import type { Message } from "../../../../src/connectors/protocol/messages.ts";
import { Operations } from "../../../../src/connectors/sdk/operations.ts";

const NEVER = new AbortController().signal;
const PAGE = { label: "page", idempotent: true, signal: NEVER };

class Bench {
  readonly said: (readonly [number, Message])[] = [];
  readonly operations = new Operations((stream, message) => void this.said.push([stream, message]));

  /** Names of the messages so far, with their streams. */
  get told(): string[] {
    return this.said.map(([stream, { m }]) => `${stream} ${m}`);
  }

  answer(m: "GateGrant" | "GateEnd", requestId: number): void {
    assert.equal(this.operations.receive({ m, requestId }), true);
  }
}

const turn = () => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test("operations ask on the stream of the request that they serve, whatever runs side by side", async () => {
  const { operations, said } = new Bench();
  const ask = (stream: number) =>
    operations.within(stream, async () => {
      await turn();
      await operations.operate(PAGE, () => Promise.resolve(stream));
    });
  const both = Promise.all([ask(4), ask(9)]);
  await turn();
  await turn();
  const asked = said.map(([stream, { requestId }]) => [stream, requestId]);
  assert.deepEqual(asked, [[4, 1], [9, 2]]);
  for (const requestId of [2, 1]) operations.receive({ m: "GateGrant", requestId });
  await both;
  assert.deepEqual(said.map(([stream, { m }]) => `${stream} ${m}`).slice(2), ["9 GateComplete", "4 GateComplete"]);
});

Deno.test("what begins on behalf of a request is asked for on its stream", async () => {
  const bench = new Bench();
  const done = Promise.withResolvers<void>();
  const request = bench.operations.within(3, () => done.promise);
  const work = bench.operations.onBehalf(3, () => bench.operations.operate(PAGE, () => Promise.resolve("done")));
  bench.answer("GateGrant", 1);
  assert.equal(await work, "done");
  done.resolve();
  await request;
  assert.deepEqual(bench.told, ["3 GateAcquire", "3 GateComplete"]);
});

Deno.test("outside of every request, and after its end, work is done once without asking", async () => {
  const bench = new Bench();
  const fail = () => Promise.reject(new ConnectorError("busy", { transient: true }));
  await assert.rejects(bench.operations.operate(PAGE, fail), /busy/);
  let late: (() => Promise<string>) | undefined;
  await bench.operations.within(1, () => {
    late = () => bench.operations.onBehalf(1, () => bench.operations.operate(PAGE, () => Promise.resolve("late")));
    return Promise.resolve();
  });
  assert.equal(await late?.(), "late");
  bench.operations.reportBudget(0, 1);
  assert.deepEqual(bench.told, []);
});

Deno.test("a request that ends frees what still waits in it, and tells the host no more", async () => {
  const bench = new Bench();
  let work: Promise<unknown> | undefined;
  await bench.operations.within(1, () => {
    work = bench.operations.operate(PAGE, () => assert.fail("it was never let go"));
    work.catch(() => {});
    return Promise.resolve();
  });
  await assert.rejects(async () => await work, { transient: true });
  assert.deepEqual(bench.told, ["1 GateAcquire"]);
});

Deno.test("who stops waiting takes the question back and never does the work", async () => {
  const bench = new Bench();
  const stop = new AbortController();
  await bench.operations.within(1, async () => {
    const operation = { ...PAGE, signal: stop.signal };
    const work = bench.operations.operate(operation, () => assert.fail("it was never let go"));
    stop.abort(new Error("enough"));
    await assert.rejects(work, /^Error: enough$/);
    bench.answer("GateGrant", 1);
    await assert.rejects(bench.operations.operate(operation, () => assert.fail("too late")), /enough/);
  });
  assert.deepEqual(bench.told, ["1 GateAcquire", "1 GateComplete"]);
});

Deno.test("the host is told no more of a failure than it needs, and only in time", async () => {
  const bench = new Bench();
  await bench.operations.within(1, async () => {
    const error = new ConnectorError("the token hunter2 is busy", { transient: true, retryAfterMs: 5 });
    const work = bench.operations.operate(PAGE, () => Promise.reject(error));
    bench.answer("GateGrant", 1);
    await turn();
    bench.answer("GateEnd", 1);
    await assert.rejects(work, (thrown) => thrown === error);
    const bug = bench.operations.operate(PAGE, () => Promise.reject(new TypeError("hunter2")));
    bench.answer("GateGrant", 2);
    await assert.rejects(bug, TypeError);
    bench.operations.reportBudget(-3, 17.2);
    bench.operations.reportBudget(NaN, 17);
  });
  assert.deepEqual(bench.said.slice(1).map(([, message]) => message), [
    { m: "GateComplete", requestId: 1, error: { transient: true, retryAfterMs: 5 } },
    { requestId: 2, m: "GateAcquire", label: "page", idempotent: true },
    { m: "GateComplete", requestId: 2, error: { transient: false, retryAfterMs: undefined } },
    { m: "GateBudget", remaining: 0, resetAtMs: 18 },
  ]);
});

Deno.test("a label is one fixed word", async () => {
  const { operations } = new Bench();
  for (const label of ["", "get page", "https://h/x", "page?", "9", "x".repeat(65)]) {
    const work = operations.operate({ ...PAGE, label }, () => assert.fail("not with such a label"));
    await assert.rejects(work, { code: "PZ0357", transient: false });
  }
});

Deno.test("once the host is gone what may be repeated is tried a few times, and what passes by itself not for ever", async () => {
  const { operations } = new Bench();
  operations.abandon();
  let tries = 0;
  const work = (failures: number, transient = true) => () => {
    tries++;
    return tries > failures ? Promise.resolve("done") : Promise.reject(new ConnectorError("busy", { transient }));
  };
  const triesOf = async (operation: typeof PAGE, failures: number, transient?: boolean) => {
    tries = 0;
    const end = await operations.operate(operation, work(failures, transient)).catch(String);
    return [tries, end];
  };
  assert.deepEqual(await triesOf(PAGE, 2), [3, "done"]);
  assert.deepEqual(await triesOf(PAGE, 9), [4, "ConnectorError: busy"]);
  assert.deepEqual(await triesOf(PAGE, 1, false), [1, "ConnectorError: busy"]);
  assert.deepEqual(await triesOf({ ...PAGE, idempotent: false }, 1), [1, "ConnectorError: busy"]);
});
