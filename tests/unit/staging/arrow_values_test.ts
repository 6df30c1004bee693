import assert from "node:assert/strict";
import fc from "fast-check";
import { IngestError } from "../../../src/staging/mod.ts";
import * as arrow from "../../../src/util/arrow.ts";
import { dataOf } from "./arrow_data.ts";
import { stage, x } from "./harness.ts";

for (
  const [type, values, sql, texts] of [
    [new arrow.Int8(), new Int8Array([-128, 0, 127]), "TINYINT", ["-128", null, "127"]],
    [new arrow.Int16(), new Int16Array([-32768, 0, 32767]), "SMALLINT", ["-32768", null, "32767"]],
    [new arrow.Int32(), new Int32Array([-2147483648, 0, 2147483647]), "INTEGER", ["-2147483648", null, "2147483647"]],
    [new arrow.Int64(), new BigInt64Array([-(2n ** 63n), 0n, 2n ** 63n - 1n]), "BIGINT", [
      "-9223372036854775808",
      null,
      "9223372036854775807",
    ]],
    [new arrow.Uint8(), new Uint8Array([0, 0, 255]), "UTINYINT", ["0", null, "255"]],
    [new arrow.Uint16(), new Uint16Array([0, 0, 65535]), "USMALLINT", ["0", null, "65535"]],
    [new arrow.Uint32(), new Uint32Array([0, 0, 4294967295]), "UINTEGER", ["0", null, "4294967295"]],
    [new arrow.Uint64(), new BigUint64Array([0n, 0n, 2n ** 64n - 1n]), "UBIGINT", ["0", null, "18446744073709551615"]],
    [new arrow.Float16(), new Uint16Array([0x3c00, 0, 0xfbff]), "FLOAT", ["1.0", null, "-65504.0"]],
    [new arrow.Float32(), new Float32Array([1.5, 0, -0.1]), "FLOAT", ["1.5", null, "-0.1"]],
    [new arrow.Float64(), new Float64Array([0.1, 0, 1e300]), "DOUBLE", ["0.1", null, "1e+300"]],
    [new arrow.DateDay(), new Int32Array([0, 0, -719162]), "DATE", ["1970-01-01", null, "0001-01-01"]],
    [new arrow.DateMillisecond(), new BigInt64Array([86400000n, 5n, -86400000n]), "DATE", [
      "1970-01-02",
      null,
      "1969-12-31",
    ]],
    [new arrow.TimeSecond(), new Int32Array([1, 0, 86399]), "TIME", ["00:00:01", null, "23:59:59"]],
    [new arrow.TimeMillisecond(), new Int32Array([1, 0, 86399999]), "TIME", ["00:00:00.001", null, "23:59:59.999"]],
    [new arrow.TimeMicrosecond(), new BigInt64Array([1n, 0n, 86399999999n]), "TIME", [
      "00:00:00.000001",
      null,
      "23:59:59.999999",
    ]],
    [new arrow.TimeNanosecond(), new BigInt64Array([1n, 0n, 86399999999999n]), "TIME_NS", [
      "00:00:00.000000001",
      null,
      "23:59:59.999999999",
    ]],
    [new arrow.TimestampSecond(), new BigInt64Array([1n, 0n, -1n]), "TIMESTAMP_S", [
      "1970-01-01 00:00:01",
      null,
      "1969-12-31 23:59:59",
    ]],
    [new arrow.TimestampMillisecond(), new BigInt64Array([1n, 0n, -1n]), "TIMESTAMP_MS", [
      "1970-01-01 00:00:00.001",
      null,
      "1969-12-31 23:59:59.999",
    ]],
    [new arrow.TimestampMicrosecond(), new BigInt64Array([1n, 0n, -1n]), "TIMESTAMP", [
      "1970-01-01 00:00:00.000001",
      null,
      "1969-12-31 23:59:59.999999",
    ]],
    [new arrow.TimestampNanosecond(), new BigInt64Array([1n, 0n, -1n]), "TIMESTAMP_NS", [
      "1970-01-01 00:00:00.000000001",
      null,
      "1969-12-31 23:59:59.999999999",
    ]],
    [new arrow.TimestampSecond("Europe/Paris"), new BigInt64Array([1n, 2n ** 62n, -1n]), "TIMESTAMP WITH TIME ZONE", [
      "1970-01-01 00:00:01+00",
      null,
      "1969-12-31 23:59:59+00",
    ]],
    [new arrow.TimestampMillisecond("UTC"), new BigInt64Array([1n, 0n, -1n]), "TIMESTAMP WITH TIME ZONE", [
      "1970-01-01 00:00:00.001+00",
      null,
      "1969-12-31 23:59:59.999+00",
    ]],
    [new arrow.TimestampMicrosecond("UTC"), new BigInt64Array([1n, 0n, -1n]), "TIMESTAMP WITH TIME ZONE", [
      "1970-01-01 00:00:00.000001+00",
      null,
      "1969-12-31 23:59:59.999999+00",
    ]],
    [new arrow.TimestampNanosecond("UTC"), new BigInt64Array([1000n, 1n, -1000n]), "TIMESTAMP WITH TIME ZONE", [
      "1970-01-01 00:00:00.000001+00",
      null,
      "1969-12-31 23:59:59.999999+00",
    ]],
    [new arrow.DurationMillisecond(), new BigInt64Array([1500n, 0n, -1n]), "INTERVAL", [
      "00:00:01.5",
      null,
      "-00:00:00.001",
    ]],
    [new arrow.IntervalYearMonth(), new Int32Array([14, 0, -1]), "INTERVAL", [
      "1 year 2 months",
      null,
      "-1 month",
    ]],
    [new arrow.IntervalDayTime(), new Int32Array([2, 1500, 0, 0, -1, -1]), "INTERVAL", [
      "2 days 00:00:01.5",
      null,
      "-1 day -00:00:00.001",
    ]],
    [
      new arrow.IntervalMonthDayNano(),
      new Int32Array([1, 2, 3000, 0, 0, 0, 0, 0, 0, 0, -1000, -1]),
      "INTERVAL",
      ["1 month 2 days 00:00:00.000003", null, "-00:00:00.000001"],
    ],
  ] as const
) {
  Deno.test(`Arrow ${type} is staged as ${sql} with every value and NULL`, async () => {
    const length = 3;
    const data = new arrow.Data(type, 0, length, 1, [undefined, values, new Uint8Array([0b101])]);
    assert.deepEqual(await stage(x(type), data), { texts: [...texts], type: sql });
  });
}

