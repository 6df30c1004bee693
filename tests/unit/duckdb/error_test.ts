import assert from "node:assert/strict";
import { duckDbError } from "../../../src/duckdb/error.ts";

Deno.test("an error text that is no JSON loses its prefix and the echo of the SQL", () => {
  const error = duckDbError(new Error("Binder Error: no such thing\n\nLINE 3: SELECT secret\n               ^"));
  assert.deepEqual([error.kind, error.message, error.position], ["Binder", "no such thing", undefined]);
});

Deno.test("a wrapper of the bindings is cut off", () => {
  const json = JSON.stringify({ exception_type: "Parser", exception_message: "syntax error", position: "4" });
  const error = duckDbError(new Error(`Failed to extract statements: Parser Error: ${json}`));
  assert.deepEqual([error.kind, error.message, error.position], ["Parser", "syntax error", 4]);
});

Deno.test("what is no DuckDB failure keeps its text", () => {
  for (const thrown of [new Error("{not json"), "{not json"]) {
    const error = duckDbError(thrown);
    assert.deepEqual([error.kind, error.message], ["Internal", "{not json"]);
  }
  assert.equal(duckDbError(duckDbError("x")).message, "x");
});
