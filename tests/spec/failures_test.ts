import assert from "node:assert/strict";
import { type PzResult, runPz } from "../harness/cli.ts";
import { problemsOfStream } from "../harness/events.ts";
import { readReceipt } from "../harness/run_files.ts";
import { type Files, listFiles, TempDir, writeFiles } from "../harness/temp_dir.ts";

const PROJECT: Files = {
  "project.yml": `name: shop\nversion: "1"\nengine: { threads: 1 }\n`,
  "connections.yml": `files:\n  connector: localfiles\n  root: data\nlake:\n  connector: localfiles\n  root: out\n`,
  "data/a.csv": "id,name\n1,x\n2,y\n",
  "data/b.csv": "id,name\n7,z\n",
  "pipelines/broken.sql": `SELECT CAST(name AS INTEGER) AS n FROM {{ source('files', 'a') }}\n`,
  "pipelines/child.sql":
    `INSERT INTO {{ sink('lake', 'child', format: 'csv', strategy: 'replace') }}\nSELECT * FROM {{ ref('broken') }}\n`,
  "pipelines/sibling.sql":
    `INSERT INTO {{ sink('lake', 'sibling', format: 'csv', strategy: 'replace') }}\nSELECT * FROM {{ source('files', 'b') }}\n`,
};

const RUN = ["run", "--all", "--log-format", "json"];

function statuses(result: PzResult): { [name: string]: unknown } {
  const done = result.events.filter(({ event }) => event === "node_completed");
  return Object.fromEntries(done.map(({ name, status }) => [String(name), status]));
}

Deno.test("a failing pipeline: what hangs on it is skipped, the rest finishes, exit code 1", async () => {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, PROJECT);

  const result = await runPz(RUN, { cwd: folder.path });

  assert.equal(result.code, 1, result.toString());
  assert.deepEqual(problemsOfStream(result.events), []);
  assert.deepEqual(statuses(result), {
    src_files__a: "success",
    src_files__b: "success",
    broken: "failed",
    child: "skipped",
    "lake.child": "skipped",
    sibling: "success",
    "lake.sibling": "success",
  });
  const failed = result.events.find(({ status }) => status === "failed");
  assert.equal(failed?.["errorCode"], "PZ0501");
  assert.match(String(failed?.["errorMessage"]), /'x'/);
  assert.doesNotMatch(String(failed?.["errorMessage"]), /LINE \d|SELECT/);
  assert.deepEqual((await listFiles(folder.path)).filter((path) => path.startsWith("out/")), [
    "out/sibling/sibling.csv",
  ]);
  const receipt = readReceipt(folder.path);
  assert.equal(receipt.status, "completed_with_failures");
  assert.equal(receipt.nodes.find(({ name }) => name === "broken")?.error?.code, "PZ0501");
});

Deno.test("a source that can't be read as declared fails alone", async () => {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, {
    ...PROJECT,
    "connections.yml":
      `files:\n  connector: localfiles\n  root: data\n  entities: { a: { read: { columns: { id: bigint, name: bigint } } } }\n` +
      `lake:\n  connector: localfiles\n  root: out\n`,
  });

  const result = await runPz(RUN, { cwd: folder.path });

  assert.equal(result.code, 1, result.toString());
  assert.deepEqual(problemsOfStream(result.events), []);
  assert.equal(statuses(result)["src_files__a"], "failed");
  assert.equal(statuses(result)["broken"], "skipped");
  assert.equal(statuses(result)["lake.sibling"], "success");
  const failed = result.events.find(({ status }) => status === "failed");
  assert.match(String(failed?.["errorMessage"]), /a\.csv/);
  assert.match(String(failed?.["errorMessage"]), /\bx\b/);
});

Deno.test("--fail-fast stops at the first failure", async () => {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, {
    ...PROJECT,
    "pipelines/broken.sql": `SELECT CAST(name AS INTEGER) AS n FROM {{ source('files', 'a') }}\n`,
    "pipelines/sibling.sql":
      `INSERT INTO {{ sink('lake', 'sibling', format: 'csv', strategy: 'replace') }}\nSELECT * FROM {{ ref('later') }}\n`,
    "pipelines/later.sql": `SELECT * FROM {{ source('files', 'b') }}\n`,
  });

  const result = await runPz([...RUN, "--fail-fast"], { cwd: folder.path });

  assert.equal(result.code, 1, result.toString());
  assert.deepEqual(problemsOfStream(result.events), []);
  assert.equal(statuses(result)["broken"], "failed");
  assert.equal(statuses(result)["lake.sibling"], "skipped");
  assert.equal(result.events.at(-1)?.["status"], "completed_with_failures");
});

Deno.test("a check that finds rows fails with a sample, and holds nothing back", async () => {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, {
    ...PROJECT,
    "pipelines/broken.sql": `SELECT * FROM {{ source('files', 'a') }}\n`,
    "pipelines/configs/broken.yml": `pipeline: broken\nchecks:\n  - accepted_values: { column: name, values: [x] }\n`,
  });

  const result = await runPz(RUN, { cwd: folder.path });

  assert.equal(result.code, 1, result.toString());
  const check = result.events.find(({ kind, event }) => kind === "Check" && event === "node_completed");
  assert.equal(check?.["errorCode"], "PZ0510");
  assert.equal(check?.["rows"], 1);
  assert.match(String(check?.["errorMessage"]), /\by\b/);
  assert.equal(statuses(result)["lake.child"], "success");
});

Deno.test("a gate that finds rows holds back the sinks below it and no pipeline", async () => {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, {
    ...PROJECT,
    "pipelines/broken.sql": `SELECT * FROM {{ source('files', 'a') }}\n`,
    "pipelines/configs/broken.yml": `pipeline: broken\nchecks:\n  - row_count: { min: 10, severity: gate }\n`,
  });

  const result = await runPz(RUN, { cwd: folder.path });

  assert.equal(result.code, 1, result.toString());
  assert.deepEqual(problemsOfStream(result.events), []);
  assert.equal(statuses(result)["check_broken_row_count"], "failed");
  assert.equal(statuses(result)["child"], "success");
  assert.equal(statuses(result)["lake.child"], "skipped");
  assert.equal(statuses(result)["lake.sibling"], "success");
});

Deno.test("a sink that fails leaves the old file as it was and no litter", async () => {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, {
    ...PROJECT,
    "pipelines/sibling.sql": `INSERT INTO {{ sink('lake', 'sibling', format: 'csv', strategy: 'replace') }}\n` +
      `SELECT CAST(name AS INTEGER) AS n FROM {{ source('files', 'b') }}\n`,
    "pipelines/configs/sibling.yml": `pipeline: sibling\nmaterialization: view\n`,
    "out/sibling/sibling.csv": "from the last run\n",
  });

  const result = await runPz(RUN, { cwd: folder.path });

  assert.equal(result.code, 1, result.toString());
  assert.equal(statuses(result)["sibling"], "success");
  assert.equal(statuses(result)["lake.sibling"], "failed");
  assert.deepEqual((await listFiles(folder.path)).filter((path) => path.startsWith("out/")), [
    "out/sibling/sibling.csv",
  ]);
  assert.equal(await Deno.readTextFile(folder.join("out/sibling/sibling.csv")), "from the last run\n");
});
