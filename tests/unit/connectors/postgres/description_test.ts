import assert from "node:assert/strict";
import { builtinConnectors, type ConfigMap, findConnector } from "../../../../src/connectors/mod.ts";
import { connector } from "../../../../src/connectors/builtin/postgres/connector.ts";
import { postgres } from "../../../../src/connectors/builtin/postgres/description.ts";
import { readConfig } from "../../../../src/connectors/builtin/postgres/config.ts";

const CONTEXT = { projectRoot: "/project" };
const CONFIG: ConfigMap = { host: "db.example", database: "d", user: "u", password: "hunter2" };

function problems(config: ConfigMap): string[] {
  return readConfig(config).problems.map(({ code, message }) => `${code} ${message}`);
}

Deno.test("postgres is a connector that this build holds, with what its child can do", () => {
  assert.equal(findConnector("postgres"), postgres);
  assert.ok(builtinConnectors().includes(postgres));
  assert.deepEqual([...postgres.capabilities], [...connector.capabilities]);
  assert.deepEqual([postgres.name, postgres.version], [connector.name, connector.version]);
});

Deno.test("what is left out of a connection has the documented default", () => {
  assert.deepEqual(readConfig(CONFIG).config, {
    host: "db.example",
    port: 5432,
    database: "d",
    user: "u",
    password: "hunter2",
    sslMode: "prefer",
    sslRootCert: undefined,
    connectTimeoutSeconds: 15,
    commandTimeoutSeconds: 30,
  });
});

Deno.test("a host is one name or address alone", () => {
  for (
    const host of [
      ...["db:5432", "[::1]", "user@db", "a,b", "postgres://db/x", "db example", "${DB_HOST}", "*.example.com", "a..b"],
      ...["dätenbank.example", "db!", "fe80::1%eth0", "."],
    ]
  ) {
    assert.deepEqual(problems({ ...CONFIG, host }), [`PZ0301 Option "host" is no name of one host`], host);
  }
  for (const host of ["db", "db.example.com", "my_db-1", "db.example.com.", "127.0.0.1", "::1", "fe80::1"]) {
    assert.deepEqual(problems({ ...CONFIG, host }), [], host);
  }
});

Deno.test("every problem of a connection is told at once, and no secret with it", () => {
  assert.deepEqual(problems({}), [
    `PZ0301 A connection of 'postgres' needs the option "host"`,
    `PZ0301 A connection of 'postgres' needs the option "database"`,
    `PZ0301 A connection of 'postgres' needs the option "user"`,
  ]);
  assert.deepEqual(
    problems({
      ...CONFIG,
      port: 70000n,
      ssl_mode: "always",
      connect_timeout_seconds: 0n,
      command_timeout_seconds: "x",
    }),
    [
      `PZ0301 Option "ssl_mode" is "always"`,
      `PZ0301 Option "port" is "70000"`,
      `PZ0301 Option "connect_timeout_seconds" is "0"`,
      `PZ0301 Option "command_timeout_seconds" is "x"`,
    ],
  );
  for (const host of ["/var/run/postgresql", "@socket"]) {
    assert.match(
      problems({ ...CONFIG, host }).join(),
      /names a unix socket: connector 'postgres' connects by TCP only/,
    );
  }
  const url = problems({ ...CONFIG, host: "postgres://u:hunter2@h/d" });
  assert.deepEqual(url, [`PZ0301 Option "host" is no name of one host`]);
  assert.match(problems({ ...CONFIG, ssl_root_cert: "ca.pem" }).join(), /depends on where pz is started/);
});

Deno.test("numbers and ports given as text count, and an empty password is none", () => {
  const { config } = readConfig({ ...CONFIG, port: "6543", password: "", database: 7n, command_timeout_seconds: 0n });
  assert.deepEqual([config?.port, config?.password, config?.database, config?.commandTimeoutSeconds], [
    6543,
    undefined,
    "7",
    0,
  ]);
});

Deno.test("the grant is the server's address and the certificate file, and nothing else", () => {
  const grant = (config: ConfigMap) => postgres.grant({ ...CONFIG, ...config }, CONTEXT);
  assert.deepEqual(grant({}), { net: ["db.example:5432"], read: [], write: [], env: [] });
  assert.deepEqual(grant({ host: "::1", port: 1n }).net, ["[::1]:1"]);
  assert.deepEqual(grant({ ssl_root_cert: "/etc/ca.pem" }).read, ["/etc/ca.pem"]);
  assert.deepEqual(grant({ host: "/tmp" }), { net: [], read: [], write: [], env: [] });
});

Deno.test("a read or write that can't be is refused before anything runs", () => {
  const read = (entity: string, options: ConfigMap) => {
    const outcome = postgres.nativeScan({ connection: "pg", entity, config: CONFIG, options }, CONTEXT);
    return outcome === undefined || outcome.ok ? [] : outcome.problems.map(({ message }) => message);
  };
  assert.deepEqual(read("orders", {}), []);
  assert.deepEqual(read("shop.orders", { partition_column: "id", partitions: 16n }), []);
  assert.deepEqual(read("a.b.c", { query: "SELECT 1" }), []);
  assert.deepEqual(read("a.b.c", {}), [`Entity "a.b.c" is no name of a table`]);
  assert.deepEqual(read(".b", {}), [`Entity ".b" is no name of a table`]);
  assert.deepEqual(read("x".repeat(64), {}), [`"${"x".repeat(64)}" can't be the name of a table or schema`]);
  assert.deepEqual(read("t", { partitions: 17n }), [`Option "partitions" is "17"`]);
  assert.deepEqual(read("t", { partitions: 4n }), [`Option "partitions" is "4", but there is no "partition_column"`]);
  assert.deepEqual(read("t", { query: "" }), [`Option "query" is no text`]);
});
