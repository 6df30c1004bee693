import assert from "node:assert/strict";
import fc from "fast-check";
import { readNumber } from "../../../src/template/exact_number.ts";

Deno.test("Numbers are read exactly or not at all", () => {
  assert.equal(readNumber("9007199254740993"), 9007199254740993n);
  assert.equal(readNumber("+12"), 12);
  assert.equal(readNumber("0.1"), 0.1);
  assert.equal(readNumber("1.500"), 1.5);
  assert.equal(readNumber("0.000"), 0);
  assert.equal(readNumber("1e3"), 1000);
  assert.equal(readNumber("0.1000000000000000055511151231257827"), undefined);
  assert.equal(readNumber("1e400"), undefined);
  assert.equal(readNumber("1e-400"), undefined);
  assert.equal(readNumber("9007199254740993.0"), undefined);
});

Deno.test("The shortest text of every double is read as that double", () => {
  fc.assert(fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
    assert.equal(Number(readNumber(String(value))), value === 0 ? 0 : value);
  }));
});
