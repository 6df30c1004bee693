import assert from "node:assert/strict";
import fc from "fast-check";
import { doubleText, floatText } from "../../../../src/connectors/builtin/localfiles/child/number_text.ts";
import {
  dateText,
  intervalText,
  isoTimestampText,
  timestampText,
  timeText,
} from "../../../../src/connectors/builtin/localfiles/child/time_text.ts";
import { Bench } from "../bench.ts";

/** Asserts that DuckDB gives the same texts for values that it makes of integers by an expression of `v`. */
async function assertTexts<T>(values: readonly T[], sql: (value: T) => string, text: (value: T) => string) {
  await using bench = await Bench.open();
  const rows = await bench.connection.rows(
    `SELECT unnest([${values.map((value) => `(${sql(value)})::VARCHAR`).join(", ")}])`,
  );
  assert.deepEqual(values.map(text), rows.map(([value]) => value));
}

/** The same numbers in each run, many of them at the borders. */
function some<T>(arbitrary: fc.Arbitrary<T>, ...more: readonly T[]): readonly T[] {
  return [...more, ...fc.sample(arbitrary, { numRuns: 500, seed: 7 })];
}

Deno.test("a DOUBLE's text is DuckDB's", async () => {
  const values = some(
    fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer().map((value) => value / 1000)),
    ...[0, -0, 1, 1e15, 1e16, 9999999999999998, 1e-4, 9.999e-5, 5e-324, 1.7976931348623157e308, 0.1, -123456.789],
  );
  await assertTexts(values, (value) => `'${Object.is(value, -0) ? "-0.0" : value}'::DOUBLE`, doubleText);
  assert.deepEqual([NaN, Infinity, -Infinity].map(doubleText), ["nan", "inf", "-inf"]);
});

Deno.test("a FLOAT's text is DuckDB's, but for some that DuckDB gives more digits than it takes", async () => {
  const floats = fc.integer().map(floatOf);
  const values = some(floats.filter((value) => Number.isFinite(value)), 0.1, 16777216, 3.4028234663852886e38, 1e-45)
    .map(
      Math.fround,
    );
  let longer = 0;
  await using bench = await Bench.open();
  const list = values.map((value) => `'${Object.is(value, -0) ? "-0.0" : value}'::DOUBLE::FLOAT::VARCHAR`);
  const rows = await bench.connection.rows(`SELECT unnest([${list.join(", ")}])`);
  for (const [index, value] of values.entries()) {
    const text = floatText(value);
    assert.ok(Object.is(Math.fround(Number(text)), value), text);
    const theirs = rows[index]?.[0];
    if (theirs === text) continue;
    longer++;
    assert.ok(digits(theirs ?? "") > digits(text), `${theirs} and ${text}`);
  }
  assert.ok(longer < values.length / 20, `${longer} of ${values.length}`);
  assert.deepEqual([NaN, Infinity, -Infinity].map(floatText), ["nan", "inf", "-inf"]);
});

function floatOf(bits: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setInt32(0, bits);
  return view.getFloat32(0);
}

/** Digits of a number's text that say something. */
function digits(text: string): number {
  return text.replace(/e.*/, "").replaceAll(/[-.]/g, "").replace(/^0+/, "").replace(/0+$/, "").length;
}

Deno.test("a DATE's text is DuckDB's, before the year 1 and beyond 9999 too", async () => {
  const values = some(
    fc.integer({ min: -1_000_000, max: 4_000_000 }),
    0,
    -719_528,
    -719_163,
    -719_162,
    2_932_896,
    2_932_897,
  );
  await assertTexts(values, (value) => `DATE '1970-01-01' + ${value}`.replace("+ -", "- "), dateText);
  assert.deepEqual([2_147_483_647, -2_147_483_647].map(dateText), ["infinity", "-infinity"]);
});

Deno.test("a TIMESTAMP's text is DuckDB's", async () => {
  const values = some(
    fc.bigInt({ min: -100_000_000_000_000_000n, max: 300_000_000_000_000_000n }),
    0n,
    -1n,
    1n,
    999_999n,
    1_000_000n,
  );
  await assertTexts(values, (value) => `make_timestamp(${value})`, (value) => timestampText(value, 6));
  const nanos = some(fc.bigInt({ min: -9_000_000_000_000_000_000n, max: 9_000_000_000_000_000_000n }), 0n, -1n, 1000n);
  await assertTexts(nanos, (value) => `make_timestamp_ns(${value})`, (value) => timestampText(value, 9));
  assert.equal(timestampText(1_500n, 3), "1970-01-01 00:00:01.5");
  assert.equal(timestampText(-1n, 0), "1969-12-31 23:59:59");
  assert.equal(timestampText(9_223_372_036_854_775_807n, 6), "infinity");
});

Deno.test("JSON's timestamps have microseconds, or nanoseconds where there are any", () => {
  assert.equal(isoTimestampText(0n, 6), "1970-01-01T00:00:00.000000Z");
  assert.equal(isoTimestampText(-1n, 0), "1969-12-31T23:59:59.000000Z");
  assert.equal(isoTimestampText(1_005n, 3), "1970-01-01T00:00:01.005000Z");
  assert.equal(isoTimestampText(1n, 9), "1970-01-01T00:00:00.000000001Z");
  assert.equal(isoTimestampText(-9_223_372_036_854_775_807n, 6), "-infinity");
});

Deno.test("times and intervals are DuckDB's texts", async () => {
  const times = some(fc.bigInt({ min: 0n, max: 86_399_999_999n }), 0n, 1n, 86_399_000_000n);
  await assertTexts(times, (value) => `TIME '00:00:00' + to_microseconds(${value})`, (value) => timeText(value, 6));
  const parts = fc.tuple(
    fc.integer({ min: -40, max: 40 }),
    fc.integer({ min: -3, max: 3 }),
    fc.oneof(fc.constant(0n), fc.bigInt({ min: -90_000_000_000n, max: 900_000_000_000n })),
  );
  const intervals = some<[number, number, bigint]>(parts, [0, 0, 0n], [12, 1, 0n], [-13, 0, -1n]);
  await assertTexts(
    intervals,
    ([months, days, micros]) => `to_months(${months}) + to_days(${days}) + to_microseconds(${micros})`,
    ([months, days, micros]) => intervalText({ months, days, nanos: micros * 1000n }),
  );
});
