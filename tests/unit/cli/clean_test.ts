import assert from "node:assert/strict";
import { join } from "node:path";
import { acquireRunLock, planCleaning, type RunFolder, runPaths } from "../../../src/state/mod.ts";
import { cli, TempFolder } from "./test_io.ts";

const IDS = ["20270302T061500001Z-9f3c", "20270301T061500001Z-0001", "20270228T061500001Z-ffff"] as const;

function folder(change: Partial<RunFolder>): RunFolder {
  return { id: IDS[0], live: false, hasStaging: true, startedAt: 0, ...change };
}

Deno.test("a live run is never touched, the newest are kept, the rest lose their staging or go", () => {
  const runs = [folder({}), folder({ live: true }), folder({}), folder({ hasStaging: false })];
  const actions = (purge: boolean, keepLast: number) =>
    planCleaning(runs, { keepLast, before: undefined, purge }).map(([, action]) => action);
  assert.deepEqual(actions(false, 1), ["keep", "skip_live", "delete_staging", "keep"]);
  assert.deepEqual(actions(true, 1), ["keep", "skip_live", "delete_folder", "delete_folder"]);
  assert.deepEqual(actions(false, 0), ["delete_staging", "skip_live", "delete_staging", "keep"]);
});

Deno.test("with an age only older runs go, and the newest stays whatever its age", () => {
  const runs = [folder({ startedAt: 1 }), folder({ startedAt: 10 }), folder({ startedAt: 9 })];
  assert.deepEqual(
    planCleaning(runs, { keepLast: 1, before: 10, purge: false }).map(([, action]) => action),
    ["keep", "keep", "delete_staging"],
  );
});

async function projectWithRuns(root: string): Promise<void> {
  await Deno.writeTextFile(join(root, "project.yml"), "this: [is not a valid project\n");
  for (const id of IDS) {
    const paths = runPaths(root, id);
    await Deno.mkdir(paths.folder, { recursive: true });
    await Deno.writeTextFile(paths.staging, "x".repeat(1536));
    await Deno.writeTextFile(paths.results, "{}");
  }
  await Deno.mkdir(join(root, ".pz", "runs", "my-notes"));
}

function left(root: string): string[] {
  const runs = join(root, ".pz", "runs");
  return [...Deno.readDirSync(runs)].flatMap(({ name }) =>
    [...Deno.readDirSync(join(runs, name))].filter((entry) => !entry.name.startsWith(".")).map((entry) =>
      `${name}/${entry.name}`
    )
  ).sort();
}

Deno.test("clean deletes staging databases of all but the newest run, even in a broken project", async () => {
  await using temp = new TempFolder();
  await projectWithRuns(temp.path);
  const before = left(temp.path);
  assert.deepEqual(await cli(["clean", "--dry-run"], { cwd: temp.path }), {
    code: 0,
    stdout: "dry-run: swept   2 run(s) (staging only) — freed 3.0 KB\ndry-run: kept    1 run(s)\n",
    stderr: "",
  });
  assert.deepEqual(left(temp.path), before);
  assert.deepEqual(await cli(["clean"], { cwd: temp.path }), {
    code: 0,
    stdout: "swept   2 run(s) (staging only) — freed 3.0 KB\nkept    1 run(s)\n",
    stderr: "",
  });
  assert.deepEqual(left(temp.path), [
    `${IDS[2]}/run_results.json`,
    `${IDS[1]}/run_results.json`,
    `${IDS[0]}/run_results.json`,
    `${IDS[0]}/staging.duckdb`,
  ]);
  assert.equal((await cli(["clean"], { cwd: temp.path })).stdout, "nothing to clean\n");
});

Deno.test("clean --purge deletes whole runs, skips a live one and leaves foreign folders alone", async () => {
  await using temp = new TempFolder();
  await projectWithRuns(temp.path);
  using _lock = await acquireRunLock(runPaths(temp.path, IDS[1]).lock);
  const { code, stdout } = await cli(["clean", "--purge", "--keep-last", "0"], { cwd: temp.path });
  assert.equal(code, 0);
  assert.match(stdout, /^swept {3}2 run\(s\) \(whole directories\) — freed /);
  assert.match(stdout, new RegExp(`\nskipped ${IDS[1]} \\(live run\\)\n`));
  assert.deepEqual(left(temp.path), [`${IDS[1]}/run_results.json`, `${IDS[1]}/staging.duckdb`]);
  assert.equal((await Deno.stat(join(temp.path, ".pz", "runs", "my-notes"))).isDirectory, true);
});

Deno.test("clean that leaves no run says so, but not where it only says what would go", async () => {
  await using temp = new TempFolder();
  await projectWithRuns(temp.path);
  const args = ["clean", "--purge", "--keep-last", "0"];
  assert.doesNotMatch((await cli([...args, "--dry-run"], { cwd: temp.path })).stdout, /^note: /m);
  assert.match(
    (await cli(args, { cwd: temp.path })).stdout,
    /\nnote: no run is left: `pz runs` lists nothing until the next `pz run`\n/,
  );
});

Deno.test("clean outside a project is PZ0101", async () => {
  await using temp = new TempFolder();
  const { code, stderr } = await cli(["clean"], { cwd: temp.path });
  assert.equal(code, 2);
  assert.match(stderr, /^error PZ0101: /);
});

Deno.test("clean deletes the work of restores that died, and leaves one that lives", async () => {
  await using temp = new TempFolder();
  await projectWithRuns(temp.path);
  const tmp = join(temp.path, ".pz", "tmp");
  for (const name of ["restore-dead", "restore-live"]) {
    await Deno.mkdir(join(tmp, name), { recursive: true });
    await Deno.writeTextFile(join(tmp, name, "part"), "x".repeat(1024));
  }
  using _lock = await acquireRunLock(join(tmp, "restore-live", ".lock"));
  const { code, stdout } = await cli(["clean", "--keep-last", "9"], { cwd: temp.path });
  assert.deepEqual([code, stdout], [0, "swept   1 stale restore workdir(s) — freed 1.0 KB\n"]);
  assert.deepEqual([...Deno.readDirSync(tmp)].map(({ name }) => name), ["restore-live"]);
});
