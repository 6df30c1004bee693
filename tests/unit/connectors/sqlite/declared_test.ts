import assert from "node:assert/strict";
import { affinityOf, declaredOf } from "../../../../src/connectors/builtin/sqlite/declared.ts";

for (
  const [type, kind, affinity] of [
    ["INTEGER", "whole", "integer"],
    ["unsigned big int", "whole", "integer"],
    ["CHARINT", "whole", "integer"],
    ["VARCHAR(20)", "text", "text"],
    ["NATIVE CHARACTER(70)", "text", "text"],
    ["BLOB", "blob", "blob"],
    ["", "none", "blob"],
    ["DOUBLE PRECISION", "float", "real"],
    ["BOOLEAN", "bool", "numeric"],
    ["DATE", "date", "numeric"],
    ["datetime", "timestamp", "numeric"],
    ["timestamp with time zone", "timestamptz", "numeric"],
    ["UUID", "uuid", "numeric"],
    ["JSON TEXT", "json", "text"],
    ["DECIMAL TEXT(38,9)", "decimal", "text"],
    ["decimal ( 10 , 2 )", "decimal", "numeric"],
    ["NUMERIC(5)", "decimal", "numeric"],
    ["DECIMAL(50,2)", "numeric", "numeric"],
    ["NUMERIC", "numeric", "numeric"],
    ["MONEY", "numeric", "numeric"],
  ] as const
) {
  Deno.test(`a column declared "${type}" holds ${kind} values, which SQLite treats as ${affinity}`, () => {
    assert.deepEqual([declaredOf(type).kind, affinityOf(type)], [kind, affinity]);
  });
}

Deno.test("the digits of a decimal are those that it is declared with", () => {
  assert.deepEqual(declaredOf("DECIMAL TEXT(38,9)"), { kind: "decimal", precision: 38, scale: 9 });
  assert.deepEqual(declaredOf("numeric(5)"), { kind: "decimal", precision: 5, scale: 0 });
});
