import assert from "node:assert/strict";
import { holdsAll } from "../../../src/cli/connect/wider_type.ts";

Deno.test("a declared type takes the same type and wider ones of its kind", () => {
  for (
    const [type, other] of [
      ["BIGINT", "BIGINT"],
      ["BIGINT", "INTEGER"],
      ["BIGINT", "UINTEGER"],
      ["HUGEINT", "UBIGINT"],
      ["DECIMAL(38,9)", "DECIMAL(10,2)"],
      ["DECIMAL(21,2)", "BIGINT"],
      ["DOUBLE", "FLOAT"],
      ["VARCHAR", "ENUM('a', 'b')"],
    ] as const
  ) assert.ok(holdsAll(type, other), `${type} takes ${other}`);
});

Deno.test("a declared type does not take what it would change", () => {
  for (
    const [type, other] of [
      ["INTEGER", "BIGINT"],
      ["UBIGINT", "INTEGER"],
      ["BIGINT", "UBIGINT"],
      ["DECIMAL(10,2)", "DECIMAL(10,3)"],
      ["DECIMAL(20,2)", "BIGINT"],
      ["DECIMAL(12,4)", "DECIMAL(12,2)"],
      ["FLOAT", "DOUBLE"],
      ["VARCHAR", "INTEGER"],
      ["DATE", "TIMESTAMP"],
      ["STRUCT(a INTEGER)", "STRUCT(a BIGINT)"],
    ] as const
  ) assert.ok(!holdsAll(type, other), `${type} does not take ${other}`);
});
