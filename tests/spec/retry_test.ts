import assert from "node:assert/strict";
import { runPz } from "../harness/cli.ts";
import { readReceipt, runIds } from "../harness/run_files.ts";
import { TempDir, writeFiles } from "../harness/temp_dir.ts";
import { blockLake, ends, forget, runFile, sinkSql, tableRows, TWO_SINKS, unblockLake } from "./retry_support.ts";

const RUN = ["run", "--all", "--log-format", "json"];
const RETRY = ["retry", "--log-format", "json"];

/** A project whose output `lake.bad` has failed, and `base.good` not. */
async function failedRun(more: { readonly [path: string]: string } = {}): Promise<TempDir> {
  const folder = await TempDir.create();
  await writeFiles(folder.path, { ...TWO_SINKS, ...more });
  blockLake(folder.path);
  const run = await runPz(RUN, { cwd: folder.path });
  assert.equal(run.code, 1, run.toString());
  return folder;
}

Deno.test("a retry takes over the source, carries the output that was done and writes the one that failed", async () => {
  await using folder = await failedRun();
  const cwd = folder.path;
  // What is staged counts, not what the source has become.
  Deno.removeSync(folder.join("raw/orders.csv"));
  Deno.writeTextFileSync(folder.join("raw/orders.csv"), "id,amount\n9,90\n");
  unblockLake(cwd);

  const retry = await runPz(RETRY, { cwd });

  assert.equal(retry.code, 0, retry.toString());
  assert.deepEqual(ends(retry), {
    bad: "success",
    "base.good": "success carried_forward",
    "lake.bad": "success",
    src_raw__orders: "success reused",
  });
  const [first = "", second = ""] = runIds(cwd);
  assert.deepEqual(
    retry.events.slice(0, 2).map(({ event, runId, nodeCount, name }) => [event, runId, nodeCount ?? name]),
    [
      ["run_started", second, 3],
      ["node_completed", second, "base.good"],
    ],
  );
  assert.equal(retry.events.at(-1)?.["succeeded"], 4);
  assert.match(retry.stderr, new RegExp(`^note: reusing staged data for 1 source load\\(s\\) from run ${first}$`, "m"));
  assert.match(
    retry.stderr,
    new RegExp(`^note: carrying forward 1 committed sink write\\(s\\) from run ${first}$`, "m"),
  );
  assert.equal(Deno.readTextFileSync(folder.join("out/bad/bad.csv")), "id,amount\n1,10\n2,20\n3,30\n");
  assert.deepEqual(await tableRows(cwd, "SELECT count(*), sum(id) FROM made.good"), [["3", "6"]]);
  const receipt: unknown = readReceipt(cwd);
  assert.deepEqual(Reflect.get(Object(receipt), "retryOf"), first);

  const again = await runPz(["retry"], { cwd });
  assert.deepEqual([again.code, again.stdout], [0, `nothing to retry (run ${second} succeeded)\n`]);
  assert.equal(runIds(cwd).length, 2);
});

Deno.test("a retry of a retry takes over what the first one did", async () => {
  await using folder = await failedRun();
  const cwd = folder.path;
  Deno.removeSync(folder.join("raw/orders.csv"));
  Deno.writeTextFileSync(folder.join("raw/orders.csv"), "id,amount\n9,90\n");

  for (let times = 0; times < 2; times++) {
    const failed = await runPz(RETRY, { cwd });
    assert.equal(failed.code, 1, failed.toString());
    assert.deepEqual(ends(failed), {
      bad: "success",
      "base.good": "success carried_forward",
      "lake.bad": "failed",
      src_raw__orders: "success reused",
    });
  }
  // Of the runs before, the newest is enough.
  for (const id of runIds(cwd).slice(0, -1)) Deno.removeSync(folder.join(".pz/runs", id), { recursive: true });
  unblockLake(cwd);
  const retry = await runPz(RETRY, { cwd });

  assert.equal(retry.code, 0, retry.toString());
  assert.deepEqual([ends(retry)["base.good"], ends(retry)["src_raw__orders"]], [
    "success carried_forward",
    "success reused",
  ]);
  assert.deepEqual(await tableRows(cwd, "SELECT count(*) FROM made.good"), [["3"]]);
});

