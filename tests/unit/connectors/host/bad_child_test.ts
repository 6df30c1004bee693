import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import {
  type ChildCommand,
  ConnectorError,
  ConnectorSession,
  type DatasetSpec,
} from "../../../../src/connectors/mod.ts";

const NEVER = new AbortController().signal;
const SPEC: DatasetSpec = { connection: "c", entity: "e", config: {}, options: {} };

type Log = { push(line: string): void };

function open(mode: string, log: Log = [], command = badChild(mode)): ConnectorSession {
  return new ConnectorSession({
    connector: "bad",
    connection: "c",
    config: { password: "hunter2", user: "postgres" },
    grant: { net: [], read: [], write: [], env: [] },
    runId: "r",
    onLog: (level, message) => log.push(`${level} ${message}`),
    command,
    patience: { handshakeMs: mode === "silent" ? 300 : 15_000, cancelMs: 100, shutdownMs: 200 },
  });
}

function badChild(mode: string): ChildCommand {
  const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
  const config = path("../../../../deno.json");
  const flags = ["run", "--quiet", "--no-prompt", "--cached-only", "--allow-run", "--config", config];
  return { path: Deno.execPath(), args: [...flags, path("./bad_child.ts"), mode], env: {} };
}

async function read(session: ConnectorSession, signal: AbortSignal = NEVER): Promise<void> {
  for await (const _ of session.read(SPEC, { id: "p" }, { batchBytes: 1, signal })) { /* nothing sound comes */ }
}

async function failureOf(work: Promise<unknown>): Promise<ConnectorError> {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof ConnectorError, String(error));
    return error;
  }
  throw new assert.AssertionError({ message: "nothing failed" });
}

for (
  const [mode, code, transient, message] of [
    ["silent", "PZ0356", true, /has not answered the request Handshake for 0.3 s/],
    ["other name", "PZ0356", false, /answers as 'someone' with protocol 1: expected 'bad'/],
    ["garbage", "PZ0357", false, /broke the protocol with bytes that are no frame/],
    ["oversized", "PZ0357", false, /a frame of 2147483647 bytes, where at most 1048576 are allowed/],
  ] as const
) {
  Deno.test(`a child that is ${mode} fails its first request`, async () => {
    await using session = open(mode);
    const error = await failureOf(session.planRead(SPEC, NEVER));
    assert.match(error.message, message);
    assert.deepEqual([error.code, error.transient], [code, transient]);
  });
}

for (
  const [mode, code, transient, message] of [
    ["dies", "PZ0358", true, /"bad" for connection "c" ended unexpectedly \(exit code 7\); .*: cannot reach \*\*\*$/],
    ["killed", "PZ0358", true, /ended unexpectedly \(signal SIGKILL\)/],
    ["torn", "PZ0357", false, /an end after 1 data frames, where it counts 2/],
    ["unopened", "PZ0357", false, /an answer to a request that is not open/],
  ] as const
) {
  Deno.test(`a read from a child that is ${mode} fails, and the next request gets a new child`, async () => {
    await using session = open(mode);
    const error = await failureOf(read(session));
    assert.match(error.message, message);
    assert.deepEqual([error.code, error.transient], [code, transient]);
    assert.deepEqual(await session.planRead(SPEC, NEVER), [{ id: "p" }]);
  });
}

Deno.test(
  "a process that closes its output and lives on is killed",
  { ignore: Deno.build.os === "windows" },
  async () => {
    await using session = open("", [], { path: "/bin/sh", args: ["-c", "exec >&-; exec sleep 60"], env: {} });
    assert.match((await failureOf(session.planRead(SPEC, NEVER))).message, /ended unexpectedly \(signal SIGKILL\)/);
  },
);

Deno.test("a program that is not there is named", async () => {
  await using session = open("", [], { path: "/nowhere/pz", args: [], env: {} });
  const error = await failureOf(session.planRead(SPEC, NEVER));
  assert.match(error.message, /Could not start a process for connector "bad" of connection "c"/);
  assert.equal(error.code, "PZ0355");
});

Deno.test("a failure that the connector reports arrives whole, without secrets and colours", async () => {
  await using session = open("fails");
  const error = await failureOf(read(session));
  assert.equal(error.message, "login of *** failed");
  assert.deepEqual([error.transient, error.retryAfterMs, error.hint], [true, 5000, "wait"]);
});

Deno.test("a plan that gives a partition no id of its own is refused by its ordinal, once it comes to it", async () => {
  for (
    const [what, message] of [
      ["twice", "Partitions 2 and 3 of the plan have one id"],
      ["unnamed", "Partition 3 of the plan has no id"],
      ["blank", "Partition 3 of the plan has no id"],
    ] as const
  ) {
    await using session = open(what);
    const found: string[] = [];
    const error = await failureOf((async () => {
      for await (const { id } of session.planReadStreaming(SPEC, NEVER)) found.push(id);
    })());
    assert.deepEqual([error.message, error.code, error.transient, found], [message, "PZ0319", false, ["p", "o"]]);
  }
});

Deno.test("a cancelled request ends at once, and a child that does not heed it is killed", async () => {
  const deaf = Promise.withResolvers<string>();
  await using session = open("deaf", { push: deaf.resolve });
  const stop = new AbortController();
  const reading = read(session, stop.signal);
  await deaf.promise;
  const other = failureOf(session.planRead(SPEC, NEVER));
  const reason = new Error("enough");
  stop.abort(reason);
  await assert.rejects(reading, reason);
  const error = await other;
  assert.match(error.message, /did not stop within 0.1 s of being asked/);
  assert.equal(error.transient, true);
});

Deno.test("a request with a signal that is already aborted starts nothing", async () => {
  await using session = open("silent");
  await assert.rejects(session.planRead(SPEC, AbortSignal.abort(new Error("early"))), /early/);
});

Deno.test("closing a session whose child does not heed it ends the child and its requests", async () => {
  const deaf = Promise.withResolvers<string>();
  const session = open("deaf", { push: deaf.resolve });
  const reading = failureOf(read(session));
  await deaf.promise;
  await session[Symbol.asyncDispose]();
  assert.equal((await reading).code, "PZ0358");
  await assert.rejects(session.planRead(SPEC, NEVER), /session is closed/);
});

Deno.test("a chattering child is held to a rate, its settings masked, and the rest counted", async () => {
  const log: string[] = [];
  {
    await using session = open("chatter", log);
    assert.deepEqual(await session.planRead(SPEC, NEVER), [{ id: "p" }]);
  }
  assert.equal(log[0], "info note 0 ***");
  assert.ok(log.length < 1000, String(log.length));
  assert.match(log.at(-1) ?? "", /^warn \d+ more messages of the connector were left out$/);
});
