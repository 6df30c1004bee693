import assert from "node:assert/strict";
import { divertConsole } from "../../../../src/connectors/sdk/console.ts";

Deno.test("what a console prints becomes log messages, and the rest of it does nothing", () => {
  const printed = (..._: unknown[]) => assert.fail("it printed");
  const methods = ["log", "debug", "warn", "error", "table", "assert", "count", "time"];
  const target: { [name: string]: unknown } = Object.fromEntries(methods.map((name) => [name, printed]));
  target["indentLevel"] = 0;
  const lines: string[] = [];
  divertConsole(target, (level, message) => lines.push(`${level} ${message}`));
  const call = (name: string, ...values: unknown[]) => {
    const method = target[name];
    assert.ok(typeof method === "function");
    method(...values);
  };
  call("log", "rows", 3, { a: 1n });
  call("debug", "x");
  call("warn", "y");
  call("error", "z");
  call("assert", true, "fine");
  call("assert", false, "not fine");
  call("count");
  call("time", "t");
  assert.deepEqual(lines, ["info rows 3 { a: 1n }", "debug x", "warn y", "error z", "warn not fine"]);
  assert.equal(target["indentLevel"], 0);
});
