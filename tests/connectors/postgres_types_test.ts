import assert from "node:assert/strict";
import { serverOf, startPostgres } from "../harness/postgres.ts";
import { configOf, dataset, Opened, staged } from "./postgres_support.ts";

const server = await startPostgres(serverOf(import.meta.url));
await server.sql(`
  CREATE TYPE mood AS ENUM ('sad', 'o''k', 'glücklich');
  CREATE TYPE pair AS (a int, b text);
  CREATE DOMAIN positive AS numeric(9,3) CHECK (VALUE > 0);
  CREATE DOMAIN short_list AS int[];
`);

/** A type, the DuckDB type that it arrives in, and values: PostgreSQL's literal and DuckDB's text. */
const TYPES: readonly (readonly [string, string, ...(readonly [string, string])[]])[] = [
  ["boolean", "BOOLEAN", ["true", "true"], ["false", "false"]],
  ["smallint", "SMALLINT", ["-32768", "-32768"], ["32767", "32767"]],
  ["integer", "INTEGER", ["-2147483648", "-2147483648"], ["2147483647", "2147483647"]],
  [
    "bigint",
    "BIGINT",
    ["-9223372036854775808", "-9223372036854775808"],
    ["9223372036854775807", "9223372036854775807"],
    ["9007199254740993", "9007199254740993"],
  ],
  ["oid", "UINTEGER", ["4294967295", "4294967295"]],
  [
    "numeric(38,9)",
    "DECIMAL(38,9)",
    ["99999999999999999999999999999.999999999", "99999999999999999999999999999.999999999"],
    ["-99999999999999999999999999999.999999999", "-99999999999999999999999999999.999999999"],
    ["0", "0.000000000"],
    ["-0.000000001", "-0.000000001"],
    ["10000", "10000.000000000"],
    ["12345678.9", "12345678.900000000"],
  ],
  ["numeric(38,0)", "DECIMAL(38,0)", [
    "12345678901234567890123456789012345678",
    "12345678901234567890123456789012345678",
  ]],
  ["numeric(5,2)", "DECIMAL(5,2)", ["-999.99", "-999.99"], ["0.01", "0.01"], ["100", "100.00"]],
  ["numeric(4,4)", "DECIMAL(4,4)", ["0.9999", ".9999"], ["-0.0001", "-.0001"]],
  ["numeric", "VARCHAR", ["1.10", "1.10"], ["'NaN'", "NaN"], ["1e-40", `0.${"0".repeat(39)}1`]],
  ["numeric(60,2)", "VARCHAR", ["1.10", "1.10"]],
  ["money", "DECIMAL(19,2)", ["'1234.56'", "1234.56"], ["'-92233720368547758.08'", "-92233720368547758.08"]],
  ["real", "FLOAT", ["'NaN'", "nan"], ["'-Infinity'", "-inf"], ["0.1", "0.1"], ["'-0'", "-0.0"]],
  [
    "double precision",
    "DOUBLE",
    ["'NaN'", "nan"],
    ["'Infinity'", "inf"],
    ["'-0'", "-0.0"],
    ["0.1", "0.1"],
    ["1.7976931348623157e308", "1.7976931348623157e+308"],
    ["5e-324", "5e-324"],
  ],
  ["text", "VARCHAR", ["''", ""], ["'ä€😀 ''quoted'''", "ä€😀 'quoted'"], [
    "repeat('x', 1048576)",
    "x".repeat(1048576),
  ]],
  ["varchar(7)", "VARCHAR", ["'a  '", "a  "]],
  ["char(5)", "VARCHAR", ["'ab'", "ab   "]],
  [`"char"`, "VARCHAR", ["'z'", "z"]],
  ["name", "VARCHAR", ["'pg'", "pg"]],
  ["bytea", "BLOB", ["'\\x00ff41'", "\\x00\\xFFA"], ["''", ""]],
  [
    "timestamp",
    "TIMESTAMP",
    ["'2024-02-29 23:59:59.123456'", "2024-02-29 23:59:59.123456"],
    ["'infinity'", "infinity"],
    ["'-infinity'", "-infinity"],
    ["'0044-03-15 12:00 BC'", "0044-03-15 (BC) 12:00:00"],
    ["'4713-01-01 00:00 BC'", "4713-01-01 (BC) 00:00:00"],
  ],
  [
    "timestamptz",
    "TIMESTAMP WITH TIME ZONE",
    ["'2024-07-01 02:00+02'", "2024-07-01 00:00:00+00"],
    ["'infinity'", "infinity"],
  ],
  [
    "date",
    "DATE",
    ["'1970-01-01'", "1970-01-01"],
    ["'infinity'", "infinity"],
    ["'-infinity'", "-infinity"],
    ["'4713-01-01 BC'", "4713-01-01 (BC)"],
    ["'5874897-12-31'", "5874897-12-31"],
  ],
  ["time", "TIME", ["'00:00'", "00:00:00"], ["'24:00'", "24:00:00"], ["'12:34:56.789012'", "12:34:56.789012"]],
  ["timetz", "VARCHAR", ["'12:00:00+05:30'", "12:00:00+05:30"]],
  ["interval", "INTERVAL", ["'1 year 2 mons -3 days 04:05:06.000007'", "1 year 2 months -3 days 04:05:06.000007"], [
    "'-00:00:00.5'",
    "-00:00:00.5",
  ]],
  ["uuid", "UUID", ["'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"]],
  ["json", "JSON", [`'{"a": 1, "a": 2}'`, `{"a": 1, "a": 2}`]],
  ["jsonb", "JSON", [`'{"b":1,"a":[1.50,null]}'`, `{"a": [1.50, null], "b": 1}`], ["'null'", "null"]],
  ["xml", "VARCHAR", ["'<a>ä</a>'", "<a>ä</a>"]],
  ["mood", "VARCHAR", ["'o''k'", "o'k"], ["'glücklich'", "glücklich"]],
  ["pair", "VARCHAR", ["ROW(1, 'x y')", `(1,"x y")`]],
  ["positive", "DECIMAL(9,3)", ["1.5", "1.500"]],
  ["short_list", "INTEGER[]", ["'{1,2}'", "[1, 2]"]],
  ["point", "VARCHAR", ["'(1,2.5)'", "(1,2.5)"]],
  ["line", "VARCHAR", ["'{1,2,3}'", "{1,2,3}"]],
  ["lseg", "VARCHAR", ["'[(0,0),(1,1)]'", "[(0,0),(1,1)]"]],
  ["box", "VARCHAR", ["'(1,1),(0,0)'", "(1,1),(0,0)"]],
  ["path", "VARCHAR", ["'((0,0),(1,1))'", "((0,0),(1,1))"]],
  ["polygon", "VARCHAR", ["'((0,0),(1,1),(1,0))'", "((0,0),(1,1),(1,0))"]],
  ["circle", "VARCHAR", ["'<(0,0),0.1>'", "<(0,0),0.1>"]],
  ["cidr", "VARCHAR", ["'10.0.0.0/8'", "10.0.0.0/8"]],
  ["inet", "VARCHAR", ["'::1'", "::1/128"], ["'10.1.2.3/8'", "10.1.2.3/8"]],
  ["macaddr", "VARCHAR", ["'08:00:2b:01:02:03'", "08:00:2b:01:02:03"]],
  ["macaddr8", "VARCHAR", ["'08:00:2b:01:02:03:04:05'", "08:00:2b:01:02:03:04:05"]],
  ["bit(5)", "VARCHAR", ["B'10101'", "10101"]],
  ["bit varying", "VARCHAR", ["B'1'", "1"]],
  ["tsvector", "VARCHAR", ["'a:1 b:2'", "'a':1 'b':2"]],
  ["tsquery", "VARCHAR", ["'a & b'", "'a' & 'b'"]],
  ["int4range", "VARCHAR", ["'[1,5)'", "[1,5)"], ["'empty'", "empty"]],
  ["tstzrange", "VARCHAR", ["'[2024-01-01 00:00+00,)'", `["2024-01-01 00:00:00+00",)`]],
  ["pg_lsn", "VARCHAR", ["'16/B374D848'", "16/B374D848"]],
  ["regclass", "VARCHAR", ["'pg_class'", "pg_class"]],
  ["xid", "UINTEGER", ["'7'::xid", "7"]],
  ["int[]", "INTEGER[]", ["'{1,NULL,3}'", "[1, NULL, 3]"], ["'{}'", "[]"]],
  ["text[]", "VARCHAR[]", ["ARRAY['a', 'b,c', NULL]", "[a, 'b,c', NULL]"]],
  ["numeric(10,2)[]", "DECIMAL(10,2)[]", ["'{1.5,-2}'", "[1.50, -2.00]"]],
  ["numeric[]", "VARCHAR[]", ["'{1.5}'", "[1.5]"]],
  ["timestamp[]", "TIMESTAMP[]", ["'{2024-01-01}'", "['2024-01-01 00:00:00']"]],
  ["uuid[]", "UUID[]", ["'{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}'", "[a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11]"]],
  ["inet[]", "VARCHAR[]", ["'{10.0.0.1}'", "[10.0.0.1/32]"]],
  ["mood[]", "VARCHAR[]", ["'{sad}'", "[sad]"]],
  ["boolean[]", "BOOLEAN[]", ["'{t,f}'", "[true, false]"]],
  ["jsonb[]", "JSON[]", [`ARRAY['{"a":1}'::jsonb]`, `[{"a": 1}]`]],
  ["int4multirange", "VARCHAR", ["'{[1,2)}'", "{[1,2)}"]],
  ["pg_snapshot", "VARCHAR", ["'10:20:10'", "10:20:10"]],
];

