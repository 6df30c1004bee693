import assert from "node:assert/strict";
import { join } from "node:path";
import { checkConnections } from "../../../src/cli/connect/connect.ts";
import type { CheckedSession } from "../../../src/cli/connect/child_check.ts";
import { compileProject } from "../../../src/compile/mod.ts";
import { ConnectorError } from "../../../src/connectors/mod.ts";
import { openDuckDb } from "../../../src/duckdb/mod.ts";
import { loadProject } from "../../../src/project/mod.ts";
import { Field, Int32, Schema, Utf8 } from "../../../src/util/arrow.ts";
import { cli, type CliResult, TempFolder } from "./test_io.ts";

/** Writes a project of files by their paths. */
async function project(temp: TempFolder, files: { readonly [path: string]: string }): Promise<string> {
  const all = { "project.yml": "name: shop\nversion: 0.1.0\n", ...files };
  for (const [path, text] of Object.entries(all)) {
    const file = join(temp.path, ...path.split("/"));
    await Deno.mkdir(join(file, ".."), { recursive: true });
    await Deno.writeTextFile(file, text);
  }
  return temp.path;
}

async function duckDb(sql: string): Promise<void> {
  await using database = await openDuckDb({});
  await (await database.connect()).run(sql);
}

function connect(cwd: string): Promise<CliResult> {
  return cli(["validate", "--connect"], { cwd });
}

const RAW = "raw:\n  connector: localfiles\n  root: data\n  entities:\n    orders:\n      read:\n";
const COPY = "INSERT INTO {{ sink('raw', 'copied', format: 'csv', strategy: 'replace') }}\n" +
  "SELECT * FROM {{ source('raw', 'orders') }}\n";

Deno.test("validate --connect keeps the columns of datasets without a contract, and moves no data", async () => {
  await using temp = new TempFolder();
  const cwd = await project(temp, {
    "connections.yml": `${RAW}        format: csv\n`,
    "data/orders.csv": "id,ordered_on\n1,2026-03-01\n",
    "pipelines/copied.sql": COPY,
  });
  const { code, stdout, stderr } = await connect(cwd);
  assert.equal(stderr, "");
  assert.equal(code, 0);
  assert.match(stdout, /^validation passed \(1 pipelines, 1 connections checked\)$/m);
  assert.deepEqual(JSON.parse(await Deno.readTextFile(join(cwd, ".pz", "target", "schemas.json"))), {
    version: 1,
    schemas: { "raw.orders": { columns: [{ name: "id", type: "BIGINT" }, { name: "ordered_on", type: "DATE" }] } },
  });
  assert.deepEqual([...Deno.readDirSync(join(cwd, "data"))].map(({ name }) => name), ["orders.csv"]);
});

