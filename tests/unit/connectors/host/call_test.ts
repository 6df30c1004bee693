import assert from "node:assert/strict";
import { HEADER_BYTES } from "../../../../src/connectors/protocol/frame.ts";
import { Call } from "../../../../src/connectors/host/call.ts";
import { DATA_CREDITS } from "../../../../src/connectors/protocol/messages.ts";

const BYTES = new Uint8Array(1);

Deno.test("data beyond the credits is a violation, and frames taken give their credits back, some at a time", async () => {
  const granted: number[] = [];
  const call = new Call(7, () => {});
  for (let index = 0; index < DATA_CREDITS; index++) call.takeData(BYTES);
  assert.throws(() => call.takeData(BYTES), /more data than it was allowed to send/);
  const other = new Call(7, (credit) => granted.push(new DataView(credit.buffer).getUint32(HEADER_BYTES, true)));
  for (let index = 0; index < DATA_CREDITS; index++) other.takeData(BYTES);
  const data = other.data();
  for (let taken = 1; taken <= DATA_CREDITS; taken++) {
    await data.next();
    assert.equal(granted.reduce((sum, count) => sum + count, 0), taken - taken % (DATA_CREDITS / 2));
  }
  // A sender without a credit is told of all of them, however often it runs out.
  for (let index = 0; index < DATA_CREDITS; index++) other.takeData(BYTES);
  assert.throws(() => other.takeData(BYTES));
});

Deno.test("what arrived before a failure is dropped, and the failure is thrown at once", async () => {
  const call = new Call(7, () => {});
  call.takeData(BYTES);
  call.fail(new Error("gone"));
  await assert.rejects(call.data().next(), /gone/);
  await assert.rejects(call.settled, /gone/);
});

Deno.test("an abandoned call takes data without keeping it, until its end", async () => {
  const call = new Call(7, () => {});
  call.abandon(new Error("enough"));
  call.takeData(BYTES);
  await assert.rejects(call.data().next(), /enough/);
  assert.equal(call.isSettled, false);
  call.takeMessage({ m: "EndOfStream", frames: 5 });
  assert.equal(call.isSettled, true);
});

Deno.test("a waiting reader gets data as it comes, and the end after the last", async () => {
  const call = new Call(7, () => {});
  const data = call.data();
  const first = data.next();
  call.takeData(BYTES);
  assert.deepEqual((await first).value, BYTES);
  const second = data.next();
  call.takeMessage({ m: "EndOfStream", frames: 1 });
  assert.equal((await second).done, true);
});
