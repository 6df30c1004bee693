import assert from "node:assert/strict";
import { ConnectorError, type OutputSpec } from "../../src/connectors/mod.ts";
import { serverOf, startPostgres } from "../harness/postgres.ts";
import { configOf, fromDuck, NEVER, Opened, output } from "./postgres_support.ts";

const server = await startPostgres(serverOf(import.meta.url));

/** DuckDB's expression, the column type of a new table, and the server's text of the value. */
const NEW: readonly (readonly [string, string, string])[] = [
  ["true", "boolean", "t"],
  ["(-128)::TINYINT", "smallint", "-128"],
  ["(-32768)::SMALLINT", "smallint", "-32768"],
  ["(-2147483648)::INTEGER", "integer", "-2147483648"],
  ["(-9223372036854775808)::BIGINT", "bigint", "-9223372036854775808"],
  ["255::UTINYINT", "smallint", "255"],
  ["65535::USMALLINT", "integer", "65535"],
  ["4294967295::UINTEGER", "bigint", "4294967295"],
  ["18446744073709551615::UBIGINT", "numeric(20,0)", "18446744073709551615"],
  [
    "(-170141183460469231731687303715884105728)::HUGEINT",
    "numeric(39,0)",
    "-170141183460469231731687303715884105728",
  ],
  ["340282366920938463463374607431768211455::UHUGEINT", "numeric(39,0)", "340282366920938463463374607431768211455"],
  ["'NaN'::FLOAT", "real", "NaN"],
  ["'-inf'::DOUBLE", "double precision", "-Infinity"],
  ["'-0'::DOUBLE", "double precision", "-0"],
  ["0.1::DOUBLE", "double precision", "0.1"],
  [
    "99999999999999999999999999999.999999999::DECIMAL(38,9)",
    "numeric(38,9)",
    "99999999999999999999999999999.999999999",
  ],
  ["-0.01::DECIMAL(9,2)", "numeric(9,2)", "-0.01"],
  ["100000000::DECIMAL(18,0)", "numeric(18,0)", "100000000"],
  ["0::DECIMAL(5,5)", "numeric(5,5)", "0.00000"],
  ["'ä€😀'''", "text", "ä€😀'"],
  ["repeat('y', 1048576)", "text", "y".repeat(1048576)],
  ["''", "text", ""],
  ["'a'::ENUM('a', 'b')", "text", "a"],
  ["'\\x00\\xFF'::BLOB", "bytea", "\\x00ff"],
  [`'{"b": 1, "a": 1.0}'::JSON`, "json", `{"b": 1, "a": 1.0}`],
  ["'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::UUID", "uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"],
  ["DATE '0044-03-15 (BC)'", "date", "0044-03-15 BC"],
  ["'infinity'::DATE", "date", "infinity"],
  ["'-infinity'::TIMESTAMP", "timestamp without time zone", "-infinity"],
  ["TIMESTAMP '2024-02-29 23:59:59.123456'", "timestamp without time zone", "2024-02-29 23:59:59.123456"],
  ["'1969-12-31 23:59:59'::TIMESTAMP_S", "timestamp without time zone", "1969-12-31 23:59:59"],
  ["'2024-01-01 00:00:00.123'::TIMESTAMP_MS", "timestamp without time zone", "2024-01-01 00:00:00.123"],
  ["'2024-01-01 00:00:00.123456'::TIMESTAMP_NS", "timestamp without time zone", "2024-01-01 00:00:00.123456"],
  ["TIMESTAMPTZ '2024-07-01 02:00:00+02'", "timestamp with time zone", "2024-07-01 00:00:00+00"],
  ["TIME '24:00:00'", "time without time zone", "24:00:00"],
  ["INTERVAL '14 months -3 days 1.5 seconds'", "interval", "1 year 2 mons -3 days +00:00:01.5"],
  ["[1, NULL, 3]", "integer[]", "{1,NULL,3}"],
  ["[]::VARCHAR[]", "text[]", "{}"],
  ["['a,b', '']", "text[]", `{"a,b",""}`],
  ["[1.5::DECIMAL(4,2)]", "numeric[]", "{1.50}"],
];

