import assert from "node:assert/strict";
import fc from "fast-check";
import { BadValue } from "../../../../src/connectors/builtin/shared/bad_value.ts";
import { parseDecimal, plainNumber } from "../../../../src/connectors/builtin/shared/decimal_text.ts";
import {
  daysOf,
  parseDate,
  parseInstant,
  parseTime,
  parseTimestamp,
} from "../../../../src/connectors/builtin/shared/moment_parse.ts";
import { dateText, timestampText, timeText } from "../../../../src/connectors/builtin/shared/moment_text.ts";

const FIRST_DAY = -719_528;
const LAST_DAY = 2_932_896;
const DAY = 86_400_000_000n;

Deno.test("every day of the years 0000 to 9999 has a text that means it", () => {
  for (let day = FIRST_DAY; day <= LAST_DAY; day += 97) assert.equal(parseDate(dateText(day)), day);
  assert.deepEqual([dateText(FIRST_DAY), dateText(0), dateText(LAST_DAY)], ["0000-01-01", "1970-01-01", "9999-12-31"]);
  assert.equal(dateText(daysOf(2024, 2, 29)), "2024-02-29");
  for (const day of [FIRST_DAY - 1, LAST_DAY + 1, 0x7fffffff]) assert.throws(() => dateText(day), BadValue);
});

Deno.test("every moment and every time of day has a text that means it", () => {
  const least = BigInt(FIRST_DAY) * DAY;
  const most = BigInt(LAST_DAY + 1) * DAY - 1n;
  fc.assert(fc.property(fc.bigInt(least, most), (micros) => {
    const text = timestampText(micros);
    assert.equal(parseTimestamp(text), micros);
    assert.equal(parseInstant(`${text}+00:00`), micros);
    assert.equal(parseInstant(`${text.replace(" ", "T")}Z`), micros);
    assert.equal(parseInstant(`${text}-05:30`), micros + 19_800_000_000n);
  }));
  fc.assert(fc.property(fc.integer({ min: 0, max: 86_400_000_000 }), (micros) => {
    assert.equal(parseTime(timeText(micros)), BigInt(micros));
  }));
});

Deno.test("what is no date, time or moment means nothing", () => {
  for (const text of ["2023-02-29", "2024-13-01", "2024-00-01", "24-01-01", "2024-01-01 ", "x"]) {
    assert.equal(parseDate(text), undefined, text);
  }
  for (const text of ["24:00:01", "10:60", "10:00:60", "10", "10:00:00.0000001"]) {
    assert.equal(parseTime(text), undefined, text);
  }
  assert.equal(parseTime("10:00:00.123456000"), 36_000_123_456n);
  for (const text of ["2024-01-01 00:00:00Z", "2024-01-01 00:00:00+01", "1704067200", "2024-01-01 "]) {
    assert.equal(parseTimestamp(text), undefined, text);
  }
  for (const text of ["2024-01-01 00:00:00", "2024-01-01", "2024-01-01 00:00:00+01:60"]) {
    assert.equal(parseInstant(text), undefined, text);
  }
});

Deno.test("a decimal's text means its unscaled value, or nothing where it does not fit", () => {
  fc.assert(fc.property(fc.bigInt(-(10n ** 38n) + 1n, 10n ** 38n - 1n), fc.nat(38), (unscaled, scale) => {
    const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, "0");
    const whole = digits.slice(0, digits.length - scale);
    const text = `${unscaled < 0n ? "-" : ""}${whole}${scale === 0 ? "" : `.${digits.slice(-scale)}`}`;
    assert.equal(parseDecimal(text, 38, scale), unscaled);
  }));
  assert.equal(parseDecimal("1.2500", 4, 2), 125n);
  assert.equal(parseDecimal("+.5", 4, 2), 50n);
  for (const text of ["1.255", "100", "", ".", "1e3", " 1", "NaN", "-"]) {
    assert.equal(parseDecimal(text, 4, 2), undefined, text);
  }
});

Deno.test("a number without an exponent is the same number", () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const text = plainNumber(value);
      assert.match(text, /^-?\d+(?:\.\d+)?$/);
      // No database keeps the sign of zero.
      assert.equal(Number(text), value + 0);
    }),
    { examples: [[-0]] },
  );
  assert.deepEqual([plainNumber(1e25), plainNumber(1.5e-7), plainNumber(-1.25e21)], [
    "10000000000000000000000000",
    "0.00000015",
    "-1250000000000000000000",
  ]);
});