/** Types that arrive as texts and of which nobody is told: they are texts. */
const SILENT: ReadonlySet<string> = new Set([
  "text",
  "varchar(7)",
  "char(5)",
  `"char"`,
  "name",
  "xml",
  "mood",
  "mood[]",
  "text[]",
  "jsonb[]",
]);

Deno.test("every type arrives as what it is or as its text, exactly", async () => {
  await server.sql(`CREATE TABLE every_type (n int, ${TYPES.map(([type], index) => `c${index} ${type}`).join(", ")})`);
  const height = Math.max(...TYPES.map(([, , ...values]) => values.length)) + 1;
  for (let row = 0; row < height; row++) {
    const values = TYPES.map(([type, , ...values]) => `(${values[row]?.[0] ?? "NULL"})::${type}`);
    await server.sql(`INSERT INTO every_type VALUES (${row}, ${values.join(", ")})`);
  }
  await using opened = new Opened(configOf(server));
  const found = await staged(opened, dataset("every_type"));
  for (const [index, [type, duck, ...values]] of TYPES.entries()) {
    const texts = Array.from({ length: height }, (_, row) => values[row]?.[1] ?? null);
    const notice = opened.notices.find((text) =>
      text.startsWith(`"public.every_type": column "c${index}" is read as `)
    );
    assert.deepEqual(
      {
        type,
        duck: found.shape[index + 1],
        texts: found.rows.map((row) => row[index + 1]),
        told: notice !== undefined,
      },
      { type, duck: `c${index} ${duck}`, texts, told: duck.startsWith("VARCHAR") && !SILENT.has(type) },
    );
  }
});

