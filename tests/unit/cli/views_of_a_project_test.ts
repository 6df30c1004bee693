import assert from "node:assert/strict";
import { join } from "node:path";
import { cli, TempFolder } from "./test_io.ts";

async function sample(temp: TempFolder): Promise<string> {
  await cli(["init", "demo", "-t", "sample"], { cwd: temp.path });
  return join(temp.path, "demo");
}

Deno.test("ls lists the nodes in the order in which they would run, and writes nothing", async () => {
  await using temp = new TempFolder();
  const cwd = await sample(temp);
  const { code, stdout } = await cli(["ls"], { cwd });
  assert.equal(code, 0);
  const pad = (kind: string, name: string, tags = "-") => `${kind.padEnd(11)} ${name.padEnd(40)} ${tags}`;
  assert.deepEqual(stdout.trimEnd().split("\n"), [
    pad("kind", "name", "tags"),
    pad("source_load", "src_raw__customers"),
    pad("source_load", "src_raw__orders"),
    pad("source_load", "src_raw__products"),
    pad("pipeline", "product_catalog"),
    pad("pipeline", "stg_orders"),
    pad("pipeline", "order_totals"),
    pad("pipeline", "orders_enriched", "daily"),
    pad("check", "check_orders_enriched_not_null_id_email"),
    pad("check", "check_orders_enriched_unique_id"),
    pad("sink_write", "lake.order_totals"),
    pad("sink_write", "lake.orders_curated"),
    pad("sink_write", "lake.product_catalog"),
  ]);
  await assert.rejects(Deno.stat(join(cwd, ".pz")), Deno.errors.NotFound);
  const daily = await cli(["ls", "--select", "tag:daily+"], { cwd });
  assert.equal(daily.stdout.trimEnd().split("\n").length, 1 + 4);
});

Deno.test("plan shows every node but checks, memory, limits and grants, and leaves plan.json", async () => {
  await using temp = new TempFolder();
  const cwd = await sample(temp);
  const { code, stdout, stderr } = await cli(["plan"], { cwd });
  assert.equal(stderr, "");
  assert.equal(code, 0);
  const lines = stdout.trimEnd().split("\n");
  assert.equal(lines[0], "strategy      node                     reason");
  assert.deepEqual(lines.slice(1, 11).map((line) => line.split(/ +/).slice(0, 2).join(" ")), [
    "native_scan src_raw__customers",
    "native_scan src_raw__orders",
    "native_scan src_raw__products",
    "duck_sql product_catalog",
    "duck_sql stg_orders",
    "duck_sql order_totals",
    "duck_sql orders_enriched",
    "native_copy lake.order_totals",
    "native_copy lake.orders_curated",
    "native_copy lake.product_catalog",
  ]);
  assert.match(stdout, /^memory budget: ~\d+\.\d\d GB \(duckdb .* \+ channels \d+\.\d\d GB \+ overhead 256MB\)$/m);
  assert.match(stdout, /^duckdb limits: memory \d+\.\d\d GB, threads \d+$/m);
  assert.ok(
    lines.includes(`grant: raw (localfiles) read ${join(cwd, "data")}`) ||
      lines.some((line) => line.startsWith(`grant: raw (localfiles) read ${join(cwd, "data")};`)),
  );
  assert.equal(JSON.parse(await Deno.readTextFile(join(cwd, ".pz", "target", "plan.json"))).version, 1);
});

Deno.test("plan of a selection shows only its nodes and says that plan.json has all", async () => {
  await using temp = new TempFolder();
  const cwd = await sample(temp);
  const { stdout } = await cli(["plan", "product_catalog"], { cwd });
  assert.match(stdout, /^native_scan +src_raw__products/m);
  assert.doesNotMatch(stdout, /^native_scan +src_raw__orders/m);
  assert.match(stdout, /^note: .*plan\.json covers the whole project$/m);
  assert.ok(JSON.parse(await Deno.readTextFile(join(cwd, ".pz", "target", "plan.json"))).nodes.length >= 10);
});

Deno.test("plan prints what the project says about retries and concurrency", async () => {
  await using temp = new TempFolder();
  const cwd = await sample(temp);
  const file = join(cwd, "connections.yml");
  const yaml = (await Deno.readTextFile(file))
    .replace(
      "  root: data\n",
      "  root: data\n  max_concurrency: 2\n  retry: { max_attempts: 5, base_delay: 90s, max_delay: 2m }\n",
    )
    .replace("        strategy: replace\n", "        strategy: replace\n        retry: { base_delay: 1500ms }\n");
  await Deno.writeTextFile(file, yaml);
  const { code, stdout, stderr } = await cli(["plan"], { cwd });
  assert.equal(stderr, "");
  assert.equal(code, 0);
  assert.deepEqual(stdout.split("\n").filter((line) => /^(retry|max_concurrency):/.test(line)), [
    "retry: source raw max_attempts=5 base_delay=90s max_delay=2m",
    "retry: sink lake.orders_curated max_attempts=3 base_delay=1500ms max_delay=30s",
    "max_concurrency: source raw = 2",
  ]);
});

