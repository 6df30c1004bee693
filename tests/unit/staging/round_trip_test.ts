import { withStaging } from "./harness.ts";
import { roundTrip, roundTripInBytes } from "./round_trip_support.ts";

/** SQL values of each type, NULL aside. */
const TYPES: { readonly [type: string]: readonly string[] } = {
  TINYINT: ["-128", "0", "127"],
  SMALLINT: ["-32768", "0", "32767"],
  INTEGER: ["-2147483648", "0", "2147483647"],
  BIGINT: ["-9223372036854775808", "0", "9223372036854775807"],
  UTINYINT: ["0", "255"],
  USMALLINT: ["0", "65535"],
  UINTEGER: ["0", "4294967295"],
  UBIGINT: ["0", "18446744073709551615"],
  HUGEINT: ["-170141183460469231731687303715884105728", "-1", "170141183460469231731687303715884105727"],
  UHUGEINT: ["0", "340282366920938463463374607431768211455"],
  "DECIMAL(1,0)": ["-9", "9"],
  "DECIMAL(4,2)": ["-99.99", "0.01", "99.99"],
  "DECIMAL(5,5)": ["-.99999", ".00001"],
  "DECIMAL(9,0)": ["-999999999", "999999999"],
  "DECIMAL(10,3)": ["-9999999.999", "0.001"],
  "DECIMAL(18,4)": ["-99999999999999.9999", "99999999999999.9999"],
  "DECIMAL(19,0)": ["-9999999999999999999", "9999999999999999999"],
  "DECIMAL(38,0)": [`-${"9".repeat(38)}`, "9".repeat(38)],
  "DECIMAL(38,38)": [`-.${"9".repeat(38)}`, `.${"9".repeat(38)}`],
  FLOAT: ["'nan'", "'-0.0'", "'inf'", "'-inf'", "1e-45", "3.4028235e38", "0.1"],
  DOUBLE: ["'nan'", "'-0.0'", "'inf'", "'-inf'", "5e-324", "1.7976931348623157e308", "0.1"],
  BOOLEAN: ["true", "false"],
  DATE: ["'infinity'", "'-infinity'", "'0001-01-01'", "'9999-12-31'", "'5877641-06-25 (BC)'", "'0044-03-15 (BC)'"],
  TIME: ["'00:00:00'", "'23:59:59.999999'", "'24:00:00'"],
  TIME_NS: ["'00:00:00'", "'23:59:59.999999999'"],
  TIMETZ: ["'00:00:00+15:59:59'", "'24:00:00-15:59:59'", "'12:34:56.789+01:30'", "'01:00:00+00'"],
  TIMESTAMP_S: ["'1969-12-31 23:59:59'", "'infinity'", "'-infinity'", "'0001-01-01'"],
  TIMESTAMP_MS: ["'1969-12-31 23:59:59.999'", "'infinity'", "'-infinity'", "'9999-12-31'"],
  TIMESTAMP: ["'1969-12-31 23:59:59.999999'", "'infinity'", "'-infinity'", "'290309-12-22 (BC) 00:00:00'"],
  TIMESTAMP_NS: ["'1969-12-31 23:59:59.999999999'", "'infinity'", "'-infinity'", "'2262-04-11 23:47:16.854775806'"],
  TIMESTAMPTZ: ["'1969-12-31 23:59:59.999999+00'", "'infinity'", "'-infinity'", "'2024-03-31 02:30:00+05:30'"],
  INTERVAL: [
    "'-1 month 2 days -3 microseconds'",
    "'2147483647 months'",
    "'-2147483648 days'",
    "'100 years 2562047 hours'",
  ],
  VARCHAR: [
    "''",
    "'exactly12byt'",
    "'thirteen byte'",
    "'漢字 ☃ ünïcödé, longer than twelve'",
    "'a' || chr(0) || 'b'",
    "'a longer text with ' || chr(0) || ' in it'",
    "repeat('é', 500000)",
  ],
  BLOB: ["''::BLOB", "'\\x00\\xFF'::BLOB", "'exactly12byt'::BLOB", "repeat('\\xC3', 13)::BLOB"],
  BIT: ["'1'", "'0'", "'10000000'", "'111111111'", "repeat('10', 100)"],
  UUID: [
    "'00000000-0000-0000-0000-000000000000'",
    "'ffffffff-ffff-ffff-ffff-ffffffffffff'",
    "'01234567-89ab-cdef-8123-456789abcdef'",
  ],
  JSON: ["'null'", '\'{"a": 1.50, "b": [1,  2]}\'', "'\"x\"'"],
  "ENUM('small', '', 'it''s ünlike any other')": ["'small'", "''", "'it''s ünlike any other'"],
  [`ENUM(${Array.from({ length: 300 }, (_, index) => `'label ${index}'`).join(", ")})`]: ["'label 0'", "'label 299'"],
  "INTEGER[]": ["[]", "[1, NULL, 3]", "range(5000)"],
  "VARCHAR[][]": ["[[]]", "[['a', NULL], NULL, [], ['a text longer than twelve']]"],
  "INTEGER[3]": ["[1, NULL, 3]", "[4, 5, 6]"],
  "VARCHAR[2][]": ["[['a', NULL], NULL]", "[]"],
  'STRUCT(a INTEGER, "b c" VARCHAR)': ["{'a': 1, 'b c': NULL}", "{'a': NULL, 'b c': 'a text longer than twelve'}"],
  "STRUCT(l INTEGER[], s STRUCT(x DECIMAL(20,2), m MAP(VARCHAR, DATE[])))": [
    "{'l': [1, NULL], 's': {'x': 1.5, 'm': MAP {'k': ['2020-01-01', NULL], 'n': NULL}}}",
    "{'l': NULL, 's': NULL}",
    "{'l': [], 's': {'x': NULL, 'm': MAP {}}}",
  ],
  "MAP(INTEGER, VARCHAR)": ["MAP {}", "MAP {2: 'b', 1: NULL}"],
  "MAP(STRUCT(a INTEGER), UUID[])[]": ["[MAP {{'a': 1}: ['ffffffff-ffff-ffff-ffff-ffffffffffff', NULL]}, NULL]"],
  "JSON[]": ["['{}', NULL, '[1, 2]']"],
  "STRUCT(e ENUM('x', 'y'), j JSON)": ["{'e': 'x', 'j': '1'}", "{'e': NULL, 'j': NULL}"],
  "HUGEINT[]": ["[-170141183460469231731687303715884105728, NULL]"],
  "STRUCT(t TIMETZ, b BIT[], i INTERVAL)": ["{'t': '01:00:00+01', 'b': ['101', NULL], 'i': '1 day'}"],
  "BOOLEAN[]": ["[true, NULL, false]", "[]"],
  "TIMESTAMP_NS[2]": ["['2020-01-01 00:00:00.000000001', NULL]"],
};

for (const [type, values] of Object.entries(TYPES)) {
  const title = type.length < 100 ? type : `${type.slice(0, 20)}…`;
  Deno.test(`${title} goes out to Arrow and comes back the same`, async () => {
    await withStaging(async (staging, connection) => {
      using writer = await staging.connect();
      const cast = ["NULL", ...values].map((value) => `SELECT 1 AS n, CAST(${value} AS ${type}) AS x`);
      await connection.run(`CREATE TABLE staging.a AS ${cast.join(" UNION ALL ")}`);
      // Some thousand rows of every value and of NULLs here and there, from a file with its compression.
      await connection.run(
        "INSERT INTO staging.a SELECT range, x FROM staging.a, range(701) WHERE length(x::VARCHAR) < 20000 OR x IS NULL",
      );
      await connection.run("CHECKPOINT pz");
      await roundTrip(connection, writer);
      await roundTripInBytes(connection, writer, { batchBytes: 5000, orderBy: "n DESC, rowid" });
    });
  });
}
