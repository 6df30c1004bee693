import assert from "node:assert/strict";
import { acquireRunLock, listRuns, newRunId, runPaths, startOfRunId, writeRunIntent } from "../../../src/state/mod.ts";
import { TempDir } from "../../harness/temp_dir.ts";

const OLD = "20270302T061500001Z-9f3c";
const NEW = "20270302T061500001Z-9f3d";

function node(id: string, status: string, more: object = {}): object {
  return { id, kind: "Pipeline", name: id, status, rows: 0, durationMs: 0, error: null, ...more };
}

function writeRun(root: string, runId: string, files: { receipt?: object; journal?: string }): void {
  const paths = runPaths(root, runId);
  Deno.mkdirSync(paths.folder, { recursive: true });
  Deno.writeTextFileSync(paths.lock, "");
  if (files.receipt !== undefined) Deno.writeTextFileSync(paths.results, JSON.stringify(files.receipt));
  if (files.journal !== undefined) Deno.writeTextFileSync(paths.journal, files.journal);
}

Deno.test("a project without runs has none", async () => {
  await using folder = await TempDir.create();
  assert.deepEqual(await listRuns(folder.path), []);
});

Deno.test("runs come newest first with counts, times and provenance; other folders are not runs", async () => {
  await using folder = await TempDir.create();
  const startedAt = "2027-03-02T06:15:00.001Z";
  const ended = { version: 1, status: "success", startedAt, finishedAt: "2027-03-02T06:15:02.501Z" };
  writeRun(folder.path, OLD, {
    receipt: {
      ...ended,
      nodes: [
        node("a", "success", { provenance: "reused" }),
        node("b", "success", { provenance: "carried_forward" }),
        node("c", "failed"),
        node("d", "skipped"),
      ],
    },
  });
  writeRun(folder.path, NEW, { receipt: { ...ended, status: "fatal", interrupted: true, nodes: [] } });
  writeRun(folder.path, "zzz", { receipt: { ...ended, nodes: [] } });
  const runs = await listRuns(folder.path);
  assert.deepEqual(runs.map(({ runId, status, interrupted }) => [runId, status, interrupted]), [
    [NEW, "fatal", true],
    [OLD, "success", false],
  ]);
  assert.deepEqual(runs[1], {
    runId: OLD,
    status: "success",
    interrupted: false,
    startedAt,
    finishedAt: ended.finishedAt,
    durationMs: 2500,
    succeeded: 2,
    failed: 1,
    skipped: 1,
    reused: 1,
    carriedForward: 1,
  });
});

Deno.test("a running run is running while its lock is held and interrupted once it is free", async () => {
  await using folder = await TempDir.create();
  const startedAt = "2027-03-02T06:15:00.001Z";
  const receipt = { version: 1, status: "running", startedAt, nodes: [node("a", "success")] };
  writeRun(folder.path, OLD, { receipt });
  {
    using _lock = await acquireRunLock(runPaths(folder.path, OLD).lock);
    assert.deepEqual((await listRuns(folder.path)).map((run) => [run.status, run.interrupted]), [["running", false]]);
  }
  const [run] = await listRuns(folder.path);
  assert.deepEqual([run?.status, run?.interrupted, run?.durationMs], ["interrupted", true, null]);
});

Deno.test("the journal counts before the receipt, and its torn last line does not", async () => {
  await using folder = await TempDir.create();
  const line = (id: string, status: string) => `${JSON.stringify(node(id, status))}\n`;
  writeRun(folder.path, OLD, {
    receipt: { version: 1, status: "running", nodes: [node("a", "success")] },
    journal: `${line("a", "failed")}${line("b", "success")}{"id":"c","status":"succ`,
  });
  const [run] = await listRuns(folder.path);
  assert.deepEqual([run?.succeeded, run?.failed, run?.startedAt], [1, 1, "2027-03-02T06:15:00.001Z"]);
});

Deno.test("a run whose end only the journal could take has ended all the same", async () => {
  await using folder = await TempDir.create();
  const startedAt = "2027-03-02T06:15:00.001Z";
  const end = (more: object) => `${JSON.stringify({ runId: OLD, finishedAt: "2027-03-02T06:15:01.001Z", ...more })}\n`;
  const receipt = { version: 1, status: "running", startedAt, nodes: [] };
  const a = `${JSON.stringify(node("a", "success"))}\n`;
  writeRun(folder.path, OLD, { receipt, journal: a + end({ end: "success", interrupted: false }) });
  writeRun(folder.path, NEW, { receipt, journal: a + end({ end: "fatal", interrupted: true }) });
  const facts = (await listRuns(folder.path)).map((
    run,
  ) => [run.status, run.interrupted, run.durationMs, run.succeeded]);
  assert.deepEqual(facts, [["fatal", true, 1000, 1], ["success", false, 1000, 1]]);
});

Deno.test("a torn receipt does not hide the journal, and an empty folder is no run unless it lives", async () => {
  await using folder = await TempDir.create();
  writeRun(folder.path, OLD, { journal: `${JSON.stringify(node("a", "success"))}\n` });
  Deno.writeTextFileSync(runPaths(folder.path, OLD).results, `{"version":1,`);
  writeRun(folder.path, NEW, {});
  assert.deepEqual((await listRuns(folder.path)).map((run) => [run.runId, run.status]), [[OLD, "interrupted"]]);
  using _lock = await acquireRunLock(runPaths(folder.path, NEW).lock);
  assert.deepEqual((await listRuns(folder.path)).map((run) => run.status), ["running", "interrupted"]);
});

Deno.test("a run id tells its moment", () => {
  const now = Date.UTC(2027, 2, 2, 6, 15, 0, 1);
  assert.equal(newRunId(now, 0x9f3c / 65536), OLD);
  assert.equal(startOfRunId(OLD), new Date(now).toISOString());
});

Deno.test("an intent is readable by its owner only", { ignore: Deno.build.os === "windows" }, async () => {
  await using folder = await TempDir.create();
  const path = `${folder.path}/intent.json`;
  writeRunIntent(path, { version: 1, selection: { names: ["a"], all: false }, vars: `{"x":1}`, failFast: true });
  assert.equal((Deno.statSync(path).mode ?? 0) & 0o777, 0o600);
  assert.deepEqual(JSON.parse(Deno.readTextFileSync(path)), {
    version: 1,
    selection: { names: ["a"], all: false },
    vars: `{"x":1}`,
    failFast: true,
  });
});
