import assert from "node:assert/strict";
import { runPz } from "../harness/cli.ts";
import { Duck } from "../harness/duck.ts";
import { problemsOfStream } from "../harness/events.ts";
import { readReceipt, runIds } from "../harness/run_files.ts";
import { listFiles, TempDir } from "../harness/temp_dir.ts";

Deno.test("the sample project: scaffold, list, plan, run; its files hold what raw DuckDB computes", async () => {
  await using folder = await TempDir.create();
  const init = await runPz(["init", "shop", "--template", "sample"], { cwd: folder.path });
  assert.equal(init.code, 0, init.toString());
  const cwd = folder.join("shop");

  const ls = await runPz(["ls"], { cwd });
  assert.equal(ls.code, 0, ls.toString());
  assert.equal(ls.stdout.trimEnd().split("\n").length, 13, ls.toString());

  const plan = await runPz(["plan"], { cwd });
  assert.equal(plan.code, 0, plan.toString());
  assert.match(plan.stdout, /^native_scan +src_raw__orders /m);
  assert.match(plan.stdout, /^native_copy +lake\.orders_curated /m);
  assert.match(plan.stdout, /memory budget: /);
  assert.deepEqual(runIds(cwd), []);

  const bare = await runPz(["run"], { cwd });
  assert.equal(bare.code, 2, bare.toString());
  assert.match(bare.stderr, /^error PZ0215: /m);
  assert.deepEqual(runIds(cwd), []);

  const run = await runPz(["run", "--all", "--log-format", "json"], { cwd });
  assert.equal(run.code, 0, run.toString());
  assert.deepEqual(problemsOfStream(run.events), []);
  assert.equal(run.events[0]?.["nodeCount"], 12);
  assert.match(run.stderr, /run \S+: 12 succeeded, 0 failed, 0 skipped/);
  const receipt = readReceipt(cwd);
  assert.equal(receipt.status, "success");
  assert.match(receipt.finishedAt ?? "", /^\d{4}-\d{2}-\d{2}T/);

  using duck = await Duck.open();
  const raw = (entity: string) => `read_csv('${cwd}/data/${entity}.csv', header = true)`;
  assert.deepEqual(await duck.rows(`SELECT count(*) FROM ${raw("orders")}`), [["5"]]);
  const curated = `'${cwd}/out/orders_curated/orders_curated.parquet'`;
  assert.deepEqual(await duck.rows(`SELECT count(*), count(DISTINCT id) FROM ${curated}`), [["3", "3"]]);
  const files = (await listFiles(cwd)).filter((path) => path.startsWith("out/"));
  assert.deepEqual(files.filter((path) => !/^out\/(\w+)\/\1\.(csv|parquet)$/.test(path)), []);
  assert.equal(files.length, 3);
});

Deno.test("text output is one line for each node and a summary, without colour", async () => {
  await using folder = await TempDir.create();
  await runPz(["init", "shop", "--template", "sample"], { cwd: folder.path });
  const cwd = folder.join("shop");

  const run = await runPz(["run", "--all"], { cwd });

  assert.equal(run.code, 0, run.toString());
  const lines = run.stdout.trimEnd().split("\n");
  const nodes = lines.filter((line) => /^ok [\w.]+ \d+ rows \d+ms$/.test(line));
  assert.equal(nodes.length, 12, run.toString());
  assert.match(
    run.stdout,
    /^run \d{8}T\d{9}Z-[0-9a-f]{4}: 12 succeeded, 0 failed, 0 skipped \(.*run_results\.json\)$/m,
  );
  assert.ok(!(run.stdout + run.stderr).includes("\u001b"), "an escape sequence");

  const runs = await runPz(["runs", "--json"], { cwd });
  assert.equal(runs.code, 0, runs.toString());
  const [summary] = runs.events;
  assert.equal(summary?.["status"], "success");
  assert.equal(summary?.["succeeded"], 12);
});
