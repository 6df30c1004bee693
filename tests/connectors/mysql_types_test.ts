import assert from "node:assert/strict";
import { ConnectorError } from "../../src/connectors/mod.ts";
import { needsMariaDb, startMariaDb } from "../harness/mariadb.ts";
import { staged } from "./database_support.ts";
import { configOf, dataset, Opened } from "./mysql_support.ts";

/** A type, the DuckDB type that it arrives in, and values: the server's literal and DuckDB's text. */
const TYPES: readonly (readonly [string, string, ...(readonly [string, string])[]])[] = [
  ["boolean", "BOOLEAN", ["true", "true"], ["false", "false"]],
  ["tinyint", "TINYINT", ["-128", "-128"], ["127", "127"]],
  ["tinyint(1) unsigned", "UTINYINT", ["255", "255"]],
  ["tinyint unsigned", "UTINYINT", ["255", "255"]],
  ["smallint", "SMALLINT", ["-32768", "-32768"], ["32767", "32767"]],
  ["smallint unsigned", "USMALLINT", ["65535", "65535"]],
  ["mediumint", "INTEGER", ["-8388608", "-8388608"], ["8388607", "8388607"]],
  ["mediumint unsigned", "UINTEGER", ["16777215", "16777215"]],
  ["int", "INTEGER", ["-2147483648", "-2147483648"], ["2147483647", "2147483647"]],
  ["int(5) zerofill", "UINTEGER", ["7", "7"], ["4294967295", "4294967295"]],
  [
    "bigint",
    "BIGINT",
    ["-9223372036854775808", "-9223372036854775808"],
    ["9223372036854775807", "9223372036854775807"],
    ["9007199254740993", "9007199254740993"],
  ],
  ["bigint unsigned", "UBIGINT", ["18446744073709551615", "18446744073709551615"], ["0", "0"]],
  ["float", "FLOAT", ["0.1", "0.1"], ["3.4028234663852886e38", "3.4028235e+38"], ["16777217", "16777216.0"]],
  [
    "double",
    "DOUBLE",
    ["0.1", "0.1"],
    ["1.7976931348623157e308", "1.7976931348623157e+308"],
    ["5e-324", "5e-324"],
    ["-1e22", "-1e+22"],
  ],
  ["double(9,2)", "DOUBLE", ["0.125", "0.12"]],
  [
    "decimal(38,9)",
    "DECIMAL(38,9)",
    [
      "99999999999999999999999999999.999999999",
      "99999999999999999999999999999.999999999",
    ],
    ["-0.000000001", "-0.000000001"],
    ["0", "0.000000000"],
    ["-99999999999999999999999999999", "-99999999999999999999999999999.000000000"],
  ],
  ["decimal(38,0)", "DECIMAL(38,0)", [
    "12345678901234567890123456789012345678",
    "12345678901234567890123456789012345678",
  ]],
  ["decimal(5,2) unsigned", "DECIMAL(5,2)", ["999.99", "999.99"], ["0.01", "0.01"]],
  ["decimal(4,4)", "DECIMAL(4,4)", ["0.9999", ".9999"], ["-0.0001", "-.0001"]],
  ["decimal(65,30)", "VARCHAR", [
    "12345678901234567890123456789012345.123456789012345678901234567890",
    "12345678901234567890123456789012345.123456789012345678901234567890",
  ]],
  ["decimal(39,0)", "VARCHAR", [
    "-999999999999999999999999999999999999999",
    "-999999999999999999999999999999999999999",
  ]],
  ["bit(1)", "BOOLEAN", ["b'1'", "true"], ["b'0'", "false"]],
  ["bit(9)", "UBIGINT", ["b'100000001'", "257"]],
  ["bit(64)", "UBIGINT", ["18446744073709551615", "18446744073709551615"]],
  ["year", "SMALLINT", ["1901", "1901"], ["2155", "2155"], ["'0000'", "0"]],
  ["date", "DATE", ["'1970-01-01'", "1970-01-01"], ["'0001-01-01'", "0001-01-01"], ["'9999-12-31'", "9999-12-31"], [
    "'2024-02-29'",
    "2024-02-29",
  ], ["'0000-01-01'", "0001-01-01 (BC)"]],
  [
    "datetime(6)",
    "TIMESTAMP",
    ["'2024-02-29 23:59:59.123456'", "2024-02-29 23:59:59.123456"],
    ["'0001-01-01 00:00:00'", "0001-01-01 00:00:00"],
    ["'9999-12-31 23:59:59.999999'", "9999-12-31 23:59:59.999999"],
    ["'1969-12-31 23:59:59.5'", "1969-12-31 23:59:59.5"],
  ],
  ["datetime", "TIMESTAMP", ["'2024-01-01'", "2024-01-01 00:00:00"]],
  [
    "timestamp(6) NULL",
    "TIMESTAMP WITH TIME ZONE",
    ["'2024-07-01 00:00:00.000001'", "2024-07-01 00:00:00.000001+00"],
    ["'1970-01-01 00:00:01'", "1970-01-01 00:00:01+00"],
    ["'2038-01-19 03:14:07.999999'", "2038-01-19 03:14:07.999999+00"],
  ],
  ["time(6)", "TIME", ["'00:00'", "00:00:00"], ["'24:00:00'", "24:00:00"], ["'12:34:56.789012'", "12:34:56.789012"]],
  ["char(5) character set utf8mb4", "VARCHAR", ["'ab  '", "ab"], ["'ä€😀'", "ä€😀"]],
  ["varchar(7) character set utf8mb4", "VARCHAR", ["'a  '", "a  "], ["''", ""]],
  ["varchar(7) character set latin1", "VARCHAR", ["'äß'", "äß"]],
  ["tinytext character set utf8mb4", "VARCHAR", ["'''q'''", "'q'"]],
  ["text character set utf8mb4", "VARCHAR", ["'a\\\\b'", "a\\b"]],
  ["mediumtext character set utf8mb4", "VARCHAR", ["repeat('x', 1048576)", "x".repeat(1048576)]],
  ["longtext character set utf8mb4", "VARCHAR", ["'日本'", "日本"]],
  ["binary(3)", "BLOB", ["x'00ff'", "\\x00\\xFF\\x00"]],
  ["varbinary(5)", "BLOB", ["x'00ff41'", "\\x00\\xFFA"], ["''", ""]],
  ["tinyblob", "BLOB", ["'a'", "a"]],
  ["longblob", "BLOB", ["x'00'", "\\x00"]],
  ["json", "JSON", [`'{"a": 1, "a": 2}'`, `{"a": 1, "a": 2}`]],
  ["enum('x','y''z')", "VARCHAR", ["'y''z'", "y'z"]],
  ["set('a','b')", "VARCHAR", ["'a,b'", "a,b"], ["''", ""]],
  ["uuid", "UUID", ["'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"]],
  ["inet4", "VARCHAR", ["'10.0.0.1'", "10.0.0.1"]],
  ["inet6", "VARCHAR", ["'::1'", "::1"]],
  ["point", "BLOB", [
    "point(1, 2)",
    "\\x00\\x00\\x00\\x00\\x01\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\xF0?\\x00\\x00\\x00\\x00\\x00\\x00\\x00@",
  ]],
];

