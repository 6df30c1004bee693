import assert from "node:assert/strict";
import { join } from "node:path";
import { drainViews, finishOutput } from "../../../src/cli/run_views.ts";
import { runCommandLine } from "../../../src/cli/main.ts";
import { EventBus } from "../../../src/events/mod.ts";
import { Console, NdjsonRenderer } from "../../../src/render/mod.ts";
import { CollectingSink, HungSink, ThrowingSink } from "../render/byte_sinks.ts";
import { cli, TempFolder } from "./test_io.ts";

const RUN_ID = "20270302T061500001Z-8000";

async function sample(temp: TempFolder): Promise<string> {
  await cli(["init", "demo", "-t", "sample"], { cwd: temp.path });
  return join(temp.path, "demo");
}

async function edit(cwd: string, file: string, change: (text: string) => string): Promise<void> {
  const path = join(cwd, ...file.split("/"));
  await Deno.writeTextFile(path, change(await Deno.readTextFile(path)));
}

async function receipt(cwd: string): Promise<{ status: string; nodes: { name: string; status: string }[] }> {
  return JSON.parse(await Deno.readTextFile(join(cwd, ".pz", "runs", RUN_ID, "run_results.json")));
}

Deno.test("the sample has 12 nodes and all of them succeed", async () => {
  await using temp = new TempFolder();
  const cwd = await sample(temp);
  const { code, stdout, stderr } = await cli(["run", "--all"], { cwd });
  assert.equal(stderr, "");
  assert.equal(code, 0);
  const lines = stdout.trimEnd().split("\n");
  assert.match(lines[0] ?? "", /^note: duckdb limits: memory \d+\.\d\d GB, threads \d+$/);
  assert.deepEqual(lines.slice(1, -1).map((line) => line.replace(/ \d+ms$/, "")).sort(), [
    "ok check_orders_enriched_not_null_id_email 0 rows",
    "ok check_orders_enriched_unique_id 0 rows",
    "ok lake.order_totals 2 rows",
    "ok lake.orders_curated 3 rows",
    "ok lake.product_catalog 3 rows",
    "ok order_totals 2 rows",
    "ok orders_enriched 3 rows",
    "ok product_catalog 3 rows",
    "ok src_raw__customers 3 rows",
    "ok src_raw__orders 5 rows",
    "ok src_raw__products 3 rows",
    "ok stg_orders 3 rows",
  ]);
  assert.equal(
    lines.at(-1),
    `run ${RUN_ID}: 12 succeeded, 0 failed, 0 skipped (${join(".pz", "runs", RUN_ID, "run_results.json")})`,
  );
  assert.equal(
    await Deno.readTextFile(join(cwd, "out", "order_totals", "order_totals.csv")),
    "customer_id,orders,total,last_order_on\n1,2,62.40,2026-03-04\n3,1,120.00,2026-03-04\n",
  );
});

Deno.test("--vars reaches the SQL, and run leaves manifest, plan and intent", async () => {
  await using temp = new TempFolder();
  const cwd = await sample(temp);
  const vars = '{"min_amount": 100}';
  const { code, stdout } = await cli(["run", "order_totals", "--vars", vars], { cwd });
  assert.equal(code, 0);
  assert.match(stdout, /^ok stg_orders 1 rows/m);
  assert.match(stdout, /: 4 succeeded, 0 failed, 0 skipped /);
  for (const file of ["manifest.json", "plan.json"]) {
    assert.ok(JSON.parse(await Deno.readTextFile(join(cwd, ".pz", "target", file))).nodes.length >= 10);
  }
  const intent = join(cwd, ".pz", "runs", RUN_ID, "intent.json");
  assert.deepEqual(JSON.parse(await Deno.readTextFile(intent)).vars, vars);
  if (Deno.build.os !== "windows") assert.equal(((await Deno.stat(intent)).mode ?? 0) & 0o777, 0o600);
});

Deno.test("in json mode every line of stdout is an event and the rest goes to stderr", async () => {
  await using temp = new TempFolder();
  const cwd = await sample(temp);
  const { code, stdout, stderr } = await cli(["run", "--all", "--log-format", "JSON"], { cwd });
  assert.equal(code, 0);
  const events = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.equal(events[0].event, "run_started");
  assert.equal(events.at(-1).event, "run_completed");
  assert.ok(events.every((event) => event.runId === RUN_ID && /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/.test(event.at)));
  assert.equal(events.filter((event) => event.event === "node_completed").length, 12);
  assert.match(stderr, /^note: duckdb limits: .*\nrun .*: 12 succeeded, 0 failed, 0 skipped \(.*\)\n$/);
});

