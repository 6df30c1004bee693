import assert from "node:assert/strict";
import type { ConnectorSession, DatasetSpec, ReadHints } from "../../../../src/connectors/mod.ts";
import { failureOf, Log, NEVER, openServed } from "./served_support.ts";

const SPEC: DatasetSpec = { connection: "c", entity: "e", config: {}, options: {} };
const READ = { batchBytes: 1, signal: NEVER };

async function valuesOf(session: ConnectorSession, resumeFrom?: string): Promise<readonly unknown[]> {
  const stream = session.read(SPEC, { id: "first" }, { ...READ, ...(resumeFrom === undefined ? {} : { resumeFrom }) });
  const values: unknown[] = [];
  for await (const batch of stream) values.push(...batch.getChild("n") ?? []);
  return [stream.resumed, ...values];
}

Deno.test("a read's checkpoint never covers a batch that was not given yet", async () => {
  await using session = openServed();
  const stream = session.read(SPEC, { id: "first" }, READ);
  const seen: (string | undefined)[] = [stream.checkpoint];
  for await (const _ of stream) {
    const { checkpoint } = stream;
    assert.ok(Number(checkpoint ?? 0) <= seen.length, `${checkpoint} after ${seen.length} batches`);
    seen.push(checkpoint);
  }
  assert.equal(stream.checkpoint, "6");
  assert.equal(seen[0], undefined);
});

Deno.test("a read goes on from a checkpoint that the connector accepts, and starts anew from another", async () => {
  await using session = openServed();
  assert.deepEqual(await valuesOf(session), [undefined, 0n, 1n, 2n, 3n, 4n, 5n]);
  assert.deepEqual(await valuesOf(session, "4"), [true, 4n, 5n]);
  assert.deepEqual(await valuesOf(session, "stale"), [false, 0n, 1n, 2n, 3n, 4n, 5n]);
});

Deno.test("a read that fails half-way keeps the checkpoint of what it gave", async () => {
  await using session = openServed();
  const stream = session.read({ ...SPEC, options: { fail: "read" } }, { id: "first" }, READ);
  const error = await failureOf((async () => {
    for await (const _ of stream) { /* counted by the stream */ }
  })());
  assert.equal(error.message, "lost");
  assert.ok(stream.checkpoint === undefined || stream.checkpoint === "2");
});

Deno.test("partitions come as they are found, and who has enough ends the plan", async () => {
  await using session = openServed();
  assert.deepEqual(await session.planRead(SPEC, NEVER), [{ id: "first", checkpointing: true }, { id: "second" }]);
  for await (const partition of session.planReadStreaming({ ...SPEC, options: { plan: "waits" } }, NEVER)) {
    assert.deepEqual(partition, { id: "first", checkpointing: true });
    break;
  }
  assert.equal((await session.planRead(SPEC, NEVER)).length, 2);
});

Deno.test("hints reach the connector as they were given", async () => {
  const log = new Log();
  await using session = openServed(log);
  const hints: ReadHints = {
    columns: ["a", "b"],
    predicate: {
      op: "and",
      args: [
        { op: ">=", column: "a", value: { type: "BIGINT", text: "9007199254740993" } },
        { op: "in", column: "b", values: [{ type: "VARCHAR", text: "x" }] },
        { op: "is_null", column: "a" },
      ],
    },
  };
  await session.planRead({ ...SPEC, hints }, NEVER);
  await session.planRead(SPEC, NEVER);
  assert.deepEqual(log.lines, [`hints ${JSON.stringify(hints)}`, "hints undefined"]);
});

Deno.test("a check passes or says what is wrong", async () => {
  await using good = openServed();
  await good.check(NEVER);
  await using bad = openServed(new Log(), { config: { host: "nowhere" } });
  const error = await failureOf(bad.check(NEVER));
  assert.deepEqual([error.message, error.transient, error.hint], ["nobody at nowhere", true, "dial"]);
});

Deno.test("a notice is told without secrets", async () => {
  const notices: string[] = [];
  await using session = openServed(new Log(), {
    config: { password: "hunter2" },
    onNotice: (text) => notices.push(text),
  });
  await session.planRead({ ...SPEC, options: { notice: "hunter2 is\nmapped" } }, NEVER);
  assert.deepEqual(notices, ["*** is mapped"]);
});
