import assert from "node:assert/strict";
import { join } from "node:path";
import { acquireRunLock, isRunLive } from "../../../src/state/mod.ts";
import { TempDir } from "../../harness/temp_dir.ts";

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