/** Types whose values arrive in another type than they have, which is told. */
const TOLD = ["decimal(65,30)", "decimal(39,0)", "bit(9)", "bit(64)", "inet4", "inet6", "point"];

if (needsMariaDb("the mysql types suite")) await suite();

async function suite(): Promise<void> {
  const server = await startMariaDb();

  Deno.test("every type's values arrive exactly, NULL too, and what has no type of its own is told", async () => {
    const columns = TYPES.map(([type], index) => `c${index} ${type}`);
    await server.sql(`CREATE TABLE every_type (n int, ${columns.join(", ")})`);
    const most = Math.max(...TYPES.map((row) => row.length - 2));
    for (let row = 0; row < most; row++) {
      const values = TYPES.map((of) => of[row + 2]?.[0] ?? "NULL");
      await server.sql(`INSERT INTO every_type VALUES (${row}, ${values.join(", ")})`);
    }
    await server.sql("INSERT INTO every_type (n) VALUES (99)");
    await using opened = new Opened(configOf(server));
    const { shape, rows } = await staged(opened, dataset("every_type"));
    for (const [index, [type, arrives, ...values]] of TYPES.entries()) {
      assert.deepEqual([type, shape[index + 1]], [type, `c${index} ${arrives}`]);
      for (let row = 0; row < most; row++) {
        const found = rows.find(([n]) => n === String(row))?.[index + 1];
        assert.deepEqual([type, found ?? null], [type, values[row]?.[1] ?? null]);
      }
    }
    assert.ok(rows.find(([n]) => n === "99")?.slice(1).every((value) => value === null));
    const told = TYPES.flatMap(([type], index) =>
      opened.notices.some((notice) => notice.includes(`column "c${index}" is read as`)) ? [type] : []
    );
    assert.deepEqual(told, TOLD);
  });

  for (
    const [type, value, message] of [
      ["tinyint(1)", "2", /^Column "x": a value is 2, and tinyint\(1\) is read as a truth value/],
      ["time", "'-00:00:01'", /^Column "x": a time is outside of one day/],
      ["time", "'838:59:59'", /^Column "x": a time is outside of one day/],
      ["time(6)", "'24:00:00.000001'", /^Column "x": a time is outside of one day/],
      ["date", "'0000-00-00'", /^Column "x": a date whose year, month or day is zero/],
      ["date", "'2024-00-10'", /^Column "x": a date whose year, month or day is zero/],
      ["datetime", "'2024-01-00 10:00:00'", /^Column "x": a date whose year, month or day is zero/],
      ["timestamp", "'0000-00-00 00:00:00'", /^Column "x": a date whose year, month or day is zero/],
    ] as const
  ) {
    Deno.test(`${value} of a ${type} has no place in DuckDB and fails the read by its column`, async () => {
      await server.sql(`CREATE OR REPLACE TABLE odd (x ${type})`);
      await server.sql(`INSERT INTO odd VALUES (${value})`);
      await using opened = new Opened(configOf(server));
      await assert.rejects(staged(opened, dataset("odd")), (error) => {
        assert.ok(error instanceof ConnectorError, String(error));
        assert.match(error.message, message);
        assert.equal(error.transient, false);
        assert.match(error.hint ?? "", /query/);
        return true;
      });
    });
  }

  Deno.test("zero dates become NULL where the read says so", async () => {
    await server.sql("CREATE OR REPLACE TABLE zeros (a date, b datetime, c timestamp, d date)");
    await server.sql("INSERT INTO zeros VALUES ('0000-00-00', '2024-01-00', '0000-00-00 00:00:00', '2024-01-01')");
    await using opened = new Opened(configOf(server));
    for (const zero_dates of ["null", null]) {
      const { rows } = await staged(opened, dataset("zeros", { zero_dates }));
      assert.deepEqual(rows, [[null, null, null, "2024-01-01"]]);
    }
  });

  Deno.test("a contract decides where the server's type leaves a choice", async () => {
    await server.sql("CREATE OR REPLACE TABLE choice (a tinyint(1), b decimal(50,3))");
    await server.sql("INSERT INTO choice VALUES (7, 12345.678)");
    await using opened = new Opened(configOf(server));
    const columns = [{ name: "A", type: "tinyint" }, { name: "b", type: "decimal(9,3)" }];
    const { shape, rows } = await staged(opened, { ...dataset("choice"), columns });
    assert.deepEqual([shape, rows], [["a TINYINT", "b DECIMAL(9,3)"], [["7", "12345.678"]]]);
    const narrow = [{ name: "b", type: "decimal(7,3)" }];
    await assert.rejects(
      staged(opened, { ...dataset("choice", {}, { columns: ["b"] }), columns: narrow }),
      /Column "b": a value has more digits than DECIMAL\(7,3\) holds/,
    );
    const places = [{ name: "b", type: "decimal(9,2)" }];
    await assert.rejects(
      staged(opened, { ...dataset("choice", {}, { columns: ["b"] }), columns: places }),
      /Column "b": a value has more decimal places than DECIMAL\(9,2\) holds/,
    );
  });
}
