import assert from "node:assert/strict";
import { runPz } from "../harness/cli.ts";
import { runIds } from "../harness/run_files.ts";
import { TempDir, writeFiles } from "../harness/temp_dir.ts";
import { blockLake, ends, runFile, sinkSql, tableRows, TWO_SINKS, unblockLake } from "./retry_support.ts";

const RETRY = ["retry", "--log-format", "json"];

async function failedRun(more: { readonly [path: string]: string } = {}): Promise<TempDir> {
  const folder = await TempDir.create();
  await writeFiles(folder.path, { ...TWO_SINKS, ...more });
  blockLake(folder.path);
  assert.equal((await runPz(["run", "--all"], { cwd: folder.path })).code, 1);
  return folder;
}

for (const how of ["its staging could not be opened", "it is not known what it was asked to do"]) {
  Deno.test(`behind a retry that did nothing, since ${how}, the run before is retried`, async () => {
    await using folder = await failedRun();
    const cwd = folder.path;
    assert.equal((await runPz(RETRY, { cwd })).code, 1);
    const receipt = runFile(cwd, 1, "run_results.json");
    const { nodes: _, ...rest } = JSON.parse(Deno.readTextFileSync(receipt));
    Deno.writeTextFileSync(receipt, JSON.stringify({ ...rest, status: "fatal", nodes: [] }));
    Deno.writeTextFileSync(runFile(cwd, 1, "journal.ndjson"), `{"journal":1}\n`);
    if (how.startsWith("it is")) Deno.removeSync(runFile(cwd, 1, "intent.json"));
    unblockLake(cwd);
    const [first = "", second = ""] = runIds(cwd);
    const retry = await runPz(RETRY, { cwd });
    assert.equal(retry.code, 0, retry.toString());
    assert.match(
      retry.stderr,
      new RegExp(`^note: run ${second} ended before it did anything: this retries run ${first}, `, "m"),
    );
    assert.deepEqual([ends(retry)["base.good"], ends(retry)["src_raw__orders"]], [
      "success carried_forward",
      "success reused",
    ]);
    assert.deepEqual(await tableRows(cwd, "SELECT count(*) FROM made.good"), [["3"]]);
    assert.match((await runPz(["retry"], { cwd })).stdout, /^nothing to retry \(run \S+ succeeded\)$/m);
  });
}

Deno.test("a retry that did something and of which it is not known what it was asked to do is not passed over", async () => {
  await using folder = await failedRun();
  const cwd = folder.path;
  assert.equal((await runPz(RETRY, { cwd })).code, 1);
  Deno.removeSync(runFile(cwd, 1, "intent.json"));
  const retry = await runPz(["retry"], { cwd });
  assert.equal(retry.code, 2, retry.toString());
  assert.match(retry.stderr, /^error PZ0771: /);
});

Deno.test("--redeliver writes an output of a run that succeeded, once unless its retry is named", async () => {
  await using folder = await TempDir.create();
  const cwd = folder.path;
  await writeFiles(cwd, TWO_SINKS);
  assert.equal((await runPz(["run", "--all"], { cwd })).code, 0);
  const rows = () => tableRows(cwd, "SELECT count(*) FROM made.good");
  const redeliver = ["--redeliver", "base.good"];
  const retry = await runPz([...RETRY, ...redeliver], { cwd });
  assert.equal(retry.code, 0, retry.toString());
  assert.equal(ends(retry)["base.good"], "success");
  assert.deepEqual(await rows(), [["6"]]);
  const [, second = ""] = runIds(cwd);
  const again = await runPz(["retry", ...redeliver], { cwd });
  assert.deepEqual([again.code, runIds(cwd).length], [0, 2], again.toString());
  assert.match(again.stdout, new RegExp(`^note: run ${second} has redelivered 'base\\.good'; .*\nnothing to retry`));
  assert.deepEqual(await rows(), [["6"]]);
  assert.equal((await runPz(["retry", second, ...redeliver], { cwd })).code, 0);
  assert.deepEqual(await rows(), [["9"]]);
});

Deno.test("of a carried output that is gone a replace is written again, and an append is told", async () => {
  await using folder = await failedRun({
    "connections.yml": `${TWO_SINKS["connections.yml"]}files:\n  connector: localfiles\n  root: files\n`,
    "pipelines/whole.sql": sinkSql("files", "whole", "replace", ", format: 'csv'"),
    "pipelines/parts.sql": sinkSql("files", "parts", "replace", ", format: 'csv', partition_by: 'id'"),
    "pipelines/added.sql": sinkSql("files", "added", "append", ", format: 'csv'"),
  });
  const cwd = folder.path;
  unblockLake(cwd);
  Deno.removeSync(folder.join("files"), { recursive: true });
  const retry = await runPz(RETRY, { cwd });
  assert.equal(retry.code, 0, retry.toString());
  assert.deepEqual(
    ["files.whole", "files.parts", "files.added", "base.good"].map((name) => ends(retry)[name]),
    ["success", "success", "success carried_forward", "success carried_forward"],
  );
  assert.ok(Deno.statSync(folder.join("files/whole/whole.csv")).isFile);
  assert.match(
    retry.stderr,
    /^note: '.*whole\.csv', which run \S+ wrote for 'files\.whole', is gone: it is written again$/m,
  );
  assert.match(
    retry.stderr,
    /^note: '.*\.csv', which run \S+ wrote for 'files\.added', is gone: .*--redeliver files\.added appends them$/m,
  );
});

Deno.test("a carried table whose database is gone is written again", async () => {
  await using folder = await failedRun({ "pipelines/good.sql": sinkSql("base", "good", "replace") });
  const cwd = folder.path;
  unblockLake(cwd);
  Deno.removeSync(folder.join("base.duckdb"));
  const retry = await runPz(RETRY, { cwd });
  assert.equal(retry.code, 0, retry.toString());
  assert.deepEqual(await tableRows(cwd, "SELECT count(*) FROM made.good"), [["3"]]);
});
