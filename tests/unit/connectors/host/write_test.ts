import assert from "node:assert/strict";
import { failureOf, Log, NEVER, numbers, openServed, output, SCHEMA } from "./served_support.ts";

Deno.test("a write begins, takes rows and commits, and tells what it did", async () => {
  const log = new Log();
  await using session = openServed(log);
  const spec = output({}, { mode: "merge", keys: ["n", "m"], onDelete: "soft" });
  const write = await session.beginWrite(spec, SCHEMA, NEVER);
  assert.equal(write.abortSemantics, "best_effort");
  await write.write(numbers(3), NEVER);
  await write.write(numbers(2, 3), NEVER);
  await write.applyDeletes(numbers(4), NEVER);
  await write.applyDeletes(numbers(1), NEVER);
  assert.deepEqual(await write.commit(), { rows: 5n, batches: 2 });
  assert.equal(write.acknowledgedRows, 5n);
  assert.deepEqual(log.lines, ["begin merge n,m soft n1/r1/3", "commit 5 rows, sum 10, 5 deleted"]);
});

Deno.test("a write without rows commits nothing, and is committed all the same", async () => {
  const log = new Log();
  await using session = openServed(log);
  const write = await session.beginWrite(output(), SCHEMA, NEVER);
  assert.deepEqual(await write.commit(), { rows: 0n, batches: 0 });
  assert.equal(log.lines.at(-1), "commit 0 rows, sum 0, 0 deleted");
});

Deno.test("many rows arrive in their order, in parts", async () => {
  const log = new Log();
  await using session = openServed(log);
  const write = await session.beginWrite(output(), SCHEMA, NEVER);
  const count = 1_500_000;
  await write.write(numbers(count), NEVER);
  const { rows, batches } = await write.commit();
  assert.equal(rows, BigInt(count));
  assert.ok(batches > 3, String(batches));
  assert.equal(log.lines.at(-1), `commit ${count} rows, sum ${BigInt(count) * BigInt(count - 1) / 2n}, 0 deleted`);
});

Deno.test("a second commit and what follows a commit or an abort are refused", async () => {
  await using session = openServed();
  const committed = await session.beginWrite(output(), SCHEMA, NEVER);
  await committed.commit();
  const aborted = await session.beginWrite(output(), SCHEMA, NEVER);
  await aborted.abort();
  for (const step of [committed.commit(), aborted.commit(), aborted.write(numbers(1), NEVER)]) {
    const error = await failureOf(step);
    assert.match(error.message, /another step after its (commit|abort)/);
    assert.equal(error.code, "PZ0357");
  }
  await aborted.abort();
});

Deno.test("an aborted write is taken back, and the next one begins", async () => {
  const log = new Log();
  await using session = openServed(log);
  const first = await session.beginWrite(output(), SCHEMA, NEVER);
  await first.write(numbers(3), NEVER);
  await first.abort();
  assert.match(log.lines.at(-1) ?? "", /^abort after [03] rows$/);
  const second = await session.beginWrite(output(), SCHEMA, NEVER);
  assert.deepEqual(await second.commit(), { rows: 0n, batches: 0 });
});

Deno.test("a failed write reaches a later write with all that is known, and is taken back by itself", async () => {
  const log = new Log();
  await using session = openServed(log);
  const write = await session.beginWrite(output({ at: "write", do: "fail" }), SCHEMA, NEVER);
  const error = await failureOf((async () => {
    for (;;) await write.write(numbers(10_000), NEVER);
  })());
  assert.equal(error.message, "write failed for ***");
  assert.deepEqual([error.transient, error.retryAfterMs, error.code, error.hint], [true, 7, "PZ0741", "h"]);
  assert.equal(error.outcomeUnknown, undefined);
  await write.abort();
  assert.equal(log.lines.at(-1), "abort after 0 rows");
});

