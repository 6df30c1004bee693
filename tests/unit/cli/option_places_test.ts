import assert from "node:assert/strict";
import { join } from "node:path";
import { cli, TempFolder } from "./test_io.ts";

const CONNECTIONS = `
raw:
  connector: localfiles
  root: data
  entities:
    orders:
      read:
        columns:
          id: bigint
          note: varchr
    single: { read: { format: cvs } }
mart:
  connector: postgres
  host: db
  port: abc
  database: mart
  user: me
  ssl_mode: verifyfull
  entities:
    parts:
      read:
        partition_column: id
        partitions: 17
`;

/** The errors of `pz validate` on a project of this connections.yml and these pipelines. */
async function errorsOf(connections: string, pipelines: { readonly [name: string]: string }): Promise<string[]> {
  await using temp = new TempFolder();
  const files = Object.entries(pipelines).map(([name, sql]) => [`pipelines/${name}.sql`, sql] as const);
  await Deno.mkdir(join(temp.path, "pipelines"));
  await Deno.mkdir(join(temp.path, "data"));
  for (
    const [path, text] of [
      ["project.yml", "name: shop\nversion: 1.0.0\n"],
      ["connections.yml", connections],
      ["data/orders.csv", "id,name\n1,x\n"],
      ...files,
    ] as const
  ) await Deno.writeTextFile(join(temp.path, path), text);
  const { stderr } = await cli(["validate"], { cwd: temp.path });
  return stderr.split("\n").filter((line) => /^error|PZ0353/.test(line));
}

Deno.test("a wrong setting is told once, at its own line of connections.yml, however many nodes use the connection", async () => {
  const told = await errorsOf(CONNECTIONS, {
    a: "INSERT INTO {{ sink('mart', 'a') }} SELECT * FROM {{ source('mart', 'one') }}",
    b: "INSERT INTO {{ sink('mart', 'b') }} SELECT * FROM {{ source('mart', 'two') }}",
  });
  assert.deepEqual(told, [
    `error PZ0301: connection 'mart': Option "port" is "abc" (connections.yml:15:3) — hint: expected a whole number from 1 to 65535`,
    `error PZ0301: connection 'mart': Option "ssl_mode" is "verifyfull" (connections.yml:18:3) — hint: expected one of disable, prefer, require, verify-ca, verify-full`,
  ]);
});

Deno.test("a wrong option of a read is told at its own line", async () => {
  const sound = CONNECTIONS.replace("abc", "5432").replace("verifyfull", "require");
  const told = await errorsOf(sound, {
    a: "INSERT INTO {{ sink('raw', 'a') }} SELECT * FROM {{ source('mart', 'parts') }}",
    b: "INSERT INTO {{ sink('raw', 'b') }} SELECT * FROM {{ source('raw', 'single') }}",
  });
  assert.deepEqual(told.map((line) => line.replace(/ — .*/, "")), [
    `error PZ0361: raw.single: Unknown format "cvs": expected one of csv, tsv, parquet, json, xlsx, avro (connections.yml:11:23)`,
    `error PZ0301: mart.parts: Option "partitions" is "17" (connections.yml:23:9)`,
  ]);
});

Deno.test("an unknown type of a contract is told once, at its column, with the type that was meant", async () => {
  const sql = "INSERT INTO {{ sink('raw', 'a') }} SELECT * FROM {{ source('raw', 'orders') }}";
  assert.deepEqual(await errorsOf(CONNECTIONS, { a: sql }), [
    `error PZ0301: raw.orders: Column "note" has the unknown type "varchr" (connections.yml:10:11) — hint: did you mean "varchar"?`,
  ]);
  // A connector that does not look at types leaves that to the SQL.
  const mart = CONNECTIONS.replace("abc", "1").replace("verifyfull", "require").replace(
    ": 17",
    ": 2\n        columns: { id: varchr }",
  );
  const other = await errorsOf(mart, { a: sql.replace("'raw', 'orders'", "'mart', 'parts'") });
  assert.deepEqual(other, [
    "error PZ0301: column 'id' of 'mart.parts' has the unknown type 'varchr' (connections.yml:24:20) — hint: did you mean 'varchar'?",
  ]);
});

