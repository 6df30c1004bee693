import assert from "node:assert/strict";
import { encodeCredit, FRAME, FrameDecoder } from "../../../../src/connectors/protocol/frame.ts";
import { decodeMessage, encodeMessage, type Message } from "../../../../src/connectors/protocol/messages.ts";
import { type ConnectorInstance, type ConnectorModule, ConnectorServer } from "../../../../src/connectors/sdk/mod.ts";

const SPEC = { connection: "c", entity: "e", options: { map: {} } };
const OUTPUT = {
  ...SPEC,
  mode: "append",
  schemaPolicy: "evolve",
  keys: [],
  attempt: { node: "n", run: "r", ordinal: 1 },
};

/** A server of an instance, and a way to ask it and wait for the end of the answer. */
function serve(instance: ConnectorInstance) {
  const module: ConnectorModule = { name: "m", version: "1", capabilities: ["Merge"], open: () => instance };
  const answers = new Map<number, Message[]>();
  const ends = new Map<number, PromiseWithResolvers<readonly Message[]>>();
  const server = new ConnectorServer(module, (bytes) => {
    for (const { kind, stream, payload } of new FrameDecoder().push(bytes)) {
      if (kind !== FRAME.control) continue;
      const message = decodeMessage(payload);
      const list = answers.get(stream) ?? [];
      answers.set(stream, [...list, message]);
      if (message.m === "EndOfStream" || message.m === "Failed") ends.get(stream)?.resolve([...list, message]);
    }
  });
  const receive = (bytes: Uint8Array) => {
    for (const frame of new FrameDecoder().push(bytes)) server.receive(frame);
  };
  const say = (stream: number, message: Message) => receive(encodeMessage(stream, message));
  const ask = (stream: number, message: Message) => {
    const end = Promise.withResolvers<readonly Message[]>();
    ends.set(stream, end);
    say(stream, message);
    return end.promise;
  };
  return { ask, say, receive };
}

function failure(messages: readonly Message[]): unknown {
  const error: unknown = messages.at(-1)?.["error"];
  return typeof error === "object" && error !== null && "message" in error && "code" in error
    ? [error.message, error.code]
    : messages;
}

Deno.test("what a connector can't do, what it does not know and what comes too early is refused by name", async () => {
  const { ask } = serve({});
  assert.deepEqual(failure(await ask(1, { m: "GetSchema", spec: SPEC })), [
    'Connector "m" was asked before it was configured',
    "PZ0357",
  ]);
  await ask(2, { m: "Configure", config: { map: {} } });
  assert.deepEqual(failure(await ask(3, { m: "GetSchema", spec: SPEC })), [`Connector "m" can't read`, "PZ0357"]);
  assert.deepEqual(failure(await ask(4, { m: "BeginWrite", spec: OUTPUT })), [`Connector "m" can't write`, "PZ0357"]);
  assert.deepEqual(failure(await ask(5, { m: "Dance" })), [
    'Connector "m" does not know the request "Dance"',
    "PZ0357",
  ]);
  assert.deepEqual((await ask(6, { m: "CheckConnection" })).map(({ m }) => m), ["EndOfStream"]);
});

Deno.test("what comes for a request that has ended is dropped, and what was never asked for is not", async () => {
  const { ask, say, receive } = serve({});
  await ask(1, { m: "Handshake" });
  for (const m of ["Cancel", "CommitWrite", "AbortWrite", "EndOfData"]) say(1, { m });
  receive(encodeCredit(1, 1));
  receive(new Uint8Array([1, 0, 0, 0, FRAME.data, 1, 0, 0, 0, 7]));
  assert.throws(() => receive(new Uint8Array([1, 0, 0, 0, FRAME.data, 9, 0, 0, 0, 7])), { name: "FrameError" });
});

Deno.test("a message that does not belong to a request is a breach of the protocol", async () => {
  const check = Promise.withResolvers<void>();
  const { ask, say } = serve({ check: () => check.promise });
  await ask(1, { m: "Configure", config: { map: {} } });
  const checked = ask(2, { m: "CheckConnection" });
  assert.throws(() => say(2, { m: "CommitWrite" }), /the message CommitWrite to a request that takes none/);
  check.resolve();
  await checked;
});

Deno.test("a request that is cancelled fails as cancelled, whatever it throws", async () => {
  const { ask, say } = serve({
    check: (signal) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("socket closed")))),
  });
  await ask(1, { m: "Configure", config: { map: {} } });
  const checked = ask(2, { m: "CheckConnection" });
  say(2, { m: "Cancel" });
  assert.deepEqual(failure([...await checked]), [{
    m: "Failed",
    error: { message: "The host cancelled the operation", transient: true },
  }]);
});
