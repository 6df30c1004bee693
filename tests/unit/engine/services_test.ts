import assert from "node:assert/strict";
import { once } from "../../../src/engine/services.ts";
import { maskOf } from "../../../src/util/mod.ts";

Deno.test("a notice is told once however often it comes, and without secrets", () => {
  const told: string[] = [];
  const tell = once((text) => told.push(text), maskOf(["hunter2"]));
  for (const text of ["INTERVAL becomes text", "of hunter2", "INTERVAL becomes text", "of hunter2"]) tell(text);
  assert.deepEqual(told, ["INTERVAL becomes text", "of ***"]);
});
