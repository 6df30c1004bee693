import assert from "node:assert/strict";
import fc from "fast-check";
import { equalRanges, rangeCondition, rangeId, rangeOf } from "../../../../src/connectors/builtin/shared/ranges.ts";

Deno.test("every value lies in exactly one of the ranges, and each range is in its id", () => {
  const big = fc.bigInt(-(2n ** 64n), 2n ** 64n);
  fc.assert(fc.property(big, big, fc.integer({ min: 1, max: 16 }), big, (a, b, count, value) => {
    const ranges = equalRanges("k", a < b ? a : b, a < b ? b : a, count);
    assert.ok(ranges.length >= 1 && ranges.length <= count);
    const holding = ranges.filter(({ lower, upper }) =>
      (lower === undefined || value >= BigInt(lower)) && (upper === undefined || value < BigInt(upper))
    );
    assert.equal(holding.length, 1);
    for (const range of ranges) assert.deepEqual(rangeOf(rangeId(range)), range);
    assert.equal(new Set(ranges.map(rangeId)).size, ranges.length);
  }));
});

Deno.test("NULL lies in the first range, and without values there is one of all rows", () => {
  const [first = {}, second = {}, ...more] = equalRanges("k", 0n, 9n, 2);
  assert.equal(more.length, 0);
  const bound = (units: string) => `(${units})`;
  assert.equal(rangeCondition(first, "k", bound), "(k < (5) OR k IS NULL)");
  assert.equal(rangeCondition(second, "k", bound), "k >= (5)");
  assert.deepEqual(equalRanges("k", undefined, undefined, 4), [{ column: "k" }]);
  assert.equal(rangeCondition({}, "k", bound), undefined);
});

Deno.test("an id that nobody gave is refused", () => {
  for (const id of ["x", "7", "null", '{"lower":"1 OR 1=1"}', '{"upper":5}']) {
    assert.throws(() => rangeOf(id), { code: "PZ0357" }, id);
  }
});
