import assert from "node:assert/strict";
import fc from "fast-check";
import { ConnectorError, type Predicate, type ReadHints } from "../../src/connectors/mod.ts";
import { ingestArrow } from "../../src/staging/mod.ts";
import type { RecordBatch } from "../../src/util/arrow.ts";
import { serverOf, startPostgres } from "../harness/postgres.ts";
import { configOf, dataset, NEVER, Opened, READ, staged, withDuck } from "./postgres_support.ts";

const server = await startPostgres(serverOf(import.meta.url));
await server.sql(`
  CREATE SCHEMA "Odd ""Schema";
  CREATE TABLE "Odd ""Schema"."Tä ble" ("Id" int, "a""b" text, "select" bool);
  INSERT INTO "Odd ""Schema"."Tä ble" VALUES (1, 'x', true);
  CREATE TABLE numbers AS SELECT i AS id, i % 7 AS k, 'n' || i AS name FROM generate_series(1, 5000) i;
`);

async function failure(read: Promise<unknown>): Promise<ConnectorError> {
  try {
    await read;
  } catch (error) {
    assert.ok(error instanceof ConnectorError, String(error));
    return error;
  }
  assert.fail("nothing failed");
}

/** A server notices a closed connection a little later; a connection that stays open never lets this end. */
async function untilNobodyIsConnected(): Promise<void> {
  const left = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pz'";
  while ((await server.sql(left))[0]?.[0] !== "0") { /* asks again */ }
}

Deno.test("names are read as they are spelled, whatever they hold", async () => {
  await using opened = new Opened(configOf(server));
  const found = await staged(opened, dataset('Odd "Schema.Tä ble'));
  assert.deepEqual(found, { shape: ["Id INTEGER", 'a"b VARCHAR', "select BOOLEAN"], rows: [["1", "x", "true"]] });
});

Deno.test("hinted columns come alone, in the hint's order, compared without case; unknown ones are left out", async () => {
  await using opened = new Opened(configOf(server));
  const found = await staged(opened, dataset('Odd "Schema.Tä ble', {}, { columns: ["SELECT", "nope", "id"] }));
  assert.deepEqual(found, { shape: ["select BOOLEAN", "Id INTEGER"], rows: [["true", "1"]] });
});

Deno.test("every row of a long batch arrives, NULLs included", async () => {
  await using opened = new Opened(configOf(server));
  const query =
    "SELECT i AS a, nullif(i % 3, 0)::bigint AS b, i / 2.0::float8 AS c, i % 2 = 0 AS d, 't' || i AS e, ARRAY[i] AS f, " +
    "i::numeric(9,1) AS g, DATE '2000-01-01' + i AS h, md5(i::text)::uuid AS u FROM generate_series(1, 40000) i";
  const { schema, batches } = await opened.read(dataset("any", { query }));
  await withDuck(async (connection) => {
    await ingestArrow(connection, "t", schema, toAsync(batches), {});
    const wrong = await connection.rows(
      `SELECT a FROM staging.t WHERE b IS DISTINCT FROM nullif(a % 3, 0) OR c <> a / 2 OR d <> (a % 2 = 0) OR e <> 't' || a ` +
        `OR f <> [a] OR g <> a OR h <> DATE '2000-01-01' + a OR replace(u::VARCHAR, '-', '') <> md5(a::VARCHAR)`,
    );
    assert.deepEqual(wrong, []);
    assert.deepEqual(await connection.rows("SELECT count(DISTINCT a), min(a), max(a) FROM staging.t"), [[
      "40000",
      "1",
      "40000",
    ]]);
  });
});

Deno.test("a query replaces the table, its comments and semicolon included", async () => {
  await using opened = new Opened(configOf(server));
  const query = "WITH t AS (SELECT 1 AS a, 'x;' AS b) SELECT a, b, current_setting('TimeZone') AS tz FROM t ; -- end";
  const spec = dataset("any", { query: query.replace(" ; -- end", " -- end\n;\n") }, { columns: ["b", "tz"] });
  assert.deepEqual(await staged(opened, spec), { shape: ["b VARCHAR", "tz VARCHAR"], rows: [["x;", "UTC"]] });
});

