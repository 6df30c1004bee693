import assert from "node:assert/strict";
import { ConnectorError, type OutputSpec } from "../../src/connectors/mod.ts";
import { needsMariaDb, startMariaDb } from "../harness/mariadb.ts";
import { fromDuck, output, staged, stagedBatches } from "./database_support.ts";
import { configOf, dataset, Opened } from "./mysql_support.ts";

/** DuckDB's expression, the column type of a new table, and the server's text of the value. */
const NEW: readonly (readonly [string, string, string])[] = [
  ["true", "tinyint(1)", "1"],
  ["(-128)::TINYINT", "tinyint(4)", "-128"],
  ["(-32768)::SMALLINT", "smallint(6)", "-32768"],
  ["(-2147483648)::INTEGER", "int(11)", "-2147483648"],
  ["(-9223372036854775808)::BIGINT", "bigint(20)", "-9223372036854775808"],
  ["255::UTINYINT", "tinyint(3) unsigned", "255"],
  ["65535::USMALLINT", "smallint(5) unsigned", "65535"],
  ["4294967295::UINTEGER", "int(10) unsigned", "4294967295"],
  ["18446744073709551615::UBIGINT", "bigint(20) unsigned", "18446744073709551615"],
  ["(-170141183460469231731687303715884105728)::HUGEINT", "decimal(39,0)", "-170141183460469231731687303715884105728"],
  ["340282366920938463463374607431768211455::UHUGEINT", "decimal(39,0)", "340282366920938463463374607431768211455"],
  ["0.1::FLOAT", "float", "0.1"],
  ["3.4028235e38::FLOAT", "float", "3.40282e38"],
  ["1.7976931348623157e308::DOUBLE", "double", "1.7976931348623157e308"],
  ["5e-324::DOUBLE", "double", "5e-324"],
  ["'-0'::DOUBLE", "double", "0"],
  ["0.1::DOUBLE", "double", "0.1"],
  ["-1e22::DOUBLE", "double", "-1e22"],
  [
    "99999999999999999999999999999.999999999::DECIMAL(38,9)",
    "decimal(38,9)",
    "99999999999999999999999999999.999999999",
  ],
  [
    "'0.99999999999999999999999999999999999999'::DECIMAL(38,38)",
    "decimal(38,38)",
    "0.99999999999999999999999999999999999999",
  ],
  ["-0.01::DECIMAL(9,2)", "decimal(9,2)", "-0.01"],
  ["'ä€😀'''", "longtext", "ä€😀'"],
  ["'back\\slash' || chr(10) || chr(26)", "longtext", "back\\slash\n\u001a"],
  ["repeat('y', 1048576)", "longtext", "y".repeat(1048576)],
  ["'nul' || chr(0) || 'x'", "longtext", "nul\0x"],
  ["''", "longtext", ""],
  ["'a'::ENUM('a', 'b')", "longtext", "a"],
  [`'{"b": 1, "a": 1.0}'::JSON`, "longtext", `{"b": 1, "a": 1.0}`],
  ["'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::UUID", "uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"],
  ["DATE '0001-01-01'", "date", "0001-01-01"],
  ["DATE '9999-12-31'", "date", "9999-12-31"],
  ["DATE '2024-02-29'", "date", "2024-02-29"],
  ["TIMESTAMP '2024-02-29 23:59:59.123456'", "datetime(6)", "2024-02-29 23:59:59.123456"],
  ["TIMESTAMP '0001-01-01 00:00:00'", "datetime(6)", "0001-01-01 00:00:00.000000"],
  ["TIMESTAMP '9999-12-31 23:59:59.999999'", "datetime(6)", "9999-12-31 23:59:59.999999"],
  ["'1969-12-31 23:59:59'::TIMESTAMP_S", "datetime(6)", "1969-12-31 23:59:59.000000"],
  ["'2024-01-01 00:00:00.123'::TIMESTAMP_MS", "datetime(6)", "2024-01-01 00:00:00.123000"],
  ["'2024-01-01 00:00:00.123456'::TIMESTAMP_NS", "datetime(6)", "2024-01-01 00:00:00.123456"],
  ["TIMESTAMPTZ '2024-07-01 02:00:00.5+02'", "timestamp(6)", "2024-07-01 00:00:00.500000"],
  ["TIME '24:00:00'", "time(6)", "24:00:00.000000"],
  ["TIME '12:34:56.789012'", "time(6)", "12:34:56.789012"],
  ["NULL", "int(11)", "NULL"],
];