Deno.test("validate --connect takes a folder or a file that is not there for an error", async () => {
  await using temp = new TempFolder();
  const cwd = await project(temp, {
    "connections.yml": `${RAW}        format: csv\nlake: { connector: localfiles, root: project.yml/out }\n`,
    "pipelines/copied.sql": COPY.replace("'raw', 'copied'", "'lake', 'copied'"),
  });
  const folder = await connect(cwd);
  assert.equal(folder.code, 2);
  assert.match(
    folder.stderr,
    /^error PZ0330: connection 'raw' can't be used: There is no folder ".*data" \(connections\.yml:1:1\)/m,
  );
  assert.match(folder.stderr, /^error PZ0330: connection 'lake' can't be used: .*"[^"]*project\.yml" is no folder/m);
  assert.equal((await cli(["validate"], { cwd: join(cwd) })).code, 0);
  await Deno.mkdir(join(cwd, "data"));
  const file = await connect(cwd);
  assert.equal(file.code, 2);
  assert.match(file.stderr, /^error PZ0353: raw\.orders: There is no file ".*orders\.csv".*\(connections\.yml:5:/m);
});

Deno.test("validate --connect compares contracts with what is there, each column at its line", async () => {
  await using temp = new TempFolder();
  const cwd = await project(temp, {
    "connections.yml": `${RAW}        format: csv\n        columns:\n          id: bigint\n          amout: double\n` +
      "    sizes:\n      read:\n        format: parquet\n        columns:\n          id: bigint\n          big: int\n" +
      "          price: decimal(12,2)\n          gone: date\n",
    "data/orders.csv": "id,amount\n1,2\n",
    "pipelines/copied.sql": COPY,
    "pipelines/sized.sql": COPY.replace("'copied'", "'sized'").replace("'orders'", "'sizes'"),
  });
  await duckDb(
    `COPY (SELECT 1::INTEGER AS id, 2::BIGINT AS big, 1.5::DECIMAL(10,2) AS price) TO '${
      join(cwd, "data", "sizes.parquet")
    }'`,
  );
  const { code, stderr } = await connect(cwd);
  assert.equal(code, 2);
  assert.deepEqual(stderr.trimEnd().split("\n"), [
    "error PZ0331: column 'amout' of 'raw.orders' is declared, but is not there (connections.yml:10:11) — hint: did you mean \"amount\"?",
    "error PZ0331: column 'big' of 'raw.sizes': expected INTEGER, as declared; found BIGINT (connections.yml:16:11) — " +
    "hint: declare the type that is there, or correct the source",
    "error PZ0331: column 'gone' of 'raw.sizes' is declared, but is not there (connections.yml:18:11) — " +
    "hint: remove it, or correct the source",
  ]);
});

Deno.test("validate --connect only reads a DuckDB database", async () => {
  await using temp = new TempFolder();
  const cwd = await project(temp, {
    "connections.yml":
      "db:\n  connector: duckdb\n  path: shop.db\n  entities:\n    orders:\n      read:\n        columns:\n          id: int\n",
    "pipelines/copied.sql": COPY.replaceAll("'raw'", "'db'").replace(", format: 'csv'", ""),
  });
  await duckDb(`ATTACH '${join(cwd, "shop.db")}' AS shop; CREATE TABLE shop.orders AS SELECT 'a' AS id`);
  const before = Deno.statSync(join(cwd, "shop.db")).mtime;
  const drifted = await connect(cwd);
  assert.match(
    drifted.stderr,
    /^error PZ0331: .*expected INTEGER, as declared; found VARCHAR \(connections\.yml:8:11\)/,
  );
  const yaml = join(cwd, "connections.yml");
  await Deno.writeTextFile(yaml, (await Deno.readTextFile(yaml)).replace("orders", "nothing"));
  await Deno.writeTextFile(
    join(cwd, "pipelines", "copied.sql"),
    COPY.replaceAll("'raw'", "'db'").replace(", format: 'csv'", "").replace("'orders'", "'nothing'"),
  );
  const absent = await connect(cwd);
  assert.equal(absent.code, 2);
  assert.match(absent.stderr, /^error PZ0330: 'db\.nothing' can't be read: .*nothing does not exist/m);
  assert.deepEqual(Deno.statSync(join(cwd, "shop.db")).mtime, before);
});

/** What a connector's session says in place of a process. */
async function askWith(session: Partial<CheckedSession>, more: { readonly timeoutMs?: number } = {}) {
  await using temp = new TempFolder();
  const root = await project(temp, {
    "connections.yml":
      "gen:\n  connector: generate\n  api_key: hunter2-hunter2\n  entities:\n    t:\n      read:\n        columns:\n          id: bigint\n          name: int\n",
    "pipelines/p.sql": "SELECT * FROM {{ source('gen', 't') }}\n",
  });
  const loaded = await loadProject(root, { env: {}, vars: undefined });
  assert.ok(loaded.ok);
  const dag = await compileProject(loaded.value, { runId: "r", runStartedAt: "2027-03-02T06:15:00.001Z", env: {} });
  assert.ok(dag.ok);
  const { problems, notes } = await checkConnections(dag.value, {
    runId: "r",
    ...more,
    openSession: (_used, onLog) => {
      onLog("warn", "the key hunter2-hunter2 is old");
      onLog("debug", "not for people");
      return {
        check: () => Promise.resolve(),
        getSchema: () => Promise.resolve(new Schema([new Field("id", new Int32()), new Field("name", new Utf8())])),
        [Symbol.asyncDispose]: () => Promise.resolve(),
        ...session,
      };
    },
  });
  return { problems: problems.map(({ code, message, line, hint }) => [code, message, line, hint]), notes };
}

Deno.test("validate --connect compares what a connector's process says of its columns, and tells its notices", async () => {
  const { problems, notes } = await askWith({});
  assert.deepEqual(problems, [[
    "PZ0331",
    "column 'name' of 'gen.t': expected INTEGER, as declared; found VARCHAR",
    9,
    "declare the type that is there, or correct the source",
  ]]);
  assert.deepEqual(notes, ["connection 'gen': the key *** is old"]);
});

Deno.test("validate --connect tells why a system can't be reached, without secrets", async () => {
  const { problems } = await askWith({
    check: () =>
      Promise.reject(
        new ConnectorError("no user for hunter2-hunter2", { transient: false, hint: "look at hunter2-hunter2" }),
      ),
  });
  assert.deepEqual(problems, [["PZ0330", "connection 'gen' can't be used: no user for ***", 1, "look at ***"]]);
  const { problems: denied } = await askWith({
    getSchema: () =>
      Promise.reject(
        new ConnectorError("x", { transient: false, denied: { permission: "net", target: "db:5432" } }),
      ),
  });
  assert.deepEqual(denied, [[
    "PZ0740",
    "the columns of 'gen.t' can't be fetched: its connector was denied net access to 'db:5432'",
    5,
    "pz plan prints what each connection may touch",
  ]]);
});

Deno.test("validate --connect waits no longer than its time for a system that says nothing", async () => {
  const { problems } = await askWith({
    check: (signal) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true })),
  }, { timeoutMs: 20 });
  assert.deepEqual(problems, [[
    "PZ0330",
    "connection 'gen' can't be used: no answer within 0.02 s",
    1,
    "see that the system can be reached",
  ]]);
});
