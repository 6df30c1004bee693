import assert from "node:assert/strict";
import { join } from "node:path";
import { acquireRunLock, runPaths, sweepRuns } from "../../../src/state/mod.ts";
import { TempDir } from "../../harness/temp_dir.ts";

const IDS = [1, 2, 3, 4].map((n) => `20270302T06150000${n}Z-0000`);

function makeRuns(root: string): void {
  for (const id of [...IDS, "keep me"]) {
    const paths = runPaths(root, id);
    Deno.mkdirSync(join(paths.spill, "deep"), { recursive: true });
    Deno.writeTextFileSync(join(paths.spill, "deep", "part"), "1234567");
    Deno.writeTextFileSync(paths.staging, "12345");
    Deno.writeTextFileSync(`${paths.staging}.wal`, "123");
    Deno.writeTextFileSync(paths.results, "{}");
    Deno.writeTextFileSync(paths.lock, "");
  }
}

function names(root: string, id: string): string[] {
  return [...Deno.readDirSync(runPaths(root, id).folder)].map(({ name }) => name).sort();
}

Deno.test("a sweep keeps the newest runs' staging and every run's receipt", async () => {
  await using folder = await TempDir.create();
  makeRuns(folder.path);
  assert.deepEqual(await sweepRuns(folder.path, 2), { runsSwept: 2, bytesFreed: 30, failures: 0 });
  assert.deepEqual(IDS.map((id) => names(folder.path, id).length), [2, 2, 5, 5]);
  assert.deepEqual(names(folder.path, IDS[0] ?? ""), [".lock", "run_results.json"]);
  assert.equal(names(folder.path, "keep me").length, 5);
  assert.deepEqual(await sweepRuns(folder.path, 2), { runsSwept: 0, bytesFreed: 0, failures: 0 });
});

Deno.test("a sweep leaves a live run alone", async () => {
  await using folder = await TempDir.create();
  makeRuns(folder.path);
  using _lock = await acquireRunLock(runPaths(folder.path, IDS[1] ?? "").lock);
  assert.deepEqual(await sweepRuns(folder.path, 1), { runsSwept: 2, bytesFreed: 30, failures: 0 });
  assert.deepEqual(IDS.map((id) => names(folder.path, id).length), [2, 5, 2, 5]);
});

Deno.test("a sweep counts what it can't delete and goes on", async () => {
  await using folder = await TempDir.create();
  makeRuns(folder.path);
  const script = `
    import { sweepRuns } from ${JSON.stringify(import.meta.resolve("../../../src/state/mod.ts"))};
    console.log(JSON.stringify(await sweepRuns(${JSON.stringify(folder.path)}, 1)));`;
  const denied = runPaths(folder.path, IDS[1] ?? "").staging;
  const file = join(folder.path, "sweep.ts");
  Deno.writeTextFileSync(file, script);
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-q", "--no-check", "--no-prompt", "--allow-read", "--allow-write", `--deny-write=${denied}`, file],
    stderr: "null",
  }).output();
  assert.deepEqual(JSON.parse(new TextDecoder().decode(stdout)), { runsSwept: 2, bytesFreed: 30, failures: 1 });
  assert.deepEqual(IDS.map((id) => names(folder.path, id).length), [2, 5, 2, 5]);
});

Deno.test("a project without runs has nothing to sweep", async () => {
  await using folder = await TempDir.create();
  assert.deepEqual(await sweepRuns(folder.path, 1), { runsSwept: 0, bytesFreed: 0, failures: 0 });
});

Deno.test("a sweep takes working folders that nobody holds, and counts their bytes but no run", async () => {
  await using folder = await TempDir.create();
  const tmp = folder.join(".pz", "tmp");
  for (const name of ["restore-1", "restore-2"]) {
    Deno.mkdirSync(join(tmp, name, "deep"), { recursive: true });
    Deno.writeTextFileSync(join(tmp, name, "deep", "part"), "1234567");
  }
  Deno.writeTextFileSync(join(tmp, "a file"), "stays");
  using _lock = await acquireRunLock(join(tmp, "restore-2", ".lock"));
  assert.deepEqual(await sweepRuns(folder.path, 1), { runsSwept: 0, bytesFreed: 7, failures: 0 });
  assert.deepEqual([...Deno.readDirSync(tmp)].map(({ name }) => name).sort(), ["a file", "restore-2"]);
});

Deno.test("state, compiled artifacts and packages are never swept", async () => {
  await using folder = await TempDir.create();
  makeRuns(folder.path);
  for (const name of ["state", "target", "packages"]) {
    Deno.mkdirSync(folder.join(".pz", name));
    Deno.writeTextFileSync(folder.join(".pz", name, "x"), "x");
  }
  await sweepRuns(folder.path, 1);
  for (const name of ["state", "target", "packages"]) assert.ok(Deno.statSync(folder.join(".pz", name, "x")).isFile);
});
