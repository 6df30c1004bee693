import assert from "node:assert/strict";
import { FetchStream } from "../../../../src/connectors/host/fetch_stream.ts";
import { ConnectorError } from "../../../../src/connectors/mod.ts";
import { FrameError } from "../../../../src/connectors/protocol/frame.ts";
import type { Message } from "../../../../src/connectors/protocol/messages.ts";
import type { FileMover, StoreSession } from "../../../../src/connectors/sdk/mod.ts";
import { StoreOperation } from "../../../../src/connectors/sdk/store_operation.ts";
import { output } from "./served_support.ts";

const PLACE = { folder: "/f", journal: "/j" };

Deno.test("fetched files are given in their order, and one outside of its folder breaks the protocol", async () => {
  const bytes: number[] = [];
  const stream = new FetchStream((more) => void bytes.push(more));
  stream.message({ m: "File", path: "0/a=1/x.csv", name: "s3://b/x", bytes: 3 });
  stream.message({ m: "Progress", bytes: 7 });
  stream.message({ m: "File", path: "1", name: "n", bytes: 0 });
  stream.message({ m: "OfALaterVersion" });
  stream.over("ended");
  assert.deepEqual((await Array.fromAsync(stream.files())).map(({ path }) => path), ["0/a=1/x.csv", "1"]);
  assert.deepEqual(bytes, [7]);
  for (const path of ["", "/etc/passwd", "../x", "a/../b", "a/./b", "a//b", "a/", ".", "a\\b", "a\0"]) {
    assert.throws(() => stream.message({ m: "File", path, name: "n", bytes: 1 }), FrameError, path);
  }
  const failed = new FetchStream(() => {});
  failed.message({ m: "File", path: "a", name: "n", bytes: 1 });
  failed.over({ reason: new Error("gone") });
  await assert.rejects(Array.fromAsync(failed.files()), /gone/);
});

/** Lets everything happen that waits for nothing from outside. */
function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

/** A write of files with what was done to its session and what it answered. */
function storing(session: Partial<StoreSession> = {}, mover: Partial<FileMover> = {}) {
  const done: string[] = [];
  const said: Message[] = [];
  let fail: (error: unknown) => void = () => {};
  const files: FileMover = {
    async *fetch() {},
    sweep: () => Promise.resolve(),
    store: (_spec, options) => {
      fail = options.fail;
      return Promise.resolve({
        grew: ({ path, bytes, isWhole }) => void done.push(`${path} ${bytes} ${isWhole}`),
        sent: () => Promise.resolve(),
        commit: () => Promise.resolve({ files: 1, bytes: 2 }),
        abort: () => {
          done.push("abort");
          return Promise.resolve();
        },
        ...session,
      });
    },
    ...mover,
  };
  const answer = { stream: 1, message: (message: Message) => void said.push(message), frame: () => {} };
  const operation = new StoreOperation(answer, files, { spec: output(), place: PLACE }, (text) => void done.push(text));
  return { operation, done, said, fail: (error: unknown) => fail(error), names: () => said.map(({ m }) => m) };
}

Deno.test("a write of files hears how they grow, is complete, and commits", async () => {
  const { operation, done, names } = storing();
  const running = operation.run();
  operation.message({ m: "FileGrew", path: "a", bytes: 5, isWhole: false });
  operation.message({ m: "FileGrew", path: "a", bytes: 6, isWhole: true });
  operation.message({ m: "FilesComplete" });
  operation.message({ m: "CommitWrite" });
  await running;
  assert.deepEqual(done, ["a 5 false", "a 6 true"]);
  assert.deepEqual(names(), ["StoreSession", "FilesSent", "StoreResult"]);
});

Deno.test("a write that is cancelled or that fails while nobody waits is taken back, once", async () => {
  const endless = storing({ sent: () => new Promise(() => {}) });
  const running = endless.operation.run();
  endless.operation.message({ m: "FilesComplete" });
  await turn();
  endless.operation.cancel();
  await running;
  assert.deepEqual([endless.done, endless.names()], [["abort"], ["StoreSession"]]);

  const broken = storing();
  const failing = broken.operation.run();
  await turn();
  broken.fail(new ConnectorError("no space", { transient: false }));
  broken.fail(new ConnectorError("later", { transient: false }));
  await assert.rejects(failing, /no space/);
  assert.deepEqual([broken.done, broken.names()], [["abort"], ["StoreSession", "WriteFailed"]]);
});

Deno.test("a commit before the files are complete makes nothing visible", async () => {
  const { operation, done, names } = storing();
  const running = operation.run();
  operation.message({ m: "FileGrew", path: "a", bytes: 5, isWhole: false });
  operation.message({ m: "CommitWrite" });
  await assert.rejects(running, /A commit before the files are complete/);
  assert.deepEqual([done, names()], [["a 5 false", "abort"], ["StoreSession", "WriteFailed"]]);
});

Deno.test("a commit is not cancelled, and what it throws may have taken place unless it says otherwise", async () => {
  for (const [outcomeUnknown, expected] of [[undefined, true], [false, false]] as const) {
    const { promise, reject } = Promise.withResolvers<never>();
    const { operation, done } = storing({ commit: () => promise });
    const running = operation.run();
    operation.message({ m: "FilesComplete" });
    operation.message({ m: "CommitWrite" });
    await turn();
    operation.cancel();
    reject(new ConnectorError("x", { transient: true, outcomeUnknown }));
    await assert.rejects(running, (error) => error instanceof ConnectorError && error.outcomeUnknown === expected);
    assert.deepEqual(done, []);
  }
  assert.throws(() => storing().operation.message({ m: "EndOfData", frames: 0 }), FrameError);
  assert.throws(() => storing().operation.data(), FrameError);
});
