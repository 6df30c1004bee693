import assert from "node:assert/strict";
import { Slots } from "../../../src/duckdb/slots.ts";

Deno.test("no more works than slots run, and the next one starts when one ends", async () => {
  const slots = new Slots(2);
  const ends: (() => void)[] = [];
  const works = Array.from({ length: 4 }, () => slots.run(() => new Promise<void>((end) => ends.push(end))));
  await Promise.resolve();
  assert.equal(ends.length, 2);
  ends[0]?.();
  await works[0];
  assert.equal(ends.length, 3);
  for (let index = 1; index < works.length; index++) {
    ends[index]?.();
    await works[index];
  }
  assert.equal(await slots.run(() => Promise.resolve("ran")), "ran");
});

Deno.test("an abort while waiting for a slot rejects with the signal's reason and takes none", async () => {
  const slots = new Slots(1);
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = slots.run(() => promise);
  const stop = new AbortController();
  const reason = new Error("no longer wanted");
  const late = assert.rejects(slots.run(() => Promise.resolve(), stop.signal), (error) => error === reason);
  stop.abort(reason);
  await late;
  resolve();
  await first;
  assert.equal(await slots.run(() => Promise.resolve("ran")), "ran");
});
