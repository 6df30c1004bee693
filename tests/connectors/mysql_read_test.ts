import assert from "node:assert/strict";
import { ConnectorError, type Predicate } from "../../src/connectors/mod.ts";
import { needsMariaDb, startMariaDb } from "../harness/mariadb.ts";
import { NEVER, READ, staged } from "./database_support.ts";
import { configOf, dataset, Opened } from "./mysql_support.ts";
import { comparePredicates } from "./predicate_support.ts";

async function failure(read: Promise<unknown>): Promise<ConnectorError> {
  try {
    await read;
  } catch (error) {
    assert.ok(error instanceof ConnectorError, String(error));
    return error;
  }
  assert.fail("nothing failed");
}

if (needsMariaDb("the mysql read suite")) await suite();

async function suite(): Promise<void> {
  const server = await startMariaDb();
  await server.sql(
    "CREATE TABLE numbers AS SELECT seq AS id, seq % 7 AS k, CONCAT('n', seq) AS name FROM seq_1_to_5000",
  );
  const untilNobodyIsConnected = async () => {
    const left = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'pz' AND ID <> CONNECTION_ID()";
    while ((await server.sql(left))[0]?.[0] !== "0") { /* asks again */ }
  };

  Deno.test("names are read as they are spelled, whatever they hold", async () => {
    await server.sql('CREATE TABLE `Tä.b``l"e` (`Id` int, `a``"b` text, `select` bool, `ä€` int)');
    await server.sql("INSERT INTO `Tä.b``l\"e` VALUES (1, 'x', true, 2)");
    await using opened = new Opened(configOf(server));
    const spec = dataset('Tä.b`l"e');
    const found = await staged(opened, spec);
    assert.deepEqual(found.shape, ["Id INTEGER", 'a`"b VARCHAR', "select BOOLEAN", "ä€ INTEGER"]);
    assert.deepEqual(found.rows, [["1", "x", "true", "2"]]);
    const hinted = await staged(opened, { ...spec, hints: { columns: ["SELECT", "nope", "id"] } });
    assert.deepEqual(hinted, { shape: ["select BOOLEAN", "Id INTEGER"], rows: [["true", "1"]] });
  });

  Deno.test("a query replaces the table, its comments and semicolon included, in a session of UTC and UTF-8", async () => {
    await using opened = new Opened(configOf(server));
    const query = "WITH t AS (SELECT 1 AS a, 'x;é' AS b) SELECT a, b, @@time_zone AS tz FROM t -- end\n;\n";
    const spec = dataset("any", { query }, { columns: ["b", "tz"] });
    assert.deepEqual(await staged(opened, spec), { shape: ["b VARCHAR", "tz VARCHAR"], rows: [["x;é", "+00:00"]] });
  });

  Deno.test("a query can't change anything, nor be two statements, nor give one name twice", async () => {
    await using opened = new Opened(configOf(server));
    const read = (query: string) => failure(opened.read(dataset("any", { query })));
    assert.match((await read("SELECT 1 AS a; SELECT 2 AS a")).message, /error 1064/);
    assert.match((await read("SELECT 1 AS a, 2 AS a")).message, /Duplicate column name|two columns of the name "a"/);
    assert.match((await read("DELETE FROM numbers")).message, /error 1064/);
    await server.sql("CREATE SEQUENCE s");
    assert.match((await read("SELECT NEXTVAL(s) AS n")).message, /READ ONLY transaction/);
    assert.deepEqual(await server.sql("SELECT COUNT(*) FROM numbers"), [["5000"]]);
  });

  Deno.test("a thousand columns arrive, and a table without rows gives its schema", async () => {
    const columns = Array.from({ length: 1000 }, (_, index) => `c${index} int`);
    await server.sql(`CREATE TABLE wide (${columns.join(", ")})`);
    await server.sql("INSERT INTO wide (c0, c999) VALUES (1, 2)");
    await using opened = new Opened(configOf(server));
    const found = await staged(opened, dataset("wide"));
    assert.equal(found.shape.length, 1000);
    assert.deepEqual([found.rows[0]?.[0], found.rows[0]?.[1], found.rows[0]?.[999]], ["1", null, "2"]);
    await server.sql("TRUNCATE wide");
    const { schema, batches } = await opened.read(dataset("wide"));
    assert.deepEqual([schema.fields.length, batches.length], [1000, 0]);
  });

  Deno.test("batches keep to the size that is asked for, and a slow reader gets all of them", async () => {
    await using opened = new Opened(configOf(server));
    const spec = dataset("any", { query: "SELECT seq AS i, REPEAT('x', 1000) AS t FROM seq_1_to_3000" });
    const sizes: number[] = [];
    for await (const batch of opened.source.read(spec, { id: "{}" }, { batchBytes: 100_000, signal: NEVER })) {
      sizes.push(batch.numRows);
      await new Promise((resolve) => setTimeout(resolve));
    }
    assert.equal(sizes.reduce((sum, size) => sum + size, 0), 3000);
    assert.ok(sizes.length > 10 && Math.max(...sizes) <= 300, sizes.join());
  });

  Deno.test("a value of more than one packet arrives whole", async () => {
    await using opened = new Opened(configOf(server));
    const query = "SELECT CONCAT(REPEAT('ä', 4000000), 'end') AS a, 7 AS b";
    const { rows: [row] } = await staged(opened, dataset("any", { query }));
    assert.deepEqual([row?.[0]?.length, row?.[0]?.endsWith("äend"), row?.[1]], [4_000_003, true, "7"]);
  });

  for (
    const [type, make] of [
      ["int", "CAST(seq AS SIGNED) - 2500"],
      ["bigint unsigned", "18446744073709551615 - 5000 + seq"],
      ["decimal(20,3)", "seq * 1.5 - 300"],
      ["date", "IF(seq = 7, '0001-01-01', DATE '2024-01-01' + INTERVAL seq DAY)"],
      ["datetime(1)", "TIMESTAMP '1969-12-31 23:55:00' + INTERVAL (seq * 1.5) SECOND"],
      ["timestamp NULL", "TIMESTAMP '2024-01-01 00:00:00' + INTERVAL seq DAY"],
      ["int", "5"],
      ["int", "NULL"],
    ] as const
  ) {
    Deno.test(`the parts by a column of ${type} (${make}) make up the whole, each again by its id alone`, async () => {
      await server.sql(`CREATE OR REPLACE TABLE parts (id int, k ${type})`);
      await server.sql(`INSERT INTO parts SELECT seq, IF(seq % 10 = 0, NULL, ${make}) FROM seq_1_to_500`);
      await using opened = new Opened(configOf(server));
      const whole = await staged(opened, dataset("parts"));
      const divided = dataset("parts", { partition_column: "K", partitions: 7n }, { columns: ["id", "k"] });
      const parts = await staged(opened, divided);
      const sorted = (rows: (string | null)[][]) => rows.toSorted((a, b) => Number(a[0]) - Number(b[0]));
      assert.deepEqual(sorted(parts.rows), sorted(whole.rows));
      const planned = [...await opened.source.plan(divided, NEVER) as readonly { id: string }[]];
      const isOne = make === "5" || make === "NULL";
      assert.equal(planned.length, isOne ? 1 : 7);
      assert.equal(new Set(planned.map(({ id }) => id)).size, planned.length);
      assert.equal(opened.notices.some((notice) => notice.includes("can't share a snapshot")), !isOne);
      await using other = new Opened(configOf(server));
      let rows = 0;
      for (const partition of planned) {
        for await (const batch of other.source.read(divided, partition, READ)) rows += batch.numRows;
      }
      assert.equal(rows, 500);
    });
  }

  Deno.test("a plan after an earlier one divides as before, whatever values there are by now", async () => {
    await server.sql("CREATE TABLE grown AS SELECT seq AS id FROM seq_1_to_100");
    await using opened = new Opened(configOf(server));
    const spec = dataset("grown", { partition_column: "id", partitions: 4n });
    const before = [...await opened.source.plan(spec, NEVER) as readonly { id: string }[]];
    await server.sql("INSERT INTO grown SELECT seq FROM seq_101_to_900");
    const priorPartitions = before.map(({ id }, index) => ({ id, isDone: index === 0 }));
    assert.deepEqual(await opened.source.plan({ ...spec, priorPartitions }, NEVER), before);
    assert.notDeepEqual(await opened.source.plan(spec, NEVER), before);
  });

  Deno.test("a query is divided too, and a column that can't be divided is refused by name", async () => {
    await using opened = new Opened(configOf(server));
    const query = "SELECT id, name FROM numbers WHERE id <= 100";
    const found = await staged(opened, dataset("any", { query, partition_column: "id", partitions: 3n }));
    assert.equal(new Set(found.rows.map(([id]) => id)).size, 100);
    const bad = await failure(opened.read(dataset("numbers", { partition_column: "name", partitions: 3n })));
    assert.match(bad.message, /Option "partition_column" is "name", a column whose values can't be divided/);
    const unknown = await failure(opened.read(dataset("numbers", { partition_column: "x", partitions: 3n })));
    assert.match(unknown.message, /"numbers" has no such column/);
    const foreign = Array.fromAsync(opened.source.read(dataset("numbers"), { id: '{"lower":"1; DROP"}' }, READ));
    assert.equal((await failure(foreign)).code, "PZ0357");
  });

  Deno.test("a read sees one state of the table, whatever is written meanwhile", async () => {
    await server.sql("CREATE TABLE moving AS SELECT seq AS id, REPEAT('x', 500) AS t, 0 AS v FROM seq_1_to_20000");
    await using opened = new Opened(configOf(server));
    let rows = 0;
    let changed = 0;
    for await (const batch of opened.source.read(dataset("moving"), { id: "{}" }, { ...READ, batchBytes: 50_000 })) {
      if (rows === 0) await server.sql("UPDATE moving SET v = 1");
      rows += batch.numRows;
      for (const v of batch.getChild("v") ?? []) changed += Number(v);
    }
    assert.deepEqual([rows, changed], [20_000, 0]);
  });

  Deno.test("a predicate changes no result that DuckDB's own filter would give", async () => {
    await server.sql(`
      CREATE TABLE filtered (i int, b bigint unsigned, d decimal(9,3), t varchar(20) CHARACTER SET utf8mb4, l varchar(20) CHARACTER SET latin1,
        p char(3), day date, m datetime(6), z timestamp(6) NULL, f double, u uuid, y bool, e enum('b','a'), n json, v varbinary(5), tm time)`);
    await server.sql(`
      INSERT INTO filtered SELECT NULLIF(seq % 5, 4), 18446744073709551610 + seq % 6, (seq % 7) / 2.0 - 1,
        ELT(1 + seq % 8, 'a', 'A', 'b ', 'b', 'é', 'e', '', 'x\\\\''y'), ELT(1 + seq % 3, 'a', 'A', 'ä'), ELT(1 + seq % 2, 'a', 'b'),
        DATE '2024-01-01' + INTERVAL seq % 3 DAY, TIMESTAMP '2024-01-01 12:00:00.000001' + INTERVAL 12 * (seq % 4) HOUR,
        TIMESTAMP '2024-01-01 00:00:00' + INTERVAL seq % 4 HOUR, ELT(1 + seq % 3, 0, 0.1, 1.5),
        CONCAT('00000000-0000-0000-0000-00000000000', seq % 9), NULLIF(seq % 3, 2) = 1, 1 + seq % 2, '{}', 'a', '10:00:00' FROM seq_0_to_60`);
    await using opened = new Opened(configOf(server));
    const spec = (predicate?: Predicate) => dataset("filtered", {}, predicate === undefined ? {} : { predicate });
    await comparePredicates(opened, spec, {
      i: ["INTEGER", ["-1", "0", "2", "3"]],
      b: ["UBIGINT", ["18446744073709551612", "18446744073709551615"]],
      d: ["DECIMAL(9,3)", ["-1.000", "0.500", "1.5"]],
      t: ["VARCHAR", ["a", "A", "b", "b ", "é", "e", "", "x\\'y"]],
      l: ["VARCHAR", ["a", "A", "ä", "Ä"]],
      p: ["VARCHAR", ["a", "a  "]],
      day: ["DATE", ["2024-01-01", "2024-01-02"]],
      m: ["TIMESTAMP", ["2024-01-01 12:00:00.000001", "2024-01-02 00:00:00"]],
      z: ["TIMESTAMP WITH TIME ZONE", ["2024-01-01 01:00:00+00", "2024-01-01 03:00:00+01"]],
      f: ["DOUBLE", ["0", "0.1", "1.5"]],
      u: ["UUID", ["00000000-0000-0000-0000-000000000004"]],
      y: ["BOOLEAN", ["true", "false"]],
      e: ["VARCHAR", ["a", "b"]],
      n: ["JSON", ["{}"]],
      v: ["BLOB", ["a"]],
      tm: ["TIME", ["10:00:00"]],
    });
  });

  Deno.test("a window's bounds, both of them included, reach the server", async () => {
    await using opened = new Opened(configOf(server));
    const bound = (op: ">=" | "<=", text: string): Predicate => ({
      op,
      column: "id",
      value: { type: "INTEGER", text },
    });
    const predicate: Predicate = { op: "and", args: [bound(">=", "10"), bound("<=", "12")] };
    const { rows } = await staged(opened, dataset("numbers", {}, { predicate }));
    assert.deepEqual(rows.map(([id]) => id), ["10", "11", "12"]);
  });

  Deno.test("a read that nobody wants any more ends on the server too", async () => {
    await using opened = new Opened(configOf(server));
    const endless = dataset("any", { query: "SELECT seq AS i FROM seq_1_to_1000000000" });
    for await (const batch of opened.source.read(endless, { id: "{}" }, READ)) {
      assert.ok(batch.numRows > 0);
      break;
    }
    await untilNobodyIsConnected();
    const stop = new AbortController();
    const reason = new Error("stop");
    const silent = dataset("any", { query: "SELECT SLEEP(600) AS x" });
    const reading = Array.fromAsync(opened.source.read(silent, { id: "{}" }, { batchBytes: 1, signal: stop.signal }));
    const running = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE = 'User sleep'";
    while ((await server.sql(running))[0]?.[0] !== "1") { /* until the server runs it */ }
    stop.abort(reason);
    await assert.rejects(reading, reason);
    await untilNobodyIsConnected();
  });

  Deno.test("a server that is silent for longer than allowed fails the read with a hint", async () => {
    await using opened = new Opened({ ...configOf(server), command_timeout_seconds: 1n });
    const error = await failure(opened.read(dataset("any", { query: "SELECT SLEEP(600) AS x" })));
    assert.match(error.message, /did not answer within 1 seconds/);
    assert.match(error.hint ?? "", /command_timeout_seconds/);
    await untilNobodyIsConnected();
  });

  Deno.test("failures say what is wrong, whether to try again, and nothing that is secret", async () => {
    const config = configOf(server);
    const check = async (change: object) => {
      await using opened = new Opened({ ...config, ...change });
      return await failure(opened.instance.check?.(NEVER) ?? assert.fail());
    };
    const wrong = await check({ password: "geheim-1" });
    assert.match(wrong.message, /^Connecting to 127.0.0.1:\d+ failed: Access denied .*error 1045/);
    assert.equal(wrong.transient, false);
    assert.doesNotMatch(JSON.stringify([wrong.message, wrong.hint]), /geheim/);
    assert.match((await check({ password: null })).hint ?? "", /add password/);
    assert.match((await check({ database: "nope" })).message, /Unknown database 'nope' .error 1049/);
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
    assert.match(missing.message, /^Reading "nope" failed: Table 'd.nope' doesn't exist .error 1146, SQLSTATE 42S02/);
    assert.equal(missing.transient, false);
  });

  Deno.test("a server with too many connections is tried again", async () => {
    await server.sql("SET GLOBAL max_connections = 10");
    const held: Opened[] = [];
    const reads: AsyncIterator<unknown>[] = [];
    try {
      const error = await failure((async () => {
        for (let count = 0; count < 14; count++) {
          const opened = new Opened(configOf(server));
          held.push(opened);
          const read = opened.source.read(dataset("any", { query: "SELECT seq AS i FROM seq_1_to_1000000000" }), {
            id: "{}",
          }, READ);
          reads.push(read[Symbol.asyncIterator]());
          await reads.at(-1)?.next();
        }
      })());
      assert.match(error.message, /Too many connections .error 1040/);
      assert.equal(error.transient, true);
    } finally {
      for (const read of reads) await read.return?.();
      for (const opened of held) await opened[Symbol.asyncDispose]();
      await untilNobodyIsConnected();
      await server.sql("SET GLOBAL max_connections = 60");
    }
  });

  Deno.test("a table that changes between the look at its columns and its read fails the read, and then is read anew", async () => {
    await server.sql("CREATE TABLE changing (x int)");
    await server.sql("INSERT INTO changing VALUES (1)");
    await using opened = new Opened(configOf(server));
    await opened.source.schema(dataset("changing"), NEVER);
    await server.sql("ALTER TABLE changing MODIFY x float");
    const error = await failure(Array.fromAsync(opened.source.read(dataset("changing"), { id: "{}" }, READ)));
    assert.match(error.message, /its columns changed since they were looked up/);
    assert.equal(error.transient, true);
    assert.deepEqual(await staged(opened, dataset("changing")), { shape: ["x FLOAT"], rows: [["1.0"]] });
  });
}
