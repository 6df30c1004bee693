import assert from "node:assert/strict";
import type { ConfigMap, DatasetSpec, OperationGate, OperationRequest } from "../../../../src/connectors/mod.ts";
import { failureOf, Log, NEVER, numbers, openServed, output, SCHEMA } from "./served_support.ts";

/** Keeps what passes it, and lets each try go when `admit` says so, as often as it says. */
class TestGate implements OperationGate {
  readonly seen: string[] = [];
  readonly budgets: (readonly [number, number])[] = [];
  admit: (operation: OperationRequest, tries: number) => boolean | Promise<boolean> = (_, tries) => tries === 1;

  async execute(operation: OperationRequest, attempt: Parameters<OperationGate["execute"]>[1]) {
    const { label, idempotent, urgent } = operation;
    this.seen.push(`${label}${idempotent ? "" : " once"}${urgent ? " urgent" : ""}`);
    if (!await this.admit(operation, 1)) throw new Error("not let go");
    let end = await attempt();
    for (let tries = 2; end !== undefined; tries++) {
      this.seen.push(`${label} failed ${end.transient ? `for ${end.retryAfterMs} ms` : "for good"}`);
      if (!await this.admit(operation, tries)) return end;
      end = await attempt();
    }
    return end;
  }

  reportBudget(remaining: number, resetAtMs: number): void {
    this.budgets.push([remaining, resetAtMs]);
  }
}

function dataset(options: ConfigMap): DatasetSpec {
  return { connection: "c", entity: "e", config: {}, options: { gated: true, ...options } };
}

async function readAll(
  session: ReturnType<typeof openServed>,
  gate: OperationGate,
  options: ConfigMap,
  signal: AbortSignal = NEVER,
): Promise<number> {
  let rows = 0;
  const read = session.through(gate).read(dataset(options), { id: "first" }, { batchBytes: 1, signal });
  for await (const batch of read) rows += batch.numRows;
  return rows;
}

Deno.test("every request of a connector passes the gate, and one that may be repeated is as often as the gate says", async () => {
  const gate = new TestGate();
  gate.admit = (_, tries) => tries <= 3;
  const log = new Log();
  await using session = openServed(log);
  assert.equal(await readAll(session, gate, { fates: "ok,busy,busy:70,ok" }), 6);
  assert.deepEqual(gate.seen, [
    "page",
    "page",
    "page failed for undefined ms",
    "page failed for 70 ms",
    ...Array(4).fill("page"),
  ]);
  assert.deepEqual(log.lines.slice(0, 4), ["page ok", "page busy", "page busy:70", "page ok"]);
});

Deno.test("the last failure is the connector's own once the gate lets it try no more", async () => {
  await using session = openServed();
  const error = await failureOf(readAll(session, new TestGate(), { fates: "busy:70" }));
  assert.deepEqual([error.message, error.transient, error.retryAfterMs], ["busy", true, 70]);
});

Deno.test("what must not be repeated is tried once, and the gate hears how that went", async () => {
  const gate = new TestGate();
  gate.admit = () => true;
  const log = new Log();
  await using session = openServed(log);
  const error = await failureOf(readAll(session, gate, { once: true, fates: "ok,busy:70,ok" }));
  assert.equal(error.message, "busy");
  assert.deepEqual(log.lines, ["page ok", "page busy:70"]);
  assert.deepEqual(gate.seen.slice(0, 3), ["page once", "page once", "page failed for 70 ms"]);
});

Deno.test("a failure that is no fault of the moment is not tried again", async () => {
  const gate = new TestGate();
  gate.admit = () => true;
  const log = new Log();
  await using session = openServed(log);
  assert.equal((await failureOf(readAll(session, gate, { fates: "no" }))).message, "no");
  assert.deepEqual(log.lines, ["page no"]);
});

Deno.test("each user of a session has a gate of its own, and without one everything goes at once", async () => {
  const gates = [new TestGate(), new TestGate()];
  await using session = openServed();
  await Promise.all(gates.map((gate) => readAll(session, gate, {})));
  assert.deepEqual(gates.map(({ seen }) => seen), [Array(6).fill("page"), Array(6).fill("page")]);
  let rows = 0;
  for await (const batch of session.read(dataset({}), { id: "second" }, { batchBytes: 1, signal: NEVER })) {
    rows += batch.numRows;
  }
  assert.equal(rows, 6);
});