Deno.test("without the staged data everything before the failed output is read anew, and nothing is appended twice", async () => {
  await using folder = await failedRun();
  const cwd = folder.path;
  Deno.removeSync(runFile(cwd, 0, "staging.duckdb"));
  unblockLake(cwd);

  const retry = await runPz(RETRY, { cwd });

  assert.equal(retry.code, 0, retry.toString());
  assert.deepEqual(ends(retry), { bad: "success", "lake.bad": "success", src_raw__orders: "success" });
  assert.match(
    retry.stderr,
    /^note: the staged data of run \S+ is not used: it has been deleted; 1 source load\(s\) read anew$/m,
  );
  assert.match(
    retry.stderr,
    /^note: 'base\.good' was appended by run \S+ and is not appended again, .*--redeliver base\.good/m,
  );
  assert.deepEqual(await tableRows(cwd, "SELECT count(*) FROM made.good"), [["3"]]);
});

Deno.test("a broken staging database, and --full-refresh, mean the same", async () => {
  for (const how of ["broken", "refresh"]) {
    await using folder = await failedRun();
    const cwd = folder.path;
    if (how === "broken") Deno.writeTextFileSync(runFile(cwd, 0, "staging.duckdb"), "no database");
    unblockLake(cwd);
    const retry = await runPz(how === "broken" ? RETRY : [...RETRY, "--full-refresh"], { cwd });
    assert.equal(retry.code, 0, retry.toString());
    assert.equal(ends(retry)["src_raw__orders"], "success");
    assert.match(
      retry.stderr,
      how === "broken" ? /is not used: it can't be read: / : /is not used: --full-refresh was given/,
    );
    assert.equal(Deno.readTextFileSync(folder.join("out/bad/bad.csv")), "id,amount\n1,10\n2,20\n3,30\n");
  }
});

Deno.test("--redeliver appends once more", async () => {
  await using folder = await failedRun();
  const cwd = folder.path;
  unblockLake(cwd);
  const wrong = await runPz(["retry", "--redeliver", "base.goood"], { cwd });
  assert.equal(wrong.code, 2, wrong.toString());
  assert.match(wrong.stderr, /^error PZ0210: no output is named 'base\.goood' — hint: did you mean 'base\.good'\?/);
  assert.equal(runIds(cwd).length, 1);
  const retry = await runPz([...RETRY, "--redeliver", "base.good"], { cwd });
  assert.equal(retry.code, 0, retry.toString());
  assert.equal(ends(retry)["base.good"], "success");
  assert.deepEqual(await tableRows(cwd, "SELECT count(*) FROM made.good"), [["6"]]);
});

Deno.test("a changed pipeline runs anew with what hangs on it, and the retry says so", async () => {
  await using folder = await failedRun({ "pipelines/good.sql": sinkSql("base", "good", "replace") });
  const cwd = folder.path;
  unblockLake(cwd);
  await writeFiles(cwd, { "pipelines/good.sql": sinkSql("base", "good", "replace", "", "id, amount + 1 AS amount") });

  const retry = await runPz(RETRY, { cwd });

  assert.equal(retry.code, 0, retry.toString());
  assert.deepEqual(ends(retry), {
    bad: "success",
    "base.good": "success",
    good: "success",
    "lake.bad": "success",
    src_raw__orders: "success reused",
  });
  assert.match(retry.stderr, /^note: 'good' changed since run \S+: it runs anew, with what hangs on it$/m);
  assert.deepEqual(await tableRows(cwd, "SELECT amount FROM made.good ORDER BY id"), [["11"], ["21"], ["31"]]);
});