Deno.test("a new table's columns hold every type's values exactly", async () => {
  const columns = NEW.map(([value], index) => `${value} AS c${index}`).join(", ");
  const nulls = NEW.map(() => "NULL").join(", ");
  const rows = await fromDuck(`SELECT ${columns} UNION ALL SELECT ${nulls}`);
  await using opened = new Opened(configOf(server));
  const written = await opened.write(output("every_type", "replace"), rows.schema, rows.batches);
  assert.equal(written.rows, 2n);
  const types = await server.sql(
    "SELECT format_type(atttypid, CASE WHEN attndims > 0 THEN -1 ELSE atttypmod END) FROM pg_attribute " +
      "WHERE attrelid = 'every_type'::regclass AND attnum > 0 ORDER BY attnum",
  );
  const texts = NEW.map((_, index) => `c${index}::text`).join(", ");
  const found = await server.sql(`SET TimeZone = 'UTC'; SELECT ${texts} FROM every_type`);
  for (const [index, [value, type, text]] of NEW.entries()) {
    const shown = found[0]?.[index] === "true" ? "t" : found[0]?.[index];
    assert.deepEqual([value, types[index]?.[0], shown], [value, type, text]);
  }
  assert.ok(found[1]?.every((value) => value === null));
});

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

for (
  const [value, type] of [["{'a': 1}", "Struct"], ["MAP {'a': 1}", "Map"], ["[[1]]", "List"], [
    "'12:00:00+01'::TIMETZ",
    "FixedSizeBinary",
  ]]
) {
  Deno.test(`a column of ${value} is refused by its name, with a way out`, async () => {
    const error = await refusal(output("no_such_type", "append"), `SELECT 1 AS id, ${value} AS "odd one"`);
    assert.match(error.message, new RegExp(`^Column "odd one" is ${type}.*, for which PostgreSQL has no column type`));
    assert.match(error.hint ?? "", /to_json/);
    assert.equal(error.transient, false);
    assert.deepEqual(await server.sql("SELECT to_regclass('no_such_type')::text"), [[null]]);
  });
}

for (
  const [column, value, message] of [
    ["smallint", "40000", /Column "x": a value is out of the range of smallint/],
    ["integer", "3000000000", /Column "x": a value is out of the range of integer/],
    ["bigint", "18446744073709551615::UBIGINT", /Column "x": a value is out of the range of bigint/],
    ["numeric(4,1)", "1.25::DECIMAL(5,2)", /Column "x": a value has more decimal places than numeric\(4,1\) keeps/],
    ["numeric(4,1)", "12345::DECIMAL(5,0)", /Column "x": a value has more digits than numeric\(4,1\) keeps/],
    ["numeric(4,1)", "1000::INTEGER", /Column "x": a value has more digits than numeric\(4,1\) keeps/],
    ["timestamp(0)", "TIMESTAMP '2024-01-01 00:00:00.5'", /Column "x": a value has more digits of a second/],
    ["timestamp", "'2024-01-01 00:00:00.123456789'::TIMESTAMP_NS", /Column "x": a value has nanoseconds/],
    ["timestamp", "TIMESTAMP '290000-01-01 (BC) 00:00:00'", /Column "x": a timestamp is outside/],
    ["text", "'a' || chr(0) || 'b'", /Column "x": a text holds the character U\+0000/],
    [
      "varchar(2)",
      "'abc'",
      /Column "x": a text is longer than character varying\(2\) holds \(row 1 of the write, text\)/,
    ],
    ["varchar(2)", "'ab '", /Column "x": a text is longer than character varying\(2\) holds/],
    ["char(2)", "'é  '", /Column "x": a text is longer than character\(2\) holds/],
    ["varchar(2)[]", "['ab', 'ab ']", /Column "x": a text is longer than character varying\(2\) holds/],
    ["char(2)[]", "['ab ']", /Column "x": a text is longer than character\(2\) holds/],
    ["two", "'ab '", /Column "x": a text is longer than two holds/],
    ["varchar(6)", `'{"a":1} '::JSON`, /Column "x": a text is longer than character varying\(6\) holds/],
    ["jsonb", "'{'", /invalid input syntax for type json.* \(SQLSTATE 22P02\)/],
    ["integer NOT NULL", "NULL::INTEGER", /null value in column "x".* \(SQLSTATE 23502\)/],
    ["integer CHECK (x > 0)", "-1", /violates check constraint.*\(SQLSTATE 23514\)/],
  ] as const
) {
  Deno.test(`${value} in a column ${column} is refused, and nothing is written`, async () => {
    await server.sql("DROP TABLE IF EXISTS narrow; DROP DOMAIN IF EXISTS two; CREATE DOMAIN two AS varchar(2)");
    await server.sql(`CREATE TABLE narrow (x ${column})`);
    const error = await refusal(output("narrow", "append"), `SELECT ${value} AS x`);
    assert.match(error.message, message);
    assert.equal(error.transient, false);
    assert.deepEqual(await server.sql("SELECT count(*) FROM narrow"), [["0"]]);
  });
}