/** Decimals as four words each. */
function decimals(values: readonly bigint[]): Uint32Array {
  return Uint32Array.from(values.flatMap((value) => {
    const bits = BigInt.asUintN(128, value);
    return [0n, 32n, 64n, 96n].map((shift) => Number((bits >> shift) & 0xffffffffn));
  }));
}

function decimalText(value: bigint, precision: number, scale: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, "0");
  const sign = value < 0n ? "-" : "";
  if (scale === 0) return `${sign}${digits}`;
  // DuckDB leaves the zero out where the type has no digit before the point.
  const whole = scale === precision ? "" : digits.slice(0, -scale);
  return `${sign}${whole}.${digits.slice(-scale)}`;
}

for (const [precision, scale] of [[4, 1], [9, 2], [18, 4], [19, 0], [20, 3], [27, 9], [38, 0], [38, 38]] as const) {
  Deno.test(`decimal(${precision},${scale}) keeps every value up to its last digit`, async () => {
    const bound = 10n ** BigInt(precision);
    const edge = [0n, 1n, -1n, bound - 1n, 1n - bound, bound / 2n, -bound / 3n];
    const some = fc.sample(fc.bigInt({ min: 1n - bound, max: bound - 1n }), { numRuns: 200, seed: precision });
    const values = [...edge, ...some];
    const type = new arrow.Decimal(scale, precision, 128);
    const data = new arrow.Data(type, 0, values.length, 0, [undefined, decimals(values)]);
    const { texts, type: sql } = await stage(x(type), data);
    assert.equal(sql, `DECIMAL(${precision},${scale})`);
    assert.deepEqual(texts, values.map((value) => decimalText(value, precision, scale)));
  });

  Deno.test(`a value with more than ${precision} digits is refused in a decimal(${precision},${scale})`, async () => {
    const type = new arrow.Decimal(scale, precision, 128);
    for (const value of [10n ** BigInt(precision), -(10n ** BigInt(precision)), 2n ** 127n - 1n, -(2n ** 127n)]) {
      const data = new arrow.Data(type, 0, 1, 0, [undefined, decimals([value])]);
      await assert.rejects(stage(x(type), data), (error) => {
        assert.ok(error instanceof IngestError);
        assert.equal(error.message, `Column "x": A decimal has more than its declared ${precision} digits`);
        return true;
      });
    }
  });
}

