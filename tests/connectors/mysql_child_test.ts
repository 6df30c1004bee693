import assert from "node:assert/strict";
import {
  CHILD_VERB,
  ConnectorError,
  ConnectorSession,
  findConnector,
  type SessionOptions,
} from "../../src/connectors/mod.ts";
import { BINARY } from "../harness/cli.ts";
import { needsMariaDb, startMariaDb } from "../harness/mariadb.ts";
import { AUTHORITY } from "../harness/postgres_tls.ts";
import { TempDir } from "../harness/temp_dir.ts";
import { fromDuck, NEVER, output, READ, staged } from "./database_support.ts";
import { configOf, dataset, Opened } from "./mysql_support.ts";

if (needsMariaDb("the mysql child suite")) await suite();

async function suite(): Promise<void> {
  const server = await startMariaDb({ tls: true });
  await server.sql("CREATE TABLE numbers AS SELECT seq AS id, CONCAT('n', seq) AS name FROM seq_1_to_300000");

  function open(change: Partial<SessionOptions> = {}): ConnectorSession {
    const mysql = findConnector("mysql");
    if (mysql === undefined || mysql === "planned") throw new Error("no mysql");
    const config = change.config ?? configOf(server);
    return new ConnectorSession({
      connector: "mysql",
      connection: "my",
      config,
      grant: mysql.grant(config, { projectRoot: "/nowhere" }),
      runId: "r1",
      onLog: () => {},
      ...(BINARY === undefined ? {} : { command: { path: BINARY, args: [CHILD_VERB], env: {} } }),
      ...change,
    });
  }

  Deno.test("a sandboxed child reads a table in parts, side by side, slowly or not", async () => {
    await using session = open();
    await session.check(NEVER);
    const spec = dataset("numbers", { partition_column: "id", partitions: 3n });
    assert.deepEqual((await session.getSchema(spec, NEVER)).names, ["id", "name"]);
    const partitions = await session.planRead(spec, NEVER);
    assert.equal(partitions.length, 3);
    const counts = await Promise.all(partitions.map(async (partition) => {
      let rows = 0;
      for await (const batch of session.read(spec, partition, { ...READ, batchBytes: 100_000 })) {
        rows += batch.numRows;
        await new Promise((resolve) => setTimeout(resolve));
      }
      return rows;
    }));
    assert.equal(counts.reduce((sum, rows) => sum + rows, 0), 300_000);
  });

  Deno.test("a sandboxed child writes, and what it is refused names the column", async () => {
    await using session = open();
    const { schema, batches } = await fromDuck("SELECT range AS id, 'x' || range AS name FROM range(200000)");
    const write = await session.beginWrite(output("written", "append"), schema, NEVER);
    for (const batch of batches) await write.write(batch, NEVER);
    assert.equal((await write.commit()).rows, 200_000n);
    assert.deepEqual(await server.sql("SELECT COUNT(*), SUM(id) FROM written"), [["200000", "19999900000"]]);
    await server.sql("CREATE TABLE dated (d date)");
    const bad = await fromDuck("SELECT DATE '10000-01-01' AS d");
    const refused = await session.beginWrite(output("dated", "append"), bad.schema, NEVER);
    await assert.rejects(async () => {
      for (const batch of bad.batches) await refused.write(batch, NEVER);
      await refused.commit();
    }, /Column "d": a date is outside of the years/);
    await refused.abort();
  });

  Deno.test("a child that is not granted the server's address fails by the permission that it lacked", async () => {
    await using session = open({ grant: { net: ["127.0.0.1:1"], read: [], write: [], env: [] } });
    await assert.rejects(session.check(NEVER), (error) => {
      assert.ok(error instanceof ConnectorError, String(error));
      assert.equal(error.code, "PZ0740", error.message);
      assert.deepEqual(error.denied, { permission: "net", target: `127.0.0.1:${server.port}` });
      return true;
    });
  });

  for (const mode of ["append", "replace", "merge"] as const) {
    Deno.test(`a child that dies in the middle of an ${mode} leaves no row`, async () => {
      await server.sql("CREATE OR REPLACE TABLE orphan (id bigint PRIMARY KEY)");
      await server.sql("INSERT INTO orphan VALUES (-1)");
      const session = open();
      const { schema, batches } = await fromDuck("SELECT range AS id FROM range(300000)");
      const keys = mode === "merge" ? ["id"] : [];
      const write = await session.beginWrite(output("orphan", mode, { keys }), schema, NEVER);
      for (const batch of batches) await write.write(batch, NEVER);
      await session[Symbol.asyncDispose]();
      await write.abort();
      const connected =
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'pz' AND ID <> CONNECTION_ID()";
      while ((await server.sql(connected))[0]?.[0] !== "0") { /* until the server has noticed */ }
      assert.deepEqual(await server.sql("SELECT * FROM orphan"), [["-1"]]);
    });
  }

  const IS_ENCRYPTED =
    "SELECT VARIABLE_VALUE <> '' AS x FROM information_schema.SESSION_STATUS WHERE VARIABLE_NAME = 'Ssl_cipher'";

  async function isEncrypted(change: { readonly [option: string]: string }): Promise<boolean> {
    await using opened = new Opened({ ...configOf(server), ...change });
    await opened.instance.check?.(NEVER);
    return (await staged(opened, dataset("any", { query: IS_ENCRYPTED }))).rows[0]?.[0] === "1";
  }

  async function refused(change: { readonly [option: string]: string }): Promise<string> {
    try {
      await isEncrypted(change);
    } catch (error) {
      assert.ok(error instanceof ConnectorError, String(error));
      assert.equal(error.transient, false, error.message);
      return error.message;
    }
    assert.fail("the connection was not refused");
  }

  Deno.test("each ssl_mode encrypts and checks what it says", async () => {
    await using folder = await TempDir.create();
    const ssl_root_cert = folder.join("ca.pem");
    await Deno.writeTextFile(ssl_root_cert, AUTHORITY);
    assert.equal(await isEncrypted({ ssl_mode: "disable" }), false);
    assert.equal(await isEncrypted({}), true);
    assert.equal(await isEncrypted({ ssl_mode: "require" }), true);
    assert.match(await refused({ ssl_mode: "verify-ca" }), /certificate is not trusted/);
    assert.match(await refused({ ssl_mode: "verify-full", host: "localhost" }), /certificate is not trusted/);
    assert.equal(await isEncrypted({ ssl_mode: "verify-ca", ssl_root_cert }), true);
    assert.equal(await isEncrypted({ ssl_mode: "require", ssl_root_cert }), true);
    assert.equal(await isEncrypted({ ssl_mode: "verify-full", host: "localhost", ssl_root_cert }), true);
    const byAddress = () => new Opened({ ...configOf(server), ssl_mode: "verify-full", ssl_root_cert });
    assert.throws(byAddress, /"verify-full", which needs a host by its name, and "host" is an address/);
    assert.match(await refused({ ssl_mode: "verify-ca", ssl_root_cert: folder.join("none") }), /no certificate file/);
  });

  Deno.test("a sandboxed child reads over TLS with the certificate file that it is granted", async () => {
    await using folder = await TempDir.create();
    const ssl_root_cert = folder.join("ca.pem");
    await Deno.writeTextFile(ssl_root_cert, AUTHORITY);
    const config = { ...configOf(server), host: "localhost", ssl_mode: "verify-full", ssl_root_cert };
    await using session = open({ config });
    let rows = 0;
    for await (const batch of session.read(dataset("numbers"), { id: "{}" }, READ)) rows += batch.numRows;
    assert.equal(rows, 300_000);
  });
}
