import assert from "node:assert/strict";
import { ConnectorError, type Predicate } from "../../src/connectors/mod.ts";
import { NEVER, READ, staged } from "./database_support.ts";
import { comparePredicates } from "./predicate_support.ts";
import { dataset, TestDatabase } from "./sqlite_support.ts";

/** A declared type, the DuckDB type that it arrives in, and values: SQLite's literal and DuckDB's text. */
const TYPES: readonly (readonly [string, string, ...(readonly [string, string])[]])[] = [
  ["INTEGER", "BIGINT", ["-9223372036854775807 - 1", "-9223372036854775808"], [
    "9223372036854775807",
    "9223372036854775807",
  ], ["'12'", "12"]],
  ["TINYINT", "BIGINT", ["300", "300"]],
  ["UNSIGNED BIG INT", "BIGINT", ["1", "1"]],
  ["BOOLEAN", "BOOLEAN", ["1", "true"], ["0", "false"], ["false", "false"]],
  ["REAL", "DOUBLE", ["0.1", "0.1"], ["1e308", "1e+308"], ["5", "5.0"], ["9e999", "inf"], [
    "4.9406564584124654e-324",
    "5e-324",
  ]],
  ["DOUBLE PRECISION", "DOUBLE", ["-1.5", "-1.5"]],
  ["FLOAT", "DOUBLE", ["0.1", "0.1"]],
  ["DECIMAL(10,2)", "DECIMAL(10,2)", ["12.34", "12.34"], ["7", "7.00"], ["'0.10'", "0.10"], [
    "-99999999.99",
    "-99999999.99",
  ]],
  ["NUMERIC(38,9)", "DECIMAL(38,9)", ["0.000000001", "0.000000001"], [
    "9007199254740993",
    "9007199254740993.000000000",
  ]],
  ["DECIMAL TEXT(38,9)", "DECIMAL(38,9)", [
    "'99999999999999999999999999999.999999999'",
    "99999999999999999999999999999.999999999",
  ]],
  ["NUMERIC", "VARCHAR", ["1.50", "1.5"], ["9007199254740993", "9007199254740993"], ["'abc'", "abc"], [
    "1e25",
    "10000000000000000000000000",
  ]],
  ["TEXT", "VARCHAR", ["''", ""], ["'ä€😀 ''q'''", "ä€😀 'q'"], ["'007'", "007"], ["7", "7"]],
  ["VARCHAR(3)", "VARCHAR", ["'longer'", "longer"]],
  ["CLOB", "VARCHAR", ["'x'", "x"]],
  ["BLOB", "BLOB", ["x'00ff41'", "\\x00\\xFFA"], ["x''", ""]],
  ["DATE", "DATE", ["'2024-02-29'", "2024-02-29"], ["'0001-01-01'", "0001-01-01"], ["'9999-12-31'", "9999-12-31"]],
  ["TIME", "TIME", ["'12:34:56.789012'", "12:34:56.789012"], ["'24:00:00'", "24:00:00"], ["'10:30'", "10:30:00"]],
  ["DATETIME", "TIMESTAMP", ["'2024-02-29 23:59:59.123456'", "2024-02-29 23:59:59.123456"], [
    "'1969-12-31T23:59:59.5'",
    "1969-12-31 23:59:59.5",
  ], ["'2024-01-01'", "2024-01-01 00:00:00"]],
  ["TIMESTAMP", "TIMESTAMP", ["'9999-12-31 23:59:59.999999'", "9999-12-31 23:59:59.999999"]],
  ["TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE", ["'2024-07-01 02:00:00+02:00'", "2024-07-01 00:00:00+00"], [
    "'2024-07-01T00:00:00Z'",
    "2024-07-01 00:00:00+00",
  ], ["'2024-07-01 00:00:00-0530'", "2024-07-01 05:30:00+00"]],
  ["UUID", "UUID", ["'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"]],
  ["JSON TEXT", "JSON", [`'{"a": 1.50}'`, `{"a": 1.50}`]],
  ["", "VARCHAR", ["5", "5"], ["'5'", "5"], ["1.5", "1.5"]],
];

async function failure(read: Promise<unknown>): Promise<ConnectorError> {
  try {
    await read;
  } catch (error) {
    assert.ok(error instanceof ConnectorError, String(error));
    return error;
  }
  assert.fail("nothing failed");
}

