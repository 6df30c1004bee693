import assert from "node:assert/strict";
import { LogLimiter } from "../../../../src/connectors/host/log_limiter.ts";
import { Redactor } from "../../../../src/connectors/host/redact.ts";
import { printable, Tail } from "../../../../src/connectors/host/tail.ts";

Deno.test("logs pass at a bounded rate, and what was held back is counted once", () => {
  let now = 0;
  const log: string[] = [];
  const limiter = new LogLimiter((level, message) => log.push(`${level} ${message}`), () => now);
  for (let index = 0; index < 250; index++) limiter.push("info", String(index));
  assert.equal(log.length, 200);
  now += 1000;
  for (let index = 0; index < 60; index++) limiter.push("info", String(index));
  assert.equal(log.length, 250);
  limiter.push("info", "x");
  limiter.finish();
  limiter.finish();
  assert.deepEqual(log.slice(250), ["warn 61 more messages of the connector were left out"]);
});

Deno.test("a long message is cut", () => {
  const log: string[] = [];
  new LogLimiter((_, message) => log.push(message), () => 0).push("info", "x".repeat(5000));
  assert.equal(log[0]?.length, 4097);
});

Deno.test("all settings are masked in logs, and secret ones in errors", () => {
  const redactor = new Redactor({
    host: "db.example",
    password: "p4ss",
    port: 5432,
    options: { api_key: "k", list: ["abc", "abcdef"] },
    flag: true,
  });
  assert.equal(redactor.strict("p4ss@db.example:5432 abcdef abc x"), "***@***:*** *** *** x");
  assert.equal(redactor.lenient("p4ss@db.example:5432"), "***@db.example:5432");
});

Deno.test("the tail of an output keeps its last bytes as one printable line", () => {
  const tail = new Tail(10);
  tail.push(new TextEncoder().encode("0123456789"));
  tail.push(new TextEncoder().encode("ab\r\n\tc"));
  assert.equal(tail.text(), "6789ab c");
  assert.equal(printable("\u001b[1m\u001b[31merror\u001b[0m: x\ny"), "error: x y");
});