Deno.test("values that fit are taken by narrower columns", async () => {
  await server.sql(
    "CREATE TYPE feeling AS ENUM ('glad'); CREATE DOMAIN small AS smallint; " +
      "CREATE TABLE fitting (a smallint, b numeric(4,1), c timestamp(0), d jsonb, e feeling, f small, g varchar(3), h int, i numeric)",
  );
  await write(
    output("fitting", "append"),
    `SELECT 1::BIGINT AS a, 1.50::DECIMAL(9,2) AS b, TIMESTAMP '2024-01-01' AS c, '{"a":1}'::JSON AS d, 'glad' AS e,
      -7::HUGEINT AS f, 'abc' AS g, 12::DECIMAL(38,0) AS h, 3::INTEGER AS i`,
  );
  assert.deepEqual(await server.sql("SELECT * FROM fitting"), [
    ["1", "1.5", "2024-01-01 00:00:00", `{"a": 1}`, "glad", "-7", "abc", "12", "3"],
  ]);
});

Deno.test("texts that fill their columns arrive, counted in characters, blanks at their end among them", async () => {
  await server.sql("CREATE TABLE full_texts (a varchar(3), b char(3), c varchar(2)[], d bpchar)");
  await write(output("full_texts", "append"), "SELECT 'é€ ' AS a, '😀a' AS b, ['é ', NULL, ''] AS c, 'long ' AS d");
  assert.deepEqual(await server.sql("SELECT a || '|', format('%s|', b), c, octet_length(d) FROM full_texts"), [
    ["é€ |", "😀a |", '{"é ",NULL,""}', "5"],
  ]);
});

Deno.test("an error of a value says which row of the write it stands in", async () => {
  await server.sql("CREATE TABLE told (id int, x smallint)");
  const error = await refusal(
    output("told", "append"),
    "SELECT range::INTEGER AS id, CASE range WHEN 5000 THEN 40000 ELSE 1 END::INTEGER AS x FROM range(6000)",
  );
  assert.equal(error.message, 'Column "x": a value is out of the range of smallint (row 5001 of the write, integer)');
});

for (
  const [column, others] of [["char(5)", true], ["char(5)", false], ["citext", true], ["citext", false]] as const
) {
  const what = others ? "beside other columns" : "alone";
  Deno.test(`different keys that a ${column} takes for one are refused ${what}, and nothing is lost`, async () => {
    if (column === "citext") await server.sql("CREATE EXTENSION IF NOT EXISTS citext");
    await server.sql(`DROP TABLE IF EXISTS alike; CREATE TABLE alike (k ${column} PRIMARY KEY, v int)`);
    await server.sql("INSERT INTO alike VALUES ('a', 0)");
    const spec = () => output("alike", "merge", { keys: ["k"] });
    const rows = (...keys: string[]) =>
      `SELECT k${others ? ", v" : ""} FROM (VALUES ${keys.map((key, v) => `('${key}', ${v + 1})`).join(", ")}) t(k, v)`;
    const error = await refusal(spec(), rows("x", column === "citext" ? "X" : "x "));
    assert.match(
      error.message,
      /Two rows have different keys \("k"\) that are one and the same to the columns of "public.alike"/,
    );
    assert.deepEqual(await server.sql("SELECT k, v FROM alike"), [[column === "citext" ? "a" : "a    ", "0"]]);
    await write(spec(), rows("a", "b", "b"));
    assert.deepEqual(await server.sql("SELECT trim(k), v FROM alike ORDER BY k"), [
      ["a", others ? "1" : "0"],
      ["b", others ? "3" : null],
    ]);
  });
}

Deno.test("keys of a varchar that differ in blanks at their end stay apart", async () => {
  await server.sql("CREATE TABLE blank_keys (k varchar(5) PRIMARY KEY, v int)");
  await write(
    output("blank_keys", "merge", { keys: ["k"] }),
    "SELECT * FROM (VALUES ('a', 1), ('a ', 2), ('a', 3)) t(k, v)",
  );
  assert.deepEqual(await server.sql("SELECT k, v FROM blank_keys ORDER BY k"), [["a", "3"], ["a ", "2"]]);
});

