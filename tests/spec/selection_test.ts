import assert from "node:assert/strict";
import { type PzResult, runPz } from "../harness/cli.ts";
import { problemsOfStream } from "../harness/events.ts";
import { readReceipt, runIds } from "../harness/run_files.ts";
import { listFiles, TempDir, writeFiles } from "../harness/temp_dir.ts";

const SINK = (name: string) => `INSERT INTO {{ sink('lake', '${name}', format: 'csv', strategy: 'replace') }}\n`;

const PROJECT = {
  "project.yml": `name: two\nversion: "1"\nretention: { keep_last: 1 }\n`,
  "connections.yml": `lake:\n  connector: localfiles\n  root: out\n`,
  "pipelines/base.sql": "SELECT 1 AS id\n",
  "pipelines/left.sql": `${SINK("left")}SELECT * FROM {{ ref('base') }}\n`,
  "pipelines/right.sql": `${SINK("right")}SELECT * FROM {{ ref('base') }}\n`,
  "pipelines/configs/right.yml": "pipeline: right\ntags: [daily]\nchecks:\n  - not_null: [id]\n",
  "pipelines/other.sql": `${SINK("other")}SELECT 2 AS id\n`,
};

function ran(result: PzResult): string[] {
  return result.events.filter(({ event }) => event === "node_completed").map(({ name }) => String(name)).sort();
}

const SELECTIONS: readonly { readonly args: readonly string[]; readonly nodes: readonly string[] }[] = [
  { args: ["other"], nodes: ["lake.other", "other"] },
  { args: ["left"], nodes: ["base", "lake.left", "left"] },
  { args: ["--select", "tag:daily"], nodes: ["base", "right"] },
  { args: ["--select", "tag:daily+"], nodes: ["base", "check_right_not_null_id", "lake.right", "right"] },
  { args: ["--select", "left other"], nodes: ["base", "left", "other"] },
  { args: ["--select", "lake.*,left+"], nodes: ["base", "lake.left", "left"] },
  {
    args: ["--all"],
    nodes: ["base", "check_right_not_null_id", "lake.left", "lake.other", "lake.right", "left", "other", "right"],
  },
];

for (const { args, nodes } of SELECTIONS) {
  Deno.test(`pz run ${args.join(" ")} runs exactly ${nodes.join(", ")}`, async () => {
    await using folder = await TempDir.create();
    await writeFiles(folder.path, PROJECT);
    const result = await runPz(["run", ...args, "--log-format", "json"], { cwd: folder.path });
    assert.equal(result.code, 0, result.toString());
    assert.deepEqual(problemsOfStream(result.events), []);
    assert.deepEqual(ran(result), nodes);
  });
}

Deno.test("retention keeps every receipt and only the newest staging databases, and says so last", async () => {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, PROJECT);
  const args = ["run", "--all", "--log-format", "json"];
  await runPz(args, { cwd: folder.path });
  const second = await runPz(args, { cwd: folder.path });

  assert.equal(second.code, 0, second.toString());
  assert.deepEqual(problemsOfStream(second.events), []);
  assert.equal(second.events.at(-1)?.["event"], "retention_swept", second.toString());
  assert.equal(second.events.at(-1)?.["runsSwept"], 1);
  const files = await listFiles(folder.join(".pz", "runs"));
  assert.equal(files.filter((path) => path.endsWith("/staging.duckdb")).length, 1);
  assert.equal(files.filter((path) => path.endsWith("/run_results.json")).length, 2);
});

Deno.test("two runs of one project at the same time both succeed", async () => {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, { ...PROJECT, "project.yml": `name: two\nversion: "1"\n` });
  const args = ["run", "--all", "--log-format", "json"];
  const results = await Promise.all([1, 2].map(() => runPz(args, { cwd: folder.path })));
  for (const result of results) {
    assert.equal(result.code, 0, result.toString());
    assert.deepEqual(problemsOfStream(result.events), []);
  }
  assert.equal(runIds(folder.path).length, 2);
  assert.equal(readReceipt(folder.path).status, "success");
  assert.equal(await Deno.readTextFile(folder.join("out/left/left.csv")), "id\n1\n");
  const litter = (await listFiles(folder.join("out"))).filter((path) => !/^(\w+)\/\1\.csv$/.test(path));
  assert.deepEqual(litter, []);
});
