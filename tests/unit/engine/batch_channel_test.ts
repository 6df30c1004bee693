import fc from "fast-check";
import assert from "node:assert/strict";
import { BatchChannel } from "../../../src/engine/batch_channel.ts";
import { ByteBudget } from "../../../src/engine/byte_budget.ts";

const never = new AbortController().signal;

function channel(
  more: { capacity?: number; budget?: ByteBudget; share?: number; signal?: AbortSignal; monotonic?: () => number } = {},
) {
  return new BatchChannel<number>({
    capacity: 2,
    budget: new ByteBudget(100),
    signal: never,
    monotonic: () => 0,
    ...more,
  });
}

const turn = () => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test("a full channel suspends its reader until a batch is taken", async () => {
  const pipe = channel();
  const pushed: number[] = [];
  const reading = (async () => {
    for (let n = 0; n < 4; n++) {
      await pipe.push(n, 1);
      pushed.push(n);
    }
    pipe.close();
  })();
  await turn();
  assert.deepEqual(pushed, [0, 1]);
  const taken: number[] = [];
  for await (const n of pipe) {
    taken.push(n);
    await turn();
    assert.deepEqual(pushed, [0, 1, 2, 3].slice(0, n + 3));
  }
  await reading;
  assert.deepEqual(taken, [0, 1, 2, 3]);
});

Deno.test("each side's waiting is measured once for each batch", async () => {
  let now = 0;
  const pipe = channel({ capacity: 1, monotonic: () => now });
  const batches = pipe[Symbol.asyncIterator]();
  const first = batches.next();
  await turn();
  now += 7;
  await pipe.push(1, 1);
  assert.deepEqual(await first, { done: false, value: 1 });
  await pipe.push(2, 1);
  const third = pipe.push(3, 1);
  await turn();
  now += 5;
  await batches.next();
  await third;
  assert.deepEqual([pipe.consumerStallMs, pipe.producerStallMs], [7, 5]);
  await batches.return();
});

Deno.test("a fault reaches the consumer before batches that still wait, and their bytes come back", async () => {
  const budget = new ByteBudget(10);
  const pipe = channel({ budget });
  await pipe.push(1, 10);
  pipe.close({ error: new Error("fault") });
  await assert.rejects(async () => {
    for await (const _ of pipe) assert.fail("no batch may come");
  }, /fault/);
  await budget.acquire(10, never);
});

Deno.test("when the consumer leaves, readers are told and bytes come back", async () => {
  const budget = new ByteBudget(10);
  const pipe = channel({ budget, capacity: 1 });
  assert.equal(await pipe.push(1, 10), true);
  const waiting = pipe.push(2, 5);
  for await (const _ of pipe) break;
  assert.equal(await waiting, false);
  assert.equal(await pipe.push(3, 5), false);
  await budget.acquire(10, never);
});

Deno.test("an abort ends both sides with its reason", async () => {
  const controller = new AbortController();
  const pipe = channel({ capacity: 1, signal: controller.signal });
  const reason = new Error("stop");
  await pipe.push(1, 1);
  const producer = assert.rejects(pipe.push(2, 1), (error) => error === reason);
  controller.abort(reason);
  await producer;
  const empty = channel({ signal: controller.signal });
  await assert.rejects(empty[Symbol.asyncIterator]().next(), (error) => error === reason);
});

Deno.test("a budget grants in order, lets one huge batch pass, and forgets who gave up", async () => {
  const budget = new ByteBudget(10);
  const log: string[] = [];
  const take = async (name: string, bytes: number, signal = never) => {
    try {
      await budget.acquire(bytes, signal);
      log.push(name);
    } catch {
      log.push(`${name} gave up`);
    }
  };
  const controller = new AbortController();
  await take("a", 6);
  const rest = [take("huge", 50, controller.signal), take("b", 5), take("c", 5), take("d", 1)];
  await turn();
  assert.deepEqual(log, ["a"]);
  controller.abort();
  await turn();
  assert.deepEqual(log, ["a", "huge gave up"]);
  budget.release(6);
  await turn();
  assert.deepEqual(log, ["a", "huge gave up", "b", "c"]);
  budget.release(10);
  await Promise.all(rest);
  budget.release(1);
  await take("huge again", 50);
  assert.deepEqual(log.slice(4), ["d", "huge again"]);
});

Deno.test("random readers and one consumer: every batch arrives once, in its reader's order, within the limits", async () => {
  await fc.assert(fc.asyncProperty(
    fc.array(fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 12 }), { maxLength: 5 }),
    fc.integer({ min: 1, max: 4 }),
    fc.integer({ min: 1, max: 60 }),
    async (readers, capacity, total) => {
      const budget = new ByteBudget(total);
      const pipe = new BatchChannel<readonly [number, number, number]>({
        capacity,
        budget,
        signal: never,
        monotonic: () => 0,
      });
      let inFlight = 0;
      const reading = Promise.all(readers.map(async (sizes, reader) => {
        for (const [index, size] of sizes.entries()) {
          await pipe.push([reader, index, size], size);
          inFlight += size;
        }
      })).then(() => pipe.close());
      const taken = readers.map((): number[] => []);
      for await (const [reader, index, size] of pipe) {
        taken[reader]?.push(index);
        assert.ok(inFlight <= Math.max(total, size) + 40 * capacity);
        await Promise.resolve();
        inFlight -= size;
      }
      await reading;
      assert.deepEqual(taken, readers.map((sizes) => sizes.map((_, index) => index)));
      await budget.acquire(total + 1, never);
    },
  ));
});

Deno.test("a batch counts until its consumer gives it back, and no more than the share is in flight", async () => {
  const budget = new ByteBudget(100);
  const pipe = channel({ capacity: 10, budget, share: 10 });
  const pushed: number[] = [];
  const pushing = (async () => {
    for (const bytes of [6, 4, 3, 50]) {
      await pipe.push(bytes, bytes);
      pushed.push(bytes);
    }
    pipe.close();
  })();
  await turn();
  assert.deepEqual(pushed, [6, 4]);
  const first = await pipe.take();
  await turn();
  assert.deepEqual(pushed, [6, 4]);
  first?.release();
  await turn();
  assert.deepEqual(pushed, [6, 4, 3]);
  (await pipe.take())?.release();
  const third = await pipe.take();
  await turn();
  // What is larger than the share passes alone.
  assert.deepEqual(pushed, [6, 4, 3]);
  third?.release();
  await pushing;
  assert.deepEqual(pushed, [6, 4, 3, 50]);
  (await pipe.take())?.release();
  assert.equal(await pipe.take(), undefined);
  await budget.acquire(100, never);
});

Deno.test("several consumers share the batches, and each of them hears of the end", async () => {
  const pipe = channel({ capacity: 3 });
  const taken: number[][] = [[], [], []];
  const consuming = Promise.all(taken.map(async (mine) => {
    for (let item = await pipe.take(); item !== undefined; item = await pipe.take()) {
      mine.push(item.batch);
      await turn();
      item.release();
    }
  }));
  for (let n = 0; n < 30; n++) await pipe.push(n, 1);
  pipe.close();
  await consuming;
  assert.deepEqual(taken.flat().sort((a, b) => a - b), Array.from({ length: 30 }, (_, n) => n));
  assert.ok(taken.every((mine) => mine.length > 0));
});

Deno.test("a failure reaches every consumer that waits", async () => {
  const pipe = channel();
  const waiting = [pipe.take(), pipe.take()];
  await turn();
  pipe.close({ error: new Error("broken") });
  for (const take of waiting) await assert.rejects(take, /broken/);
});