Deno.test("a failing node fails the run with exit 1; what hangs on it is skipped and its siblings finish", async () => {
  await using temp = new TempFolder();
  const cwd = await sample(temp);
  await edit(cwd, "pipelines/product_catalog.sql", (sql) => sql.replace("upper(title)", "CAST(title AS BIGINT)"));
  await edit(cwd, "project.yml", (yaml) => `${yaml}engine: { staging: always }\n`);
  const { code, stdout } = await cli(["run", "--all"], { cwd });
  assert.equal(code, 1);
  assert.match(stdout, /^FAIL product_catalog 0 rows \d+ms\n {2}PZ0501: .*desk lamp/m);
  assert.match(stdout, /^skip lake\.product_catalog 0 rows 0ms$/m);
  assert.match(stdout, /: 10 succeeded, 1 failed, 1 skipped /);
  const { status, nodes } = await receipt(cwd);
  assert.equal(status, "completed_with_failures");
  assert.equal(nodes.length, 12);
});

for (
  const [what, args, break_, expected] of [
    ["several flows and no choice", [], undefined, /^error PZ0215: .*\n$/],
    ["an unknown name", ["nope"], undefined, /^error PZ0210: .*'nope'.*\n$/],
    ["names with --select", ["stg_orders", "--select", "a"], undefined, /^error PZ0216: .*\n$/],
    ["unreadable --vars", ["--all", "--vars", "[1]"], undefined, /^error PZ0102: .*\n$/],
    [
      "a misspelt key",
      ["--all"],
      ["project.yml", "vars:", "var:"],
      /^error PZ0101: .*'var'.*\(project\.yml:5:1\).*'vars'.*\n$/,
    ],
    [
      "SQL over a missing column",
      ["--all"],
      ["pipelines/stg_orders.sql", "customer_id,", "customer,"],
      /^error PZ0401: .*\(pipelines\/stg_orders\.sql:2:\d+\)/,
    ],
    [
      "a misspelt connector",
      ["--all"],
      ["connections.yml", "raw:\n  connector: localfiles", "raw:\n  connector: localfile"],
      /^error PZ0701: connection 'raw' uses connector 'localfile'.*\(connections\.yml:\d+:3\) — hint: did you mean 'localfiles'\?\n$/,
    ],
    ["a connector that is not there yet", ["--all"], [
      "connections.yml",
      "raw:\n  connector: localfiles",
      "raw:\n  connector: sftp",
    ], /^error PZ0700: connection 'raw' uses connector 'sftp'.*\n$/],
  ] as const
) {
  Deno.test(`a run that is refused exits 2 and leaves nothing on the disk: ${what}`, async () => {
    await using temp = new TempFolder();
    const cwd = await sample(temp);
    if (break_ !== undefined) await edit(cwd, break_[0], (text) => text.replace(break_[1], break_[2]));
    const { code, stdout, stderr } = await cli(["run", ...args], { cwd });
    assert.equal(code, 2);
    assert.equal(stdout, "");
    assert.match(stderr, expected);
    await assert.rejects(Deno.stat(join(cwd, ".pz")), Deno.errors.NotFound);
  });
}

Deno.test("a stdout whose reader is gone changes nothing for the run", async () => {
  await using temp = new TempFolder();
  const cwd = await sample(temp);
  const stderr = new CollectingSink();
  const console = new Console({ stdout: new ThrowingSink(), stderr });
  const code = await runCommandLine(
    {
      console,
      env: {},
      cwd,
      stdoutIsTerminal: false,
      stderrIsTerminal: false,
      terminalSize: () => ({ columns: 80, rows: 24 }),
      now: () => Date.parse("2027-03-02T06:15:00.001Z"),
      random: () => 0.5,
    },
    ["run", "--all", "--log-format", "json"],
  );
  assert.equal(code, 0);
  assert.equal((await receipt(cwd)).status, "success");
  await console.flush(Infinity);
  assert.match(stderr.text, /12 succeeded/);
});

Deno.test("a tree that can't be drawn changes nothing for the run", async () => {
  await using temp = new TempFolder();
  const cwd = await sample(temp);
  const { code, stdout } = await cli(["run", "--all"], {
    cwd,
    stdoutIsTerminal: true,
    stderrIsTerminal: true,
    terminalSize: () => {
      throw new Error("no terminal");
    },
  });
  assert.equal(code, 0);
  assert.match(stdout, /^run \S+: 12 succeeded, 0 failed, 0 skipped /m);
  assert.equal((await receipt(cwd)).status, "success");
});

Deno.test("a reader of stdout that hangs is given up after its time, with a warning", async () => {
  const stdout = new HungSink();
  const stderr = new CollectingSink();
  const console = new Console({ stdout, stderr });
  const bus = new EventBus({ runId: RUN_ID, now: () => "", subscribers: [new NdjsonRenderer(console)] });
  bus.publish({ event: "run_started", projectName: "p", nodeCount: 1 });
  await drainViews(console, bus, 10);
  assert.equal(await console.flush(Infinity), true);
  assert.equal(
    stderr.text,
    "warning: renderer did not finish draining run events within 5s; remaining output dropped\n",
  );
  stdout.release();
});

