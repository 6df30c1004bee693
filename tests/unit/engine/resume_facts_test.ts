import assert from "node:assert/strict";
import { factsOf } from "../../../src/engine/resume/facts.ts";
import {
  acquireRunLock,
  type NodeFact,
  readRun,
  readRunIntent,
  runPaths,
  RunRecorder,
  writeRunIntent,
} from "../../../src/state/mod.ts";
import { TempDir } from "../../harness/temp_dir.ts";

const RUN = "20270302T061500001Z-9f3c";
const BEFORE = "20270301T061500001Z-9f3c";
const INTENT = { version: 1, selection: { names: [], all: true }, failFast: false } as const;

type Ended = {
  readonly status: "success" | "failed" | "skipped";
  readonly outcomeUnknown?: true;
  readonly strategy?: string;
};

/** What a run tells of the output `w`, which began so often and ended so, after it took over a fact. */
async function factOf(
  { began = [], ended, inherited = [] }: {
    readonly began?: readonly number[];
    readonly ended?: Ended & { readonly provenance?: "carried_forward" };
    readonly inherited?: readonly NodeFact[];
  },
): Promise<NodeFact | undefined> {
  await using folder = await TempDir.create();
  const paths = runPaths(folder.path, RUN);
  Deno.mkdirSync(paths.folder, { recursive: true });
  writeRunIntent(paths.intent, { ...INTENT, connections: { lake: "here" }, retryOf: BEFORE, inherited });
  {
    using recorder = new RunRecorder({
      runId: RUN,
      results: paths.results,
      journal: paths.journal,
      startedAt: "2027-03-02T06:15:00.001Z",
      retryOf: BEFORE,
      nodeCount: 1,
      now: () => 0,
      onWarning: (message) => assert.fail(message),
    });
    for (const attempt of began) recorder.begin({ id: "w", name: "lake.w" }, attempt);
    const node = {
      id: "w",
      kind: "SinkWrite",
      name: "lake.w",
      rows: 3,
      durationMs: 1,
      error: null,
      connection: "lake",
    };
    if (ended !== undefined) recorder.complete({ ...node, strategy: "arrow_stream", ...ended }, { durable: false });
  }
  const run = await readRun(folder.path, RUN);
  assert.equal(run?.intent?.retryOf, BEFORE);
  return run === undefined ? undefined : factsOf(run).get("w");
}

const DONE: NodeFact = {
  id: "w",
  kind: "SinkWrite",
  name: "lake.w",
  status: "success",
  done: { run: BEFORE, rows: 7, connection: "there" },
  tries: [],
};

Deno.test("a write that began and has no end keeps its tries, with those before it", async () => {
  const fact = await factOf({ began: [1, 2] });
  assert.deepEqual([fact?.status, fact?.done, fact?.tries], [
    undefined,
    undefined,
    [{ run: RUN, ordinal: 1, place: "here" }, { run: RUN, ordinal: 2, place: "here" }],
  ]);
  const open = { ...DONE, status: undefined, done: undefined, tries: [{ run: BEFORE, ordinal: 1 }] };
  assert.deepEqual((await factOf({ began: [1], inherited: [open] }))?.tries, [
    { run: BEFORE, ordinal: 1 },
    { run: RUN, ordinal: 1, place: "here" },
  ]);
  assert.deepEqual((await factOf({ inherited: [open] }))?.tries, [{ run: BEFORE, ordinal: 1 }]);
});

Deno.test("a write that succeeded has no open tries, and tells where and by which run it was done", async () => {
  const fact = await factOf({ began: [1], ended: { status: "success" } });
  assert.deepEqual([fact?.done, fact?.tries], [
    { run: RUN, rows: 3, connection: "here", tries: [{ run: RUN, ordinal: 1, place: "here" }] },
    [],
  ]);
});

Deno.test("a write that failed is known to have failed, unless its outcome is unknown or DuckDB did it", async () => {
  const triesOf = async (more: Omit<Ended, "status">) =>
    (await factOf({ began: [1], ended: { status: "failed", ...more } }))?.tries.length;
  assert.equal(await triesOf({}), 0);
  assert.equal(await triesOf({ outcomeUnknown: true }), 1);
  assert.equal(await triesOf({ strategy: "native_copy" }), 1);
});

Deno.test("what was carried forward was done by the run before, and failing later does not undo it", async () => {
  const carried = await factOf({ ended: { status: "success", provenance: "carried_forward" }, inherited: [DONE] });
  assert.deepEqual([carried?.status, carried?.done], ["success", DONE.done]);
  const failed = await factOf({ ended: { status: "failed" }, inherited: [DONE] });
  assert.deepEqual([failed?.status, failed?.done], ["failed", DONE.done]);
  assert.deepEqual(await factOf({ inherited: [DONE] }), DONE);
});

Deno.test("a run is known by its intent alone, and only then", async () => {
  await using folder = await TempDir.create();
  const paths = runPaths(folder.path, RUN);
  Deno.mkdirSync(paths.folder, { recursive: true });
  assert.equal(await readRun(folder.path, RUN), undefined);
  {
    using _lock = await acquireRunLock(paths.lock);
    assert.equal((await readRun(folder.path, RUN))?.live, true);
  }
  writeRunIntent(paths.intent, INTENT);
  const run = await readRun(folder.path, RUN);
  assert.deepEqual([run?.live, run?.summary.status, run?.nodes], [false, "interrupted", []]);
});

Deno.test("an intent that is not of this kind is none", async () => {
  await using folder = await TempDir.create();
  const path = folder.join("intent.json");
  for (const text of ["", "[]", `{"version":2,"selection":{}}`, `{"version":1}`]) {
    Deno.writeTextFileSync(path, text);
    assert.equal(await readRunIntent(path), undefined);
  }
  Deno.writeTextFileSync(path, `{"version":1,"selection":{"names":["a",1]},"inherited":[{"id":"x"},{"name":"y"},3]}`);
  const intent = await readRunIntent(path);
  assert.deepEqual([intent?.selection, intent?.inherited?.length, intent?.connections], [
    { names: ["a"], select: undefined, all: false },
    1,
    undefined,
  ]);
});