/** What values become on their way there and back, where that is another type or text; all else comes back as it was. */
const BACK: { readonly [value: string]: string } = {
  "(-170141183460469231731687303715884105728)::HUGEINT": "VARCHAR",
  "340282366920938463463374607431768211455::UHUGEINT": "VARCHAR",
  "'-0'::DOUBLE": "0.0",
  "'a'::ENUM('a', 'b')": "VARCHAR",
  "'1969-12-31 23:59:59'::TIMESTAMP_S": "TIMESTAMP",
  "'2024-01-01 00:00:00.123'::TIMESTAMP_MS": "TIMESTAMP",
  "'2024-01-01 00:00:00.123456'::TIMESTAMP_NS": "TIMESTAMP",
};

if (needsMariaDb("the mysql write suite")) await suite();

async function suite(): Promise<void> {
  const server = await startMariaDb();

  async function write(spec: OutputSpec, sql: string): Promise<void> {
    const { schema, batches } = await fromDuck(sql);
    await using opened = new Opened(configOf(server));
    await opened.write(spec, schema, batches);
  }

  async function refusal(spec: OutputSpec, sql: string): Promise<ConnectorError> {
    try {
      await write(spec, sql);
    } catch (error) {
      assert.ok(error instanceof ConnectorError, String(error));
      return error;
    }
    assert.fail("the write was not refused");
  }

  async function tables(like: string): Promise<string> {
    const rows = await server.sql(`SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_NAME LIKE '${like}'`);
    return rows.flat().join();
  }

  Deno.test("a new table's columns hold every type's values exactly, and give them back", async () => {
    const columns = NEW.map(([value], index) => `${value} AS c${index}`).join(", ");
    const nulls = NEW.map(() => "NULL").join(", ");
    const rows = await fromDuck(`SELECT ${columns} UNION ALL SELECT ${nulls}`);
    await using opened = new Opened(configOf(server));
    assert.equal((await opened.write(output("every_type", "replace"), rows.schema, rows.batches)).rows, 2n);
    const types = await server.sql(
      "SELECT COLUMN_TYPE FROM information_schema.COLUMNS WHERE TABLE_NAME = 'every_type' ORDER BY ORDINAL_POSITION",
    );
    const found = await server.sql("SELECT * FROM every_type");
    for (const [index, [value, type, text]] of NEW.entries()) {
      assert.deepEqual([value, types[index]?.[0], found[0]?.[index] ?? "NULL"], [value, type, text]);
    }
    assert.ok(found[1]?.every((value) => value === null));
    const back = await staged(opened, dataset("every_type"));
    const given = await stagedBatches(rows.schema, rows.batches);
    for (const [index, [value]] of NEW.entries()) {
      const change = BACK[value];
      const type = given.shape[index]?.replace(/ (?:ENUM|HUGEINT|UHUGEINT|TIMESTAMP_).*/, ` ${change}`);
      assert.deepEqual([value, back.shape[index]], [value, type]);
      const expected = change !== undefined && /^\d/.test(change) ? change : given.rows[0]?.[index];
      assert.deepEqual([value, back.rows[0]?.[index]], [value, expected]);
    }
  });

  for (
    const [value, type] of [
      ["{'a': 1}", "Struct"],
      ["MAP {'a': 1}", "Map"],
      ["[1]", "List"],
      ["INTERVAL 1 DAY", "Interval"],
      ["'12:00:00+01'::TIMETZ", "FixedSizeBinary"],
    ]
  ) {
    Deno.test(`a column of ${value} is refused by its name, with a way out`, async () => {
      const error = await refusal(output("no_such_type", "append"), `SELECT 1 AS id, ${value} AS "odd one"`);
      assert.match(error.message, new RegExp(`^Column "odd one" is ${type}.*, for which MySQL has no column type`));
      assert.match(error.hint ?? "", /to_json/);
      assert.equal(error.transient, false);
      assert.equal(await tables("no_such_type"), "");
    });
  }

  for (
    const [column, value, message] of [
      ["smallint", "40000", /Out of range value for column .*x.*error 1264/],
      ["int unsigned", "-1", /Out of range value for column .*x.*error 1264/],
      ["bigint", "18446744073709551615::UBIGINT", /Out of range value.*error 1264/],
      ["decimal(4,1)", "1.25::DECIMAL(5,2)", /Column "x": a value has more decimal places than decimal\(4,1\) keeps/],
      ["decimal(4,1)", "12345::DECIMAL(5,0)", /Out of range value/],
      ["decimal(4,1)", "1000::INTEGER", /Out of range value/],
      [
        "datetime",
        "TIMESTAMP '2024-01-01 00:00:00.5'",
        /Column "x": a value has more digits of a second than datetime keeps/,
      ],
      ["time(3)", "TIME '10:00:00.0005'", /Column "x": a value has more digits of a second than time\(3\) keeps/],
      ["datetime(6)", "'2024-01-01 00:00:00.123456789'::TIMESTAMP_NS", /Column "x": a value has nanoseconds/],
      [
        "datetime(6)",
        "TIMESTAMP '0044-03-15 (BC) 00:00:00'",
        /Column "x": a date is outside of the years 0000 to 9999/,
      ],
      ["date", "DATE '10000-01-01'", /Column "x": a date is outside/],
      ["date", "'infinity'::DATE", /Column "x": a date is outside/],
      ["datetime(6)", "'-infinity'::TIMESTAMP", /Column "x": a timestamp is infinite/],
      [
        "timestamp(6) NULL",
        "TIMESTAMPTZ '1970-01-01 00:00:00+00'",
        /Column "x": a value is before 1970-01-01 00:00:01.*a datetime holds it/,
      ],
      ["timestamp(6) NULL", "TIMESTAMPTZ '2038-01-19 03:14:08+00'", /Incorrect datetime value.*error 1292/],
      ["double", "'NaN'::DOUBLE", /Column "x": a value is NaN, and MySQL has finite numbers only/],
      ["float", "'-inf'::FLOAT", /Column "x": a value is -Infinity/],
      ["varchar(2) CHARACTER SET utf8mb4", "'äöü'", /Column "x": a text is longer than varchar\(2\) holds/],
      ["varchar(2)", "'ab '", /Column "x": a text is longer than varchar\(2\) holds/],
      ["char(5)", "'ab '", /Column "x": a text ends in a blank, which char\(5\) does not keep/],
      ["varchar(9) CHARACTER SET latin1", "'日本'", /Incorrect string value .*error 1366/],
      ["tinytext CHARACTER SET latin1", "repeat('é', 255) || ' '", /Column "x": a text is longer than the 255 bytes/],
      ["varchar(2)", "'ab '", /Column "x": a text is longer than varchar\(2\) holds \(row 1 of the write, /],
      ["tinytext CHARACTER SET utf8mb4", "repeat('x', 256)", /Column "x": a text is longer than the 255 bytes/],
      ["tinyblob", "repeat('x', 256)::BLOB", /Column "x": a value has more bytes than tinyblob holds/],
      ["binary(3)", "'ab'::BLOB", /Column "x": a value has 2 bytes, and binary\(3\) keeps exactly 3/],
      ["enum('glad')", "'GLAD'", /Column "x": a value is none of the labels of enum\('glad'\)/],
      ["year", "70", /Column "x": a value is no year/],
      ["bit(3)", "8", /error 1406/],
      ["json", "'{'", /error 4025/],
      ["int NOT NULL", "NULL::INTEGER", /Column "x": a value is NULL, which the column does not take/],
      ["int CHECK (x > 0)", "-1", /CONSTRAINT .* failed.*error 4025/],
    ] as const
  ) {
    Deno.test(`${value} in a column ${column} is refused, and nothing is written`, async () => {
      await server.sql(`CREATE OR REPLACE TABLE narrow (x ${column})`);
      const error = await refusal(output("narrow", "append"), `SELECT ${value} AS x`);
      assert.match(error.message, message);
      assert.equal(error.transient, false);
      assert.deepEqual(await server.sql("SELECT COUNT(*) FROM narrow"), [["0"]]);
    });
  }

  Deno.test("values that fit are taken by narrower columns", async () => {
    await server.sql(
      "CREATE TABLE fitting (a smallint, b decimal(4,1), c datetime, d json, e enum('gl''ad'), f tinyint, g varchar(3), h int, " +
        "i decimal(30,3), j year, k bit(9), l bit(1), m char(36), n double, o datetime(6), p binary(2), q time)",
    );
    await using opened = new Opened(configOf(server));
    const { schema, batches } = await fromDuck(
      `SELECT 1::BIGINT AS a, 1.50::DECIMAL(9,2) AS b, TIMESTAMP '2024-01-01' AS c, '{"a":1}'::JSON AS d, 'gl''ad' AS e,
        -7::HUGEINT AS f, 'abc' AS g, 12::DECIMAL(38,0) AS h, 3::INTEGER AS i, 1999 AS j, 257 AS k, true AS l,
        'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::UUID AS m, 0.1::FLOAT AS n, TIMESTAMPTZ '1960-01-01 00:00:00+00' AS o,
        'ab'::BLOB AS p, TIME '10:00:00' AS q`,
    );
    await opened.write(output("fitting", "append"), schema, batches);
    assert.deepEqual(
      await server.sql("SELECT *, k + 0, l + 0 FROM fitting").then((rows) =>
        rows.map((row) => [...row.slice(0, 10), ...row.slice(12)])
      ),
      [
        [
          "1",
          "1.5",
          "2024-01-01 00:00:00",
          `{"a":1}`,
          "gl'ad",
          "-7",
          "abc",
          "12",
          "3.000",
          "1999",
          "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
          "0.10000000149011612",
          "1960-01-01 00:00:00.000000",
          "ab",
          "10:00:00",
          "257",
          "1",
        ],
      ],
    );
    assert.match(opened.notices.join(), /column "o" is datetime\(6\), and gets the times in UTC/);
  });

  Deno.test("columns are written by name, whatever their order, and columns that may be absent keep their defaults", async () => {
    await server.sql(
      "CREATE TABLE named (extra text DEFAULT 'd', `Select` int, `a``b` text, id int AUTO_INCREMENT PRIMARY KEY)",
    );
    await write(output("named", "append"), 'SELECT \'x\' AS "a`b", 2 AS "select"');
    assert.deepEqual(await server.sql("SELECT * FROM named"), [["d", "2", "x", "1"]]);
    await server.sql("CREATE TABLE counted (id int AUTO_INCREMENT PRIMARY KEY)");
    await write(output("counted", "append"), "SELECT 0 AS id UNION ALL SELECT 5");
    assert.deepEqual(await server.sql("SELECT * FROM counted ORDER BY 1"), [["0"], ["5"]]);
  });

  for (
    const [what, table, select, message] of [
      ["a column that the table lacks", "a int", "1 AS a, 2 AS b", /it has no column "b"/],
      [
        "a column of another type",
        "a int",
        "'1' AS a",
        /its column "a" is int\(11\), and the rows have longtext \(Utf8\)/,
      ],
      ["no value for a column that needs one", "a int, b int NOT NULL", "1 AS a", /its column "b" must not be NULL/],
      ["a generated column", "a int, b int AS (a) STORED", "1 AS a, 1 AS b", /column "b" is generated/],
      ["a double that is kept with places", "a double(9,2)", "0.125::DOUBLE AS a", /its column "a" is double\(9,2\)/],
      ["a set", "a set('x')", "'x' AS a", /its column "a" is set\('x'\)/],
    ] as const
  ) {
    Deno.test(`${what} is refused before anything is written`, async () => {
      await server.sql(`CREATE OR REPLACE TABLE other (${table})`);
      for (const mode of ["append", "replace"] as const) {
        const error = await refusal(output("other", mode), `SELECT ${select}`);
        assert.match(error.message, message);
        assert.match(error.message, /^Table "other" can't take the rows: /);
        assert.ok(error.hint);
      }
      assert.equal(await tables("pz\\_%"), "");
    });
  }

  Deno.test("a row larger than the server's packets is refused with its size, a large one that fits arrives", async () => {
    await write(
      output("large", "replace"),
      "SELECT 1 AS id, 'x' AS t UNION ALL SELECT 2, repeat('é', 3900000) UNION ALL SELECT 3, 'z'",
    );
    assert.deepEqual(await server.sql("SELECT id, CHAR_LENGTH(t) FROM large ORDER BY id"), [["1", "1"], [
      "2",
      "3900000",
    ], ["3", "1"]]);
    const error = await refusal(output("large", "append"), "SELECT 4 AS id, repeat('x', 9000000) AS t");
    assert.match(error.message, /A row takes 90\d+ bytes as a statement, and the server takes at most 83\d+/);
    assert.match(error.hint ?? "", /max_allowed_packet/);
    assert.deepEqual(await server.sql("SELECT COUNT(*) FROM large"), [["3"]]);
  });

  Deno.test("blobs of every byte and a thousand columns go there and back", async () => {
    const every = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0")).join("");
    await write(output("bytes", "replace"), `SELECT unhex('${every}') AS b`);
    assert.deepEqual(await server.sql("SELECT HEX(b) FROM bytes"), [[every.toUpperCase()]]);
    const columns = Array.from({ length: 1000 }, (_, index) => `${index} AS c${index}`).join(", ");
    await write(output("broad", "append"), `SELECT ${columns}`);
    assert.deepEqual(await server.sql("SELECT c0, c999 FROM broad"), [["0", "999"]]);
  });

  Deno.test("names that the server would change or can't keep are refused", async () => {
    const column = await refusal(output("t", "replace"), `SELECT 1 AS "${"x".repeat(65)}"`);
    assert.match(column.message, /can't be the name of a column/);
    const own = await refusal(output("_pz_attempts", "append"), "SELECT 1 AS id");
    assert.match(own.message, /the connector's own table/);
    const evolve = await refusal(output("t", "append", { schemaPolicy: "evolve" }), "SELECT 1 AS id");
    assert.match(evolve.message, /schema_policy "evolve" is not supported/);
  });
}
