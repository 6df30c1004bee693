import assert from "node:assert/strict";
import { ConnectorError, type OutputSpec } from "../../src/connectors/mod.ts";
import { startPostgres } from "../harness/postgres.ts";
import { configOf, fromDuck, NEVER, Opened, output } from "./postgres_support.ts";

const server = await startPostgres();

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

Deno.test("a column name that the server would cut off is refused, and makes no table", async () => {
  const name = "ü".repeat(32);
  const error = await refusal(output("long_name", "replace"), `SELECT 1 AS a, 2 AS "${name}"`);
  assert.equal(error.message, `"${name}" can't be the name of a column`);
  assert.match(error.hint ?? "", /63 bytes/);
  await write(output("long_name", "replace"), `SELECT 1 AS "${name.slice(1)}"`);
  assert.deepEqual(await server.sql("SELECT * FROM long_name"), [["1"]]);
});

Deno.test("the server's own schemas are no place to write to", async () => {
  for (const schema of ["pg_temp", "pg_catalog", "information_schema", "pg_toast"]) {
    const error = await refusal(output(`${schema}.x`, "append"), "SELECT 1 AS a");
    assert.match(error.message, new RegExp(`^The schema "${schema}" is the server's own`));
  }
});

Deno.test("of two writes that make one table at once, the second is told to try again", async () => {
  const { schema, batches } = await fromDuck("SELECT 1 AS id");
  await using opened = new Opened(configOf(server));
  const first = await opened.sink.begin(output("made_twice", "replace"), schema, NEVER);
  const second = refusal(output("made_twice", "replace"), "SELECT 2 AS id");
  for (let waiting = 0; waiting === 0;) {
    const [row] = await server.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
    waiting = Number(row?.[0]);
  }
  for (const batch of batches) await first.write(batch, NEVER);
  await first.commit();
  const { transient, message } = await second;
  assert.deepEqual([transient, message], [true, 'Somebody else has just created "public.made_twice"']);
  await write(output("made_twice", "replace"), "SELECT 3 AS id");
  assert.deepEqual(await server.sql("SELECT * FROM made_twice"), [["3"]]);
});
