import assert from "node:assert/strict";
import { ConnectorError, ConnectorSession, findConnector, type SessionOptions } from "../../src/connectors/mod.ts";
import { CHILD_VERB } from "../../src/connectors/mod.ts";
import { BINARY } from "../harness/cli.ts";
import { startPostgres } from "../harness/postgres.ts";
import { configOf, dataset, fromDuck, NEVER, output, READ } from "./postgres_support.ts";

const server = await startPostgres();
await server.sql("CREATE TABLE numbers AS SELECT i AS id, 'n' || i AS name FROM generate_series(1, 300000) i");

function open(change: Partial<SessionOptions> = {}, notices: string[] = []): ConnectorSession {
  const postgres = findConnector("postgres");
  if (postgres === undefined || postgres === "planned") throw new Error("no postgres");
  const config = change.config ?? configOf(server);
  return new ConnectorSession({
    connector: "postgres",
    connection: "pg",
    config,
    grant: postgres.grant(config, { projectRoot: "/nowhere" }),
    runId: "r1",
    onLog: () => {},
    onNotice: (text: string) => void notices.push(text),
    ...(BINARY === undefined ? {} : { command: { path: BINARY, args: [CHILD_VERB], env: {} } }),
    ...change,
  });
}

Deno.test("a sandboxed child reads a table in parts, side by side", async () => {
  await using session = open();
  await session.check(NEVER);
  const spec = dataset("numbers", { partition_column: "id", partitions: 3n });
  const schema = await session.getSchema(spec, NEVER);
  assert.deepEqual(schema.names, ["id", "name"]);
  const partitions = await session.planRead(spec, NEVER);
  assert.equal(partitions.length, 3);
  const sums = await Promise.all(partitions.map(async (partition) => {
    let rows = 0;
    for await (const batch of session.read(spec, partition, READ)) rows += batch.numRows;
    return rows;
  }));
  assert.deepEqual(sums, [100000, 100000, 100000]);
});

Deno.test("a sandboxed child writes, and what it is refused names the column", async () => {
  await using session = open();
  const { schema, batches } = await fromDuck("SELECT range AS id, 'x' || range AS name FROM range(200000)");
  const write = await session.beginWrite(output("written", "append"), schema, NEVER);
  for (const batch of batches) await write.write(batch, NEVER);
  const result = await write.commit();
  assert.equal(result.rows, 200_000n);
  assert.deepEqual(await server.sql("SELECT count(*), sum(id) FROM written"), [["200000", "19999900000"]]);
  const bad = await fromDuck("SELECT 'a' || chr(0) AS name, 1::BIGINT AS id");
  const refused = await session.beginWrite(output("written", "append"), bad.schema, NEVER);
  await assert.rejects(async () => {
    for (const batch of bad.batches) await refused.write(batch, NEVER);
    await refused.commit();
  }, /Column "name": a text holds the character U\+0000/);
  await refused.abort();
  assert.deepEqual(await server.sql("SELECT count(*) FROM written"), [["200000"]]);
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

Deno.test("a child that dies mid-write leaves nothing", async () => {
  await using session = open();
  const { schema, batches } = await fromDuck("SELECT range AS id FROM range(300000)");
  const write = await session.beginWrite(output("orphan", "replace"), schema, NEVER);
  for (const batch of batches) await write.write(batch, NEVER);
  await session[Symbol.asyncDispose]();
  await write.abort();
  const open_ = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pz'";
  while ((await server.sql(open_))[0]?.[0] !== "0") { /* until the server has noticed */ }
  assert.deepEqual(await server.sql("SELECT to_regclass('orphan')::text"), [[null]]);
});