Deno.test("every declared type's values arrive exactly, NULL too, and what has no type of its own is told", async () => {
  const columns = TYPES.map(([type], index) => `c${index} ${type}`);
  await using database = await TestDatabase.create(`CREATE TABLE every_type (n, ${columns.join(", ")})`);
  const most = Math.max(...TYPES.map((row) => row.length - 2));
  for (let row = 0; row < most; row++) {
    const values = TYPES.map((of) => of[row + 2]?.[0] ?? "NULL");
    database.run(`INSERT INTO every_type VALUES (${row}, ${values.join(", ")})`);
  }
  await using opened = database.open();
  const { shape, rows } = await staged(opened, dataset("every_type"));
  for (const [index, [type, arrives, ...values]] of TYPES.entries()) {
    assert.deepEqual([type, shape[index + 1]], [type, `c${index} ${arrives}`]);
    for (let row = 0; row < most; row++) {
      const found = rows.find(([n]) => n === String(row))?.[index + 1];
      assert.deepEqual([type, found ?? null], [type, values[row]?.[1] ?? null]);
    }
  }
  const told = TYPES.flatMap(([type], index) =>
    opened.notices.some((notice) => notice.includes(`column "c${index}" is read as`)) ? [type] : []
  );
  assert.deepEqual(told, ["NUMERIC", ""]);
});

for (
  const [type, value, message] of [
    ["INTEGER", "'abc'", /a value is a text, where a whole number is expected/],
    ["INTEGER", "1.5", /a value is a number in floating point, where a whole number/],
    ["BOOLEAN", "2", /a value is a whole number, where 0 or 1/],
    ["REAL", "'x'", /a value is a text, where a number in floating point/],
    ["DECIMAL(4,1)", "1.25", /a value is a number in floating point, where a decimal that DECIMAL\(4,1\) holds/],
    ["DECIMAL(4,1)", "0.1 + 0.2", /where a decimal that DECIMAL\(4,1\) holds/],
    ["DECIMAL(4,1)", "10000", /where a decimal that DECIMAL\(4,1\) holds/],
    ["TEXT", "x'61'", /a value is infinite, or bytes, where a text/],
    ["BLOB", "'a'", /a value is a text, where bytes/],
    ["DATE", "'2023-02-29'", /a value is a text, where a date like/],
    ["DATE", "20240101", /a value is a whole number, where a date like/],
    ["DATE", "'2024-01-01 10:00'", /a value is a text, where a date like/],
    ["DATETIME", "1704067200", /a value is a whole number, where a time like/],
    ["DATETIME", "'2024-01-01 00:00:00Z'", /where a time like 2024-01-31 23:59:59.999999, without an offset/],
    ["DATETIME", "'2024-01-01 00:00:00.1234567'", /where a time like/],
    ["TIMESTAMPTZ", "'2024-01-01 00:00:00'", /where a time like 2024-01-31 23:59:59\+00:00, with its offset/],
    ["TIME", "'24:00:01'", /where a time of day like/],
    ["UUID", "'x'", /where a UUID is expected/],
    ["TEXT", "CAST(x'ff41' AS TEXT)", /a text is no valid UTF-8/],
  ] as const
) {
  Deno.test(`${value} in a column declared ${type} fails the read by table, row and column`, async () => {
    await using database = await TestDatabase.create(
      `CREATE TABLE odd (x ${type}); INSERT INTO odd VALUES (NULL); INSERT INTO odd (rowid, x) VALUES (17, ${value})`,
    );
    await using opened = database.open();
    const error = await failure(staged(opened, dataset("odd")));
    assert.match(error.message, /^Table "odd", rowid 17, column "x": /);
    assert.match(error.message, message);
    assert.equal(error.transient, false);
    assert.match(error.hint ?? "", /`columns`/);
  });
}

Deno.test("a contract decides the type, and every value is held to it", async () => {
  await using database = await TestDatabase.create(
    "CREATE TABLE t (a INTEGER, b DATE, c, d NUMERIC); INSERT INTO t VALUES (7, 1704067200, '2024-01-01', 1.10)",
  );
  await using opened = database.open();
  const columns = [
    { name: "A", type: "tinyint" },
    { name: "b", type: "bigint" },
    { name: "c", type: "date" },
    { name: "d", type: "decimal(4,2)" },
  ];
  assert.deepEqual(await staged(opened, { ...dataset("t"), columns }), {
    shape: ["a TINYINT", "b BIGINT", "c DATE", "d DECIMAL(4,2)"],
    rows: [["7", "1704067200", "2024-01-01", "1.10"]],
  });
  database.run("UPDATE t SET a = 300");
  const error = await failure(staged(opened, { ...dataset("t"), columns }));
  assert.match(error.message, /column "a": a value is out of the range of TINYINT/);
});

