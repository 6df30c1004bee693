import assert from "node:assert/strict";
import { join } from "node:path";
import { runPz } from "../harness/cli.ts";
import { Duck } from "../harness/duck.ts";
import { failedRun, forget, runFile, sinkSql, tableRows, unblockLake } from "./retry_support.ts";

const FILED: { readonly [path: string]: string } = {
  "connections.yml": "raw:\n  connector: localfiles\n  root: raw\nlake:\n  connector: localfiles\n  root: out\n" +
    "base:\n  connector: duckdb\n  path: base.duckdb\nfiles:\n  connector: localfiles\n  root: files\n",
  "pipelines/filed.sql": sinkSql("files", "filed", "append", ", format: 'csv'"),
};

/** Rows in the table and in the files that were appended to. */
async function appended(cwd: string): Promise<readonly (string | null)[]> {
  const [[table] = []] = await tableRows(cwd, "SELECT count(*) FROM made.good");
  using duck = await Duck.open();
  const [[files] = []] = await duck.rows(`SELECT count(*) FROM read_csv('${join(cwd, "files")}/**/*.csv')`);
  return [table ?? null, files ?? null];
}

async function replaceIn(cwd: string, path: string, from: string, to: string): Promise<void> {
  const text = await Deno.readTextFile(join(cwd, path));
  assert.ok(text.includes(from), text);
  await Deno.writeTextFile(join(cwd, path), text.replaceAll(from, to));
}

/** What a user may do to a project between a run and its retry, and what is then the name of the output of files. */
const CHANGES: {
  readonly [change: string]: { readonly output: string; readonly make: (cwd: string) => Promise<void> };
} = {
  "a pipeline of another name": {
    output: "files.filed",
    make: (cwd) => Deno.rename(join(cwd, "pipelines/filed.sql"), join(cwd, "pipelines/other.sql")),
  },
  "another option": {
    output: "files.filed",
    make: (cwd) =>
      replaceIn(cwd, "pipelines/filed.sql", "'append', format: 'csv')", "'append', format: 'csv', delimiter: ';')"),
  },
  "a connection of another name": {
    output: "disk.filed",
    make: async (cwd) => {
      await replaceIn(cwd, "connections.yml", "files:\n", "disk:\n");
      await replaceIn(cwd, "pipelines/filed.sql", "sink('files'", "sink('disk'");
    },
  },
};

for (const [change, { output, make }] of Object.entries(CHANGES)) {
  Deno.test(`an append without a known end is left to the user's word after ${change}`, async () => {
    await using folder = await failedRun(FILED);
    const cwd = folder.path;
    unblockLake(cwd);
    forget(cwd, "files.filed");
    await make(cwd);
    for (let times = 0; times < 2; times++) {
      const retry = await runPz(["retry"], { cwd });
      assert.equal(retry.code, 1, retry.toString());
      assert.match(
        retry.stderr + retry.stdout,
        new RegExp(`PZ0770: Run \\S+ may have appended to '${output}', which is declared otherwise now`),
      );
      assert.deepEqual(await appended(cwd), ["3", "3"]);
    }
    const assumed = await runPz(["retry", "--assume-delivered", output], { cwd });
    assert.equal(assumed.code, 0, assumed.toString());
    assert.deepEqual(await appended(cwd), ["3", "3"]);
  });

  Deno.test(`an append that was done is not done again after ${change}`, async () => {
    await using folder = await failedRun(FILED);
    const cwd = folder.path;
    unblockLake(cwd);
    await make(cwd);
    const retry = await runPz(["retry"], { cwd });
    assert.equal(retry.code, 0, retry.toString());
    assert.deepEqual(await appended(cwd), ["3", "3"]);
    const again = await runPz(["retry", "--redeliver", output], { cwd });
    assert.equal(again.code, 0, again.toString());
    assert.deepEqual(await appended(cwd), ["3", "6"]);
  });
}

Deno.test("an append whose connection and pipeline have both changed is left to the user's word", async () => {
  await using folder = await failedRun(FILED);
  const cwd = folder.path;
  unblockLake(cwd);
  await replaceIn(cwd, "connections.yml", "root: files", `root: ${join(cwd, "files")}`);
  await Deno.rename(join(cwd, "pipelines/filed.sql"), join(cwd, "pipelines/other.sql"));
  const retry = await runPz(["retry"], { cwd });
  assert.match(retry.stderr + retry.stdout, /PZ0770: Run \S+ may have appended to 'files\.filed'/);
  assert.deepEqual(await appended(cwd), ["3", "3"]);
});

Deno.test("a file that was appended keeps the name of its first try, whatever retries come behind it", async () => {
  await using folder = await failedRun(FILED);
  const cwd = folder.path;
  forget(cwd, "files.filed");
  const second = await runPz(["retry"], { cwd });
  assert.equal(second.code, 1, second.toString());
  unblockLake(cwd);
  await replaceIn(cwd, "connections.yml", "root: files", `root: ${join(cwd, "files")}`);
  const third = await runPz(["retry"], { cwd });
  assert.equal(third.code, 0, third.toString());
  assert.deepEqual(await appended(cwd), ["3", "3"]);
});

Deno.test("a run whose files tell nothing of its writes may have appended, which its targets are asked", async () => {
  for (const journal of [undefined, "", '{"id":"fe'] as const) {
    await using folder = await failedRun(FILED);
    const cwd = folder.path;
    unblockLake(cwd);
    Deno.removeSync(runFile(cwd, 0, "run_results.json"));
    const path = runFile(cwd, 0, "journal.ndjson");
    if (journal === undefined) Deno.removeSync(path);
    else Deno.writeTextFileSync(path, journal);
    const retry = await runPz(["retry"], { cwd });
    assert.equal(retry.code, 0, retry.toString());
    assert.match(retry.stdout, /may have appended to 'files\.filed': what has landed is not appended again/);
    assert.deepEqual(await appended(cwd), ["3", "3"]);
  }
});