Deno.test("compile writes the graph and the SQL of the selected nodes", async () => {
  await using temp = new TempFolder();
  const cwd = await sample(temp);
  const target = join(".pz", "target");
  assert.equal((await cli(["compile"], { cwd })).stdout, `Compiled 12 nodes -> ${target}\n`);
  const sql = await Deno.readTextFile(join(cwd, target, "compiled", "order_totals.sql"));
  assert.match(sql, /^-- output: lake\.order_totals \(csv, replace\)\n/);
  assert.match(sql, /[^\n]\n$/);
  assert.equal((await cli(["compile", "--select", "stg_orders"], { cwd })).stdout, `Compiled 1 nodes -> ${target}\n`);
});

Deno.test("validate passes the sample and counts pipelines and connections", async () => {
  await using temp = new TempFolder();
  const cwd = await sample(temp);
  const { code, stdout, stderr } = await cli(["validate"], { cwd });
  assert.equal(stderr, "");
  assert.equal(code, 0);
  assert.match(stdout, /^validation passed \(4 pipelines, 2 connections checked\)$/m);
  await assert.rejects(Deno.stat(join(cwd, ".pz")), Deno.errors.NotFound);
});

Deno.test("validate only warns of data that is not there yet, and refuses an option that no connector has", async () => {
  await using temp = new TempFolder();
  const cwd = await sample(temp);
  await Deno.remove(join(cwd, "data", "orders.csv"));
  const warned = await cli(["validate"], { cwd });
  assert.equal(warned.code, 0);
  assert.match(warned.stderr, /^warning: PZ0353 .*orders/);
  const file = join(cwd, "connections.yml");
  await Deno.writeTextFile(file, (await Deno.readTextFile(file)).replace("root: out", "rot: out"));
  const refused = await cli(["validate"], { cwd });
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /^error PZ0301: .*'rot'/m);
});

Deno.test("connectors lists what this pz has, and in a project what each connection may touch", async () => {
  await using temp = new TempFolder();
  const outside = await cli(["connectors"], { cwd: temp.path });
  assert.equal(outside.code, 0);
  assert.match(outside.stdout, /^name +package +version +tiers +capabilities\n/);
  assert.match(
    outside.stdout,
    /^localfiles +pz \(builtin\) +\d+\.\d+\.\d+ +src:native\+universal snk:native\+universal .*NativeCopy,NativeScan/m,
  );
  assert.doesNotMatch(outside.stdout, /^grant:/m);
  const cwd = await sample(temp);
  const inside = (await cli(["connectors"], { cwd })).stdout;
  assert.match(inside, /^grant: lake \(localfiles\) .*out/m);
  assert.match(inside, /^grant: raw \(localfiles\) read .*; write .*\n/m);
  assert.match(
    inside,
    /\nnote: these are the most .*; a run gets what pz plan prints, and writes only where a sink\(\)/,
  );
  assert.doesNotMatch(outside.stdout, /^note:/m);
});

Deno.test("runs lists runs newest first, as text and as JSON", async () => {
  await using temp = new TempFolder();
  const cwd = await sample(temp);
  assert.equal((await cli(["runs"], { cwd })).stdout, "no runs found\n");
  for (const minute of ["15", "16"]) {
    await cli(["run", "product_catalog"], { cwd, now: () => Date.parse(`2027-03-02T06:${minute}:00.001Z`) });
  }
  const { stdout } = await cli(["runs"], { cwd });
  const [header, first, second, ...rest] = stdout.trimEnd().split("\n");
  assert.match(
    header ?? "",
    /^RUN ID {25}STATUS {20}STARTED AT {16}DURATION {4}OK {2}FAILED {2}SKIPPED {2}PROVENANCE$/,
  );
  assert.match(first ?? "", /^20270302T061600001Z-8000 +success +2027-03-02T06:16:00\.001Z +\d+ms +3 +0 +0 {2}-$/);
  assert.match(second ?? "", /^20270302T061500001Z-8000 /);
  assert.deepEqual(rest, []);
  const json = await cli(["runs", "--json", "--limit", "1"], { cwd });
  assert.deepEqual(Object.keys(JSON.parse(json.stdout)), [
    "runId",
    "status",
    "startedAt",
    "finishedAt",
    "durationMs",
    "succeeded",
    "failed",
    "skipped",
    "reused",
    "carriedForward",
    "interrupted",
  ]);
});

Deno.test("keys that the rows do not have are refused before anything runs, where they are declared", async () => {
  await using temp = new TempFolder();
  const cwd = await sample(temp);
  const yaml = `name: shop
version: 0.1.0
`;
  await Deno.writeTextFile(join(cwd, "project.yml"), yaml);
  await Deno.remove(join(cwd, "pipelines"), { recursive: true });
  await Deno.mkdir(join(cwd, "pipelines"));
  const connections = await Deno.readTextFile(join(cwd, "connections.yml"));
  await Deno.writeTextFile(
    join(cwd, "connections.yml"),
    `db:\n  connector: duckdb\n  path: shop.db\n  entities:\n    people:\n      write:\n        strategy: merge\n` +
      `        keys: [nope]\n${connections}`,
  );
  await Deno.writeTextFile(
    join(cwd, "pipelines", "people.sql"),
    "INSERT INTO {{ sink('db', 'people') }}\nSELECT 1 AS id, 'Ada' AS full_name\n",
  );
  for (const verb of ["validate", "plan", "run"]) {
    const { code, stderr } = await cli([verb], { cwd });
    assert.equal(code, 2, verb);
    assert.match(
      stderr,
      /^error PZ0401: 'keys' of output 'people' names the column 'nope', .*\(connections\.yml:8:9\) — hint: their columns are id, full_name$/m,
      verb,
    );
  }
});