Deno.test("names are read as they are spelled, views and tables without rowids too", async () => {
  await using database = await TestDatabase.create(`
    CREATE TABLE "Tä.b""le" ("Id" INTEGER PRIMARY KEY, "a""b" TEXT, "select" BOOLEAN, "rowid" INT);
    INSERT INTO "Tä.b""le" VALUES (1, 'x', true, 9);
    CREATE TABLE bare (k TEXT PRIMARY KEY, v TEXT) WITHOUT ROWID; INSERT INTO bare VALUES ('a' || char(0) || 'b', 'ü');
    CREATE VIEW seen AS SELECT "Id" + 1 AS n, "a""b" AS t FROM "Tä.b""le"`);
  await using opened = database.open();
  const spec = dataset('Tä.b"le');
  assert.deepEqual(await staged(opened, spec), {
    shape: ["Id BIGINT", 'a"b VARCHAR', "select BOOLEAN", "rowid BIGINT"],
    rows: [["1", "x", "true", "9"]],
  });
  const hinted = await staged(opened, { ...spec, hints: { columns: ["SELECT", "nope", "id"] } });
  assert.deepEqual(hinted, { shape: ["select BOOLEAN", "Id BIGINT"], rows: [["true", "1"]] });
  assert.deepEqual((await staged(opened, dataset("bare"))).rows, [["a\0b", "ü"]]);
  assert.deepEqual((await staged(opened, dataset("seen"))).rows, [["2", "x"]]);
});

Deno.test("texts arrive whole: with U+0000, with U+FFFD, of a megabyte", async () => {
  await using database = await TestDatabase.create(`CREATE TABLE t (a TEXT);
    INSERT INTO t VALUES ('a' || char(0) || 'b'), ('\ufffd'), (replace(hex(zeroblob(524288)), '00', 'xy'))`);
  await using opened = database.open();
  const { rows } = await staged(opened, dataset("t"));
  assert.deepEqual(rows.map(([text]) => text === "xy".repeat(524288) ? "long" : text), ["a\0b", "\ufffd", "long"]);
});

Deno.test("a thousand columns arrive, a table without rows gives its schema, and batches keep to their size", async () => {
  const columns = Array.from({ length: 1000 }, (_, index) => `c${index} INT`);
  await using database = await TestDatabase.create(
    `CREATE TABLE wide (${columns.join(", ")}); INSERT INTO wide (c0, c999) VALUES (1, 2); CREATE TABLE none (a INT);
     CREATE TABLE long AS WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 3000)
       SELECT i, replace(hex(zeroblob(500)), '00', 'xy') AS t FROM s`,
  );
  await using opened = database.open();
  const found = await staged(opened, dataset("wide"));
  assert.deepEqual([found.rows[0]?.[0], found.rows[0]?.[1], found.rows[0]?.[999]], ["1", null, "2"]);
  const { schema, batches } = await opened.read(dataset("none"));
  assert.deepEqual([schema.names, batches.length], [["a"], 0]);
  const sizes: number[] = [];
  for await (const batch of opened.source.read(dataset("long"), { id: "{}" }, { batchBytes: 100_000, signal: NEVER })) {
    sizes.push(batch.numRows);
  }
  assert.equal(sizes.reduce((sum, size) => sum + size, 0), 3000);
  assert.ok(sizes.length > 10 && Math.max(...sizes) <= 300, sizes.join());
});

