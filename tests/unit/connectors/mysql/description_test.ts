import assert from "node:assert/strict";
import { mysql } from "../../../../src/connectors/builtin/mysql/description.ts";
import type { ConfigMap, DatasetSpec, OutputSpec } from "../../../../src/connectors/mod.ts";

const CONTEXT = { projectRoot: "/p" };
const CONFIG = { host: "db.example.com", database: "d", user: "u", password: "geheim" };

function problems(config: ConfigMap, options: ConfigMap = {}, entity = "t"): string[] {
  const spec: DatasetSpec = { connection: "c", entity, config, options };
  const outcome = mysql.nativeScan(spec, CONTEXT);
  return outcome?.ok === false ? outcome.problems.map(({ message }) => message) : [];
}

Deno.test("mysql is granted its server and certificate alone", () => {
  const ssl_root_cert = "/etc/ca.pem";
  assert.deepEqual(mysql.grant({ ...CONFIG, ssl_root_cert }, CONTEXT), {
    net: ["db.example.com:3306"],
    read: [ssl_root_cert],
    write: [],
    env: [],
  });
  assert.deepEqual(mysql.grant({ ...CONFIG, host: "::1", port: 1 }, CONTEXT).net, ["[::1]:1"]);
  assert.deepEqual(mysql.grant({}, CONTEXT).net, []);
});

Deno.test("wrong options of a mysql connection and read are told by name, without a secret", () => {
  assert.deepEqual(problems(CONFIG), []);
  const none = problems({});
  for (const name of ["host", "database", "user"]) assert.ok(none.some((text) => text.includes(`"${name}"`)), name);
  assert.match(problems({ ...CONFIG, host: "/run/mysqld.sock" }).join(), /unix socket: connector 'mysql'/);
  assert.match(problems({ ...CONFIG, ssl_mode: "yes" }).join(), /"ssl_mode" is "yes"/);
  assert.match(problems({ ...CONFIG, host: "::1", ssl_mode: "verify-full" }).join(), /needs a host by its name/);
  assert.match(problems(CONFIG, { zero_dates: 1 }).join(), /"zero_dates" is "1"/);
  assert.deepEqual(problems(CONFIG, { zero_dates: null }), []);
  assert.match(problems(CONFIG, { partitions: 4n }).join(), /there is no "partition_column"/);
  assert.match(problems(CONFIG, {}, "x".repeat(65)).join(), /can't be the name of a table/);
  assert.deepEqual(problems(CONFIG, { query: "SELECT 1 AS a" }, "x".repeat(65)), []);
  assert.doesNotMatch(problems({ ...CONFIG, port: "geheim" }).join(), /u:geheim/);
});

Deno.test("a name that mysql would change is refused for a write too", () => {
  const spec = (entity: string): OutputSpec => ({
    connection: "c",
    entity,
    config: CONFIG,
    options: {},
    mode: "append",
    schemaPolicy: "fail_on_change",
    keys: [],
    attempt: { node: "n", run: "r", ordinal: 1 },
  });
  assert.equal(mysql.nativeCopy(spec("a.b"), CONTEXT), undefined);
  for (const entity of ["", "ends ", "a\0b", "😀"]) {
    assert.ok(mysql.nativeCopy(spec(entity), CONTEXT) !== undefined, entity);
  }
});
