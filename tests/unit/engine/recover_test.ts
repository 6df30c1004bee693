import assert from "node:assert/strict";
import { join } from "node:path";
import { recoverTargets } from "../../../src/engine/recover.ts";
import { acquireRunLock, runPaths } from "../../../src/state/mod.ts";
import { listFiles, TempDir, writeFiles } from "../../harness/temp_dir.ts";

const NOW = "20270302T061500001Z-9f3c";
const DEAD = "20270301T061500001Z-0001";
const OLDER = "20270228T061500001Z-ffff";
const STRANGER = "20270227T061500001Z-aaaa";

function moveOf(root: string, run = NOW) {
  return { from: join(root, "out", `.t.${run}-1.tmp`), to: join(root, "out", "t") };
}

async function project(root: string, files: { [path: string]: string }): Promise<void> {
  await writeFiles(root, files);
  for (const run of [NOW, DEAD, OLDER]) Deno.mkdirSync(runPaths(root, run).folder, { recursive: true });
}

async function outFiles(root: string): Promise<string[]> {
  return (await listFiles(root)).filter((path) => path.startsWith("out/"));
}

Deno.test("the folder that was put aside last comes back, and other leftovers of died runs go", async () => {
  await using folder = await TempDir.create();
  await project(folder.path, {
    [`out/.t.${DEAD}-2.tmp/new`]: "",
    [`out/.t.${DEAD}-2.tmp.old/last`]: "",
    [`out/.t.${OLDER}-1.tmp.old/before`]: "",
    [`out/.t.${OLDER}-1.tmp.old.trash/half`]: "",
  });
  await recoverTargets(folder.path, NOW, [moveOf(folder.path)]);
  assert.deepEqual(await outFiles(folder.path), ["out/t/last"]);
});

Deno.test("what has its name is never replaced by what was put aside", async () => {
  await using folder = await TempDir.create();
  await project(folder.path, { "out/t/new": "", [`out/.t.${DEAD}-1.tmp.old/last`]: "" });
  await recoverTargets(folder.path, NOW, [moveOf(folder.path)]);
  assert.deepEqual(await outFiles(folder.path), ["out/t/new"]);
});

Deno.test("what is half deleted never comes back", async () => {
  await using folder = await TempDir.create();
  await project(folder.path, { [`out/.t.${DEAD}-1.tmp.old.trash/half`]: "" });
  await recoverTargets(folder.path, NOW, [moveOf(folder.path)]);
  assert.deepEqual(await outFiles(folder.path), []);
});

Deno.test("the work of a living run, of another project and of other outputs is left alone", async () => {
  await using folder = await TempDir.create();
  const files = {
    [`out/.t.${DEAD}-1.tmp/new`]: "",
    [`out/.t.${STRANGER}-1.tmp/new`]: "",
    [`out/.tt.${OLDER}-1.tmp/new`]: "",
    [`out/.t.x.${OLDER}-1.tmp/new`]: "",
    [`out/.t.${OLDER}-1.tmp.bak/new`]: "",
    "out/.t.notes": "",
  };
  await project(folder.path, files);
  using _lock = await acquireRunLock(runPaths(folder.path, DEAD).lock);
  await recoverTargets(folder.path, NOW, [moveOf(folder.path), {
    from: join(folder.path, "out", ".plain.tmp"),
    to: "x",
  }]);
  assert.deepEqual(await outFiles(folder.path), Object.keys(files).sort());
});

Deno.test("the addition of an earlier run gets its own name back, not that of this run", async () => {
  await using folder = await TempDir.create();
  await project(folder.path, { [`out/.t-ab-${DEAD}.${DEAD}-1.tmp.old/x`]: "" });
  const to = join(folder.path, "out", `t-ab-${NOW}`);
  const from = join(folder.path, "out", `.t-ab-${NOW}.${NOW}-1.tmp`);
  await recoverTargets(folder.path, NOW, [{ from, to }]);
  assert.deepEqual(await outFiles(folder.path), [`out/t-ab-${DEAD}/x`]);
});

Deno.test("a target whose folder is not there yet has nothing to repair", async () => {
  await using folder = await TempDir.create();
  await recoverTargets(folder.path, NOW, [moveOf(folder.path)]);
});