Deno.test("a pipeline that failed and was corrected runs", async () => {
  await using folder = await TempDir.create();
  const cwd = folder.path;
  const of = (expression: string) => ({
    "pipelines/bad.sql": sinkSql("lake", "bad", "replace", ", format: 'csv'", expression),
  });
  await writeFiles(cwd, { ...TWO_SINKS, ...of("CAST('x' || id AS INTEGER) AS x") });
  assert.equal((await runPz(RUN, { cwd })).code, 1);
  await writeFiles(cwd, of("id + 0 AS x"));
  const retry = await runPz(RETRY, { cwd });
  assert.equal(retry.code, 0, retry.toString());
  assert.deepEqual(ends(retry), {
    bad: "success",
    "base.good": "success carried_forward",
    "lake.bad": "success",
    src_raw__orders: "success reused",
  });
  assert.match(retry.stderr, /^note: 'bad' changed since run/m);
});

Deno.test("an output whose pipeline gives other rows now is written again, one with the same rows is not", async () => {
  const shared = { "pipelines/p.sql": `SELECT id, amount FROM {{ source('raw', 'orders', format: 'csv') }}\n` };
  const from = (sink: string) => `INSERT INTO ${sink}\nSELECT * FROM {{ ref('p') }}\n`;
  for (const how of ["same", "other"]) {
    await using folder = await failedRun({
      ...shared,
      ...(how === "other"
        ? { "pipelines/p.sql": shared["pipelines/p.sql"].replace("amount", "random() AS amount") }
        : {}),
      "pipelines/good.sql": from(
        `[{{ sink('base', 'good', strategy: 'replace') }}, {{ sink('lake', 'bad', format: 'csv', strategy: 'replace') }}]`,
      ),
      "pipelines/bad.sql": from(`{{ sink('base', 'more', strategy: 'append') }}`),
    });
    const cwd = folder.path;
    unblockLake(cwd);
    const retry = await runPz(RETRY, { cwd });
    assert.equal(retry.code, 0, retry.toString());
    assert.equal(ends(retry)["base.good"], how === "same" ? "success carried_forward" : "success", retry.toString());
    assert.equal(ends(retry)["base.more"], "success carried_forward");
    assert.deepEqual(await tableRows(cwd, "SELECT count(*) FROM made.more"), [["3"]]);
  }
});

Deno.test("a retry repeats selection and variables, with today's project", async () => {
  await using folder = await TempDir.create();
  const cwd = folder.path;
  await writeFiles(cwd, {
    ...TWO_SINKS,
    "project.yml": `name: again\nversion: "1"\nvars: { add: 0, twice: 1 }\n`,
    "pipelines/bad.sql": sinkSql(
      "lake",
      "bad",
      "replace",
      ", format: 'csv'",
      "id * {{ var('twice') }} + {{ var('add') }} AS x",
    ),
  });
  blockLake(cwd);
  const run = await runPz(["run", "bad", "--vars", `{"add": 100}`], { cwd });
  assert.equal(run.code, 1, run.toString());
  unblockLake(cwd);
  await writeFiles(cwd, { "project.yml": `name: again\nversion: "1"\nvars: { add: 0, twice: 2 }\n` });
  const retry = await runPz(RETRY, { cwd });
  assert.equal(retry.code, 0, retry.toString());
  assert.deepEqual(Object.keys(ends(retry)), ["bad", "lake.bad", "src_raw__orders"]);
  assert.equal(Deno.readTextFileSync(folder.join("out/bad/bad.csv")), "x\n102\n104\n106\n");
});