Deno.test("the last lines of a run wait for their reader only for a time", async () => {
  const stderr = new HungSink();
  const console = new Console({ stdout: new CollectingSink(), stderr });
  console.err("note: nobody reads this");
  await finishOutput(console, 10);
  assert.equal(await console.flush(Infinity), true);
  stderr.release();
});

Deno.test("test runs the checks and what they need, and no sink", async () => {
  await using temp = new TempFolder();
  const cwd = await sample(temp);
  const { code, stdout } = await cli(["test"], { cwd });
  assert.equal(code, 0);
  assert.match(stdout, /: 6 succeeded, 0 failed, 0 skipped /);
  assert.doesNotMatch(stdout, /lake\./);
  await assert.rejects(Deno.stat(join(cwd, "out")), Deno.errors.NotFound);
  await edit(cwd, "data/customers.csv", (csv) => csv.replace("ada@example.com", ""));
  const failed = await cli(["test"], { cwd, now: () => Date.parse("2027-03-02T06:16:00.001Z") });
  assert.equal(failed.code, 1);
  assert.match(failed.stdout, /^FAIL check_orders_enriched_not_null_id_email 2 rows \d+ms\n {2}PZ0510: /m);
});

Deno.test("test without checks says so and runs nothing", async () => {
  await using temp = new TempFolder();
  await cli(["init", "demo"], { cwd: temp.path });
  const cwd = join(temp.path, "demo");
  assert.deepEqual(await cli(["test"], { cwd }), { code: 0, stdout: "no checks defined\n", stderr: "" });
  await assert.rejects(Deno.stat(join(cwd, ".pz")), Deno.errors.NotFound);
});

Deno.test("test runs the checks of the pipelines that are selected, and says where a selection has none", async () => {
  await using temp = new TempFolder();
  const cwd = await sample(temp);
  for (const [index, select] of ["orders_enriched", "tag:daily", "+orders_enriched", "orders_enriched+"].entries()) {
    const now = () => Date.parse("2027-03-02T06:15:00.001Z") + index * 1000;
    const { code, stdout } = await cli(["test", "--select", select], { cwd, now });
    assert.equal(code, 0, select);
    assert.match(stdout, /^ok check_orders_enriched_unique_id 0 rows/m, select);
    assert.match(stdout, /^ok check_orders_enriched_not_null_id_email 0 rows/m, select);
    assert.match(stdout, /: 6 succeeded, 0 failed, 0 skipped /, select);
  }
  const one = await cli(["test", "--select", "check_orders_enriched_unique_id"], {
    cwd,
    now: () => Date.parse("2027-03-02T06:16:00.001Z"),
  });
  assert.match(one.stdout, /: 5 succeeded, 0 failed, 0 skipped /);
  const none = { code: 0, stdout: "the selection has no checks\n", stderr: "" };
  assert.deepEqual(await cli(["test", "--select", "product_catalog+"], { cwd }), none);
  const nothing = await cli(["test", "--select", "tag:daily,product_catalog"], { cwd });
  assert.match(nothing.stdout, /^note: --select 'tag:daily,product_catalog' leaves no node: .*\n/);
  assert.match(nothing.stdout, /\nthe selection has no checks\n$/);
});

Deno.test("a DuckDB file whose folder is not there is made with it, staged and in one statement", async () => {
  await using temp = new TempFolder();
  await cli(["init", "shop", "-t", "sample"], { cwd: temp.path });
  const cwd = join(temp.path, "shop");
  for (const staging of ["auto", "always"]) {
    const file = join(cwd, staging, "deep", "shop.db");
    const connections = await Deno.readTextFile(join(cwd, "connections.yml"));
    await Deno.writeTextFile(
      join(cwd, "connections.yml"),
      `${connections}\n${staging}:\n  connector: duckdb\n  path: ${staging}/deep/shop.db\n`,
    );
    await Deno.writeTextFile(
      join(cwd, "pipelines", `${staging}.sql`),
      `INSERT INTO {{ sink('${staging}', 'products', strategy: 'replace') }}\n` +
        `SELECT * FROM {{ source('raw', 'products', format: 'csv', path: 'products.csv') }}\n`,
    );
    await Deno.remove(join(cwd, "pipelines", "product_catalog.sql")).catch(() => {});
    await Deno.writeTextFile(
      join(cwd, "project.yml"),
      `name: shop\nversion: 0.1.0\nvars: { min_amount: 10 }\nengine: { staging: ${staging} }\n`,
    );
    const { code, stdout } = await cli(["run", staging], { cwd });
    assert.equal(code, 0, stdout);
    assert.ok((await Deno.stat(file)).isFile);
    await Deno.remove(join(cwd, "pipelines", `${staging}.sql`));
  }
});
