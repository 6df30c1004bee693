import assert from "node:assert/strict";
import { runPz } from "../harness/cli.ts";
import { Duck } from "../harness/duck.ts";
import { readReceipt, runIds } from "../harness/run_files.ts";
import { type Files, TempDir, writeFiles } from "../harness/temp_dir.ts";
import { blockLake, ends, forget, runFile, sinkSql, tableRows, TWO_SINKS, unblockLake } from "./retry_support.ts";

const RUN = ["run", "--all", "--log-format", "json"];
const RETRY = ["retry", "--log-format", "json"];
const CONNECTIONS = `${TWO_SINKS["connections.yml"]}files:\n  connector: localfiles\n  root: files\n`;
const FILED = "pipelines/filed.sql";
const APPENDED = sinkSql("files", "filed", "append", ", format: 'csv'");

/** A project of which a run has failed, with an append to a file that was done. */
async function failedRun(more: Files = {}): Promise<TempDir> {
  const folder = await TempDir.create();
  await writeFiles(folder.path, { ...TWO_SINKS, "connections.yml": CONNECTIONS, [FILED]: APPENDED, ...more });
  blockLake(folder.path);
  const run = await runPz(RUN, { cwd: folder.path });
  assert.equal(run.code, 1, run.toString());
  return folder;
}

/** Rows of all files below a folder of the project. */
async function filed(folder: TempDir, name = "files"): Promise<string | null | undefined> {
  using duck = await Duck.open();
  const pattern = folder.join(name, "**", "*.csv");
  return (await duck.rows(`SELECT count(*) FROM read_csv('${pattern}', header = true, union_by_name = true)`))[0]?.[0];
}

/** Code and message of a node's failure in the newest run. */
function failure(folder: TempDir, name: string): string {
  const error = readReceipt(folder.path).nodes.find((node) => node.name === name)?.error;
  return `${error?.code} ${error?.message}`;
}

type Change = { readonly name: string; readonly files: Files; readonly gone?: string };

const CHANGES: { readonly [what: string]: Change } = {
  "an option": { name: "files.filed", files: { [FILED]: APPENDED.replace("'csv'", "'csv', delimiter: ';'") } },
  "its pipeline's name": { name: "files.filed", files: { "pipelines/other.sql": APPENDED }, gone: FILED },
  "its connection's name": {
    name: "store.filed",
    files: {
      "connections.yml": CONNECTIONS.replace("files:\n", "store:\n"),
      [FILED]: APPENDED.replace("files", "store"),
    },
  },
  "its connection's name and settings": {
    name: "store.filed",
    files: {
      "connections.yml": CONNECTIONS.replace("files:\n", "store:\n").replace("root: files", "root: ./files"),
      [FILED]: APPENDED.replace("files", "store"),
    },
  },
  "its name": { name: "files.renamed", files: { [FILED]: APPENDED.replace("'filed'", "'renamed'") } },
};

for (const [what, { name, files, gone }] of Object.entries(CHANGES)) {
  Deno.test(`an append that was cut off, and of which ${what} changed then, is left to the user's word`, async () => {
    await using folder = await failedRun();
    const cwd = folder.path;
    unblockLake(cwd);
    forget(cwd, "files.filed");
    await writeFiles(cwd, files);
    if (gone !== undefined) Deno.removeSync(folder.join(gone));
    for (let times = 0; times < 2; times++) {
      const retry = await runPz(RETRY, { cwd });
      assert.equal(retry.code, 1, retry.toString());
      assert.equal(ends(retry)[name], "failed");
      assert.match(failure(folder, name), /^PZ0770 Run \S+ may have appended to '.*' as it was declared then/);
      assert.ok(failure(folder, name).includes(`pz retry --assume-delivered ${name}`));
      assert.ok(failure(folder, name).includes(`pz retry --redeliver ${name}`));
      assert.equal(await filed(folder), "3");
    }
    const decided = await runPz([...RETRY, "--assume-delivered", name], { cwd });
    assert.equal(decided.code, 0, decided.toString());
    assert.equal(await filed(folder), "3");
  });
}

Deno.test("an append that was cut off is redelivered under its new declaration, once", async () => {
  await using folder = await failedRun();
  const cwd = folder.path;
  unblockLake(cwd);
  forget(cwd, "files.filed");
  await writeFiles(cwd, CHANGES["its name"]?.files ?? {});
  const retry = await runPz([...RETRY, "--redeliver", "files.renamed"], { cwd });
  assert.equal(retry.code, 0, retry.toString());
  assert.equal(await filed(folder), "6");
  assert.doesNotMatch(retry.stderr, /what has landed is not appended again/);
});

