import assert from "node:assert/strict";
import { ConnectorError, type OutputSpec } from "../../src/connectors/mod.ts";
import { needsMariaDb, startMariaDb } from "../harness/mariadb.ts";
import { fromDuck, NEVER, output } from "./database_support.ts";
import { configOf, Opened } from "./mysql_support.ts";

if (needsMariaDb("the mysql strategies suite")) await suite();

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

  const untilNobodyIsConnected = async () => {
    const left = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'pz' AND ID <> CONNECTION_ID()";
    while ((await server.sql(left))[0]?.[0] !== "0") { /* asks again */ }
  };

  Deno.test("a replace keeps columns, indexes and defaults, and readers see the old rows until the commit", async () => {
    await server.sql("CREATE TABLE swapped (id int PRIMARY KEY, v text DEFAULT 'dd', KEY k (v(5)))");
    await server.sql("INSERT INTO swapped VALUES (1, 'old')");
    const [[, before = ""] = []] = await server.sql("SHOW CREATE TABLE swapped");
    const { schema, batches } = await fromDuck("SELECT range::INTEGER AS id, 'new' AS v FROM range(3)");
    await using opened = new Opened(configOf(server));
    const session = await opened.sink.begin(output("swapped", "replace"), schema, NEVER);
    for (const batch of batches) await session.write(batch, NEVER);
    assert.deepEqual(await server.sql("SELECT * FROM swapped"), [["1", "old"]]);
    assert.deepEqual(await session.commit(), { rows: 3n, batches: 1 });
    assert.deepEqual(await server.sql("SELECT * FROM swapped ORDER BY id"), [["0", "new"], ["1", "new"], ["2", "new"]]);
    assert.deepEqual((await server.sql("SHOW CREATE TABLE swapped"))[0]?.[1], before);
    await assert.rejects(async () => await session.commit(), /A commit after the write has ended/);
    assert.equal(await tables("pz\\_%"), "");
  });

  Deno.test("a table with triggers or foreign keys is replaced where it is, and one that others refer to is not", async () => {
    await server.sql(`
      CREATE TABLE parent (id int PRIMARY KEY);
      INSERT INTO parent VALUES (1), (2);
      CREATE TABLE child (id int, CONSTRAINT c FOREIGN KEY (id) REFERENCES parent (id));
      INSERT INTO child VALUES (1);
      CREATE TABLE watched (id int);
      INSERT INTO watched VALUES (1);
      CREATE TRIGGER w BEFORE INSERT ON watched FOR EACH ROW SET NEW.id = NEW.id + 100`);
    await write(output("child", "replace"), "SELECT 2 AS id");
    await write(output("watched", "replace"), "SELECT 2 AS id");
    assert.deepEqual(await server.sql("SELECT (SELECT id FROM child), (SELECT id FROM watched)"), [["2", "102"]]);
    assert.match((await server.sql("SHOW CREATE TABLE child"))[0]?.[1] ?? "", /FOREIGN KEY/);
    const broken = await refusal(output("child", "replace"), "SELECT 9 AS id");
    assert.match(broken.message, /foreign key constraint fails.*error 1452/);
    assert.deepEqual(await server.sql("SELECT id FROM child"), [["2"]]);
    const error = await refusal(output("parent", "replace"), "SELECT 1 AS id");
    assert.match(error.message, /it can't be replaced, since foreign keys of "child" refer to it/);
    assert.match(error.hint ?? "", /merge/);
  });

  Deno.test("a replace without rows empties the table, and makes a missing one", async () => {
    await server.sql("CREATE TABLE emptied (id int)");
    await server.sql("INSERT INTO emptied VALUES (1)");
    await write(output("emptied", "replace"), "SELECT 1 AS id WHERE false");
    await write(output("made_empty", "replace"), "SELECT 1 AS id WHERE false");
    assert.deepEqual(await server.sql("SELECT (SELECT COUNT(*) FROM emptied), (SELECT COUNT(*) FROM made_empty)"), [
      ["0", "0"],
    ]);
  });

  Deno.test("a merge updates, inserts, and lets the row written last win", async () => {
    await server.sql("CREATE TABLE merged (a int, b varchar(9), v text, extra int DEFAULT 7, UNIQUE (b, a))");
    await server.sql("INSERT INTO merged VALUES (1, 'x', 'old', 1), (2, 'y', 'kept', 2)");
    const spec = output("merged", "merge", { keys: ["A", "b"] });
    await write(spec, "SELECT * FROM (VALUES (1, 'x', 'first'), (3, 'z', 'new'), (1, 'x', 'last')) t(a, b, v)");
    assert.deepEqual(await server.sql("SELECT * FROM merged ORDER BY a"), [
      ["1", "x", "last", "1"],
      ["2", "y", "kept", "2"],
      ["3", "z", "new", "7"],
    ]);
  });

  Deno.test("a merge goes by its keys alone, whatever else is unique", async () => {
    await server.sql("CREATE TABLE twice (id int PRIMARY KEY, mail varchar(20) UNIQUE, v int)");
    await server.sql("INSERT INTO twice VALUES (1, 'a', 1), (2, 'b', 2)");
    const error = await refusal(output("twice", "merge", { keys: ["id"] }), "SELECT 3 AS id, 'a' AS mail, 3 AS v");
    assert.match(error.message, /Duplicate entry for key 'mail' .error 1062/);
    assert.equal(error.outcomeUnknown, false);
    assert.deepEqual(await server.sql("SELECT * FROM twice ORDER BY id"), [["1", "a", "1"], ["2", "b", "2"]]);
  });

  Deno.test("a merge makes a missing table with its keys unique, keys that differ in case or blanks among them", async () => {
    const spec = () => output("keys_only", "merge", { keys: ["id", "k"] });
    await write(spec(), "SELECT 1 AS id, 'a' AS k UNION ALL SELECT 1, 'a'");
    await write(spec(), "SELECT 1 AS id, unnest(['a', 'A', 'ä']) AS k");
    assert.deepEqual(await server.sql("SELECT id, k FROM keys_only ORDER BY HEX(k)"), [["1", "A"], ["1", "a"], [
      "1",
      "ä",
    ]]);
    const json = await refusal(output("by_json", "merge", { keys: ["j"] }), "SELECT '1'::JSON AS j");
    assert.match(json.message, /^Column "j" is .*, for which MySQL has no type that a key may have/);
  });

  Deno.test("different keys that a collation takes for one are refused, and nothing is lost", async () => {
    await server.sql(
      "CREATE TABLE blind (k varchar(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci UNIQUE, v int)",
    );
    await server.sql("INSERT INTO blind VALUES ('a', 0)");
    const spec = () => output("blind", "merge", { keys: ["k"] });
    const error = await refusal(spec(), "SELECT unnest(['a', 'A']) AS k, 1 AS v");
    assert.match(error.message, /different keys .* one and the same to the collation/);
    assert.equal(error.outcomeUnknown, false);
    await write(spec(), "SELECT 'A' AS k, 2 AS v UNION ALL SELECT 'b', 3");
    assert.deepEqual(await server.sql("SELECT * FROM blind ORDER BY k"), [["a", "2"], ["b", "3"]]);
  });

  Deno.test("a merge names a key that the rows lack, and the index that the table lacks", async () => {
    const lacking = await refusal(output("nowhere", "merge", { keys: ["id", "k"] }), "SELECT 1 AS id");
    assert.match(lacking.message, /The rows have no column "k", which is a key of the merge/);
    await server.sql("CREATE TABLE unindexed (id int, t varchar(20), KEY (id), UNIQUE (id, t), UNIQUE (t(5)))");
    const error = await refusal(output("unindexed", "merge", { keys: ["id"] }), "SELECT 1 AS id");
    assert.match(error.message, /a merge needs a unique index on exactly \(`id`\), and it has none/);
    assert.equal(error.hint, "run: ALTER TABLE `unindexed` ADD UNIQUE (`id`)");
    await refusal(output("unindexed", "merge", { keys: ["t"] }), "SELECT 'x' AS t");
  });

  Deno.test("an append is recorded with its rows, and a repetition changes nothing", async () => {
    const spec = output("marked", "append");
    await write(spec, "SELECT range AS id FROM range(5)");
    const again = { ...spec, attempt: { ...spec.attempt, ordinal: 2 } };
    const { schema, batches } = await fromDuck("SELECT range AS id FROM range(9)");
    await using opened = new Opened(configOf(server));
    assert.deepEqual(await opened.write(again, schema, batches), { rows: 5n, batches: 1 });
    assert.deepEqual(await server.sql("SELECT COUNT(*) FROM marked"), [["5"]]);
    await opened.write({ ...spec, attempt: { ...spec.attempt, run: "r2" } }, schema, batches);
    assert.deepEqual(await server.sql("SELECT COUNT(*) FROM marked"), [["14"]]);
    assert.deepEqual(
      await server.sql(
        `SELECT run, ordinal, \`rows\`, batches FROM _pz_attempts WHERE node = '${spec.attempt.node}' ORDER BY 1`,
      ),
      [["r1", "1", "5", "1"], ["r2", "1", "9", "1"]],
    );
  });

  Deno.test("an append that a run before has landed adds nothing, and runs that landed nothing don't count", async () => {
    const spec = output("inherited", "append");
    await write(spec, "SELECT range AS id FROM range(5)");
    const retried = { ...spec.attempt, run: "r9", prior: [{ run: "r0", ordinal: 1 }, { run: "r1", ordinal: 1 }] };
    const { schema, batches } = await fromDuck("SELECT range AS id FROM range(5)");
    await using opened = new Opened(configOf(server));
    assert.deepEqual(await opened.write({ ...spec, attempt: retried }, schema, batches), { rows: 5n, batches: 1 });
    assert.deepEqual(await server.sql("SELECT COUNT(*) FROM inherited"), [["5"]]);
    const other = { ...spec, attempt: { ...spec.attempt, run: "r20", prior: [{ run: "r19", ordinal: 1 }] } };
    await opened.write(other, schema, batches);
    assert.deepEqual(await server.sql("SELECT COUNT(*) FROM inherited"), [["10"]]);
  });

  Deno.test("an aborted write leaves neither rows nor a record nor a table, and the next attempt lands", async () => {
    for (const mode of ["append", "replace", "merge"] as const) {
      const spec = output(`aborted_${mode}`, mode, { keys: mode === "merge" ? ["id"] : [] });
      const { schema, batches } = await fromDuck("SELECT range AS id FROM range(50000)");
      await using opened = new Opened(configOf(server));
      const session = await opened.sink.begin(spec, schema, NEVER);
      for (const batch of batches) await session.write(batch, NEVER);
      await session.abort();
      assert.equal(await tables("aborted%") + await tables("pz\\_%"), "");
      await opened.write({ ...spec, attempt: { ...spec.attempt, ordinal: 2 } }, schema, batches);
      assert.deepEqual(await server.sql(`SELECT COUNT(*), SUM(id) FROM aborted_${mode}`), [["50000", "1249975000"]]);
      await server.sql(`DROP TABLE aborted_${mode}`);
    }
  });

  Deno.test("whoever may not make the table of attempts is told, and appends all the same", async () => {
    await server.sql(`
      CREATE DATABASE bare;
      CREATE TABLE bare.t (id int);
      CREATE USER poor@'127.0.0.1' IDENTIFIED BY 'p';
      GRANT SELECT, INSERT ON bare.t TO poor@'127.0.0.1'`);
    const { schema, batches } = await fromDuck("SELECT 1 AS id");
    await using opened = new Opened({ ...configOf(server), user: "poor", password: "p", database: "bare" });
    await opened.write(output("t", "append"), schema, batches);
    assert.match(opened.notices.join(), /may not use "_pz_attempts"/);
    assert.deepEqual(await server.sql("SELECT COUNT(*) FROM bare.t"), [["1"]]);
    await assert.rejects(opened.write(output("t", "replace"), schema, batches), /denied.*error 1142/);
  });

  Deno.test("a table whose engine has no transactions is replaced only", async () => {
    await server.sql("CREATE TABLE plain (id int) ENGINE=MyISAM");
    await server.sql("INSERT INTO plain VALUES (1)");
    const error = await refusal(output("plain", "append"), "SELECT 2 AS id");
    assert.match(error.message, /its engine MyISAM has no transactions/);
    await write(output("plain", "replace"), "SELECT 3 AS id");
    assert.deepEqual(await server.sql("SELECT * FROM plain"), [["3"]]);
    await server.sql("CREATE VIEW seen AS SELECT * FROM plain");
    assert.match((await refusal(output("seen", "append"), "SELECT 2 AS id")).message, /it is no table/);
  });

  Deno.test("a server that loses the connection mid-write keeps nothing, and the next write tidies up", async () => {
    await server.sql("CREATE TABLE cut (id bigint PRIMARY KEY)");
    for (const mode of ["append", "replace", "merge"] as const) {
      const keys = mode === "merge" ? ["id"] : [];
      const { schema, batches } = await fromDuck("SELECT range AS id FROM range(100000)");
      await using opened = new Opened(configOf(server));
      const session = await opened.sink.begin(output("cut", mode, { keys }), schema, NEVER);
      for (const batch of batches) await session.write(batch, NEVER);
      const ids = await server.sql(
        "SELECT ID FROM information_schema.PROCESSLIST WHERE USER = 'pz' AND ID <> CONNECTION_ID() AND DB = 'd' AND COMMAND = 'Sleep'",
      );
      for (const [id] of ids) await server.sql(`KILL ${id}`).catch(() => {});
      await assert.rejects(session.commit(), (error) => {
        assert.ok(error instanceof ConnectorError, String(error));
        assert.equal(error.transient, true, error.message);
        return true;
      });
      await untilNobodyIsConnected();
      assert.deepEqual(await server.sql("SELECT COUNT(*) FROM cut"), [["0"]]);
      assert.equal(await tables("pz\\_new%"), "");
    }
  });

  Deno.test("a table that a killed write has left is dropped by the next one of its target", async () => {
    await server.sql("CREATE TABLE left_over (id bigint)");
    const { schema } = await fromDuck("SELECT 1::BIGINT AS id");
    await using opened = new Opened(configOf(server));
    const session = await opened.sink.begin(output("left_over", "replace"), schema, NEVER);
    await server.sql(`CREATE TABLE ${(await tables("pz\\_new%")).replace(/_\w{8}$/, "_00000000")} (id bigint)`);
    await session.abort();
    assert.match(await tables("pz\\_new%"), /^pz_new_\w+_00000000$/);
    await write(output("left_over", "replace"), "SELECT 1::BIGINT AS id");
    assert.equal(await tables("pz\\_%"), "");
  });

  Deno.test("writes of one target at once do not take each other's tables", async () => {
    const { schema, batches } = await fromDuck("SELECT range AS id FROM range(1000)");
    await using opened = new Opened(configOf(server));
    const first = await opened.sink.begin(output("shared", "replace"), schema, NEVER);
    const second = await opened.sink.begin(output("shared", "replace"), schema, NEVER);
    for (const batch of batches) await first.write(batch, NEVER);
    for (const batch of batches) await second.write(batch, NEVER);
    await first.commit();
    await second.commit();
    assert.deepEqual(await server.sql("SELECT COUNT(*) FROM shared"), [["1000"]]);
    assert.equal(await tables("pz\\_%"), "");
  });

  Deno.test("a cancelled write ends on the server too, and leaves no table that it has made", async () => {
    const { schema, batches } = await fromDuck("SELECT range AS id FROM range(200000)");
    const [batch = assert.fail()] = batches;
    await using opened = new Opened(configOf(server));
    for (const mode of ["append", "replace", "merge"] as const) {
      for (const isNew of [true, false]) {
        await server.sql(isNew ? "SELECT 1" : "CREATE TABLE cancelled (id bigint PRIMARY KEY)");
        const stop = new AbortController();
        const keys = mode === "merge" ? ["id"] : [];
        const session = await opened.sink.begin(output("cancelled", mode, { keys }), schema, NEVER);
        const reason = new Error("stop");
        await session.write(batch, stop.signal);
        const writing = session.write(batch, stop.signal);
        stop.abort(reason);
        await assert.rejects(writing, reason);
        await session.abort();
        await untilNobodyIsConnected();
        assert.equal(await tables("cancelled%") + await tables("pz\\_%"), isNew ? "" : "cancelled");
        if (isNew) continue;
        assert.deepEqual(await server.sql("SELECT COUNT(*) FROM cancelled"), [["0"]]);
        await server.sql("DROP TABLE cancelled");
      }
    }
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
      // The table INNODB_TRX is not brought up to date while it is read every few milliseconds.
      const waiting = "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS " +
        "WHERE VARIABLE_NAME = 'INNODB_ROW_LOCK_CURRENT_WAITS'";
      while ((await server.sql(waiting))[0]?.[0] !== "1") { /* until it waits */ }
      if (lands) await open.commit();
      else await open.abort();
      assert.deepEqual(await again, { rows: 7n, batches: 1 });
    }
    assert.deepEqual(await server.sql("SELECT COUNT(*) FROM raced"), [["14"]]);
  });

  Deno.test("a table that somebody else has locked for longer than allowed fails the write, to be tried again", async () => {
    await server.sql("CREATE TABLE locked (id int)");
    await using holder = new Opened(configOf(server));
    const { schema, batches } = await fromDuck("SELECT 1 AS id");
    const held = await holder.sink.begin(output("locked", "append"), schema, NEVER);
    for (const batch of batches) await held.write(batch, NEVER);
    await using opened = new Opened({ ...configOf(server), command_timeout_seconds: 1n });
    await assert.rejects(opened.write(output("locked", "replace"), schema, batches), (error) => {
      assert.ok(error instanceof ConnectorError, String(error));
      assert.match(error.message, /error 1205/);
      assert.equal(error.transient, true);
      return true;
    });
    await held.abort();
  });
}