Deno.test("a query can't change anything, nor be two statements, nor give one name twice", async () => {
  await using opened = new Opened(configOf(server));
  const read = (query: string) => failure(opened.read(dataset("any", { query })));
  assert.match((await read("SELECT 1 AS a; SELECT 2 AS a")).message, /cannot insert multiple commands/);
  assert.match((await read("SELECT nextval('s') FROM (SELECT setval('s', 1)) x")).message, /"s" does not exist/);
  assert.match((await read("SELECT 1 AS a, 2 AS a")).message, /two columns of the name "a"/);
  assert.match((await read("DELETE FROM numbers")).message, /has no columns/);
  assert.match((await read("DELETE FROM numbers RETURNING id")).message, /failed: /);
  await server.sql("CREATE SEQUENCE s2");
  assert.match((await read("SELECT nextval('s2') AS n")).message, /read-only transaction/);
  assert.deepEqual(await server.sql("SELECT count(*) FROM numbers"), [["5000"]]);
});

Deno.test("a thousand columns arrive, and a table without rows gives its schema", async () => {
  const columns = Array.from({ length: 1000 }, (_, index) => `c${index} int`);
  await server.sql(`CREATE TABLE wide (${columns.join(", ")}); INSERT INTO wide (c0, c999) VALUES (1, 2)`);
  await using opened = new Opened(configOf(server));
  const found = await staged(opened, dataset("wide"));
  assert.equal(found.shape.length, 1000);
  assert.deepEqual([found.rows[0]?.[0], found.rows[0]?.[1], found.rows[0]?.[999]], ["1", null, "2"]);
  await server.sql("TRUNCATE wide");
  const { schema, batches } = await opened.read(dataset("wide"));
  assert.deepEqual([schema.fields.length, batches.length], [1000, 0]);
});

Deno.test("batches keep to the size that is asked for", async () => {
  await using opened = new Opened(configOf(server));
  const spec = dataset("any", { query: "SELECT i, repeat('x', 1000) AS t FROM generate_series(1, 3000) i" });
  const sizes: number[] = [];
  for await (const batch of opened.source.read(spec, { id: "{}" }, { batchBytes: 100_000, signal: NEVER })) {
    sizes.push(batch.numRows);
  }
  assert.equal(sizes.reduce((sum, size) => sum + size, 0), 3000);
  assert.ok(sizes.length > 10 && Math.max(...sizes) <= 300, sizes.join());
});

for (
  const [type, make] of [
    ["int", "i - 2500"],
    ["bigint", "9223372036854775807 - 5000 + i"],
    ["numeric(20,3)", "i * 1.5"],
    ["numeric", "CASE WHEN i = 7 THEN 'NaN' ELSE i / 3.0 END"],
    ["date", "CASE WHEN i = 7 THEN 'infinity' ELSE DATE '2024-01-01' + i END"],
    ["timestamp", "CASE WHEN i = 7 THEN '-infinity' ELSE TIMESTAMP '1969-01-01' + i * INTERVAL '1.5 seconds' END"],
    ["timestamptz", "TIMESTAMPTZ '2024-01-01 00:00+00' + i * INTERVAL '1 day'"],
    ["int", "5"],
    ["int", "NULL"],
  ] as const
) {
  Deno.test(`the parts by a column of ${type} (${make}) make up the whole`, async () => {
    await server.sql(
      `DROP TABLE IF EXISTS parts; CREATE TABLE parts (id int, k ${type});
       INSERT INTO parts SELECT i, CASE WHEN i % 10 = 0 THEN NULL ELSE (${make})::${type} END FROM generate_series(1, 500) i`,
    );
    await using opened = new Opened(configOf(server));
    const whole = await staged(opened, dataset("parts"));
    const divided = dataset("parts", { partition_column: "K", partitions: 7n }, { columns: ["id", "k"] });
    const parts = await staged(opened, divided);
    const sorted = (rows: (string | null)[][]) => rows.toSorted((a, b) => Number(a[0]) - Number(b[0]));
    assert.deepEqual(sorted(parts.rows), sorted(whole.rows));
    const planned = [...await opened.source.plan(divided, NEVER) as readonly { id: string }[]];
    assert.equal(planned.length, make === "5" || make === "NULL" ? 1 : 7);
    assert.equal(new Set(planned.map(({ id }) => id)).size, planned.length);
  });
}

