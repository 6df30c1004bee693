/** One value, as each system spells it; null: NULL, which every case has at its end too. */
export type CaseValue = {
  /** DuckDB's text. */
  readonly duck: string;
  /** PostgreSQL's text; DuckDB's where absent. */
  readonly pg?: string;
  /** In a line of JSON; the text of DuckDB where absent, in quotes unless it is a number or a truth value. */
  readonly json?: string;
  /** In a line of JSON that pz writes, where the same value has another form there. */
  readonly written?: string;
  /** DuckDB's text of what JSON makes of it, where that is of another kind. */
  readonly object?: string;
};

/** A column of one type, with values at the edges of it. */
export type TypeCase = {
  readonly name: string;
  /** As DuckDB spells the type. */
  readonly duck: string;
  /** The type of a column of PostgreSQL that holds exactly these values; undefined: none does. */
  readonly pg?: string;
  /** What a contract calls the type; undefined: it has no name for it, and the reader guesses. */
  readonly contract?: string;
  readonly values: readonly CaseValue[];
  /** Systems that don't hold these values even by their own means, and so are no source of them. */
  readonly notIn?: readonly ("parquet" | "ndjson")[];
};

const plain = (...texts: readonly string[]): CaseValue[] => texts.map((duck) => ({ duck }));

const LONG = `${"ä€😀 'x' \"y\" \\ ".repeat(40_000)}`;