Deno.test("a failed write reaches the commit as a write that did not happen", async () => {
  const log = new Log();
  await using session = openServed(log);
  const write = await session.beginWrite(output({ at: "write", do: "throw" }), SCHEMA, NEVER);
  await write.write(numbers(1), NEVER);
  const error = await failureOf(write.commit());
  assert.match(error.message, /failed unexpectedly: TypeError: a bug/);
  assert.deepEqual([error.transient, error.outcomeUnknown], [false, undefined]);
});

Deno.test("a begin that fails says why", async () => {
  await using session = openServed();
  const error = await failureOf(session.beginWrite(output({ at: "begin", do: "fail" }), SCHEMA, NEVER));
  assert.equal(error.message, "begin failed for ***");
});

Deno.test("a cancelled begin ends with the reason, and what it had begun is taken back", async () => {
  const log = new Log();
  await using session = openServed(log);
  const stop = new AbortController();
  const beginning = session.beginWrite(output({ at: "begin", do: "wait" }), SCHEMA, stop.signal);
  await log.until("waiting in begin");
  stop.abort(new Error("enough"));
  await assert.rejects(beginning, /enough/);
  const write = await session.beginWrite(output(), SCHEMA, NEVER);
  await write.commit();
});

Deno.test("whoever writes waits while the connector is busy, and a signal ends the wait", async () => {
  const log = new Log();
  await using session = openServed(log);
  const write = await session.beginWrite(output({ at: "write", do: "wait" }), SCHEMA, NEVER);
  const stop = new AbortController();
  const writing = (async () => {
    for (;;) await write.write(numbers(100_000), stop.signal);
  })();
  await log.until("waiting in write");
  stop.abort(new Error("enough"));
  await assert.rejects(writing, /enough/);
  await assert.rejects(write.write(numbers(1), NEVER), /enough/);
  await write.abort();
  assert.equal(log.lines.at(-1), "abort after 0 rows");
});

for (
  const [deed, outcomeUnknown, message] of [
    ["fail", true, /^commit failed for \*\*\*$/],
    ["known", false, /^a constraint$/],
    ["die", true, /ended unexpectedly \(exit code 9\)/],
    ["kill", true, /ended unexpectedly \(signal SIGKILL\)/],
  ] as const
) {
  Deno.test(`a commit in which the connector does "${deed}" says whether its outcome is known`, async () => {
    const log = new Log();
    await using session = openServed(log);
    const write = await session.beginWrite(output({ at: "commit", do: deed }), SCHEMA, NEVER);
    await write.write(numbers(1), NEVER);
    const error = await failureOf(write.commit());
    assert.match(error.message, message);
    assert.equal(error.outcomeUnknown, outcomeUnknown);
    await write.abort();
    assert.equal(log.lines.some((line) => line.startsWith("abort")), false);
  });
}

for (const step of ["begin", "write", "deletes", "resume"]) {
  Deno.test(`a connector process that dies in its ${step} fails what waits, and the next request gets a new one`, async () => {
    await using session = openServed();
    const error = await failureOf((async () => {
      const write = await session.beginWrite(output({ at: step, do: "kill" }), SCHEMA, NEVER);
      await write.resumeFrom(0n, NEVER);
      await write.write(numbers(1), NEVER);
      await write.applyDeletes(numbers(1), NEVER);
      await write.commit();
    })());
    assert.match(error.message, /ended unexpectedly \(signal SIGKILL\)/);
    assert.deepEqual([error.code, error.transient], ["PZ0358", true]);
    const write = await session.beginWrite(output(), SCHEMA, NEVER);
    await write.commit();
  });
}

Deno.test("an abort that the connector does not heed ends in time, with the process", async () => {
  const log = new Log();
  await using session = openServed(log, { patience: { abortMs: 100 } });
  const write = await session.beginWrite(output({ at: "write", do: "ignore" }), SCHEMA, NEVER);
  await write.write(numbers(1), NEVER);
  await log.until("ignoring all in write");
  await write.abort();
  const next = await session.beginWrite(output(), SCHEMA, NEVER);
  await next.commit();
});

