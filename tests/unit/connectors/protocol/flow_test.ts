import assert from "node:assert/strict";
import { ArrowFrames } from "../../../../src/connectors/protocol/arrow_frames.ts";
import { ArrowInflow } from "../../../../src/connectors/protocol/arrow_inflow.ts";
import { Credits } from "../../../../src/connectors/protocol/credits.ts";
import { HEADER_BYTES } from "../../../../src/connectors/protocol/frame.ts";
import { Inflow } from "../../../../src/connectors/protocol/inflow.ts";
import { slices } from "../../../../src/connectors/host/slices.ts";
import { arrowSchema, BatchBuilder, type CellValue, columnReaders } from "../../../../src/connectors/sdk/mod.ts";
import type { RecordBatch, Schema } from "../../../../src/util/arrow.ts";

const NEVER = new AbortController().signal;
const BYTE = new Uint8Array(1);

Deno.test("credits are waited for, and a failure or a signal ends the wait", async () => {
  const credits = new Credits(1);
  await credits.take(NEVER);
  const waiting = credits.take(NEVER);
  credits.add(1);
  await waiting;
  const stop = new AbortController();
  const stopped = credits.take(stop.signal);
  stop.abort(new Error("stop"));
  await assert.rejects(stopped, /stop/);
  const failed = credits.take(NEVER);
  credits.fail(new Error("first"));
  credits.fail(new Error("second"));
  await assert.rejects(failed, /first/);
  credits.add(5);
  await assert.rejects(credits.take(NEVER), /first/);
});

Deno.test("what flows in ends only where the sender has counted as much as came", async () => {
  const torn = new Inflow(() => {});
  torn.push(BYTE);
  assert.throws(() => torn.end(2), /an end after 1 data frames, where it counts 2/);
  const whole = new Inflow(() => {});
  whole.push(BYTE);
  whole.end(1);
  assert.throws(() => whole.push(BYTE), /data after the end/);
  assert.equal((await Array.fromAsync(whole.data())).length, 1);
});

/** The batches as the other side gets them. */
async function throughFrames(schema: Schema, batches: Iterable<RecordBatch>): Promise<readonly RecordBatch[]> {
  const encoder = new ArrowFrames(1, schema);
  const frames = [...encoder.start()];
  for (const batch of batches) frames.push(...encoder.batch(batch));
  frames.push(...encoder.finish());
  const data = async function* () {
    for (const frame of frames) yield await Promise.resolve(frame.subarray(HEADER_BYTES));
    return undefined;
  };
  return await Array.fromAsync((await ArrowInflow.open(data())).batches());
}

function rowsOf(batches: readonly RecordBatch[]): readonly (readonly CellValue[])[] {
  return batches.flatMap((batch) => {
    const columns = columnReaders(batch);
    return Array.from({ length: batch.numRows }, (_, row) => columns.map((column) => column.value(row)));
  });
}

Deno.test("a large batch travels in parts that together are the same", async () => {
  const types = ["int", "boolean", "varchar", "varchar[]", "struct(a bigint, b varchar)", "map(varchar, int)", "uuid"];
  const schema = arrowSchema(types.map((type) => ({ name: type, type })));
  const builder = new BatchBuilder(schema);
  for (let row = 0; row < 30_000; row++) {
    const text = row % 5 === 0 ? null : `some text of the row ${row}`;
    const list = row % 7 === 0 ? null : Array.from({ length: row % 4 }, (_, index) => `${text} ${index}`);
    const uuid = `00000000-0000-0000-0000-${row.toString().padStart(12, "0")}`;
    const map = new Map([[`k${row}`, row % 3 === 0 ? null : row]]);
    builder.append([row, row % 3 === 0, text, list, row % 11 === 0 ? null : { a: BigInt(row), b: text }, map, uuid]);
  }
  const batch = builder.finish();
  const parts = [...slices(batch)];
  assert.ok(parts.length > 1, String(parts.length));
  assert.ok(parts.every(({ data }) => data.byteLength < 8 << 20));
  assert.deepEqual(rowsOf(await throughFrames(schema, parts)), rowsOf([batch]));
});

Deno.test("a batch is there as soon as its last frame is", async () => {
  const schema = arrowSchema([{ name: "n", type: "int" }]);
  const builder = new BatchBuilder(schema);
  builder.append([1]);
  const encoder = new ArrowFrames(1, schema);
  const inflow = new Inflow(() => {});
  const push = (frames: readonly Uint8Array<ArrayBuffer>[]) => {
    for (const frame of frames) inflow.push(frame.slice(HEADER_BYTES));
  };
  push(encoder.start());
  const batches = (await ArrowInflow.open(inflow.data())).batches();
  push(encoder.batch(builder.finish()));
  assert.equal((await batches.next()).value?.numRows, 1);
  inflow.fail(new Error("gone"));
  await assert.rejects(batches.next(), /gone/);
});

Deno.test("a batch with other columns than were announced is refused", () => {
  const builder = new BatchBuilder(arrowSchema([{ name: "n", type: "int" }]));
  builder.append([1]);
  const encoder = new ArrowFrames(1, arrowSchema([{ name: "n", type: "bigint" }]));
  encoder.start();
  assert.throws(
    () => encoder.batch(builder.finish()),
    /A batch has the columns .*Int32.*, where .*Int64.* was announced/,
  );
});