Deno.test("a column that the file does not have is told at its line of the contract", async () => {
  const sql = "INSERT INTO {{ sink('raw', 'a') }} SELECT * FROM {{ source('raw', 'orders') }}";
  const [told = ""] = await errorsOf(CONNECTIONS.replace("varchr", "varchar"), { a: sql });
  assert.match(told, /PZ0353 raw\.orders: Column "note" is not in the header .* \(connections\.yml:10:11\)/);
});

Deno.test("an entity that nobody declared and that is not there gets the declared ones as a hint", async () => {
  const sql = (entity: string) => `INSERT INTO {{ sink('raw', 'a') }} SELECT * FROM {{ source('raw', '${entity}') }}`;
  assert.match((await errorsOf(CONNECTIONS, { a: sql("ordrs") }))[0] ?? "", / — did you mean the entity 'orders'\?$/);
  assert.match(
    (await errorsOf(CONNECTIONS, { a: sql("products") }))[0] ?? "",
    / — 'raw' declares 'orders', 'single'; there is "orders\.csv"/,
  );
});

Deno.test("an unknown option of a call is compared with pz's own keys, and each is listed once", async () => {
  const sql = (key: string) => `INSERT INTO {{ sink('raw', 'a', ${key}: 'replace') }} SELECT 1 AS x`;
  assert.match((await errorsOf(CONNECTIONS, { a: sql("stratgy") }))[0] ?? "", / — hint: did you mean 'strategy'\?$/);
  const [, list = ""] = /the options are (.*)$/.exec((await errorsOf(CONNECTIONS, { a: sql("zzz") }))[0] ?? "") ?? [];
  const names = list.split(", ");
  assert.ok(names.includes("strategy") && names.includes("keys"));
  assert.deepEqual(names, [...new Set(names)]);
});

Deno.test("an answer of a server keeps the names of connection, host and user that came from the environment", async () => {
  await using temp = new TempFolder();
  const free = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = free.addr as Deno.NetAddr;
  free.close();
  await Deno.mkdir(join(temp.path, "pipelines"));
  const settings = ["host: ${DB_HOST}", `port: ${port}`, "database: ${DB}", "user: ${DB_USER}", "password: ${DB_PASS}"];
  await Deno.writeTextFile(join(temp.path, "project.yml"), "name: shop\nversion: 1.0.0\n");
  await Deno.writeTextFile(
    join(temp.path, "connections.yml"),
    `mart:\n  connector: postgres\n  ${settings.join("\n  ")}\n  retry: { max_attempts: 1 }\n`,
  );
  await Deno.writeTextFile(
    join(temp.path, "pipelines", "a.sql"),
    "INSERT INTO {{ sink('mart', 'out') }} SELECT * FROM {{ source('mart', 'parts') }}",
  );
  const env = { DB_HOST: "127.0.0.1", DB: "mart", DB_USER: "loader", DB_PASS: "hunter22" };
  const { stderr } = await cli(["validate", "--connect"], { cwd: temp.path, env });
  assert.match(stderr, /^error PZ0330: connection 'mart' can't be used: Connecting to 127\.0\.0\.1:\d+ failed/m);
  assert.ok(!stderr.includes("***") && !stderr.includes("hunter22"));
});

Deno.test("a database that is not there is told once, at the setting that names it", async () => {
  const connections = "files:\n  connector: duckdb\n  path: none.db\nlake: { connector: localfiles }\n";
  const sql = (entity: string) =>
    `INSERT INTO {{ sink('lake', '${entity}') }} SELECT * FROM {{ source('files', '${entity}') }}`;
  const told = await errorsOf(connections, { a: sql("a"), b: sql("b") });
  assert.equal(told.length, 1, told.join("\n"));
  assert.match(told[0] ?? "", /There is no database .* \(connections\.yml:3:3\)/);
});

Deno.test("a wrong path of a source is told at its path:, and one that follows from the entity at the entity", async () => {
  const files = `raw:
  connector: localfiles
  entities:
    lost:
      read:
        format: csv
        path: nowhere.csv
    plain:
      read: { format: csv }
`;
  const told = await errorsOf(files, {
    a: "INSERT INTO {{ sink('raw', 'a') }} SELECT * FROM {{ source('raw', 'lost') }}",
    b: "INSERT INTO {{ sink('raw', 'b') }} SELECT * FROM {{ source('raw', 'plain') }}",
  });
  assert.deepEqual(told.map((line) => /connections\.yml:\d+:\d+/.exec(line)?.[0]), [
    "connections.yml:7:9",
    "connections.yml:8:5",
  ]);
});
