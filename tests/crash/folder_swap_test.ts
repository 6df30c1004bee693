import assert from "node:assert/strict";
import { join } from "node:path";
import { runPz } from "../harness/cli.ts";
import { listFiles, TempDir, writeFiles } from "../harness/temp_dir.ts";
import { HAS_FAULTS, runWithFault } from "./fault_run.ts";

function runWith(value: number): string[] {
  return ["run", "--all", "--vars", JSON.stringify({ value })];
}

/** A partitioned output whose rows, and whether they can be made at all, are a variable's business. */
const PROJECT = {
  "project.yml": `name: swap\nversion: "1"\nvars: { value: 1 }\n`,
  "connections.yml": "lake:\n  connector: localfiles\n  root: out\n",
  "pipelines/t.sql": `INSERT INTO {{ sink('lake', 't', format: 'csv', strategy: 'replace', partition_by: 'k') }}\n` +
    `SELECT {{ var('value') }} AS v, range % 2 AS k,\n` +
    `  CASE WHEN {{ var('value') }} = 0 THEN error('no rows today') END AS e FROM range(4)\n`,
};

/** The values in the output by the names of their folders; undefined: there is no output. */
async function output(folder: string): Promise<string | undefined> {
  try {
    const files = await listFiles(join(folder, "out", "t"));
    return files.map((file) => {
      const rows = Deno.readTextFileSync(join(folder, "out", "t", file)).trimEnd().split("\n").slice(1);
      return `${file.replace(/\/.*/, "")}: ${rows.map((row) => row.split(",")[0]).join(" ")}`;
    }).sort().join("; ");
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

function namesBeside(folder: string): string[] {
  return [...Deno.readDirSync(join(folder, "out"))].map(({ name }) => name).sort();
}

/** Runs pz and kills it at a point. */
async function runAndDieAt(point: string, folder: string, args: readonly string[]): Promise<Deno.Signal | null> {
  return (await runWithFault(args, { cwd: folder, fault: `${point}:1:kill` })).signal;
}

const FIRST = "k=0: 1 1; k=1: 1 1";
const SECOND = "k=0: 2 2; k=1: 2 2";

Deno.test({
  name: "killed between putting a folder aside and naming the new one, the old folder comes back with the next run",
  ignore: !HAS_FAULTS,
  fn: async () => {
    await using folder = await TempDir.create();
    await writeFiles(folder.path, PROJECT);
    const first = await runPz(runWith(1), { cwd: folder.path });
    assert.deepEqual([first.code, await output(folder.path)], [0, FIRST], first.toString());

    assert.equal(await runAndDieAt("folder_put_aside", folder.path, runWith(2)), "SIGKILL");
    assert.equal(await output(folder.path), undefined);

    // Even a run whose sink is never reached gives the old data its name back, and takes away what was half done.
    const failing = await runPz(runWith(0), { cwd: folder.path });
    assert.equal(failing.code, 1, failing.toString());
    assert.equal(await output(folder.path), FIRST);
    assert.deepEqual(namesBeside(folder.path), ["t"]);

    const second = await runPz(runWith(2), { cwd: folder.path });
    assert.deepEqual([second.code, await output(folder.path)], [0, SECOND], second.toString());
    assert.deepEqual(namesBeside(folder.path), ["t"]);
  },
});

Deno.test({
  name: "a folder that was put aside comes back before anything is planned that reads it",
  ignore: !HAS_FAULTS,
  fn: async () => {
    await using folder = await TempDir.create();
    await writeFiles(folder.path, PROJECT);
    assert.equal((await runPz(runWith(1), { cwd: folder.path })).code, 0);
    assert.equal(await runAndDieAt("folder_put_aside", folder.path, runWith(2)), "SIGKILL");
    await writeFiles(folder.path, {
      "connections.yml": "lake:\n  connector: localfiles\n  root: out\n" +
        "past:\n  connector: localfiles\n  root: out\n  entities:\n    t:\n      read:\n" +
        "        path: t/*/*.csv\n        format: csv\n",
      "pipelines/past_rows.sql": `INSERT INTO {{ sink('lake', 'past_rows', format: 'csv', strategy: 'replace') }}\n` +
        `SELECT count(*) AS n FROM {{ source('past', 't') }}\n`,
    });

    const next = await runPz(["run", "past_rows"], { cwd: folder.path });

    assert.equal(next.code, 0, next.toString());
    assert.equal(await output(folder.path), FIRST);
    assert.equal(Deno.readTextFileSync(folder.join("out", "past_rows", "past_rows.csv")).trim(), "n\n4");
  },
});

Deno.test({
  name: "killed when the new folder has its name, the new one stays and the old one goes with the next run",
  ignore: !HAS_FAULTS,
  fn: async () => {
    await using folder = await TempDir.create();
    await writeFiles(folder.path, PROJECT);
    assert.equal((await runPz(runWith(1), { cwd: folder.path })).code, 0);
    assert.equal(await runAndDieAt("folder_in_place", folder.path, runWith(2)), "SIGKILL");
    assert.equal(await output(folder.path), SECOND);

    assert.equal((await runPz(runWith(0), { cwd: folder.path })).code, 1);
    assert.equal(await output(folder.path), SECOND);
    assert.deepEqual(namesBeside(folder.path), ["t"]);
  },
});