for (
  const [what, column, make] of [
    ["a column", "k", "i - 250"],
    ["a column of large numbers", "k", "9223372036854775807 - 500 + i"],
    ["the number of the row", "rowid", "i"],
    ["a column of one value", "k", "5"],
    ["a column of nothing", "k", "NULL"],
  ] as const
) {
  Deno.test(`the parts by ${what} make up the whole, each again by its id alone`, async () => {
    await using database = await TestDatabase.create(
      `CREATE TABLE parts AS WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 500)
         SELECT i AS id, CAST(${make === "i" ? make : `iif(i % 10 = 0, NULL, ${make})`} AS INTEGER) AS k FROM s`,
    );
    await using opened = database.open();
    const whole = await staged(opened, dataset("parts"));
    const divided = dataset("parts", { partition_column: column, partitions: 7n });
    const sorted = (rows: (string | null)[][]) => rows.toSorted((a, b) => Number(a[0]) - Number(b[0]));
    assert.deepEqual(sorted((await staged(opened, divided)).rows), sorted(whole.rows));
    const planned = [...await opened.source.plan(divided, NEVER) as readonly { id: string }[]];
    assert.equal(planned.length, make === "5" || make === "NULL" ? 1 : 7);
    await using other = database.open();
    let rows = 0;
    for (const partition of planned) {
      for await (const batch of other.source.read(divided, partition, READ)) rows += batch.numRows;
    }
    assert.equal(rows, 500);
  });
}

Deno.test("all parts see one state of the database, whatever is written meanwhile", async () => {
  await using database = await TestDatabase.create(
    `PRAGMA journal_mode = WAL; CREATE TABLE moving AS WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 1000)
       SELECT i AS id, 0 AS v FROM s`,
  );
  await using opened = database.open();
  const spec = dataset("moving", { partition_column: "rowid", partitions: 4n });
  const ids: number[] = [];
  for await (const partition of await opened.source.plan(spec, NEVER)) {
    database.run("UPDATE moving SET v = v + 1; INSERT INTO moving SELECT id, 7 FROM moving WHERE id % 9 = 0");
    for await (const batch of opened.source.read(spec, partition, READ)) {
      ids.push(...[...batch.getChild("id") ?? []].map(Number));
      assert.ok([...batch.getChild("v") ?? []].every((v) => Number(v) === 0));
    }
  }
  assert.deepEqual(ids.toSorted((a, b) => a - b), Array.from({ length: 1000 }, (_, index) => index + 1));
});

Deno.test("a plan after an earlier one divides as before, and lets go of the file when its parts are read", async () => {
  await using database = await TestDatabase.create(
    "CREATE TABLE grown (id INTEGER PRIMARY KEY); INSERT INTO grown VALUES (1), (50), (100)",
  );
  await using opened = database.open();
  const spec = dataset("grown", { partition_column: "id", partitions: 4n });
  const before = [...await opened.source.plan(spec, NEVER) as readonly { id: string }[]];
  for (const partition of before) await Array.fromAsync(opened.source.read(spec, partition, READ));
  database.run("INSERT INTO grown VALUES (900)");
  const priorPartitions = before.map(({ id }, index) => ({ id, isDone: index > 0 }));
  assert.deepEqual(await opened.source.plan({ ...spec, priorPartitions }, NEVER), before);
  await Array.fromAsync(opened.source.read(spec, before[0] ?? assert.fail(), READ));
  // A reader that still held the file would keep this out.
  database.run("INSERT INTO grown VALUES (901)");
});

