import assert from "node:assert/strict";
import fc from "fast-check";
import { parseDuration } from "../../../src/project/mod.ts";
import { isExactNumber, typeInterpolated, typePlainScalar } from "../../../src/project/scalars.ts";

Deno.test("a plain scalar is an integer, a decimal, true or false, else text", () => {
  const cases: [string, unknown][] = [
    ["0", 0n],
    ["-7", -7n],
    ["+7", 7n],
    ["9223372036854775807", 9223372036854775807n],
    ["99999999999999999999", 99999999999999999999n],
    ["1.5", 1.5],
    [".5", 0.5],
    ["1.", 1],
    ["1e5", 100000],
    ["-2.5E-3", -0.0025],
    ["true", true],
    ["false", false],
    ...["True", "FALSE", "yes", "no", "on", "off", "null", "~", "007", "0123", "00.5", "0x1F", "0o17", "1_000", ".inf"]
      .map((text): [string, unknown] => [text, text]),
    ...[".nan", "NaN", "Infinity", "2026-01-01", "12:30", "1.2.3", ".", "-", "+", "e5", "1e", "-.", "1 2"]
      .map((text): [string, unknown] => [text, text]),
  ];
  for (const [text, value] of cases) assert.deepEqual(typePlainScalar(text), { value, exact: true }, text);
});

Deno.test("a decimal that a number can't hold is marked", () => {
  assert.equal(typePlainScalar("0.1234567890123456789").exact, false);
  assert.equal(typePlainScalar("1e999").exact, false);
  assert.equal(typePlainScalar("9007199254740993.5").exact, false);
  assert.equal(typePlainScalar("1.10").exact, true);
  assert.equal(typePlainScalar("0.1").exact, true);
  assert.equal(typePlainScalar("1e-7").exact, true);
});

Deno.test("isExactNumber() holds for what a number prints, and not with one more digit", () => {
  fc.assert(fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
    assert.equal(isExactNumber(String(value), value), true);
  }));
  fc.assert(fc.property(fc.bigInt({ min: 10n ** 17n, max: 10n ** 18n }), (digits) => {
    const text = `0.${digits}1`;
    assert.equal(isExactNumber(text, Number(text)), false);
  }));
});

Deno.test("every integer is typed without losing a digit", () => {
  fc.assert(fc.property(fc.bigInt(), (value) => {
    assert.deepEqual(typePlainScalar(value.toString()), { value, exact: true });
  }));
});

Deno.test("an environment variable is typed only where its text comes back the same", () => {
  const typed: [string, unknown][] = [["5432", 5432n], ["true", true], ["1.5", 1.5], ["-3", -3n]];
  for (const [text, value] of typed) assert.equal(typeInterpolated(text), value);
  for (const text of ["0123456", "1.10", "1e5", "+5", "-0", "1.0", "", " 1", "True", "99999999999999999999"]) {
    assert.equal(typeInterpolated(text), text);
  }
  fc.assert(fc.property(fc.string(), (text) => String(typeInterpolated(text)) === text));
});

Deno.test("parseDuration() takes one whole number and one unit", () => {
  const cases: [string, number][] = [["0s", 0], ["500ms", 500], ["30s", 30_000], ["5m", 300_000], ["2h", 7_200_000]];
  for (const [text, milliseconds] of [...cases, ["7d", 604_800_000] as const]) {
    assert.equal(parseDuration(text), milliseconds);
  }
  for (
    const text of ["", "5", "s", "5m2s", "1.5h", "-1s", "+1s", "5 m", "5S", "5M", " 5s", "5s\n", "5w", "9999999999999d"]
  ) {
    assert.equal(parseDuration(text), undefined, text);
  }
});

Deno.test("parseDuration() never rounds", () => {
  const units = { ms: 1n, s: 1_000n, m: 60_000n, h: 3_600_000n, d: 86_400_000n };
  const unit = fc.constantFrom(...Object.entries(units));
  fc.assert(fc.property(fc.bigInt({ min: 0n, max: 10n ** 20n }), unit, (count, [name, factor]) => {
    const parsed = parseDuration(`${count}${name}`);
    const exact = count * factor;
    if (parsed === undefined) assert.ok(exact > 922_337_203_685_000n);
    else assert.equal(BigInt(parsed), exact);
  }));
});