/** Every type, by a name for the tables. */
export const CASES: readonly TypeCase[] = [
  { name: "boolean", duck: "BOOLEAN", pg: "boolean", contract: "boolean", values: plain("true", "false") },
  { name: "tinyint", duck: "TINYINT", contract: "tinyint", values: plain("-128", "127") },
  { name: "smallint", duck: "SMALLINT", pg: "smallint", contract: "smallint", values: plain("-32768", "32767") },
  { name: "integer", duck: "INTEGER", pg: "integer", contract: "int", values: plain("-2147483648", "2147483647") },
  {
    name: "bigint",
    duck: "BIGINT",
    pg: "bigint",
    contract: "bigint",
    values: plain("-9223372036854775808", "9223372036854775807", "9007199254740993"),
  },
  { name: "utinyint", duck: "UTINYINT", contract: "utinyint", values: plain("0", "255") },
  { name: "usmallint", duck: "USMALLINT", contract: "usmallint", values: plain("0", "65535") },
  { name: "uinteger", duck: "UINTEGER", contract: "uinteger", values: plain("0", "4294967295") },
  { name: "ubigint", duck: "UBIGINT", contract: "ubigint", values: plain("0", "18446744073709551615") },
  {
    name: "hugeint",
    notIn: ["parquet"],
    duck: "HUGEINT",
    contract: "hugeint",
    values: plain("-170141183460469231731687303715884105728", "170141183460469231731687303715884105727"),
  },
  {
    name: "hugeint_38",
    notIn: ["parquet"],
    duck: "HUGEINT",
    contract: "hugeint",
    values: plain("-99999999999999999999999999999999999999", "9007199254740993"),
  },
  {
    name: "uhugeint",
    duck: "UHUGEINT",
    notIn: ["parquet", "ndjson"],
    values: plain("0", "340282366920938463463374607431768211455"),
  },
  {
    name: "decimal_4_4",
    duck: "DECIMAL(4,4)",
    pg: "numeric(4,4)",
    contract: "decimal(4,4)",
    values: [{ duck: ".9999", pg: "0.9999", json: "0.9999" }, { duck: "-.0001", pg: "-0.0001", json: "-0.0001" }],
  },
  {
    name: "decimal_18_2",
    duck: "DECIMAL(18,2)",
    pg: "numeric(18,2)",
    contract: "decimal(18,2)",
    values: plain("9999999999999999.99", "-0.01", "100.00"),
  },
  {
    name: "decimal_38_0",
    duck: "DECIMAL(38,0)",
    pg: "numeric(38,0)",
    contract: "decimal(38,0)",
    values: plain("99999999999999999999999999999999999999", "-12345678901234567890123456789012345678", "0"),
  },
  {
    name: "decimal_38_10",
    duck: "DECIMAL(38,10)",
    pg: "numeric(38,10)",
    contract: "decimal(38,10)",
    values: plain("9999999999999999999999999999.9999999999", "-0.0000000001", "1.5000000000"),
  },
  {
    name: "float",
    duck: "FLOAT",
    pg: "real",
    contract: "float",
    values: [{ duck: "0.1", written: "0.10000000149011612" }, { duck: "-0.0", pg: "-0" }, { duck: "1.5" }],
  },
  {
    name: "float_special",
    duck: "FLOAT",
    pg: "real",
    contract: "float",
    values: [
      { duck: "nan", pg: "NaN" },
      { duck: "inf", pg: "Infinity" },
      { duck: "-inf", pg: "-Infinity" },
    ],
  },
  {
    name: "double",
    duck: "DOUBLE",
    pg: "double precision",
    contract: "double",
    values: [
      { duck: "0.1" },
      { duck: "-0.0", pg: "-0" },
      { duck: "1.7976931348623157e+308", json: "1.7976931348623157e308" },
      { duck: "5e-324" },
    ],
  },
  {
    name: "double_special",
    duck: "DOUBLE",
    pg: "double precision",
    contract: "double",
    values: [
      { duck: "nan", pg: "NaN" },
      { duck: "inf", pg: "Infinity" },
      { duck: "-inf", pg: "-Infinity" },
    ],
  },
  {
    name: "date",
    duck: "DATE",
    pg: "date",
    contract: "date",
    values: plain("0001-01-01", "9999-12-31", "2024-02-29"),
  },
  { name: "date_infinite", duck: "DATE", pg: "date", contract: "date", values: plain("infinity", "-infinity") },
  {
    name: "date_far",
    duck: "DATE",
    pg: "date",
    contract: "date",
    values: [{ duck: "0044-03-15 (BC)", pg: "0044-03-15 BC" }, { duck: "5874897-12-31" }],
  },
  {
    name: "time",
    duck: "TIME",
    pg: "time without time zone",
    contract: "time",
    values: plain("00:00:00", "23:59:59.999999", "12:34:56.7"),
  },
  { name: "timetz", duck: "TIME WITH TIME ZONE", notIn: ["parquet"], values: plain("12:00:00+05:30") },
  {
    name: "timestamp_s",
    duck: "TIMESTAMP_S",
    values: plain("1969-12-31 23:59:59", "9999-12-31 23:59:59"),
  },
  {
    name: "timestamp_ms",
    duck: "TIMESTAMP_MS",
    values: plain("1969-12-31 23:59:59.999", "9999-12-31 23:59:59.999"),
  },
  {
    name: "timestamp",
    duck: "TIMESTAMP",
    pg: "timestamp without time zone",
    contract: "timestamp",
    values: plain("0001-01-01 00:00:00", "9999-12-31 23:59:59.999999", "1969-12-31 23:59:59.999999"),
  },
  {
    name: "timestamp_infinite",
    duck: "TIMESTAMP",
    pg: "timestamp without time zone",
    contract: "timestamp",
    values: plain("infinity", "-infinity"),
  },
  {
    name: "timestamp_ns",
    duck: "TIMESTAMP_NS",
    values: plain("1969-12-31 23:59:59.999999999", "2024-02-29 12:34:56.123456789"),
  },
  {
    name: "timestamp_ns_us",
    duck: "TIMESTAMP_NS",
    values: plain("2024-02-29 12:34:56.123456"),
  },
  {
    name: "timestamptz",
    duck: "TIMESTAMP WITH TIME ZONE",
    pg: "timestamp with time zone",
    contract: "timestamptz",
    values: plain("0001-01-01 00:00:00+00", "9999-12-31 23:59:59.999999+00"),
  },
  {
    name: "timestamptz_infinite",
    duck: "TIMESTAMP WITH TIME ZONE",
    pg: "timestamp with time zone",
    contract: "timestamptz",
    values: plain("infinity", "-infinity"),
  },
  {
    name: "interval",
    duck: "INTERVAL",
    pg: "interval",
    values: [{ duck: "1 year 2 months 3 days 04:05:06.007", pg: "1 year 2 mons 3 days 04:05:06.007" }],
  },
  {
    name: "interval_fine",
    notIn: ["parquet"],
    duck: "INTERVAL",
    pg: "interval",
    values: [{ duck: "1 year 2 months -3 days 04:05:06.000007", pg: "1 year 2 mons -3 days +04:05:06.000007" }],
  },
  {
    name: "varchar",
    duck: "VARCHAR",
    pg: "text",
    contract: "varchar",
    values: [
      { duck: "" },
      { duck: "NULL" },
      { duck: "  ä€😀 " },
      { duck: `'one' "two" \\three\\` },
      { duck: "line\none\ttab\r" },
    ],
  },
  { name: "varchar_1mb", duck: "VARCHAR", pg: "text", contract: "varchar", values: plain(LONG) },
  { name: "varchar_nul", duck: "VARCHAR", contract: "varchar", values: plain("a\0b") },
  {
    name: "blob",
    duck: "BLOB",
    pg: "bytea",
    contract: "blob",
    values: [
      { duck: "", pg: "\\x" },
      { duck: "\\x00\\xFFA", pg: "\\x00ff41", json: `"\\\\x00\\\\xFFA"` },
    ],
  },
  {
    name: "uuid",
    duck: "UUID",
    pg: "uuid",
    contract: "uuid",
    values: plain("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "ffffffff-ffff-ffff-ffff-ffffffffffff"),
  },
  {
    name: "json",
    duck: "JSON",
    pg: "json",
    contract: "json",
    values: [`{"a":1,"b":[true,null,"é"]}`, `"text"`, "1.5", "12345678901234567890123"].map((text) => ({
      duck: text,
      json: text,
    })),
  },
  {
    name: "json_digits",
    duck: "JSON",
    pg: "json",
    values: [{ duck: `{"a":0.1000000000000000000001}` }, { duck: `{"b":[1,-12345678901234567.25]}` }],
    notIn: ["ndjson"],
  },
  {
    name: "json_null",
    duck: "JSON",
    pg: "json",
    values: [{ duck: "null", json: "null" }],
    notIn: ["ndjson"],
  },
  {
    name: "enum",
    duck: "ENUM('sad', 'it''s', 'glücklich')",
    pg: "mood",
    values: plain("it's", "glücklich", "sad"),
  },
  {
    name: "list",
    duck: "INTEGER[]",
    pg: "integer[]",
    values: [
      { duck: "[1, NULL, -3]", pg: "{1,NULL,-3}", json: "[1,null,-3]" },
      { duck: "[]", pg: "{}", json: "[]" },
    ],
  },
  {
    name: "list_varchar",
    duck: "VARCHAR[]",
    pg: "text[]",
    values: [
      { duck: `[a b, 'c,d', '', NULL, ünl]`, pg: `{"a b","c,d","",NULL,ünl}`, json: `["a b","c,d","",null,"ünl"]` },
    ],
  },
  {
    name: "list_list",
    duck: "INTEGER[][]",
    values: [{ duck: "[[1, 2], [], NULL]", json: "[[1,2],[],null]" }],
  },
  { name: "array", duck: "INTEGER[3]", values: [{ duck: "[1, NULL, 3]", pg: "{1,NULL,3}", json: "[1,null,3]" }] },
  {
    name: "struct",
    duck: `STRUCT(a INTEGER, "b c" VARCHAR)`,
    values: [{ duck: "{'a': 1, 'b c': ä}", json: `{"a":1,"b c":"ä"}` }],
  },
  {
    name: "map",
    duck: "MAP(VARCHAR, INTEGER)",
    values: [{ duck: "{a=1, b c=-2}", json: `{"a":1,"b c":-2}`, object: "{'a': 1, 'b c': -2}" }],
  },
];
