import assert from "node:assert/strict";
import fc from "fast-check";
import { CopyWriter } from "../../../../src/connectors/builtin/postgres/copy_writer.ts";
import {
  decimalsOf,
  encodeDecimal,
  exactGroups,
  putDecimal,
  putExact,
} from "../../../../src/connectors/builtin/postgres/numeric.ts";

const MESSAGE_AND_FILE_HEADER = 5 + 19;

const decimals = fc.integer({ min: 0, max: 38 }).chain((scale) => {
  const whole = fc.oneof(
    fc.bigInt({ min: 0n, max: 10n ** 38n - 1n }),
    fc.bigInt({ min: 0n, max: 10n ** 9n }),
    fc.constantFrom(0n, 1n, 9999n, 10_000n, 10n ** 15n, 2n ** 53n - 1n, 2n ** 53n, 10n ** 38n - 1n),
    fc.tuple(fc.bigInt({ min: 1n, max: 99n }), fc.integer({ min: 0, max: 36 })).map(([a, zeros]) =>
      a * 10n ** BigInt(zeros)
    ),
  );
  return fc.tuple(whole, fc.boolean()).map(([value, isNegative]) => ({ value: isNegative ? -value : value, scale }));
});

function decode(bytes: Uint8Array, scale: number): bigint {
  const words = new Uint32Array(4);
  putDecimal(words, 0, new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0, decimalsOf(38, scale));
  return BigInt.asIntN(128, words.reduceRight((value, word) => (value << 32n) | BigInt(word), 0n));
}

Deno.test("a decimal survives the way into the server's form and back", () => {
  fc.assert(
    fc.property(decimals, ({ value, scale }) => assert.equal(decode(encodeDecimal(value, scale), scale), value)),
    { numRuns: 3000 },
  );
});

Deno.test("the short way writes the same bytes as the long one, or nothing", () => {
  let written = 0;
  fc.assert(
    fc.property(decimals, ({ value, scale }) => {
      const groups = exactGroups(scale);
      const exact = Number(value);
      if (groups === undefined || BigInt(exact) !== value || !Number.isSafeInteger(exact)) return;
      const writer = new CopyWriter();
      if (!putExact(writer, exact, scale, groups)) return;
      written++;
      const bytes = writer.take()?.subarray(MESSAGE_AND_FILE_HEADER) ?? assert.fail();
      const expected = encodeDecimal(value, scale);
      assert.deepEqual(bytes.slice(4), expected);
      assert.equal(new DataView(bytes.buffer, bytes.byteOffset).getInt32(0), expected.length);
    }),
    { numRuns: 3000 },
  );
  assert.ok(written > 300);
});

for (
  const [what, sign, message] of [
    ["NaN", 0xc000, /^NaN is no value of DECIMAL\(5,2\)$/],
    ["infinity", 0xd000, /^Infinity is no value/],
    ["negative infinity", 0xf000, /^-Infinity is no value/],
  ] as const
) {
  Deno.test(`${what} is no decimal`, () => {
    const view = new DataView(new ArrayBuffer(8));
    view.setUint16(4, sign);
    assert.throws(() => putDecimal(new Uint32Array(4), 0, view, 0, decimalsOf(5, 2)), { name: "BadValue", message });
  });
}

Deno.test("a value with more places or digits than the column is refused, whatever its size", () => {
  const put = (value: bigint, scale: number, precision: number, wanted: number) => {
    const bytes = encodeDecimal(value, scale);
    putDecimal(new Uint32Array(4), 0, new DataView(bytes.buffer), 0, decimalsOf(precision, wanted));
  };
  assert.throws(() => put(1_255n, 3, 5, 2), /more decimal places than DECIMAL\(5,2\)/);
  assert.throws(() => put(10n ** 30n + 1n, 20, 38, 19), /more decimal places/);
  assert.throws(() => put(100_000n, 2, 5, 2), /more digits than DECIMAL\(5,2\)/);
  assert.throws(() => put(10n ** 37n, 0, 38, 2), /more digits/);
  put(125_000n, 5, 5, 2);
});
