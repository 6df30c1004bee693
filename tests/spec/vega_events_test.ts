import assert from "node:assert/strict";
import { runPz } from "../harness/cli.ts";
import { problemsOfStream } from "../harness/events.ts";
import { TempDir, writeFiles } from "../harness/temp_dir.ts";
import { VEGA_DATA } from "./vega_expected.ts";

Deno.test("events of rows that come in batches, of a failure and of what hangs on it fit the published schema", async () => {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, {
    "project.yml": `name: batches\nversion: "1"\n`,
    "connections.yml": `made:\n  connector: generate\nvega:\n  connector: localfiles\n  root: \${VEGA_DATA}\n` +
      `lake:\n  connector: localfiles\n  root: out\n`,
    "pipelines/rows.sql": `INSERT INTO {{ sink('lake', 'rows', format: 'parquet', strategy: 'replace') }}\n` +
      `SELECT * FROM {{ source('made', 'rows', rows: 40000, batch_rows: 1000) }}\n`,
    "pipelines/broken.sql": `SELECT CAST(date AS INTEGER) AS date FROM {{ source('vega', 'stocks', format: 'csv') }}\n`,
    "pipelines/below.sql": `INSERT INTO {{ sink('lake', 'below', format: 'csv', strategy: 'replace') }}\n` +
      `SELECT * FROM {{ ref('broken') }}\n`,
  });

  const result = await runPz(["run", "--all", "--log-format", "json"], { cwd: folder.path, env: { VEGA_DATA } });

  assert.equal(result.code, 1, result.toString());
  assert.deepEqual(problemsOfStream(result.events), []);
  const seen = new Set(result.events.map(({ event, status }) => status === undefined ? event : `${event} ${status}`));
  assert.deepEqual(
    [...seen].map(String).sort(),
    [
      "node_completed failed",
      "node_completed skipped",
      "node_completed success",
      "node_progress",
      "node_started",
      "run_completed completed_with_failures",
      "run_started",
    ],
  );
  const load = result.events.find(({ event, name }) => event === "node_completed" && name === "src_made__rows");
  assert.equal(load?.["rows"], 40000);
  assert.notEqual(load?.["timings"], null);
});
