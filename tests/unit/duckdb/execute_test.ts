import assert from "node:assert/strict";
import { runsOnLoopThread } from "../../../src/duckdb/execute.ts";
import { openDuckDb } from "../../../src/duckdb/mod.ts";

Deno.test("runtimes before 2.9 run native work on the event loop's thread", () => {
  const versions = ["1.46.3", "2.6.10", "2.8.9", "2.9.0", "2.10.1", "3.0.0"];
  assert.deepEqual(versions.map(runsOnLoopThread), [true, true, true, false, false, false]);
});

Deno.test("timers fire while a long statement runs, and an abort ends it", async () => {
  await using database = await openDuckDb({ threads: 2, memoryLimitBytes: 500_000_000 });
  using connection = await database.connect();
  const stop = new AbortController();
  let turns = 0;
  const timer = setInterval(() => {
    if (++turns === 5) stop.abort(new Error("enough"));
  }, 10);
  try {
    const endless = "SELECT sum(hash(a.range + b.range)) FROM range(10000000) a, range(10000000) b";
    await assert.rejects(connection.run(endless, { signal: stop.signal }), /enough/);
  } finally {
    clearInterval(timer);
  }
  assert.ok(turns >= 5);
});