Deno.test("columns are written by name, whatever their order, and columns that may be absent keep their defaults", async () => {
  await server.sql('CREATE TABLE named (extra text DEFAULT \'d\', "Select" int, "a""b" text, id serial PRIMARY KEY)');
  await write(output("named", "append"), `SELECT 'x' AS "a""b", 2 AS "select"`);
  assert.deepEqual(await server.sql("SELECT * FROM named"), [["d", "2", "x", "1"]]);
});

for (
  const [what, table, select, message] of [
    ["a column that the table lacks", "a int", "1 AS a, 2 AS b", /it has no column "b"/],
    ["a column of another type", "a int", "'1' AS a", /its column "a" is integer, and the rows have text \(Utf8\)/],
    ["no value for a column that needs one", "a int, b int NOT NULL", "1 AS a", /its column "b" must not be NULL/],
    ["a generated column", "a int, b int GENERATED ALWAYS AS (a) STORED", "1 AS a, 1 AS b", /column "b" is generated/],
  ] as const
) {
  Deno.test(`${what} is refused before anything is written`, async () => {
    await server.sql(`DROP TABLE IF EXISTS other; CREATE TABLE other (${table})`);
    const error = await refusal(output("other", "append"), `SELECT ${select}`);
    assert.match(error.message, message);
    assert.match(error.message, /^Table "public.other" can't take the rows: /);
    assert.ok(error.hint);
  });
}

Deno.test("a replace keeps the table, its rights and indexes, and readers see the old rows until the commit", async () => {
  await server.sql("CREATE TABLE swapped (id int PRIMARY KEY, v text); INSERT INTO swapped VALUES (1, 'old')");
  const [before] = await server.sql("SELECT 'swapped'::regclass::oid");
  const { schema, batches } = await fromDuck("SELECT range::INTEGER AS id, 'new' AS v FROM range(3)");
  await using opened = new Opened(configOf(server));
  const session = await opened.sink.begin(output("swapped", "replace"), schema, NEVER);
  for (const batch of batches) await session.write(batch, NEVER);
  assert.deepEqual(await server.sql("SELECT * FROM swapped"), [["1", "old"]]);
  assert.deepEqual(await session.commit(), { rows: 3n, batches: 1 });
  assert.deepEqual(await server.sql("SELECT * FROM swapped ORDER BY id"), [["0", "new"], ["1", "new"], ["2", "new"]]);
  assert.deepEqual(await server.sql("SELECT 'swapped'::regclass::oid"), [before]);
  await assert.rejects(async () => await session.commit(), /A commit after the write has ended/);
});

Deno.test("a replace without rows empties the table, and makes a missing one", async () => {
  await server.sql("CREATE TABLE emptied (id int); INSERT INTO emptied VALUES (1)");
  await write(output("emptied", "replace"), "SELECT 1 AS id WHERE false");
  await write(output("made_empty", "replace"), "SELECT 1 AS id WHERE false");
  assert.deepEqual(await server.sql("SELECT (SELECT count(*) FROM emptied), (SELECT count(*) FROM made_empty)"), [
    ["0", "0"],
  ]);
});

Deno.test("a merge updates, inserts, and lets the row written last win", async () => {
  await server.sql("CREATE TABLE merged (a int, b text, v text, extra int DEFAULT 7, UNIQUE (b, a))");
  await server.sql("INSERT INTO merged VALUES (1, 'x', 'old', 1), (2, 'y', 'kept', 2)");
  const spec = output("merged", "merge", { keys: ["A", "b"] });
  await write(spec, "SELECT * FROM (VALUES (1, 'x', 'first'), (3, 'z', 'new'), (1, 'x', 'last')) t(a, b, v)");
  assert.deepEqual(await server.sql("SELECT * FROM merged ORDER BY a"), [
    ["1", "x", "last", "1"],
    ["2", "y", "kept", "2"],
    ["3", "z", "new", "7"],
  ]);
});

Deno.test("a merge makes a missing table with its keys unique, and a table of keys alone only gains rows", async () => {
  const spec = () => output("keys_only", "merge", { keys: ["id"] });
  await write(spec(), "SELECT 1 AS id UNION ALL SELECT 1");
  await write(spec(), "SELECT 1 AS id UNION ALL SELECT 2");
  assert.deepEqual(await server.sql("SELECT id FROM keys_only ORDER BY 1"), [["1"], ["2"]]);
});

Deno.test("a merge names a key that the rows lack, and the index that the table lacks", async () => {
  const lacking = await refusal(output("nowhere", "merge", { keys: ["id", "k"] }), "SELECT 1 AS id");
  assert.match(lacking.message, /The rows have no column "k", which is a key of the merge/);
  await server.sql(
    "CREATE TABLE unindexed (id int, k int); CREATE INDEX ON unindexed (id); " +
      "CREATE UNIQUE INDEX ON unindexed (id, k); CREATE UNIQUE INDEX ON unindexed (id) WHERE k > 0",
  );
  const error = await refusal(output("unindexed", "merge", { keys: ["id"] }), "SELECT 1 AS id");
  assert.match(error.message, /a merge needs a unique index on exactly \("id"\), and it has none/);
  assert.equal(error.hint, `run: CREATE UNIQUE INDEX ON "public"."unindexed" ("id")`);
});

Deno.test("an append is recorded with its rows, and a repetition changes nothing", async () => {
  const spec = output("marked", "append");
  await write(spec, "SELECT range AS id FROM range(5)");
  const again = { ...spec, attempt: { ...spec.attempt, ordinal: 2 } };
  const { schema, batches } = await fromDuck("SELECT range AS id FROM range(9)");
  await using opened = new Opened(configOf(server));
  assert.deepEqual(await opened.write(again, schema, batches), { rows: 5n, batches: 1 });
  assert.deepEqual(await server.sql("SELECT count(*) FROM marked"), [["5"]]);
  await opened.write({ ...spec, attempt: { ...spec.attempt, run: "r2" } }, schema, batches);
  assert.deepEqual(await server.sql("SELECT count(*) FROM marked"), [["14"]]);
  assert.deepEqual(
    await server.sql(
      `SELECT run, ordinal, rows, batches FROM _pz_attempts WHERE node = '${spec.attempt.node}' ORDER BY 1`,
    ),
    [["r1", "1", "5", "1"], ["r2", "1", "9", "1"]],
  );
});

Deno.test("an aborted append leaves neither rows nor a record, and the next attempt lands", async () => {
  await server.sql("CREATE TABLE aborted (id bigint)");
  const spec = output("aborted", "append");
  const { schema, batches } = await fromDuck("SELECT range AS id FROM range(50000)");
  await using opened = new Opened(configOf(server));
  const session = await opened.sink.begin(spec, schema, NEVER);
  for (const batch of batches) await session.write(batch, NEVER);
  await session.abort();
  assert.deepEqual(await server.sql(`SELECT count(*) FROM _pz_attempts WHERE node = '${spec.attempt.node}'`), [["0"]]);
  await opened.write({ ...spec, attempt: { ...spec.attempt, ordinal: 2 } }, schema, batches);
  assert.deepEqual(await server.sql("SELECT count(*) FROM aborted"), [["50000"]]);
});

Deno.test("whoever may not make the table of attempts is told, and appends all the same", async () => {
  await server.sql(
    "CREATE SCHEMA bare; CREATE TABLE bare.t (id int); CREATE ROLE poor LOGIN PASSWORD 'p'; " +
      "GRANT USAGE ON SCHEMA bare TO poor; GRANT INSERT ON bare.t TO poor",
  );
  const { schema, batches } = await fromDuck("SELECT 1 AS id");
  await using opened = new Opened({ ...configOf(server), user: "poor", password: "p" });
  await opened.write(output("bare.t", "append"), schema, batches);
  assert.match(opened.notices.join(), /may not use "bare._pz_attempts"/);
  assert.deepEqual(await server.sql("SELECT count(*) FROM bare.t"), [["1"]]);
});

Deno.test("a server that loses the connection mid-write keeps nothing", async () => {
  await server.sql("CREATE TABLE cut (id bigint)");
  for (const mode of ["append", "replace"] as const) {
    const { schema, batches } = await fromDuck("SELECT range AS id FROM range(200000)");
    await using opened = new Opened(configOf(server));
    const session = await opened.sink.begin(output("cut", mode), schema, NEVER);
    for (const batch of batches) await session.write(batch, NEVER);
    await server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pz'");
    await assert.rejects(session.commit(), (error) => {
      assert.ok(error instanceof ConnectorError, String(error));
      assert.equal(error.transient, true, error.message);
      return true;
    });
    assert.deepEqual(await server.sql("SELECT count(*) FROM cut"), [["0"]]);
  }
});

Deno.test("a cancelled write ends on the server too", async () => {
  await server.sql("CREATE TABLE cancelled (id bigint)");
  const { schema, batches } = await fromDuck("SELECT range AS id FROM range(200000)");
  await using opened = new Opened(configOf(server));
  const stop = new AbortController();
  const session = await opened.sink.begin(output("cancelled", "append"), schema, NEVER);
  const reason = new Error("stop");
  await assert.rejects(async () => {
    for (const batch of batches) {
      await session.write(batch, stop.signal);
      stop.abort(reason);
    }
    await session.write(batches[0] ?? assert.fail(), stop.signal);
  }, reason);
  await session.abort();
  assert.deepEqual(await server.sql("SELECT count(*) FROM cancelled"), [["0"]]);
});

Deno.test("an attempt waits for an earlier one that is still open, and knows how it ended", async () => {
  await server.sql("CREATE TABLE raced (id bigint)");
  const { schema, batches } = await fromDuck("SELECT range AS id FROM range(7)");
  await using opened = new Opened(configOf(server));
  const [first, second] = [output("raced", "append"), output("raced", "append")];
  for (const [spec, lands] of [[first, true], [second, false]] as const) {
    const open = await opened.sink.begin(spec, schema, NEVER);
    for (const batch of batches) await open.write(batch, NEVER);
    const again = opened.write({ ...spec, attempt: { ...spec.attempt, ordinal: 2 } }, schema, batches);
    const waiting = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pz' AND wait_event_type = 'Lock'";
    while ((await server.sql(waiting))[0]?.[0] !== "1") { /* until it waits */ }
    if (lands) await open.commit();
    else await open.abort();
    assert.deepEqual(await again, { rows: 7n, batches: 1 });
  }
  assert.deepEqual(await server.sql("SELECT count(*) FROM raced"), [["14"]]);
});

Deno.test("a table that somebody else has locked for longer than allowed fails the write, to be tried again", async () => {
  await server.sql("CREATE TABLE locked (id int)");
  await using holder = new Opened(configOf(server));
  const { schema, batches } = await fromDuck("SELECT 1 AS id");
  const held = await holder.sink.begin(output("locked", "append"), schema, NEVER);
  await using opened = new Opened({ ...configOf(server), command_timeout_seconds: 1n });
  // The replace needs the table alone at its end.
  await assert.rejects(opened.write(output("locked", "replace"), schema, batches), (error) => {
    assert.ok(error instanceof ConnectorError, String(error));
    assert.match(error.message, /SQLSTATE 55P03/);
    assert.equal(error.transient, true);
    return true;
  });
  await held.abort();
});

Deno.test("a decimal's every digit arrives, short or long", async () => {
  const values =
    "[0, 1, 10, 9999.99, -0.01, 10000, 120000000.5, -90071992547409.92, 99999999999999999999999999999999.999999]";
  await write(output("digits", "replace"), `SELECT unnest(${values}::DECIMAL(38,6)[]) AS x`);
  assert.deepEqual(await server.sql("SELECT x FROM digits"), [
    ["0.000000"],
    ["1.000000"],
    ["10.000000"],
    ["9999.990000"],
    ["-0.010000"],
    ["10000.000000"],
    ["120000000.500000"],
    ["-90071992547409.920000"],
    ["99999999999999999999999999999999.999999"],
  ]);
});

Deno.test("a table that foreign keys refer to can't be replaced, and says what can be done", async () => {
  await server.sql("CREATE TABLE parent (id int PRIMARY KEY); CREATE TABLE child_of (id int REFERENCES parent)");
  const error = await refusal(output("parent", "replace"), "SELECT 1 AS id");
  assert.match(error.message, /"public"."parent" can't be emptied, since foreign keys refer to it/);
  assert.match(error.hint ?? "", /merge/);
});

Deno.test("a refusal at the commit is known to have left nothing, a lost connection there is not", async () => {
  await server.sql("CREATE TABLE late (id int, CONSTRAINT one UNIQUE (id) DEFERRABLE INITIALLY DEFERRED)");
  const refused = await refusal(output("late", "append"), "SELECT 7 AS id FROM range(2)");
  assert.match(refused.message, /SQLSTATE 23505/);
  assert.equal(refused.outcomeUnknown, false);
  await server.sql(
    "CREATE FUNCTION gone() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " +
      "PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$; CREATE TABLE cut_off (id int); " +
      "CREATE CONSTRAINT TRIGGER t AFTER INSERT ON cut_off DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION gone()",
  );
  const lost = await refusal(output("cut_off", "append"), "SELECT 7 AS id");
  assert.equal(lost.outcomeUnknown, true);
  assert.deepEqual(await server.sql("SELECT (SELECT count(*) FROM late), (SELECT count(*) FROM cut_off)"), [[
    "0",
    "0",
  ]]);
});