Deno.test("an append that was cut off and is a replace now is written", async () => {
  await using folder = await failedRun();
  const cwd = folder.path;
  unblockLake(cwd);
  forget(cwd, "base.good");
  await writeFiles(cwd, { "pipelines/good.sql": sinkSql("base", "good", "replace") });
  const retry = await runPz(RETRY, { cwd });
  assert.equal(retry.code, 0, retry.toString());
  assert.deepEqual(await tableRows(cwd, "SELECT count(*) FROM made.good"), [["3"]]);
});

Deno.test("a replace that was cut off and is an append now is left to the user's word", async () => {
  await using folder = await failedRun({ "pipelines/good.sql": sinkSql("base", "good", "replace") });
  const cwd = folder.path;
  unblockLake(cwd);
  forget(cwd, "base.good");
  await writeFiles(cwd, { "pipelines/good.sql": sinkSql("base", "good", "append") });
  const retry = await runPz(RETRY, { cwd });
  assert.equal(retry.code, 1, retry.toString());
  assert.match(failure(folder, "base.good"), /^PZ0770 /);
  assert.deepEqual(await tableRows(cwd, "SELECT count(*) FROM made.good"), [["3"]]);
});

Deno.test("an append that was done stays done when its connection gets another name", async () => {
  await using folder = await failedRun();
  const cwd = folder.path;
  unblockLake(cwd);
  await writeFiles(cwd, CHANGES["its connection's name"]?.files ?? {});
  const retry = await runPz(RETRY, { cwd });
  assert.equal(retry.code, 0, retry.toString());
  assert.equal(await filed(folder), "3");
});

Deno.test("an append that was done and has another name now is appended, and that is told", async () => {
  await using folder = await failedRun();
  const cwd = folder.path;
  unblockLake(cwd);
  await writeFiles(cwd, CHANGES["its name"]?.files ?? {});
  const retry = await runPz(RETRY, { cwd });
  assert.equal(retry.code, 0, retry.toString());
  assert.match(
    retry.stderr,
    /^note: 'files\.filed' was appended by run \S+ and is gone: 'files\.renamed' is appended as another output$/m,
  );
});

Deno.test("an append that was done, whose declaration and connection's settings changed, is left to the user's word", async () => {
  await using folder = await failedRun();
  const cwd = folder.path;
  unblockLake(cwd);
  await writeFiles(cwd, {
    "connections.yml": CONNECTIONS.replace("root: files", "root: ./files"),
    ...CHANGES["an option"]?.files,
  });
  const retry = await runPz(RETRY, { cwd });
  assert.equal(retry.code, 1, retry.toString());
  assert.match(failure(folder, "files.filed"), /^PZ0770 /);
  assert.equal(await filed(folder), "3");
});

Deno.test("what an append adds keeps the name of its first try through all retries", async () => {
  await using folder = await failedRun();
  const cwd = folder.path;
  forget(cwd, "files.filed");
  const names = () => [...Deno.readDirSync(folder.join("files/filed"))].map(({ name }) => name);
  const made = names();
  assert.equal((await runPz(RETRY, { cwd })).code, 1);
  assert.deepEqual(names(), made);
  await writeFiles(cwd, { "connections.yml": CONNECTIONS.replace("root: files", "root: ./files") });
  unblockLake(cwd);
  const retry = await runPz(RETRY, { cwd });
  assert.equal(retry.code, 0, retry.toString());
  assert.deepEqual(names(), made);
});

for (const left of ["", `{"jour`, `{"journal":1}\n{"started":"12`, undefined]) {
  Deno.test(`a run without receipt and with the journal ${JSON.stringify(left)} may have appended`, async () => {
    await using folder = await failedRun();
    const cwd = folder.path;
    unblockLake(cwd);
    Deno.removeSync(runFile(cwd, 0, "run_results.json"));
    const journal = runFile(cwd, 0, "journal.ndjson");
    if (left === undefined) Deno.removeSync(journal);
    else Deno.writeTextFileSync(journal, left);
    await writeFiles(cwd, CHANGES["an option"]?.files ?? {});
    const retry = await runPz(RETRY, { cwd });
    assert.equal(retry.code, 1, retry.toString());
    assert.match(retry.stderr, /^note: records of run \S+ are lost: /m);
    // The table tells that the rows are there; a file of another layout does not.
    assert.deepEqual([ends(retry)["base.good"], ends(retry)["lake.bad"]], ["success", "success"]);
    assert.match(failure(folder, "files.filed"), /^PZ0770 /);
    assert.deepEqual(await tableRows(cwd, "SELECT count(*) FROM made.good"), [["3"]]);
    assert.equal(await filed(folder), "3");
    assert.equal(runIds(cwd).length, 2);
  });
}
