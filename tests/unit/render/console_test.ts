import assert from "node:assert/strict";
import { Console } from "../../../src/render/mod.ts";
import { CollectingSink, HungSink, ThrowingSink } from "./byte_sinks.ts";

Deno.test("Console writes lines in order, each stream on its own", async () => {
  const stdout = new CollectingSink();
  const stderr = new CollectingSink();
  const console = new Console({ stdout, stderr });
  for (let i = 0; i < 3; i++) {
    console.out(`out ${i}`);
    console.err(`err ${i}`);
  }
  console.outRaw("tail");
  assert.equal(await console.flush(Infinity), true);
  assert.equal(stdout.text, "out 0\nout 1\nout 2\ntail");
  assert.equal(stderr.text, "err 0\nerr 1\nerr 2\n");
});

Deno.test("Console joins the lines of one turn into one write", async () => {
  const stdout = new CollectingSink();
  const console = new Console({ stdout, stderr: new CollectingSink() });
  for (let i = 0; i < 1000; i++) console.out("line");
  await console.flush(Infinity);
  assert.equal(stdout.writes, 1);
});

Deno.test("Console goes on after a partial write, even inside a character", async () => {
  const stdout = new CollectingSink(1);
  const console = new Console({ stdout, stderr: new CollectingSink() });
  console.out("zażółć — 漢字 🦆");
  await console.flush(Infinity);
  assert.equal(stdout.text, "zażółć — 漢字 🦆\n");
});

Deno.test("a hung stdout does not hold back stderr, and flush gives up in time", async () => {
  const stdout = new HungSink();
  const stderr = new CollectingSink();
  const console = new Console({ stdout, stderr });
  console.out("never seen");
  console.err("seen");
  assert.equal(await console.flush(10), false);
  assert.equal(stderr.text, "seen\n");
  console.abandonBusy();
  console.out("dropped");
  console.err("still there");
  assert.equal(await console.flush(Infinity), true);
  assert.equal(stdout.writes, 1);
  assert.equal(stderr.text, "seen\nstill there\n");
  stdout.release();
});

Deno.test("a stream whose writer throws is given up, without an error for the caller", async () => {
  const stdout = new ThrowingSink();
  const stderr = new CollectingSink();
  const console = new Console({ stdout, stderr });
  console.out("lost");
  assert.equal(await console.flush(Infinity), true);
  console.out("lost too");
  console.err("kept");
  assert.equal(await console.flush(Infinity), true);
  assert.equal(stdout.writes, 1);
  assert.equal(stderr.text, "kept\n");
});

Deno.test("why stdout can't be written is told once; a reader that left is no reason to complain", async () => {
  const failing = (error: Error) =>
    new Console({ stdout: { write: () => Promise.reject(error) }, stderr: new CollectingSink() });
  const full = new Error("no space left");
  const console = failing(full);
  assert.equal(console.takeStdoutFailure(), undefined);
  console.out("lost");
  await console.flush(Infinity);
  assert.equal(console.takeStdoutFailure(), full);
  assert.equal(console.takeStdoutFailure(), undefined);

  const left = failing(new Deno.errors.BrokenPipe("gone"));
  left.out("lost");
  await left.flush(Infinity);
  assert.equal(left.takeStdoutFailure(), undefined);
});

Deno.test("what waits for a hung reader is bounded", async () => {
  const stdout = new HungSink();
  const console = new Console({ stdout, stderr: new CollectingSink(), maxQueuedBytes: 100 });
  console.out("first");
  await Promise.resolve();
  assert.equal(console.isStdoutBusy, true);
  for (let i = 0; i < 1000; i++) console.out("0123456789");
  stdout.release();
  assert.equal(await console.flush(Infinity), true);
  assert.equal(stdout.writes, 2);
  assert.equal(console.isStdoutBusy, false);
});
