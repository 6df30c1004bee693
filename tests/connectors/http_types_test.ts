import assert from "node:assert/strict";
import { runPz } from "../harness/cli.ts";
import { Duck } from "../harness/duck.ts";
import { TestHttp } from "../harness/http_server.ts";
import { TempDir, writeFiles } from "../harness/temp_dir.ts";

/** Types of a contract with values at their edges, as SQL. */
const VALUES: readonly (readonly [type: string, ...values: string[]])[] = [
  ["TINYINT", "-128", "127"],
  ["SMALLINT", "-32768", "32767"],
  ["INTEGER", "-2147483648", "2147483647"],
  ["BIGINT", "-9223372036854775808", "9223372036854775807"],
  ["HUGEINT", "'-170141183460469231731687303715884105728'", "'170141183460469231731687303715884105727'"],
  ["UTINYINT", "0", "255"],
  ["USMALLINT", "0", "65535"],
  ["UINTEGER", "0", "4294967295"],
  ["UBIGINT", "0", "18446744073709551615"],
  ["DECIMAL(38,0)", "'-99999999999999999999999999999999999999'", "'1'"],
  ["DECIMAL(38,38)", "'0.00000000000000000000000000000000000001'", "'-0.99999999999999999999999999999999999999'"],
  ["DECIMAL(4,2)", "'1.10'", "'-0.05'"],
  ["FLOAT", "0.1", "'3.4028235e38'"],
  ["DOUBLE", "'5e-324'", "'-1.7976931348623157e308'"],
  ["BOOLEAN", "true", "false"],
  ["DATE", "'0001-01-01'", "'9999-12-31'"],
  ["TIME", "'00:00:00'", "'23:59:59.999999'"],
  ["TIMESTAMP", "'1969-12-31 23:59:59.999999'", "'9999-12-31 00:00:00.000001'"],
  ["TIMESTAMPTZ", "'2024-02-29 23:59:59.5+00'", "'1900-01-01 00:00:00+00'"],
  ["VARCHAR", "''", "chr(10) || 'ä😀\"\\' || chr(1) || ' null'"],
  ["BLOB", "'\\x00\\xFFa\\x5C'", "''"],
  ["UUID", "'00000000-0000-0000-0000-000000000000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"],
  ["JSON", `'{"a": [1.10, 12345678901234567890, "x"]}'`, `'"text"'`],
];

Deno.test("values of every type go to an API and come back as they were", async () => {
  const stored: string[] = [];
  await using server = new TestHttp((request) => {
    if (request.method === "GET") {
      return new Response(`[${stored.join(",")}]`, { headers: { "content-type": "application/json" } });
    }
    stored.push(...request.body.split("\n").filter((line) => line !== ""));
    return new Response(null, { status: 202 });
  });
  const row = (index: number) =>
    VALUES.map(([type, ...values], at) => `CAST(${values[index] ?? "NULL"} AS ${type}) AS c${at}`).join(", ");
  const all = [0, 1, 2].map((index) => `SELECT ${row(index)}`).join("\nUNION ALL ");
  const columns = VALUES.map(([type], at) => `          c${at}: ${JSON.stringify(type.toLowerCase())}`);
  await using folder = await TempDir.create();
  await writeFiles(folder.path, {
    "project.yml": `name: shop\nversion: "1"\n`,
    "connections.yml": `api:
  connector: http
  base_url: ${server.origin}
  entities:
    out:
      write: { path: /t, strategy: append, body_format: ndjson }
    back:
      read:
        path: /t
        columns:
${columns.join("\n")}
lake: { connector: localfiles, root: out }
`,
    "pipelines/there.sql": `INSERT INTO {{ sink('api', 'out') }}\n${all}\n`,
    "pipelines/back.sql":
      "INSERT INTO {{ sink('lake', 'back', format: 'parquet', strategy: 'replace') }}\nSELECT * REPLACE (CAST(c4 AS VARCHAR) AS c4) FROM {{ source('api', 'back') }}\n",
  });
  for (const pipeline of ["there", "back"]) {
    const result = await runPz(["run", pipeline], { cwd: folder.path });
    assert.equal(result.code, 0, String(result));
    assert.doesNotMatch(result.stdout, /null in|are sent as null/);
  }
  assert.equal(stored.length, 3);
  using duck = await Duck.open();
  const texts = (sql: string) =>
    duck.rows(`SELECT ${VALUES.map((_, at) => `c${at}::VARCHAR`).join(", ")} FROM ${sql} ORDER BY c0`);
  assert.deepEqual(await texts(`'${folder.path}/out/back/*.parquet'`), await texts(`(${all})`));
  const shape = await duck.shape(`SELECT * EXCLUDE (c4) FROM '${folder.path}/out/back/*.parquet'`);
  assert.deepEqual(shape, await duck.shape(`SELECT * EXCLUDE (c4) FROM (${all})`));
});
