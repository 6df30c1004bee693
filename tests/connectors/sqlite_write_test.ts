import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { connector } from "../../src/connectors/builtin/sqlite/connector.ts";
import { ConnectorError, type OutputSpec } from "../../src/connectors/mod.ts";
import { TempDir } from "../harness/temp_dir.ts";
import { fromDuck, NEVER, OpenedConnector, output, staged, stagedBatches } from "./database_support.ts";
import { dataset, TestDatabase } from "./sqlite_support.ts";

/** DuckDB's expression, the column type of a new table, and SQLite's storage and text of the value. */
const NEW: readonly (readonly [string, string, string, string])[] = [
  ["true", "BOOLEAN", "integer", "1"],
  ["(-128)::TINYINT", "INTEGER", "integer", "-128"],
  ["(-2147483648)::INTEGER", "INTEGER", "integer", "-2147483648"],
  ["(-9223372036854775808)::BIGINT", "INTEGER", "integer", "-9223372036854775808"],
  ["9223372036854775807::BIGINT", "INTEGER", "integer", "9223372036854775807"],
  ["4294967295::UINTEGER", "INTEGER", "integer", "4294967295"],
  ["18446744073709551615::UBIGINT", "DECIMAL TEXT(20,0)", "text", "18446744073709551615"],
  [
    "(-170141183460469231731687303715884105728)::HUGEINT",
    "DECIMAL TEXT(39,0)",
    "text",
    "-170141183460469231731687303715884105728",
  ],
  ["0.1::DOUBLE", "DOUBLE", "real", "0.1"],
  ["5::DOUBLE", "DOUBLE", "real", "5"],
  ["1.7976931348623157e308::DOUBLE", "DOUBLE", "real", "1.7976931348623157e+308"],
  ["5e-324::DOUBLE", "DOUBLE", "real", "5e-324"],
  ["'-inf'::DOUBLE", "DOUBLE", "real", "-Infinity"],
  ["'-0'::DOUBLE", "DOUBLE", "real", "0"],
  ["0.5::FLOAT", "DOUBLE", "real", "0.5"],
  [
    "99999999999999999999999999999.999999999::DECIMAL(38,9)",
    "DECIMAL TEXT(38,9)",
    "text",
    "99999999999999999999999999999.999999999",
  ],
  ["-0.01::DECIMAL(9,2)", "DECIMAL TEXT(9,2)", "text", "-0.01"],
  ["100::DECIMAL(18,0)", "DECIMAL TEXT(18,0)", "text", "100"],
  ["'ä€😀'''", "TEXT", "text", "ä€😀'"],
  ["'007'", "TEXT", "text", "007"],
  ["repeat('y', 1048576)", "TEXT", "text", "y".repeat(1048576)],
  ["''", "TEXT", "text", ""],
  ["'a'::ENUM('a', 'b')", "TEXT", "text", "a"],
  ["'1.50'::JSON", "JSON TEXT", "text", "1.50"],
  ["'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::UUID", "UUID", "text", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"],
  ["'\\x00\\xFF'::BLOB", "BLOB", "blob", "0,255"],
  ["DATE '0001-01-01'", "DATE", "text", "0001-01-01"],
  ["DATE '9999-12-31'", "DATE", "text", "9999-12-31"],
  ["TIME '24:00:00'", "TIME", "text", "24:00:00"],
  ["TIME '12:34:56.789012'", "TIME", "text", "12:34:56.789012"],
  ["TIMESTAMP '2024-02-29 23:59:59.123456'", "TIMESTAMP", "text", "2024-02-29 23:59:59.123456"],
  ["TIMESTAMP '0001-01-01 00:00:00'", "TIMESTAMP", "text", "0001-01-01 00:00:00"],
  ["'1969-12-31 23:59:59'::TIMESTAMP_S", "TIMESTAMP", "text", "1969-12-31 23:59:59"],
  ["'2024-01-01 00:00:00.123456'::TIMESTAMP_NS", "TIMESTAMP", "text", "2024-01-01 00:00:00.123456"],
  ["TIMESTAMPTZ '2024-07-01 02:00:00+02'", "TIMESTAMPTZ", "text", "2024-07-01 00:00:00+00:00"],
];

/** What types become on their way there and back; all others come back as they were. */
const BACK: { readonly [type: string]: string } = {
  TINYINT: "BIGINT",
  INTEGER: "BIGINT",
  UINTEGER: "BIGINT",
  UBIGINT: "DECIMAL(20,0)",
  HUGEINT: "VARCHAR",
  FLOAT: "DOUBLE",
  "ENUM('a', 'b')": "VARCHAR",
  TIMESTAMP_S: "TIMESTAMP",
  TIMESTAMP_NS: "TIMESTAMP",
};

async function write(database: TestDatabase, spec: OutputSpec, sql: string): Promise<void> {
  const { schema, batches } = await fromDuck(sql);
  await using opened = database.open();
  await opened.write(spec, schema, batches);
}

async function refusal(database: TestDatabase, spec: OutputSpec, sql: string): Promise<ConnectorError> {
  try {
    await write(database, spec, sql);
  } catch (error) {
    assert.ok(error instanceof ConnectorError, String(error));
    return error;
  }
  assert.fail("the write was not refused");
}

Deno.test("a new table's columns hold every type's values exactly, and give them back", async () => {
  await using database = await TestDatabase.create();
  const columns = NEW.map(([value], index) => `${value} AS c${index}`).join(", ");
  const given = await fromDuck(`SELECT ${columns} UNION ALL SELECT ${NEW.map(() => "NULL").join(", ")}`);
  await using opened = database.open();
  assert.equal((await opened.write(output("every_type", "replace"), given.schema, given.batches)).rows, 2n);
  const types = database.rows("SELECT type FROM pragma_table_info('every_type')");
  const stored = database.rows(`SELECT ${NEW.map((_, index) => `typeof(c${index})`).join(", ")} FROM every_type`);
  const found = database.rows("SELECT * FROM every_type");
  for (const [index, [value, type, storage, text]] of NEW.entries()) {
    assert.deepEqual([value, types[index]?.[0], stored[0]?.[index], found[0]?.[index]], [value, type, storage, text]);
  }
  assert.ok(found[1]?.every((value) => value === null));
  const back = await staged(opened, dataset("every_type"));
  const before = await stagedBatches(given.schema, given.batches);
  for (const [index, [value]] of NEW.entries()) {
    const [, name = "", type = ""] = /^(\w+) (.*)$/.exec(before.shape[index] ?? "") ?? [];
    assert.deepEqual([value, back.shape[index]], [value, `${name} ${BACK[type] ?? type}`]);
    const expected = value.startsWith("'-0'") ? "0.0" : before.rows[0]?.[index];
    assert.deepEqual([value, back.rows[0]?.[index]], [value, expected]);
  }
});

for (const value of ["{'a': 1}", "MAP {'a': 1}", "[1]", "INTERVAL 1 DAY", "'12:00:00+01'::TIMETZ"]) {
  Deno.test(`a column of ${value} is refused by its name, and no file is made`, async () => {
    await using database = await TestDatabase.create();
    const error = await refusal(database, output("t", "append"), `SELECT 1 AS id, ${value} AS "odd one"`);
    assert.match(error.message, /^Column "odd one" is .*, for which SQLite has no column type/);
    assert.equal(error.transient, false);
    assert.deepEqual([...Deno.readDirSync(database.folder)], []);
  });
}

for (
  const [column, value, message] of [
    ["INTEGER", "18446744073709551615::UBIGINT", /Column "x": a value is out of the range of SQLite's whole numbers/],
    ["DECIMAL(4,1)", "1.25::DECIMAL(5,2)", /Column "x": a value has more digits than DECIMAL\(4,1\) keeps/],
    ["DECIMAL(4,1)", "1000", /Column "x": a value has more digits than DECIMAL\(4,1\) keeps/],
    [
      "DECIMAL(38,9)",
      "12345678901234567.123456789::DECIMAL(38,9)",
      /Column "x": a value has more digits .*a column of texts/,
    ],
    [
      "DECIMAL TEXT(4,1)",
      "12345.5::DECIMAL(9,1)",
      /Column "x": a value has more digits than DECIMAL TEXT\(4,1\) keeps/,
    ],
    ["DOUBLE", "'NaN'::DOUBLE", /Column "x": a value is NaN, which SQLite would keep as NULL/],
    ["DATE", "DATE '10000-01-01'", /Column "x": a date is outside of the years 0000 to 9999/],
    ["DATE", "'-infinity'::DATE", /Column "x": a date is outside/],
    ["TIMESTAMP", "'infinity'::TIMESTAMP", /Column "x": a date is outside/],
    ["TIMESTAMP", "'2024-01-01 00:00:00.123456789'::TIMESTAMP_NS", /Column "x": a value has nanoseconds/],
    ["INT NOT NULL", "NULL::INTEGER", /Column "x": a value is NULL, which the column does not take/],
    ["INTEGER PRIMARY KEY", "NULL::INTEGER", /Column "x": a value is NULL, which the column does not take/],
    ["INT CHECK (x > 0)", "-1", /CHECK constraint failed: x > 0/],
    ["INT", "'7'", /its column "x" is INT, and the rows have TEXT/],
    ["NUMERIC", "'007'", /its column "x" is NUMERIC, and the rows have TEXT/],
    ["JSON", "'1.50'::JSON", /its column "x" is JSON, and the rows have JSON TEXT/],
    ["DATE", "TIMESTAMP '2024-01-01'", /its column "x" is DATE, and the rows have TIMESTAMP/],
  ] as const
) {
  Deno.test(`${value} in a column ${column} is refused, and nothing is written`, async () => {
    await using database = await TestDatabase.create(`CREATE TABLE narrow (x ${column})`);
    const error = await refusal(database, output("narrow", "append"), `SELECT ${value} AS x`);
    assert.match(error.message, message);
    assert.equal(error.transient, false);
    assert.deepEqual(database.rows("SELECT * FROM narrow"), []);
    assert.deepEqual(database.rows("SELECT name FROM sqlite_master"), [["narrow"]]);
  });
}

Deno.test("values that fit are taken by other columns, strict tables too", async () => {
  await using database = await TestDatabase.create(`
    CREATE TABLE fitting (a TINYINT, b DECIMAL(4,1), c TEXT, d TEXT, e VARCHAR(3), f INT, g INT, h, i NUMERIC);
    CREATE TABLE strict (a INT, b TEXT, c REAL, d BLOB, e ANY) STRICT`);
  await write(
    database,
    output("fitting", "append"),
    `SELECT 1::BIGINT AS a, 1.50::DECIMAL(9,2) AS b, TIMESTAMP '2024-01-01' AS c, '{"a":1}'::JSON AS d, 'abcdef' AS e,
      -7::HUGEINT AS f, 12::DECIMAL(38,0) AS g, '5' AS h, 0.1::DECIMAL(3,2) AS i`,
  );
  assert.deepEqual(database.rows("SELECT *, typeof(b), typeof(h), typeof(i) FROM fitting"), [
    ["1", "1.5", "2024-01-01 00:00:00", `{"a":1}`, "abcdef", "-7", "12", "5", "0.1", "real", "text", "real"],
  ]);
  await write(
    database,
    output("strict", "append"),
    "SELECT 1 AS a, DATE '2024-01-01' AS b, 1.5::DOUBLE AS c, 'x'::BLOB AS d, 'any' AS e",
  );
  assert.deepEqual(database.rows("SELECT a, b, c, hex(d), e FROM strict"), [["1", "2024-01-01", "1.5", "78", "any"]]);
});

Deno.test("columns are written by name, and columns that may be absent keep their defaults", async () => {
  await using database = await TestDatabase.create(
    `CREATE TABLE named (extra TEXT DEFAULT 'd', "Select" INT, "a""b" TEXT, id INTEGER PRIMARY KEY, g INT AS (id + 1))`,
  );
  await write(database, output("named", "append"), `SELECT 'x' || chr(0) || 'y' AS "a""b", 2 AS "select"`);
  assert.deepEqual(database.rows(`SELECT extra, "Select", hex("a""b"), id, g FROM named`), [[
    "d",
    "2",
    "780079",
    "1",
    "2",
  ]]);
  for (
    const [select, message] of [
      ["1 AS g, 1 AS id", /its column "g" is generated/],
      ["1 AS nope", /it has no column "nope"/],
    ] as const
  ) {
    assert.match((await refusal(database, output("named", "append"), `SELECT ${select}`)).message, message);
  }
  database.run("CREATE TABLE needing (a INT, b INT NOT NULL); CREATE VIEW seen AS SELECT 1 AS a");
  assert.match((await refusal(database, output("needing", "append"), "SELECT 1 AS a")).message, /"b" must not be NULL/);
  assert.match((await refusal(database, output("seen", "append"), "SELECT 1 AS a")).message, /it is no table/);
});

Deno.test("a replace keeps the table with its indexes, and readers see the old rows until the commit", async () => {
  await using database = await TestDatabase.create(
    "CREATE TABLE swapped (id INT PRIMARY KEY, v TEXT DEFAULT 'd'); CREATE INDEX k ON swapped (v); INSERT INTO swapped VALUES (1, 'old')",
  );
  const before = database.rows("SELECT sql FROM sqlite_master");
  const { schema, batches } = await fromDuck("SELECT range::INTEGER AS id, 'new' AS v FROM range(3)");
  await using opened = database.open();
  const session = await opened.sink.begin(output("swapped", "replace"), schema, NEVER);
  for (const batch of batches) await session.write(batch, NEVER);
  assert.deepEqual(database.rows("SELECT * FROM swapped"), [["1", "old"]]);
  assert.deepEqual(await session.commit(), { rows: 3n, batches: 1 });
  assert.deepEqual(database.rows("SELECT * FROM swapped ORDER BY id"), [["0", "new"], ["1", "new"], ["2", "new"]]);
  assert.deepEqual(database.rows("SELECT sql FROM sqlite_master"), before);
  await assert.rejects(async () => await session.commit(), /A commit after the write has ended/);
  await write(database, output("swapped", "replace"), "SELECT 1 AS id, 'x' AS v WHERE false");
  assert.deepEqual(database.rows("SELECT count(*) FROM swapped"), [["0"]]);
});

Deno.test("a table that foreign keys refer to can't be replaced, and says what can be done", async () => {
  await using database = await TestDatabase.create(
    "CREATE TABLE parent (id INT PRIMARY KEY); CREATE TABLE child (id INT REFERENCES Parent (id) ON DELETE CASCADE)",
  );
  const error = await refusal(database, output("parent", "replace"), "SELECT 1 AS id");
  assert.match(error.message, /it can't be replaced, since foreign keys of "child" refer to it/);
  assert.match(error.hint ?? "", /merge/);
});

Deno.test("a merge updates, inserts, and lets the row written last win", async () => {
  await using database = await TestDatabase.create(
    `CREATE TABLE merged (a INT, b TEXT, v TEXT, extra INT DEFAULT 7, UNIQUE (b, a));
     INSERT INTO merged VALUES (1, 'x', 'old', 1), (2, 'y', 'kept', 2)`,
  );
  const spec = output("merged", "merge", { keys: ["A", "b"] });
  await write(database, spec, "SELECT * FROM (VALUES (1, 'x', 'first'), (3, 'z', 'new'), (1, 'x', 'last')) t(a, b, v)");
  assert.deepEqual(database.rows("SELECT * FROM merged ORDER BY a"), [
    ["1", "x", "last", "1"],
    ["2", "y", "kept", "2"],
    ["3", "z", "new", "7"],
  ]);
  const keysOnly = () => output("keys_only", "merge", { keys: ["id", "k"] });
  await write(database, keysOnly(), "SELECT 1 AS id, 'a' AS k UNION ALL SELECT 1, 'a'");
  await write(database, keysOnly(), "SELECT 1 AS id, unnest(['a', 'A', 'a ']) AS k");
  assert.deepEqual(database.rows("SELECT k FROM keys_only ORDER BY k"), [["A"], ["a"], ["a "]]);
  database.run("CREATE TABLE by_rowid (id INTEGER PRIMARY KEY, v INT)");
  await write(database, output("by_rowid", "merge", { keys: ["id"] }), "SELECT 5 AS id, 1 AS v UNION ALL SELECT 5, 1");
  assert.deepEqual(database.rows("SELECT * FROM by_rowid"), [["5", "1"]]);
});

Deno.test("a merge names a key that the rows lack, and the index that the table lacks", async () => {
  await using database = await TestDatabase.create(`
    CREATE TABLE unindexed (id INT, k INT, UNIQUE (id, k)); CREATE UNIQUE INDEX partly ON unindexed (id) WHERE k > 0;
    CREATE TABLE blind (k TEXT COLLATE NOCASE UNIQUE, v INT)`);
  const lacking = await refusal(database, output("nowhere", "merge", { keys: ["k"] }), "SELECT 1 AS id");
  assert.match(lacking.message, /The rows have no column "k", which is a key of the merge/);
  const error = await refusal(database, output("unindexed", "merge", { keys: ["id"] }), "SELECT 1 AS id");
  assert.match(error.message, /a merge needs a unique index on exactly \("id"\), and it has none/);
  const blind = await refusal(database, output("blind", "merge", { keys: ["k"] }), "SELECT 'a' AS k, 1 AS v");
  assert.match(blind.message, /its unique index on \("k"\) takes different texts for one, by the collation NOCASE/);
});

Deno.test("an append is recorded with its rows, and a repetition changes nothing", async () => {
  await using database = await TestDatabase.create();
  const spec = output("marked", "append");
  await write(database, spec, "SELECT range AS id FROM range(5)");
  const { schema, batches } = await fromDuck("SELECT range AS id FROM range(9)");
  await using opened = database.open();
  const again = { ...spec, attempt: { ...spec.attempt, ordinal: 2 } };
  assert.deepEqual(await opened.write(again, schema, batches), { rows: 5n, batches: 1 });
  await opened.write({ ...spec, attempt: { ...spec.attempt, run: "r2" } }, schema, batches);
  assert.deepEqual(database.rows("SELECT count(*) FROM marked"), [["14"]]);
  const retried = { ...spec.attempt, run: "r3", prior: [{ run: "r0", ordinal: 1 }, { run: "r1", ordinal: 1 }] };
  assert.deepEqual(await opened.write({ ...spec, attempt: retried }, schema, batches), { rows: 5n, batches: 1 });
  assert.deepEqual(database.rows("SELECT count(*) FROM marked"), [["14"]]);
  assert.deepEqual(database.rows("SELECT run, ordinal, rows, batches FROM _pz_attempts ORDER BY 1"), [
    ["r1", "1", "5", "1"],
    ["r2", "1", "9", "1"],
  ]);
});

Deno.test("an aborted write leaves nothing in the file, and the next attempt lands", async () => {
  for (const mode of ["append", "replace", "merge"] as const) {
    await using database = await TestDatabase.create();
    const spec = output("aborted", mode, { keys: mode === "merge" ? ["id"] : [] });
    const { schema, batches } = await fromDuck("SELECT range AS id FROM range(50000)");
    await using opened = database.open();
    const session = await opened.sink.begin(spec, schema, NEVER);
    for (const batch of batches) await session.write(batch, NEVER);
    await session.abort();
    assert.deepEqual([...Deno.readDirSync(database.folder)].map(({ name }) => name), ["test.db"]);
    assert.equal((await Deno.stat(database.path)).size, 0);
    await opened.write({ ...spec, attempt: { ...spec.attempt, ordinal: 2 } }, schema, batches);
    assert.deepEqual(database.rows("SELECT count(*), sum(id) FROM aborted"), [["50000", "1249975000"]]);
  }
});

Deno.test("writes of one database begin one after another", async () => {
  await using database = await TestDatabase.create();
  const { schema, batches } = await fromDuck("SELECT range AS id FROM range(1000)");
  await using opened = database.open();
  const first = await opened.sink.begin(output("a", "append"), schema, NEVER);
  let isBegun = false;
  const second = opened.sink.begin(output("b", "append"), schema, NEVER).then((session) => {
    isBegun = true;
    return session;
  });
  const stop = new AbortController();
  const third = opened.sink.begin(output("c", "append"), schema, stop.signal);
  stop.abort(new Error("stop"));
  await assert.rejects(third, /stop/);
  for (const batch of batches) await first.write(batch, NEVER);
  assert.equal(isBegun, false);
  await first.commit();
  const session = await second;
  for (const batch of batches) await session.write(batch, NEVER);
  await session.commit();
  assert.deepEqual(database.rows("SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b)"), [["1000", "1000"]]);
});

Deno.test("a database that another program has locked fails the write, to be tried again", async () => {
  await using database = await TestDatabase.create("CREATE TABLE t (id BIGINT)");
  const other = new DatabaseSync(database.path);
  other.exec("BEGIN IMMEDIATE");
  try {
    const error = await refusal(database, output("t", "append"), "SELECT 1 AS id");
    assert.match(error.message, /^Writing "t" failed: database is locked/);
    assert.equal(error.transient, true);
  } finally {
    other.close();
  }
  await write(database, output("t", "append"), "SELECT 1 AS id");
});

Deno.test("a commit that the database refuses is known to have left nothing", async () => {
  await using database = await TestDatabase.create(
    "CREATE TABLE p (id INT PRIMARY KEY); CREATE TABLE late (id INT REFERENCES p (id) DEFERRABLE INITIALLY DEFERRED)",
  );
  const error = await refusal(database, output("late", "append"), "SELECT 7 AS id");
  assert.match(error.message, /FOREIGN KEY constraint failed/);
  assert.equal(error.outcomeUnknown, false);
  assert.deepEqual(database.rows("SELECT count(*) FROM late"), [["0"]]);
});

Deno.test("a thousand columns go there and back, and names that SQLite keeps for itself are refused", async () => {
  await using database = await TestDatabase.create();
  const columns = Array.from({ length: 1000 }, (_, index) => `${index} AS c${index}`).join(", ");
  await write(database, output("broad", "append"), `SELECT ${columns}`);
  assert.deepEqual(database.rows("SELECT c0, c999 FROM broad"), [["0", "999"]]);
  assert.match((await refusal(database, output("sqlite_x", "append"), "SELECT 1 AS a")).message, /can't be the name/);
  assert.match((await refusal(database, output("_pz_attempts", "append"), "SELECT 1 AS a")).message, /own table/);
});

Deno.test("a database whose folder is not there is not made", async () => {
  await using folder = await TempDir.create();
  await using opened = new OpenedConnector(connector, { path: folder.join("none/x.db") });
  const { schema } = await fromDuck("SELECT 1 AS a");
  await assert.rejects(opened.sink.begin(output("t", "append"), schema, NEVER), /unable to open database file/);
});