Deno.test("a read that is stopped while it waits for the gate ends at once and never makes the request", async () => {
  const gate = new TestGate();
  const stop = new AbortController();
  const ended = Promise.withResolvers<unknown>();
  gate.admit = ({ signal }) => {
    signal.addEventListener("abort", () => ended.resolve(signal.reason), { once: true });
    stop.abort(new Error("stop"));
    return new Promise(() => {});
  };
  const log = new Log();
  await using session = openServed(log);
  await assert.rejects(readAll(session, gate, {}, stop.signal), /^Error: stop$/);
  assert.equal(String(await ended.promise), "Error: stop");
  assert.equal((await session.planRead(dataset({}), NEVER)).length, 2);
  assert.ok(!log.lines.some((line) => line.startsWith("page")));
});

Deno.test("a write waits for the gate in all its steps, also where it may go on", async () => {
  const gate = new TestGate();
  await using session = openServed();
  const write = await session.through(gate).beginWrite(output({ gated: true }), SCHEMA, NEVER);
  assert.equal(await write.resumeFrom(2n, NEVER), true);
  await write.write(numbers(1), NEVER);
  await write.commit();
  assert.deepEqual(gate.seen, ["look", "put", "finish"]);
});

Deno.test("a write that is taken back while it waits does so without waiting, and the gate knows why", async () => {
  const gate = new TestGate();
  const waiting = Promise.withResolvers<void>();
  gate.admit = (operation) => {
    if (operation.urgent) return true;
    waiting.resolve();
    return new Promise(() => {});
  };
  const log = new Log();
  await using session = openServed(log);
  const write = await session.through(gate).beginWrite(output({ gated: true }), SCHEMA, NEVER);
  await write.write(numbers(1), NEVER);
  await waiting.promise;
  await write.abort();
  assert.deepEqual(gate.seen, ["put", "undo urgent"]);
  assert.deepEqual(log.lines.slice(-2), ["undo ok", "abort after 0 rows"]);
});

Deno.test("a wait for the gate does not count as time without an answer, the request itself does", async () => {
  const gate = new TestGate();
  gate.admit = async () => {
    await new Promise((done) => setTimeout(done, 400));
    return true;
  };
  const patience = { answerMs: 200 };
  await using session = openServed(new Log(), { patience });
  const spec = { ...dataset({}), options: { gated: "schema" } };
  assert.equal((await session.through(gate).getSchema(spec, NEVER)).fields.length, 1);
  gate.admit = () => true;
  const silent = { ...spec, options: { gated: "schema", fates: ",wait" } };
  const error = await failureOf(session.through(gate).getSchema(silent, NEVER));
  assert.match(error.message, /did not answer the request GetSchema within 0.2 s/);
});

Deno.test("what a system says of its own limit reaches the gate", async () => {
  const gate = new TestGate();
  await using session = openServed();
  await readAll(session, gate, { fates: "budget:1700000000000" });
  assert.deepEqual(gate.budgets, [[0, 1_700_000_000_000]]);
});

Deno.test("what a request leaves waiting when it ends is let go no more", async () => {
  const gate = new TestGate();
  const stopped = Promise.withResolvers<boolean>();
  gate.admit = ({ signal }) => {
    signal.addEventListener("abort", () => stopped.resolve(false), { once: true });
    return stopped.promise;
  };
  await using session = openServed();
  await session.through(gate).getSchema({ ...dataset({}), options: { gated: "forgotten" } }, NEVER);
  assert.equal(await stopped.promise, false);
});

Deno.test("a process that dies frees whoever waits for the gate", async () => {
  const gate = new TestGate();
  const stopped = Promise.withResolvers<boolean>();
  gate.admit = ({ signal }) => {
    signal.addEventListener("abort", () => stopped.resolve(false), { once: true });
    return stopped.promise;
  };
  await using session = openServed();
  const reading = failureOf(readAll(session, gate, {}));
  const write = await session.beginWrite(output({ at: "write", do: "die" }), SCHEMA, NEVER);
  await failureOf((async () => {
    await write.write(numbers(1), NEVER);
    await write.commit();
  })());
  assert.equal((await reading).code, "PZ0358");
  assert.equal(await stopped.promise, false);
});
