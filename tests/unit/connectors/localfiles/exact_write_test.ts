import assert from "node:assert/strict";
import { Bench } from "../bench.ts";

/** Writes one value and gives its type and text as the file has them. */
async function roundTrip(bench: Bench, value: string, format = "parquet"): Promise<readonly (string | null)[]> {
  await bench.write(bench.copy("x", { format }), `(SELECT ${value} AS v)`);
  const [row] = await bench.connection.rows(
    `SELECT typeof(v), CAST(v AS VARCHAR) FROM read_${format}('${bench.dir.join(`x/x.${format}`)}')`,
  );
  return row ?? [];
}

const NINES = "9".repeat(38);

const KEPT: readonly (readonly [value: string, type: string, text: string])[] = [
  [`'${NINES}'::HUGEINT`, "DECIMAL(38,0)", NINES],
  [`'-${NINES}'::HUGEINT`, "DECIMAL(38,0)", `-${NINES}`],
  [`'${NINES}'::UHUGEINT`, "DECIMAL(38,0)", NINES],
  [`['${NINES}'::HUGEINT, NULL]`, "DECIMAL(38,0)[]", `[${NINES}, NULL]`],
  [
    `{'HUGEINT': 1::HUGEINT, 'b HUGEINT, "': 'HUGEINT'::ENUM('HUGEINT')}`,
    `STRUCT(HUGEINT DECIMAL(38,0), "b HUGEINT, """ VARCHAR)`,
    `{'HUGEINT': 1, 'b HUGEINT, "': HUGEINT}`,
  ],
  [`MAP {1::HUGEINT: 2::UHUGEINT}`, "MAP(DECIMAL(38,0), DECIMAL(38,0))", "{1=2}"],
  ["'03:04:05+00'::TIMETZ", "TIME WITH TIME ZONE", "03:04:05+00"],
  ["INTERVAL '14 months 3 days 00:00:01.123'", "INTERVAL", "1 year 2 months 3 days 00:00:01.123"],
  ["to_milliseconds(4294967295)", "INTERVAL", "1193:02:47.295"],
  ["'infinity'::TIMESTAMP_S", "TIMESTAMP", "infinity"],
  ["'2024-01-02 03:04:05.123'::TIMESTAMP_MS", "TIMESTAMP", "2024-01-02 03:04:05.123"],
  ["'2024-01-02 03:04:05.123456789'::TIMESTAMP_NS", "TIMESTAMP_NS", "2024-01-02 03:04:05.123456789"],
  ["'03:04:05.123456789'::TIME_NS", "TIME_NS", "03:04:05.123456789"],
  ["'0101'::BIT", "VARCHAR", "0101"],
  ["'a'::ENUM('a', 'b')", "VARCHAR", "a"],
  [`'${NINES}99999'::BIGNUM`, "VARCHAR", `${NINES}99999`],
  ["'12345678-1234-1234-1234-123456789abc'::UUID", "UUID", "12345678-1234-1234-1234-123456789abc"],
  ["18446744073709551615::UBIGINT", "UBIGINT", "18446744073709551615"],
  ["NULL::HUGEINT", "DECIMAL(38,0)", ""],
];

Deno.test("a value written to Parquet comes back as it was, in the nearest type that Parquet has", async () => {
  await using bench = await Bench.open();
  for (const [value, type, text] of KEPT) {
    const [gotType, gotText] = await roundTrip(bench, value);
    assert.deepEqual([gotType, gotText ?? ""], [type, text], value);
  }
});

Deno.test("a value that Parquet would change stops the write with the column's name", async () => {
  await using bench = await Bench.open();
  const refused = [
    `'1${"0".repeat(38)}'::HUGEINT`,
    `'1${"0".repeat(38)}'::UHUGEINT`,
    `[1, '1${"0".repeat(38)}'::HUGEINT]`,
    `{'a': '1${"0".repeat(38)}'::HUGEINT}`,
    "'03:04:05+02'::TIMETZ",
    "INTERVAL '1 microsecond'",
    "INTERVAL '-1 month'",
    "to_milliseconds(4294967296)",
  ];
  for (const value of refused) {
    await assert.rejects(roundTrip(bench, value), /Column "v" holds '.*Parquet/, value);
  }
});

Deno.test("a type that a format can't hold is refused by name", async () => {
  await using bench = await Bench.open();
  for (const value of ["union_value(k := 1)", "[union_value(k := 1)]", "[INTERVAL 1 day]", "['03:04:05+00'::TIMETZ]"]) {
    await assert.rejects(roundTrip(bench, value), /Column "v" is .*: Parquet can't hold .* there unchanged/, value);
  }
  await assert.rejects(roundTrip(bench, "[1::VARIANT]", "json"), /Column "v" is VARIANT\[\]: JSON can't hold VARIANT/);
});

Deno.test("JSON stays JSON: a number without a form in it stops the write, a text of the same letters does not", async () => {
  await using bench = await Bench.open();
  for (
    const value of [
      "'nan'::DOUBLE",
      "'-inf'::FLOAT",
      "[1.5, 'inf'::DOUBLE]",
      "{'a': 'nan'::FLOAT}",
      `'{"a":NaN}'::JSON`,
    ]
  ) {
    await assert.rejects(roundTrip(bench, value, "json"), /Column "v" holds '.*JSON has no such number/, value);
  }
  const write = async (value: string) => {
    await bench.write(bench.copy("x", { format: "json" }), `(SELECT ${value} AS v)`);
    return await Deno.readTextFile(bench.dir.join("x/x.json"));
  };
  assert.equal(await write(`{'nan': 1.5::DOUBLE, 't': 'inf "NaN'}`), `{"v":{"nan":1.5,"t":"inf \\"NaN"}}\n`);
  assert.equal(await write(`'{"a":[1,2]}'::JSON::VARIANT`), `{"v":{"a":[1,2]}}\n`);
  assert.equal(await write(`'1${"0".repeat(38)}'::HUGEINT`), `{"v":1${"0".repeat(38)}}\n`);
});

Deno.test("sum() of integers written to Parquet is exact", async () => {
  await using bench = await Bench.open();
  const sum = "(SELECT sum(i) FROM (VALUES (9007199254740993::BIGINT), (0)) t(i))";
  assert.deepEqual(await roundTrip(bench, sum), ["DECIMAL(38,0)", "9007199254740993"]);
});
