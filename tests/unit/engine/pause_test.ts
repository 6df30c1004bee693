import assert from "node:assert/strict";
import { pause } from "../../../src/engine/pause.ts";

const NEVER = new AbortController().signal;

Deno.test("a pause takes its time, and none is none", async () => {
  const start = performance.now();
  await pause(20, NEVER);
  assert.ok(performance.now() - start >= 19);
  await pause(0, NEVER);
  await pause(-5, NEVER);
});

Deno.test("a pause that is longer than any timer is no short one", async () => {
  for (const ms of [2 ** 31, Infinity]) {
    const stop = new AbortController();
    let isOver = false;
    const waiting = pause(ms, stop.signal).finally(() => isOver = true);
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(isOver, false, `${ms}`);
    stop.abort(new Error("enough"));
    await assert.rejects(waiting, /^Error: enough$/);
  }
});

Deno.test("a pause whose signal is aborted throws its reason at once", async () => {
  await assert.rejects(pause(1000, AbortSignal.abort("why")), (reason) => reason === "why");
});
