import assert from "node:assert/strict";
import type { Session } from "../../../src/engine/run_context.ts";

/** A session that does what a test gives it; anything else it is asked for fails the test. */
export function fakeSession(does: Partial<Session> = {}): Session {
  return {
    getSchema: () => assert.fail("no schema is expected to be asked for"),
    planRead: () => assert.fail("no plan is expected"),
    read: () => assert.fail("no read is expected"),
    beginWrite: () => assert.fail("no write is expected"),
    [Symbol.asyncDispose]: () => Promise.resolve(),
    ...does,
  };
}