for (
  const [type, values, message] of [
    [
      new arrow.TimestampSecond("UTC"),
      new BigInt64Array([2n ** 62n]),
      "4611686018427387904 is out of range in microseconds",
    ],
    [
      new arrow.TimestampNanosecond("UTC"),
      new BigInt64Array([1n]),
      "1 ns has digits below a microsecond, which would be lost",
    ],
    [new arrow.DateMillisecond(), new BigInt64Array([1n]), "1 ms is no date"],
    [new arrow.TimeSecond(), new Int32Array([86401]), "86401000000 is no time of day"],
    [new arrow.TimeMicrosecond(), new BigInt64Array([-1n]), "-1 is no time of day"],
  ] as const
) {
  Deno.test(`Arrow ${type} refuses what would be changed: ${message}`, async () => {
    await assert.rejects(stage(x(type), new arrow.Data(type, 0, 1, 0, [undefined, values])), {
      name: "IngestError",
      message: `Column "x": ${message}`,
    });
  });
}

Deno.test("an Arrow type that DuckDB has no faithful type for is refused by name", async () => {
  const type = new arrow.Decimal(2, 50, 256);
  await assert.rejects(stage(x(type), new arrow.Data(type, 0, 0, 0, [undefined, new Uint32Array(0)])), {
    name: "IngestError",
    message: 'Column "x" has the Arrow type Decimal256(50, 2); DuckDB\'s decimals have 1 to 38 digits',
  });
});

Deno.test("booleans keep their values and NULLs, also in a slice that starts within a byte", async () => {
  const values = Array.from({ length: 40 }, (_, row) => row % 5 === 0 ? null : row % 3 === 0);
  const data = dataOf(values, new arrow.Bool());
  const { texts, type } = await stage(x(new arrow.Bool()), data.slice(3, 30));
  assert.equal(type, "BOOLEAN");
  assert.deepEqual(texts, values.slice(3, 33).map((value) => value === null ? null : String(value)));
});

Deno.test("a column of the Null type is all NULL", async () => {
  const data = new arrow.Data(new arrow.Null(), 0, 2, 2);
  assert.deepEqual(await stage(x(new arrow.Null()), data), { texts: [null, null], type: "INTEGER" });
});

Deno.test("16 bytes marked as a UUID become a UUID that sorts as its text does", async () => {
  const type = new arrow.FixedSizeBinary(16);
  const bytes = Uint8Array.from({ length: 48 }, (_, index) => (index * 37 + (index >> 4) * 101) & 0xff);
  const texts = [0, 1, 2].map((row) => {
    const hex = [...bytes.subarray(row * 16, row * 16 + 16)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  });
  const field = x(type, new Map([["ARROW:extension:name", "arrow.uuid"]]));
  assert.deepEqual(await stage(field, new arrow.Data(type, 0, 3, 0, [undefined, bytes])), { texts, type: "UUID" });
});

Deno.test("bytes of a fixed width become BLOBs", async () => {
  const type = new arrow.FixedSizeBinary(2);
  const data = new arrow.Data(type, 0, 2, 0, [undefined, new Uint8Array([0, 255, 65, 66])]);
  assert.deepEqual(await stage(x(type), data), { texts: ["\\x00\\xFF", "AB"], type: "BLOB" });
});

Deno.test("texts marked as JSON become JSON, and malformed JSON is refused", async () => {
  const field = x(new arrow.Utf8(), new Map([["ARROW:extension:name", "arrow.json"]]));
  const good = dataOf(['{"a": 1.50}', null], new arrow.Utf8());
  assert.deepEqual(await stage(field, good), { texts: ['{"a": 1.50}', null], type: "JSON" });
  const bad = dataOf(["{"], new arrow.Utf8());
  await assert.rejects(stage(field, bad), { name: "DuckDbError", kind: "Conversion" });
});