Deno.test("a query is divided too, and a column that can't be divided is refused by name", async () => {
  await using opened = new Opened(configOf(server));
  const query = "SELECT id, name FROM numbers WHERE id <= 100";
  const found = await staged(opened, dataset("any", { query, partition_column: "id", partitions: 3n }));
  assert.equal(new Set(found.rows.map(([id]) => id)).size, 100);
  const bad = await failure(opened.read(dataset("numbers", { partition_column: "name", partitions: 3n })));
  assert.match(bad.message, /Option "partition_column" is "name", a column whose values can't be divided/);
  const unknown = await failure(opened.read(dataset("numbers", { partition_column: "x", partitions: 3n })));
  assert.match(unknown.message, /"public.numbers" has no such column/);
});

Deno.test("all parts see one state of the table, whatever is written meanwhile", async () => {
  await server.sql("CREATE TABLE moving AS SELECT i AS id, 0 AS v FROM generate_series(1, 1000) i");
  await using opened = new Opened(configOf(server));
  const spec = dataset("moving", { partition_column: "id", partitions: 4n });
  const partitions = [...await opened.source.plan(spec, NEVER) as readonly { id: string }[]];
  const rows: RecordBatch[] = [];
  for (const partition of partitions) {
    await server.sql(
      "UPDATE moving SET id = 1001 - id, v = v + 1; INSERT INTO moving SELECT i FROM generate_series(1, 1000, 9) i",
    );
    for await (const batch of opened.source.read(spec, partition, READ)) rows.push(batch);
  }
  const ids = rows.flatMap((batch) => [...batch.getChild("id") ?? []].map(Number));
  assert.deepEqual(ids.toSorted((a, b) => a - b), Array.from({ length: 1000 }, (_, index) => index + 1));
  assert.ok(rows.flatMap((batch) => [...batch.getChild("v") ?? []]).every((v) => v === 0));
  // The last part ended the snapshot's connection.
  const lost = await failure(Array.fromAsync(opened.source.read(spec, partitions[0] ?? assert.fail(), READ)));
  assert.match(lost.message, /The snapshot that the read was planned with is gone/);
  assert.equal(lost.transient, true);
  await untilNobodyIsConnected();
});

Deno.test("a predicate changes no result that DuckDB's own filter would give", async () => {
  await server.sql(`
    CREATE COLLATION IF NOT EXISTS blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    CREATE TABLE filtered (i int, b bigint, d numeric(9,3), t text, c text COLLATE blind, p char(3), day date, m timestamp,
      z timestamptz, f double precision, u uuid, y bool);
    INSERT INTO filtered SELECT
      nullif(i % 5, 4), 9007199254740990 + i, (i % 7) / 2.0 - 1, (ARRAY['a', 'A', 'b ', 'é', '', E'x\\\\''y'])[1 + i % 6],
      (ARRAY['a', 'A'])[1 + i % 2], (ARRAY['a', 'b'])[1 + i % 2], DATE '2024-01-01' + i % 3,
      TIMESTAMP '2024-01-01 12:00:00.000001' + (i % 4) * INTERVAL '12 hours', TIMESTAMPTZ '2024-01-01 00:00+00' + (i % 4) * INTERVAL '1 hour',
      (ARRAY['NaN', '0', '-0', '1.5'])[1 + i % 4]::float8, ('00000000-0000-0000-0000-00000000000' || i % 9)::uuid, nullif(i % 3, 2) = 1
    FROM generate_series(0, 60) i`);
  await using opened = new Opened(configOf(server));
  const values: { readonly [column: string]: readonly [string, readonly string[]] } = {
    i: ["INTEGER", ["-1", "0", "2", "3"]],
    b: ["BIGINT", ["9007199254740993", "9007199254741000"]],
    d: ["DECIMAL(9,3)", ["-1.000", "0.500", "1.5"]],
    t: ["VARCHAR", ["a", "A", "b", "b ", "é", "", "x\\'y"]],
    c: ["VARCHAR", ["a", "A"]],
    p: ["VARCHAR", ["a", "a  "]],
    day: ["DATE", ["2024-01-01", "2024-01-02"]],
    m: ["TIMESTAMP", ["2024-01-01 12:00:00.000001", "2024-01-02 00:00:00"]],
    z: ["TIMESTAMP WITH TIME ZONE", ["2024-01-01 01:00:00+00", "2024-01-01 03:00:00+01"]],
    f: ["DOUBLE", ["0", "1.5", "NaN"]],
    u: ["UUID", ["00000000-0000-0000-0000-000000000004"]],
    y: ["BOOLEAN", ["true", "false"]],
  };
  const leaf = fc.constantFrom(...Object.keys(values)).chain((column) => {
    const [type, texts] = values[column] ?? assert.fail();
    const value = fc.constantFrom(...texts).map((text) => ({ type, text }));
    return fc.oneof(
      fc.record({ op: fc.constantFrom("=", "<>", "<", "<=", ">", ">="), column: fc.constant(column), value }),
      fc.record({
        op: fc.constant("in"),
        column: fc.constant(column),
        values: fc.array(value, { minLength: 1, maxLength: 3 }),
      }),
      fc.record({ op: fc.constantFrom("is_null", "is_not_null"), column: fc.constant(column) }),
    );
  });
  const predicates = fc.array(leaf, { minLength: 1, maxLength: 3 })
    .map((args) => ({ op: "and", args }) as Predicate);
  const whole = await opened.read(dataset("filtered"));
  const isFewer: boolean[] = [];
  await withDuck(async (connection) => {
    await ingestArrow(connection, "whole", whole.schema, toAsync(whole.batches), {});
    let run = 0;
    await fc.assert(
      fc.asyncProperty(predicates, async (predicate) => {
        const name = `part_${run++}`;
        const part = await opened.read(dataset("filtered", {}, { predicate }));
        await ingestArrow(connection, name, part.schema, toAsync(part.batches), {});
        const where = duckSql(predicate);
        const rows = (table: string) =>
          connection.rows(`SELECT COLUMNS(*)::VARCHAR FROM staging.${table} WHERE ${where} ORDER BY ALL`);
        assert.deepEqual(await rows(name), await rows("whole"));
        isFewer.push(part.batches.reduce((sum, batch) => sum + batch.numRows, 0) < 61);
      }),
      { numRuns: 60 },
    );
  });
  assert.ok(isFewer.some((fewer) => fewer), "no predicate ever reached the server");
});

async function* toAsync<T>(items: Iterable<T>): AsyncGenerator<T> {
  for (const item of items) yield await Promise.resolve(item);
}

function duckSql(predicate: Predicate): string {
  const text = ({ type, text }: { readonly type: string; readonly text: string }) =>
    `'${text.replaceAll("'", "''")}'::${type}`;
  switch (predicate.op) {
    case "and":
      return predicate.args.map((arg) => `(${duckSql(arg)})`).join(" AND ");
    case "in":
      return `"${predicate.column}" IN (${predicate.values.map(text).join(", ")})`;
    case "is_null":
      return `"${predicate.column}" IS NULL`;
    case "is_not_null":
      return `"${predicate.column}" IS NOT NULL`;
    default:
      return `"${predicate.column}" ${predicate.op} ${text(predicate.value)}`;
  }
}

Deno.test("a window's bounds reach the server", async () => {
  await using opened = new Opened(configOf(server));
  const bound = (op: ">=" | "<=", text: string): Predicate => ({ op, column: "id", value: { type: "INTEGER", text } });
  const hints: ReadHints = { predicate: { op: "and", args: [bound(">=", "10"), bound("<=", "12")] } };
  const { rows } = await staged(opened, dataset("numbers", {}, hints));
  assert.deepEqual(rows.map(([id]) => id), ["10", "11", "12"]);
});

Deno.test("a read that nobody wants any more ends on the server too", async () => {
  await using opened = new Opened(configOf(server));
  const endless = dataset("any", { query: "SELECT generate_series(1, 1000000000000) AS i" });
  for await (const batch of opened.source.read(endless, { id: "{}" }, READ)) {
    assert.ok(batch.numRows > 0);
    break;
  }
  const stop = new AbortController();
  const reason = new Error("stop");
  const silent = dataset("any", { query: "SELECT pg_sleep(600)::text AS x" });
  const reading = Array.fromAsync(opened.source.read(silent, { id: "{}" }, { batchBytes: 1, signal: stop.signal }));
  while (
    (await server.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pz' AND query LIKE 'COPY%'"))[0]
      ?.[0] !== "1"
  ) { /* until the server runs it */ }
  stop.abort(reason);
  await assert.rejects(reading, reason);
  await untilNobodyIsConnected();
});

Deno.test("a server that is silent for longer than allowed fails the read with a hint", async () => {
  await using opened = new Opened({ ...configOf(server), command_timeout_seconds: 1n });
  const silent = dataset("any", { query: "SELECT pg_sleep(600)::text AS x" });
  const error = await failure(opened.read(silent));
  assert.match(error.message, /sent nothing for 1 s/);
  assert.match(error.hint ?? "", /command_timeout_seconds/);
});

Deno.test("failures say what is wrong, whether to try again, and nothing that is secret", async () => {
  const config = configOf(server);
  const check = async (change: object) => {
    await using opened = new Opened({ ...config, ...change });
    return await failure(opened.instance.check?.(NEVER) ?? assert.fail());
  };
  const wrong = await check({ password: "geheim-1" });
  assert.match(wrong.message, /^Connecting to 127.0.0.1:\d+ failed: password authentication failed .*SQLSTATE 28P01/);
  assert.equal(wrong.transient, false);
  assert.doesNotMatch(JSON.stringify([wrong.message, wrong.hint]), /geheim/);
  const none = await check({ password: null });
  assert.match(none.message, /asks for a password, and the connection has none/);
  assert.match((await check({ database: "nope" })).message, /database "nope" does not exist .SQLSTATE 3D000/);
  const tls = await check({ ssl_mode: "require" });
  assert.match(tls.message, /the server has no TLS, which ssl_mode "require" asks for/);
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const refused = await check({ port: BigInt(port) });
  assert.match(refused.message, /the server refused the connection .ECONNREFUSED/);
  assert.equal(refused.transient, true);
  await using opened = new Opened(config);
  await opened.instance.check?.(NEVER);
  const missing = await failure(opened.read(dataset("nope")));
  assert.match(missing.message, /^Reading "public.nope" failed: relation "public.nope" does not exist .SQLSTATE 42P01/);
  assert.equal(missing.transient, false);
});

Deno.test("a table that changes between the look at its columns and its read fails the read, and then is read anew", async () => {
  await server.sql("CREATE TABLE changing (x int); INSERT INTO changing VALUES (1)");
  await using opened = new Opened(configOf(server));
  await opened.source.schema(dataset("changing"), NEVER);
  await server.sql("ALTER TABLE changing ALTER x TYPE real");
  const error = await failure(Array.fromAsync(opened.source.read(dataset("changing"), { id: "{}" }, READ)));
  assert.match(error.message, /its columns changed since they were looked up/);
  assert.equal(error.transient, true);
  assert.deepEqual(await staged(opened, dataset("changing")), { shape: ["x FLOAT"], rows: [["1.0"]] });
});
