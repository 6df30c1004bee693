import assert from "node:assert/strict";
import { failureOf, Log, NEVER, numbers, openServed, output, SCHEMA } from "./served_support.ts";

Deno.test("a stop before a commit has begun takes the write back, with the reason of the stop", async () => {
  const log = new Log();
  await using session = openServed(log);
  const write = await session.beginWrite(output({ at: "write", do: "wait" }), SCHEMA, NEVER);
  const stop = new AbortController();
  // More than the connector may be sent before it takes the first.
  for (let batch = 0; batch < 6; batch++) await write.write(numbers(1), NEVER);
  const commit = write.commit(stop.signal);
  await log.until("waiting in write");
  stop.abort(new Error("stop"));
  await assert.rejects(commit, /^Error: stop$/);
  assert.equal(log.lines.at(-1), "abort after 0 rows");
  assert.deepEqual((await session.planRead({ ...output(), options: {} }, NEVER)).length, 2);
});

Deno.test("a stop after a commit has begun counts no more, however long it takes", async () => {
  const log = new Log();
  await using session = openServed(log, { patience: { abortMs: 50 } });
  const write = await session.beginWrite(output({ at: "commit", do: "pause" }), SCHEMA, NEVER);
  const stop = new AbortController();
  await write.write(numbers(3), NEVER);
  const commit = write.commit(stop.signal);
  await log.until("pausing in commit");
  stop.abort(new Error("stop"));
  assert.equal((await commit).rows, 3n);
});

Deno.test("a commit that is asked for after the stop is not begun", async () => {
  const log = new Log();
  await using session = openServed(log);
  const write = await session.beginWrite(output(), SCHEMA, NEVER);
  await assert.rejects(write.commit(AbortSignal.abort(new Error("stop"))), /^Error: stop$/);
  await write.abort();
  assert.equal(log.lines.at(-1), "abort after 0 rows");
});

Deno.test("a connector that does not heed a stop before its commit is ended, and nobody knows what it did", async () => {
  const log = new Log();
  await using session = openServed(log, { patience: { abortMs: 100 } });
  const write = await session.beginWrite(output({ at: "write", do: "ignore" }), SCHEMA, NEVER);
  const stop = new AbortController();
  await write.write(numbers(3), NEVER);
  const commit = failureOf(write.commit(stop.signal));
  await log.until("ignoring all in write");
  stop.abort(new Error("stop"));
  const error = await commit;
  assert.match(error.message, /did not stop within 0.1 s of being asked/);
  assert.equal(error.outcomeUnknown, true);
});
