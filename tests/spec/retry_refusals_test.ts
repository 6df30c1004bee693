import assert from "node:assert/strict";
import { runPz, startPz } from "../harness/cli.ts";
import { runIds } from "../harness/run_files.ts";
import { TempDir, writeFiles } from "../harness/temp_dir.ts";
import { blockLake, ends, runFile, tableRows, TWO_SINKS, unblockLake } from "./retry_support.ts";

const RUN = ["run", "--all", "--log-format", "json"];
const RETRY = ["retry", "--log-format", "json"];
const SLOW = `INSERT INTO {{ sink('lake', 'bad', format: 'csv', strategy: 'replace') }}\n` +
  `SELECT count(*) AS n FROM range(40000000000) r(i), (SELECT max(id) FROM {{ source('raw', 'orders', format: 'csv') }})\n`;

async function refusal(cwd: string, ...args: readonly string[]): Promise<string> {
  const before = runIds(cwd);
  const result = await runPz(["retry", ...args], { cwd });
  assert.deepEqual([result.code, result.stdout], [2, ""], result.toString());
  assert.deepEqual(runIds(cwd), before);
  return result.stderr;
}

Deno.test("where there is nothing to retry the reason is told, with its code", async () => {
  await using folder = await TempDir.create();
  const cwd = folder.path;
  assert.match(await refusal(cwd), /^error PZ0101: /);
  await writeFiles(cwd, TWO_SINKS);
  assert.match(await refusal(cwd), /^error PZ0502: there is no earlier run to retry — hint: use `pz run`/);
  assert.match(await refusal(cwd, "x"), /^error PZ0502: there is no run 'x'/);
  assert.match(await refusal(cwd, "--log-format", "xml"), /^error: invalid --log-format value 'xml'/);
  assert.match(
    await refusal(cwd, "--assume-delivered", "a.b", "--redeliver", "a.b"),
    /^error: --assume-delivered and --redeliver can't both name 'a\.b'/,
  );
  blockLake(cwd);
  assert.equal((await runPz(RUN, { cwd })).code, 1);
  const receipt = runFile(cwd, 0, "run_results.json");
  const text = Deno.readTextFileSync(receipt);
  Deno.writeTextFileSync(receipt, text.replace("completed_with_failures", "fatal"));
  assert.match(await refusal(cwd), /^error PZ0504: run \S+ ended on a fatal error/);
  Deno.writeTextFileSync(receipt, text);
  Deno.removeSync(runFile(cwd, 0, "intent.json"));
  assert.match(await refusal(cwd), /^error PZ0771: run \S+ can't be retried: it is not known what it was asked to do/);
});

Deno.test("a run that lives is refused, and once it was stopped it is retried", async () => {
  for (const signal of ["SIGINT", "SIGKILL"] as const) {
    await using folder = await TempDir.create();
    const cwd = folder.path;
    await writeFiles(cwd, { ...TWO_SINKS, "pipelines/bad.sql": SLOW });
    await using running = startPz(RUN, { cwd });
    assert.ok(await running.until(({ event, name }) => event === "node_started" && name === "bad"));
    assert.match(await refusal(cwd), /^error PZ0503: run \S+ is still running \(\d node\(s\) recorded\)/);
    const start = performance.now();
    running.kill(signal);
    const stopped = await running.finish();
    assert.ok(performance.now() - start < 10_000);
    assert.deepEqual(
      [stopped.code, stopped.signal],
      signal === "SIGINT" ? [3, null] : [137, "SIGKILL"],
      stopped.toString(),
    );

    await writeFiles(cwd, { "pipelines/bad.sql": SLOW.replace("40000000000", "4") });
    const retry = await runPz(RETRY, { cwd });
    assert.equal(retry.code, 0, retry.toString());
    assert.equal(ends(retry)["src_raw__orders"], "success reused");
    assert.equal(Deno.readTextFileSync(folder.join("out/bad/bad.csv")), "n\n4\n");
    assert.deepEqual(await tableRows(cwd, "SELECT count(*) FROM made.good"), [["3"]]);
  }
});

Deno.test("an earlier run is retried by its name, and one that was retried already by its newest retry", async () => {
  await using folder = await TempDir.create();
  const cwd = folder.path;
  await writeFiles(cwd, TWO_SINKS);
  blockLake(cwd);
  assert.equal((await runPz(RUN, { cwd })).code, 1);
  unblockLake(cwd);
  assert.equal((await runPz(["run", "good"], { cwd })).code, 0);
  const [first = ""] = runIds(cwd);
  const newer = runIds(cwd).at(-1);
  const named = await runPz([...RETRY, first], { cwd });
  assert.equal(named.code, 0, named.toString());
  assert.match(named.stderr, new RegExp(`^note: run ${newer} is newer: what it wrote may be written over`, "m"));
  assert.equal(ends(named)["lake.bad"], "success");
  const again = await runPz(["retry", first], { cwd });
  const last = runIds(cwd).at(-1);
  assert.deepEqual(
    [again.code, again.stdout],
    [0, `note: run ${first} was retried already: this retries run ${last}\nnothing to retry (run ${last} succeeded)\n`],
  );
  for (const name of [`${first}/`, `./${first}`, `../runs/${first}`]) {
    assert.match(await refusal(cwd, name), /^error PZ0502: there is no run /);
    assert.equal((await runPz(["runs", "show", name], { cwd })).code, 2);
  }

  // As by a clock that was set back in between.
  const early = "20200101T000000000Z-0000";
  Deno.renameSync(folder.join(".pz/runs", last ?? ""), folder.join(".pz/runs", early));
  assert.match(
    (await runPz(["retry", first], { cwd })).stdout,
    new RegExp(`^note: run ${first} was retried already: this retries run ${early}\n`),
  );
});

Deno.test("`pz runs show` tells a run's nodes, where their results come from, and why they failed", async () => {
  await using folder = await TempDir.create();
  const cwd = folder.path;
  await writeFiles(cwd, TWO_SINKS);
  blockLake(cwd);
  assert.equal((await runPz(RUN, { cwd })).code, 1);
  unblockLake(cwd);
  assert.equal((await runPz(RETRY, { cwd })).code, 0);
  const [first = "", second = ""] = runIds(cwd);

  const failed = await runPz(["runs", "show", first], { cwd });
  assert.equal(failed.code, 0, failed.toString());
  assert.match(
    failed.stdout,
    new RegExp(`^run ${first}: completed_with_failures\nstarted .*, finished .*, duration \\d+ms\nNODE `),
  );
  assert.match(failed.stdout, /^lake\.bad +SinkWrite +failed +0 +\d+ms +1 +-\n {2}PZ0501: '.*out' is a file/m);
  const retried = await runPz(["runs", "show", second], { cwd });
  assert.match(retried.stdout, new RegExp(`^run ${second}: success, retry of ${first}\n`));
  assert.match(retried.stdout, /^base\.good +SinkWrite +success +3 +0ms +- +carried_forward$/m);
  assert.match(retried.stdout, /^src_raw__orders +SourceLoad +success +3 +0ms +- +reused$/m);

  const json = JSON.parse((await runPz(["runs", "show", "--json", second], { cwd })).stdout);
  assert.deepEqual([json.runId, json.retryOf, json.status, json.nodes.length, json.unended], [
    second,
    first,
    "success",
    4,
    [],
  ]);
  assert.deepEqual(json.nodes[0].provenance, "carried_forward");
  const listed = await runPz(["runs", "--json"], { cwd });
  assert.deepEqual(listed.events.map(({ retryOf }) => retryOf), [first, undefined]);
  const none = await runPz(["runs", "show", "nope"], { cwd });
  assert.deepEqual([none.code, none.stdout], [2, ""]);
  assert.match(none.stderr, /^error PZ0502: there is no run 'nope'/);
});
