import assert from "node:assert/strict";
import { Segments } from "../../../src/engine/executors/segments.ts";
import type { RecordBatch } from "../../../src/util/arrow.ts";
import { batch } from "./parts_support.ts";

type Step = RecordBatch | Error | Promise<void>;

/** A read that takes these steps one after the other; behind which batches it can go on. */
function reading(steps: readonly Step[], checkpoints: readonly number[]) {
  const batches = async function* () {
    for (const step of steps) {
      if (step instanceof Error) throw step;
      if (step instanceof Promise) await step;
      else yield await Promise.resolve(step);
    }
  };
  return Object.assign(batches(), {
    checkpointAfter: (count: number) => checkpoints.includes(count) ? `after ${count}` : undefined,
  });
}

async function rowsOf(segments: Segments): Promise<number> {
  let rows = 0;
  for await (const { numRows } of segments.segment()) rows += numRows;
  return rows;
}

const LONG = 1 << 30;
const PATIENT = { segmentMs: LONG, idleMs: LONG };
const clock = () => performance.now();

Deno.test("a segment ends at the first checkpoint once it has rows enough", async () => {
  const full = batch(0, 50_000);
  const segments = new Segments(reading([full, full, full, full], [2, 3, 4]), clock, PATIENT);
  await segments.begin();
  assert.deepEqual([await rowsOf(segments), segments.token], [100_000, "after 2"]);
  assert.deepEqual([await rowsOf(segments), segments.token], [50_000, "after 3"]);
  assert.deepEqual([await rowsOf(segments), segments.token], [50_000, undefined]);
});

Deno.test("a segment whose time is up ends although nothing more comes, and what comes is not lost", async () => {
  const { promise: wait, resolve: go } = Promise.withResolvers<void>();
  const segments = new Segments(reading([batch(0, 3), wait, batch(3, 4)], [1, 2]), clock, { segmentMs: 0 });
  await segments.begin();
  assert.deepEqual([await rowsOf(segments), segments.token], [3, "after 1"]);
  const rest = rowsOf(segments);
  go();
  assert.deepEqual([await rest, segments.token], [4, undefined]);
});

Deno.test("a segment ends early where nothing comes for a while", async () => {
  const { promise: wait, resolve: go } = Promise.withResolvers<void>();
  const steps = [batch(0, 3), batch(3, 4), wait, batch(7, 1)];
  const segments = new Segments(reading(steps, [1, 2, 3]), clock, { segmentMs: LONG, idleMs: 0 });
  await segments.begin();
  assert.deepEqual([await rowsOf(segments), segments.token], [7, "after 2"]);
  go();
  assert.deepEqual([await rowsOf(segments), segments.token], [1, undefined]);
});

Deno.test("a segment without a checkpoint at its end goes on, however late it is", async () => {
  const segments = new Segments(reading([batch(0, 3), batch(3, 4)], []), clock, { segmentMs: 0 });
  await segments.begin();
  assert.deepEqual([await rowsOf(segments), segments.token], [7, undefined]);
});

Deno.test("a failure ends the segment where the read can go on, and fails it elsewhere", async () => {
  const kept = new Segments(reading([batch(0, 3), batch(3, 4), new Error("lost")], [2]), clock, PATIENT);
  await kept.begin();
  assert.deepEqual([await rowsOf(kept), kept.token, String(kept.fault?.error)], [7, "after 2", "Error: lost"]);
  const lost = new Segments(reading([batch(0, 3), batch(3, 4), new Error("lost")], [1]), clock, PATIENT);
  await lost.begin();
  await assert.rejects(rowsOf(lost), /lost/);
  await lost.close();
});

Deno.test("a failure that came to nobody is that of the next segment", async () => {
  const { promise: wait, resolve: go } = Promise.withResolvers<void>();
  const segments = new Segments(reading([batch(0, 3), wait, new Error("lost")], [1]), clock, { segmentMs: 0 });
  await segments.begin();
  assert.deepEqual([await rowsOf(segments), segments.token], [3, "after 1"]);
  go();
  await assert.rejects(rowsOf(segments), /lost/);
  assert.equal(segments.fault, undefined);
});
