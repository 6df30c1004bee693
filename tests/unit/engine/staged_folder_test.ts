import assert from "node:assert/strict";
import { join } from "node:path";
import {
  connectionFolder,
  journalOf,
  leftoverJournals,
  openStagedFolder,
} from "../../../src/engine/executors/staged_folder.ts";
import { acquireRunLock, runPaths } from "../../../src/state/mod.ts";
import { listFiles, TempDir, writeFiles } from "../../harness/temp_dir.ts";

const NOW = "20270302T061500001Z-9f3c";
const DEAD = "20270301T061500001Z-0001";
const LIVE = "20270302T061500001Z-0002";
const NODE = { id: "n1", connection: { name: "store" } };

function contextOf(root: string, attempt: number) {
  return { run: { project: { root }, runId: NOW }, attempt };
}

Deno.test("an attempt has a folder of its own, empty, gone with all in it when it is disposed", async () => {
  await using root = await TempDir.create();
  const folder = connectionFolder(root.path, NOW, "store");
  await writeFiles(folder, { "n1-2/of-before": "", "n2-1/of-another": "" });
  {
    await using own = await openStagedFolder(contextOf(root.path, 2), NODE);
    assert.equal(own.path, join(folder, "n1-2"));
    assert.deepEqual(await listFiles(own.path), []);
    await writeFiles(own.path, { "a/b": "x" });
  }
  assert.deepEqual(await listFiles(folder), ["n2-1/of-another"]);
});

Deno.test("journals of a node's earlier attempts and of dead runs are found, those of living runs are not", async () => {
  await using root = await TempDir.create();
  const context = contextOf(root.path, 2);
  const own = await journalOf(context, NODE);
  const journals = join(connectionFolder(root.path, NOW, "store"), "journals");
  assert.equal(own, join(journals, "n1-2"));
  await writeFiles(journals, { "n1-2": "own", "n1-1": "earlier", "n10-1": "of another", "n2-1": "of another" });
  for (const run of [DEAD, LIVE]) {
    await writeFiles(connectionFolder(root.path, run, "store"), { "journals/n1-1": run, "n1-1/large.csv": "x" });
    await writeFiles(connectionFolder(root.path, run, "other"), { "journals/n1-1": run });
  }
  using _lock = await acquireRunLock(runPaths(root.path, LIVE).lock);
  const found = await leftoverJournals(context, NODE);
  assert.deepEqual(found, [join(journals, "n1-1"), join(journals, `${DEAD}-n1-1`)]);
  assert.equal(await Deno.readTextFile(join(journals, `${DEAD}-n1-1`)), DEAD);
  assert.deepEqual(await listFiles(runPaths(root.path, DEAD).files), ["other/journals/n1-1"]);
  assert.deepEqual(await listFiles(runPaths(root.path, LIVE).files), [
    "other/journals/n1-1",
    "store/journals/n1-1",
    "store/n1-1/large.csv",
  ]);
  assert.deepEqual(await leftoverJournals(contextOf(root.path, 2), { ...NODE, id: "n3" }), []);
});