Deno.test("checks are retried as checks, and no output with them", async () => {
  await using folder = await TempDir.create();
  const cwd = folder.path;
  const check = (min: number) => ({
    "pipelines/configs/bad.yml": `pipeline: bad\nchecks:\n  - row_count: { min: ${min} }\n  - not_null: [id]\n`,
  });
  await writeFiles(cwd, { ...TWO_SINKS, ...check(5) });
  const failed = await runPz(["test", "--log-format", "json"], { cwd });
  assert.equal(failed.code, 1, failed.toString());
  await writeFiles(cwd, check(1));
  const retry = await runPz(RETRY, { cwd });
  assert.equal(retry.code, 0, retry.toString());
  assert.equal(Object.keys(ends(retry)).some((name) => name === "lake.bad" || name === "base.good"), false);
  assert.equal(ends(retry)["src_raw__orders"], "success reused");
});

Deno.test("an append without a known end is looked up at its target, or left to the user's word", async () => {
  for (const args of [[], ["--assume-delivered", "base.good"]]) {
    await using folder = await failedRun();
    const cwd = folder.path;
    unblockLake(cwd);
    forget(cwd, "base.good");
    const shown = await runPz(["runs", "show", runIds(cwd)[0] ?? ""], { cwd });
    assert.match(shown.stdout, /^base\.good +SinkWrite +unknown +- +- +1 +-$/m);

    const retry = await runPz([...RETRY, ...args], { cwd });

    assert.equal(retry.code, 0, retry.toString());
    assert.equal(ends(retry)["base.good"], args.length === 0 ? "success" : "success carried_forward");
    assert.deepEqual(await tableRows(cwd, "SELECT count(*) FROM made.good"), [["3"]]);
    if (args.length === 0) {
      assert.match(
        retry.stderr,
        /^note: run \S+ may have appended to 'base\.good': what has landed is not appended again$/m,
      );
    }
  }
});

Deno.test("of two retries of one run at the same time one is refused, and nothing is appended twice", async () => {
  await using folder = await failedRun();
  const cwd = folder.path;
  unblockLake(cwd);
  const results = await Promise.all([0, 1].map(() => runPz([...RETRY, "--redeliver", "base.good"], { cwd })));
  const codes = results.map(({ code }) => code).sort();
  // The second may also come when the first has ended.
  assert.ok(codes.join() === "0,2" || results.some(({ stderr }) => /nothing to retry/.test(stderr)), results.join());
  if (codes[1] === 2) assert.match(results.find(({ code }) => code === 2)?.stderr ?? "", /^error PZ0503: /m);
  assert.deepEqual(await tableRows(cwd, "SELECT count(*) FROM made.good"), [["6"]]);
});

Deno.test("appends are not done twice where their connection's settings have changed and lead to the same place", async () => {
  await using folder = await failedRun({
    "connections.yml": `${TWO_SINKS["connections.yml"]}files:\n  connector: localfiles\n  root: files\n`,
    "pipelines/filed.sql": sinkSql("files", "filed", "append", ", format: 'csv'"),
  });
  const cwd = folder.path;
  const rows = async () => [
    ...await tableRows(cwd, "SELECT count(*), count(DISTINCT id) FROM made.good"),
    ...await tableRows(cwd, `SELECT count(*), count(DISTINCT id) FROM '${folder.join("files")}/**/*.csv'`),
  ];
  assert.deepEqual(await rows(), [["3", "3"], ["3", "3"]]);
  unblockLake(cwd);
  const connections = Deno.readTextFileSync(folder.join("connections.yml"));
  Deno.writeTextFileSync(
    folder.join("connections.yml"),
    connections.replace("path: base.duckdb", "path: ./base.duckdb").replace(
      "root: files",
      `root: ${folder.join("files")}`,
    ),
  );

  const retry = await runPz(RETRY, { cwd });

  assert.equal(retry.code, 0, retry.toString());
  assert.deepEqual(await rows(), [["3", "3"], ["3", "3"]]);
  assert.match(
    retry.stderr,
    /^note: run \S+ may have appended to 'base\.good': what has landed is not appended again$/m,
  );
});
