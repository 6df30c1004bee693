import assert from "node:assert/strict";
import { join } from "node:path";
import { startPostgres } from "../harness/postgres.ts";
import { cli, TempFolder } from "../unit/cli/test_io.ts";

const server = await startPostgres();

Deno.test("the postgres template validates, plans and runs against a server, twice, and tells drift", async () => {
  await using temp = new TempFolder();
  await cli(["init", "shop", "-t", "postgres"], { cwd: temp.path });
  const settings = {
    cwd: join(temp.path, "shop"),
    env: {
      MART_DB_HOST: server.host,
      MART_DB_PORT: String(server.port),
      MART_DB_NAME: server.database,
      MART_DB_USER: server.user,
      MART_DB_PASSWORD: server.password,
    },
  };
  const validated = await cli(["validate", "--connect"], settings);
  assert.deepEqual([validated.code, validated.stderr], [0, ""]);
  assert.match(validated.stdout, /^validation passed \(2 pipelines, 2 connections checked\)$/m);
  const planned = await cli(["plan"], settings);
  assert.match(planned.stdout, new RegExp(`^grant: mart \\(postgres\\) net ${server.host}:${server.port}$`, "m"));
  assert.match(planned.stdout, /^arrow_stream +mart\.orders_current +arrow stream: no native path \(postgres, /m);
  for (const minute of [15, 16]) {
    const now = () => Date.parse(`2027-03-02T06:${minute}:00.001Z`);
    const { code, stdout, stderr } = await cli(["run"], { ...settings, now });
    assert.equal(code, 0, stdout + stderr);
    assert.ok(!`${stdout}${stderr}`.includes(server.password));
  }
  assert.deepEqual(await server.sql("SELECT id, status FROM orders_current ORDER BY id"), [
    ["101", "paid"],
    ["102", "open"],
    ["103", "sent"],
  ]);
  assert.deepEqual(await server.sql("SELECT customer, orders, total FROM customer_totals ORDER BY customer"), [
    ["Ada Byron", "2", "62.40"],
    ["Blaise Martin", "1", "7.25"],
  ]);
  await Deno.writeTextFile(
    join(settings.cwd, "pipelines", "back.sql"),
    "SELECT * FROM {{ source('mart', 'customer_totals', columns: { customer: 'varchar', orders: 'int', gone: 'date' }) }}\n",
  );
  const drifted = await cli(["validate", "--connect"], settings);
  assert.equal(drifted.code, 2);
  assert.match(drifted.stderr, /^error PZ0331: column 'gone' of 'mart\.customer_totals' .*\(pipelines\/back\.sql:1:/m);
  const wrong = await cli(["validate", "--connect"], {
    ...settings,
    env: { ...settings.env, MART_DB_USER: "nobody_7" },
  });
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /^error PZ0330: connection 'mart' can't be used: .* \(connections\.yml:17:1\)/m);
});