for (
  const [title, type, value, message] of [
    ["NaN in a decimal", "numeric(5,2)", "'NaN'", /Column "x": NaN is no value of DECIMAL\(5,2\)/],
    ["an array of two dimensions", "int[]", "'{{1},{2}}'", /Column "x": an array has 2 dimensions/],
    ["an array that counts from 0", "int[]", "'[0:1]={1,2}'", /Column "x": an array counts from 0/],
    ["a timestamp past DuckDB's last", "timestamp", "'294276-12-31'", /Column "x": a timestamp is past the year/],
    ["a very long interval", "interval", "'9000000 hours'", /Column "x": an interval has more than 292 years/],
    ...(Number(server.version) < 17 ? [] : [
      ["an infinite interval", "interval", "'infinity'", /Column "x": an interval is infinite/] as const,
    ]),
  ] as const
) {
  Deno.test(`${title} is refused, naming its column`, async () => {
    await server.sql(
      `DROP TABLE IF EXISTS refused; CREATE TABLE refused (x ${type}); INSERT INTO refused VALUES (${value})`,
    );
    await using opened = new Opened(configOf(server));
    await assert.rejects(opened.read(dataset("refused")), message);
  });
}

Deno.test("a contract's decimal gives a numeric without digits its type, and what does not fit is refused", async () => {
  await server.sql("CREATE TABLE loose (x numeric); INSERT INTO loose VALUES (1.25), (-3)");
  await using opened = new Opened(configOf(server));
  const spec = { ...dataset("loose"), columns: [{ name: "X", type: "decimal(6,2)" }] };
  assert.deepEqual(await staged(opened, spec), { shape: ["x DECIMAL(6,2)"], rows: [["1.25"], ["-3.00"]] });
  assert.deepEqual(opened.notices, []);
  await server.sql("INSERT INTO loose VALUES (1.255)");
  await assert.rejects(opened.read(spec), /Column "x": a value has more decimal places than DECIMAL\(6,2\)/);
  await server.sql("DELETE FROM loose WHERE x = 1.255; INSERT INTO loose VALUES (12345)");
  await assert.rejects(opened.read(spec), /Column "x": a value has more digits than DECIMAL\(6,2\)/);
});