Deno.test("a column that can't be divided is refused by name", async () => {
  await using database = await TestDatabase.create("CREATE TABLE t (a INT, b TEXT); CREATE VIEW v AS SELECT * FROM t");
  await using opened = database.open();
  const read = (entity: string, column: string) =>
    failure(opened.source.schema(dataset(entity, { partition_column: column, partitions: 3n }), NEVER));
  assert.match((await read("t", "b")).message, /"partition_column" is "b", a column whose values can't be divided/);
  assert.match((await read("t", "x")).message, /"t" has no such column/);
  assert.match((await read("v", "rowid")).message, /"v" has no such column/);
});

Deno.test("a predicate changes no result that DuckDB's own filter would give", async () => {
  await using database = await TestDatabase.create(`
    CREATE TABLE filtered (i INT, b BIGINT, d DECIMAL(9,3), t TEXT, n TEXT COLLATE NOCASE, r VARCHAR(9) COLLATE RTRIM, day DATE,
      m DATETIME, f REAL, u UUID, y BOOLEAN, x);
    WITH RECURSIVE s(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM s WHERE i < 60)
    INSERT INTO filtered SELECT nullif(i % 5, 4), 9223372036854775800 + i % 6, (i % 7) / 2.0 - 1,
      json_extract('["a","A","b ","b","é","z","","x\\\\''y"]', '$[' || (i % 8) || ']'), iif(i % 2, 'a', 'A'), iif(i % 2, 'a', 'a '),
      date('2024-01-01', '+' || (i % 3) || ' day'), datetime('2024-01-01', '+' || (i % 4) || ' hour'), (i % 3) / 2.0,
      '00000000-0000-0000-0000-00000000000' || (i % 9), nullif(i % 3, 2), iif(i % 2, 5, '5') FROM s`);
  await using opened = database.open();
  const spec = (predicate?: Predicate) => dataset("filtered", {}, predicate === undefined ? {} : { predicate });
  await comparePredicates(opened, spec, {
    i: ["INTEGER", ["-1", "0", "2", "3"]],
    b: ["BIGINT", ["9223372036854775802", "9223372036854775807", "-9223372036854775808"]],
    d: ["DECIMAL(9,3)", ["-1.000", "0.500", "1.5"]],
    t: ["VARCHAR", ["a", "A", "b", "b ", "é", "z", "", "x\\'y"]],
    n: ["VARCHAR", ["a", "A"]],
    r: ["VARCHAR", ["a", "a "]],
    day: ["DATE", ["2024-01-01", "2024-01-02"]],
    m: ["TIMESTAMP", ["2024-01-01 01:00:00", "2024-01-01 00:00:00"]],
    f: ["DOUBLE", ["0", "0.5", "1"]],
    u: ["UUID", ["00000000-0000-0000-0000-000000000004"]],
    y: ["BOOLEAN", ["true", "false"]],
    x: ["VARCHAR", ["5"]],
  });
});

Deno.test("a window's bounds, both of them included, are SQLite's to keep", async () => {
  await using database = await TestDatabase.create(
    "CREATE TABLE days (id INT, day DATE); INSERT INTO days VALUES (1, '2024-01-01'), (2, '2024-01-02'), (3, '2024-01-03')",
  );
  await using opened = database.open();
  const bounds = (column: string, type: string, from: string, to: string): Predicate => ({
    op: "and",
    args: [{ op: ">=", column, value: { type, text: from } }, { op: "<=", column, value: { type, text: to } }],
  });
  for (const predicate of [bounds("id", "INTEGER", "2", "2"), bounds("day", "DATE", "2024-01-02", "2024-01-02")]) {
    assert.deepEqual((await staged(opened, dataset("days", {}, { predicate }))).rows, [["2", "2024-01-02"]]);
  }
});

Deno.test("failures say what is wrong and whether to try again", async () => {
  await using database = await TestDatabase.create("CREATE TABLE t (a INT)");
  await using opened = database.open();
  const missing = await failure(opened.read(dataset("nope")));
  assert.match(missing.message, /There is no table "nope" in the database/);
  await opened.instance.check?.(NEVER);
  await Deno.writeTextFile(database.path, "no database ".repeat(500));
  const broken = await failure(opened.read(dataset("t")));
  assert.match(broken.message, /^Reading "t" failed: file is not a database/);
  assert.equal(broken.transient, false);
});

Deno.test("a read that fails at a later row fails, whatever the cause, and is not taken for the end of the rows", async () => {
  await using database = await TestDatabase.create(
    "CREATE TABLE b (id INTEGER PRIMARY KEY, v TEXT); " +
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) " +
      `INSERT INTO b (id, v) SELECT i, '{"a":' || i || '}' FROM n; ` +
      "UPDATE b SET v = 'oops' WHERE id = 500; " +
      "CREATE VIEW j AS SELECT id, json_extract(v, '$.a') AS a FROM b; " +
      "CREATE VIEW o AS SELECT id, abs(CASE WHEN id = 3 THEN -9223372036854775807 - 1 ELSE id END) AS a FROM b",
  );
  await using opened = database.open();
  for (const [name, reason] of [["j", "malformed JSON"], ["o", "integer overflow"]] as const) {
    assert.equal((await failure(opened.read(dataset(name)))).message, `Reading "${name}" failed: ${reason}`);
  }
});

Deno.test("a page that is damaged in the middle of a table fails the read", async () => {
  await using database = await TestDatabase.create(
    "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n " +
      "WHERE i < 50000) INSERT INTO t SELECT i, 'v' || i FROM n",
  );
  {
    using file = await Deno.open(database.path, { write: true });
    await file.seek(4096 * 50, Deno.SeekMode.Start);
    await file.write(new Uint8Array(4096));
  }
  await using opened = database.open();
  const { message, hint } = await failure(opened.read(dataset("t")));
  assert.equal(message, 'Reading "t" failed: database disk image is malformed');
  assert.equal(hint, "put the database back from a copy");
});