Deno.test("an abort that fails is told as a warning, not thrown", async () => {
  const log = new Log();
  await using session = openServed(log);
  const write = await session.beginWrite(output({ at: "abort", do: "fail" }), SCHEMA, NEVER);
  await write.abort();
  assert.equal(log.lines.at(-1), "What was written could not be taken back: abort failed for ***");
});

Deno.test("a write may be resumed before its first rows only, where the connector accepts the place", async () => {
  await using session = openServed();
  const write = await session.beginWrite(output(), SCHEMA, NEVER);
  assert.equal(await write.resumeFrom(500n, NEVER), false);
  assert.equal(await write.resumeFrom(7n, NEVER), true);
  await write.write(numbers(2), NEVER);
  assert.match((await failureOf(write.resumeFrom(1n, NEVER))).message, /after its first rows/);
  assert.deepEqual(await write.commit(), { rows: 9n, batches: 1 });
  assert.equal(write.acknowledgedRows, 9n);
});

Deno.test("writes of one session run side by side", async () => {
  const log = new Log();
  await using session = openServed(log);
  const counts = [1, 20_000, 3];
  const results = await Promise.all(counts.map(async (count) => {
    const write = await session.beginWrite(output(), SCHEMA, NEVER);
    for (let part = 0; part < 5; part++) await write.write(numbers(count), NEVER);
    return (await write.commit()).rows;
  }));
  assert.deepEqual(results, counts.map((count) => BigInt(count * 5)));
});

Deno.test("a session that is closed during a write ends its process and the write", async () => {
  const log = new Log();
  const session = openServed(log);
  const write = await session.beginWrite(output({ at: "write", do: "wait" }), SCHEMA, NEVER);
  const writing = failureOf((async () => {
    for (;;) await write.write(numbers(100_000), NEVER);
  })());
  await log.until("waiting in write");
  await session[Symbol.asyncDispose]();
  assert.equal((await writing).code, "PZ0358");
  await write.abort();
});

Deno.test("a connector that waits until its confirmation is kept goes on when it is", async () => {
  const log = new Log();
  await using session = openServed(log);
  const kept: bigint[] = [];
  const { promise: isAllowed, resolve: allow } = Promise.withResolvers<void>();
  const { promise: isAsked, resolve: ask } = Promise.withResolvers<void>();
  const write = await session.beginWrite(output({ acks: true }), SCHEMA, NEVER, async (rows) => {
    kept.push(rows);
    ask();
    await isAllowed;
  });
  await write.write(numbers(3), NEVER);
  await write.write(numbers(2), NEVER);
  const committing = write.commit();
  await isAsked;
  assert.ok(!log.lines.includes("kept 3"));
  allow();
  assert.deepEqual(await committing, { rows: 5n, batches: 2 });
  assert.deepEqual(kept, [3n, 5n]);
  assert.deepEqual(log.lines.slice(1), ["kept 3", "kept 5", "commit 5 rows, sum 4, 0 deleted"]);
});

Deno.test("a confirmation that can't be kept ends the write, which is taken back", async () => {
  const log = new Log();
  await using session = openServed(log);
  const write = await session.beginWrite(output({ acks: true }), SCHEMA, NEVER, () => {
    return Promise.reject(new Error("disk full"));
  });
  await write.write(numbers(3), NEVER);
  await assert.rejects(write.commit(), /disk full/);
  await log.until("abort after 3 rows");
  assert.doesNotMatch(log.lines.join(), /kept|commit/);
});

Deno.test("a connector without anybody to keep its confirmations does not wait", async () => {
  const log = new Log();
  await using session = openServed(log);
  const write = await session.beginWrite(output({ acks: true }), SCHEMA, NEVER);
  await write.write(numbers(3), NEVER);
  await write.commit();
  assert.ok(log.lines.includes("kept 3"));
});
