import assert from "node:assert/strict";
import { SessionPool } from "../../../src/engine/session_pool.ts";
import { connection } from "./fixture.ts";
import { fakeSession } from "./session_support.ts";

function pool(users: Record<string, number>, close = () => Promise.resolve()) {
  const log: string[] = [];
  const sessions = new SessionPool({
    users: new Map(Object.entries(users)),
    open: ({ name }) => {
      log.push(`open ${name}`);
      return fakeSession({
        [Symbol.asyncDispose]: () => {
          log.push(`close ${name}`);
          return close();
        },
      });
    },
  });
  return { sessions, log };
}

Deno.test("a session is opened at first use, shared, and closed by the last of its nodes", async () => {
  const { sessions, log } = pool({ a: 2, b: 1 });
  assert.equal(sessions.get(connection("a")), sessions.get(connection("a")));
  sessions.leave("b");
  sessions.leave("a");
  assert.deepEqual(log, ["open a"]);
  sessions.leave("a");
  assert.deepEqual(log, ["open a", "close a"]);
  await sessions[Symbol.asyncDispose]();
  assert.deepEqual(log, ["open a", "close a"]);
});

Deno.test("disposal closes what is open and waits, and a failing close is dropped", async () => {
  const closed = Promise.withResolvers<void>();
  const { sessions, log } = pool({ a: 5 }, () => closed.promise);
  sessions.get(connection("a"));
  let done = false;
  const disposal = sessions[Symbol.asyncDispose]().then(() => done = true);
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.deepEqual([log.at(-1), done], ["close a", false]);
  closed.reject(new Error("already dead"));
  await disposal;
});
