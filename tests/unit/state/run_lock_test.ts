import assert from "node:assert/strict";
import { join } from "node:path";
import { PzError } from "../../../src/errors/mod.ts";
import { acquireRunLock, claimRunFolder, cleanRuns, isRunLive, runPaths, takeIfFree } from "../../../src/state/mod.ts";
import { TempDir } from "../../harness/temp_dir.ts";

const RUN = "20270302T061500001Z-9f3c";
const MODULE = new URL("../../../src/state/mod.ts", import.meta.url).href;

Deno.test("a missing lock file is free, and asking for it makes none", async () => {
  await using folder = await TempDir.create();
  const file = join(folder.path, ".lock");
  assert.equal(await isRunLive(file), false);
  assert.throws(() => Deno.statSync(file), Deno.errors.NotFound);
});

Deno.test("a lock is held until it is disposed, and can be taken again", async () => {
  await using folder = await TempDir.create();
  const file = join(folder.path, ".lock");
  for (let round = 0; round < 2; round++) {
    using _lock = await acquireRunLock(file);
    assert.equal(await isRunLive(file), true);
    await assert.rejects(acquireRunLock(file), { name: "PzError", code: "PZ0533" });
  }
  assert.equal(await isRunLive(file), false);
  assert.deepEqual([...Deno.readDirSync(folder.path)].map(({ name }) => name), [".lock"]);
});

Deno.test("a lock that can't be probed counts as held", async () => {
  await using folder = await TempDir.create();
  assert.equal(await isRunLive(folder.path), true);
});

Deno.test("a lock that can't be taken tells why at once, and not that somebody holds it", async () => {
  await using folder = await TempDir.create();
  const paths = { folder: folder.path, lock: join(folder.path, ".lock") };
  Deno.mkdirSync(paths.lock);
  const started = performance.now();
  for (const take of [() => acquireRunLock(paths.lock), () => takeIfFree(paths.lock), () => claimRunFolder(paths)]) {
    await assert.rejects(take, (error) => {
      assert.ok(error instanceof PzError);
      assert.equal(error.code, "PZ0531");
      assert.ok(error.message.startsWith(`the lock '${paths.lock}' of a run can't be taken: `), error.message);
      assert.match(error.hint ?? "", /right to write/);
      return true;
    });
  }
  assert.ok(performance.now() - started < 4000);
});

Deno.test("a lock file that may only be read can be probed", async () => {
  await using folder = await TempDir.create();
  const file = join(folder.path, ".lock");
  Deno.writeTextFileSync(file, "");
  Deno.chmodSync(file, 0o400);
  assert.equal(await isRunLive(file), false);
  Deno.chmodSync(file, 0o600);
});

Deno.test("asking whether a lock is held disturbs nobody who asks the same", async () => {
  await using folder = await TempDir.create();
  const file = join(folder.path, ".lock");
  Deno.writeTextFileSync(file, "");
  const answers = await Promise.all(Array.from({ length: 50 }, () => isRunLive(file)));
  assert.deepEqual(answers.filter((live) => live), []);
});

Deno.test("asking whether a run's own lock is held takes it from nobody", async () => {
  await using folder = await TempDir.create();
  const file = join(folder.path, ".lock");
  using _lock = await acquireRunLock(file);
  for (let round = 0; round < 3; round++) assert.equal(await isRunLive(file), true);
});

Deno.test("a new run's folder that is cleaned away before it is locked is made again", async () => {
  await using project = await TempDir.create();
  const paths = runPaths(project.path, RUN);
  Deno.mkdirSync(paths.folder, { recursive: true });
  const cleaner = await acquireRunLock(paths.lock);
  const claim = claimRunFolder(paths);
  assert.equal(await Promise.race([claim, Promise.resolve("not yet")]), "not yet");
  Deno.removeSync(paths.folder, { recursive: true });
  cleaner[Symbol.dispose]();
  using _lock = await claim;
  assert.equal(await isRunLive(paths.lock), true);
  assert.ok(Deno.statSync(paths.lock).isFile);
});

Deno.test("runs that begin while their folders are purged all hold a folder of theirs", async () => {
  await using project = await TempDir.create();
  const rules = { keepLast: 0, before: undefined, purge: true };
  for (let round = 0; round < 40; round++) {
    const paths = runPaths(project.path, RUN.slice(0, -4) + round.toString(16).padStart(4, "0"));
    // The first of these stands for a run that has made its folder and not come to the lock yet.
    if (round % 2 === 0) Deno.mkdirSync(paths.folder, { recursive: true });
    const purge = () => cleanRuns(project.path, rules, { dryRun: false });
    const [cleaned, lock] = await Promise.all([purge(), claimRunFolder(paths), purge()]);
    using _lock = lock;
    assert.deepEqual(cleaned.filter(({ error }) => error !== undefined), []);
    assert.equal(await isRunLive(paths.lock), true);
    assert.ok(Deno.statSync(paths.lock).isFile);
    assert.deepEqual((await purge()).map(({ action }) => action), ["skip_live"]);
  }
});

Deno.test("the lock of a process that is killed is free", async () => {
  await using folder = await TempDir.create();
  const file = join(folder.path, ".lock");
  const script = `
    import { acquireRunLock } from ${JSON.stringify(MODULE)};
    using lock = await acquireRunLock(${JSON.stringify(file)});
    console.log("held");
    await new Promise((resolve) => setTimeout(resolve, 60_000));`;
  await using child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-q", "--no-prompt", "--allow-read", "--allow-write", "--ext=ts", "-"],
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(script));
  await writer.close();
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  assert.equal(new TextDecoder().decode(value), "held\n");

  assert.equal(await isRunLive(file), true);
  child.kill("SIGKILL");
  await child.status;
  assert.equal((await reader.read()).done, true);

  assert.equal(await isRunLive(file), false);
});
