import assert from "node:assert/strict";
import { ConnectorSession, type DatasetSpec } from "../../../../src/connectors/mod.ts";
import { failureOf, Log, NEVER, numbers, openServed, output, SCHEMA } from "./served_support.ts";

const SPEC: DatasetSpec = { connection: "c", entity: "e", config: {}, options: {} };
const SIGNALS = { ignore: Deno.build.os === "windows" };

Deno.test("a request without any answer fails in time, by its name, and the process serves on", async () => {
  await using session = openServed(new Log(), { config: { host: "silent" }, patience: { answerMs: 200 } });
  const error = await failureOf(session.check(NEVER));
  assert.match(error.message, /"served" for connection "c" did not answer the request CheckConnection within 0.2 s/);
  assert.deepEqual([error.code, error.transient], ["PZ0358", true]);
  assert.equal((await session.planRead(SPEC, NEVER)).length, 2);
});

Deno.test("a begin and a question where to resume are limited in time too", async () => {
  await using session = openServed(new Log(), { patience: { answerMs: 200 } });
  const begin = await failureOf(session.beginWrite(output({ at: "begin", do: "wait" }), SCHEMA, NEVER));
  assert.match(begin.message, /did not answer the request BeginWrite/);
  const write = await session.beginWrite(output({ at: "resume", do: "wait" }), SCHEMA, NEVER);
  assert.match((await failureOf(write.resumeFrom(1n, NEVER))).message, /did not answer the request ResumeFrom/);
  await write.abort();
});

Deno.test("a plan, a read and a commit that take long are not limited once they answer", async () => {
  const log = new Log();
  await using session = openServed(log, { patience: { answerMs: 100, pingMs: 30, pongMs: 5000 } });
  const write = await session.beginWrite(output({ at: "commit", do: "pause" }), SCHEMA, NEVER);
  await write.write(numbers(1), NEVER);
  assert.equal((await write.commit()).rows, 1n);
  const slow = { ...SPEC, options: { plan: "pauses" } };
  assert.equal((await session.planRead(slow, NEVER)).length, 2);
});

Deno.test("a process that was stopped from outside is found out and replaced", SIGNALS, async () => {
  await using session = openServed(new Log(), { patience: { pingMs: 100, pongMs: 1000 } });
  const error = await failureOf((async () => {
    const read = session.read({ ...SPEC, options: { stop: "process" } }, { id: "first" }, {
      batchBytes: 1,
      signal: NEVER,
    });
    for await (const _ of read) { /* none is expected */ }
  })());
  assert.match(error.message, /does not run any more/);
  assert.deepEqual([error.code, error.transient], ["PZ0358", true]);
  assert.equal((await session.planRead(SPEC, NEVER)).length, 2);
});

Deno.test("a process whose connector is busy for long without a pause still answers that it runs", async () => {
  await using session = new ConnectorSession({
    connector: "generate",
    connection: "c",
    config: {},
    grant: { net: [], read: [], write: [], env: [] },
    runId: "r",
    onLog: () => {},
    patience: { pingMs: 50, pongMs: 600 },
  });
  const spec = { ...SPEC, options: { rows: 2_000_000n, batch_rows: 2_000_000n } };
  await session.planRead(spec, NEVER);
  let rows = 0;
  const begun = performance.now();
  for await (const batch of session.read(spec, { id: "all" }, { batchBytes: 1 << 30, signal: NEVER })) {
    if (rows === 0) assert.ok(performance.now() - begun > 700, "the connector was not busy for long");
    rows += batch.numRows;
  }
  assert.equal(rows, 2_000_000);
});

for (const busy of ["read", "write"] as const) {
  Deno.test(`a process that is killed during a ${busy} fails it, and none is left over`, SIGNALS, async () => {
    const log = new Log();
    const pids: number[] = [];
    {
      await using session = openServed(log, { onNotice: (pid) => pids.push(Number(pid)) });
      await session.planRead({ ...SPEC, options: { notice: "pid" } }, NEVER);
      const [pid] = pids;
      assert.ok(pid !== undefined);
      const work = busy === "read"
        ? async () => {
          const read = session.read({ ...SPEC, options: { endless: true } }, { id: "first" }, {
            batchBytes: 1,
            signal: NEVER,
          });
          await read.next();
          Deno.kill(pid, "SIGKILL");
          for await (const _ of read) { /* until it notices */ }
        }
        : async () => {
          const write = await session.beginWrite(output({ at: "write", do: "wait" }), SCHEMA, NEVER);
          await write.write(numbers(1), NEVER);
          Deno.kill(pid, "SIGKILL");
          await write.commit();
        };
      const error = await failureOf(work());
      assert.match(error.message, /ended unexpectedly \(signal SIGKILL\)/);
      assert.deepEqual([error.code, error.transient], ["PZ0358", true]);
      await session.planRead({ ...SPEC, options: { notice: "pid" } }, NEVER);
    }
    assert.equal(pids.length, 2);
    for (const pid of pids) assert.throws(() => Deno.kill(pid, "SIGCONT"), Deno.errors.NotFound);
  });
}

Deno.test("a process that uses up its memory fails what it was doing", async () => {
  await using session = openServed();
  const error = await failureOf(session.beginWrite(output({ at: "begin", do: "hoard" }), SCHEMA, NEVER));
  assert.match(
    error.message,
    /ended unexpectedly \((exit code \d+|signal SIG\w+)\); the end of its error output: .*memory/,
  );
  assert.deepEqual([error.code, error.transient], ["PZ0358", true]);
});

Deno.test("two sessions have two processes, and one that ends leaves the other alone", SIGNALS, async () => {
  const pids: number[] = [];
  const onNotice = (pid: string) => pids.push(Number(pid));
  await using one = openServed(new Log(), { onNotice });
  await using other = openServed(new Log(), { onNotice });
  const notice = { ...SPEC, options: { notice: "pid" } };
  await one.planRead(notice, NEVER);
  await other.planRead(notice, NEVER);
  assert.notEqual(pids[0], pids[1]);
  const write = await other.beginWrite(output(), SCHEMA, NEVER);
  await one[Symbol.asyncDispose]();
  await write.write(numbers(2), NEVER);
  assert.equal((await write.commit()).rows, 2n);
});
