import assert from "node:assert/strict";
import { runPz } from "../harness/cli.ts";
import { TempDir, writeFiles } from "../harness/temp_dir.ts";

const REACHES = [
  { title: "reads a file beside the project", sql: "SELECT content AS c FROM read_text('<outside>/secret.txt')" },
  { title: "reads a file by its name alone", sql: "SELECT * FROM '<outside>/secret.csv'" },
  { title: "lists a folder beside the project", sql: "SELECT file AS c FROM glob('<outside>/*')" },
  {
    title: "climbs out of a connection's folder",
    sql: "SELECT content AS c FROM read_text('<project>/data/../../secret.txt')",
  },
  { title: "reads the run's own files", sql: "SELECT content AS c FROM read_text('<project>/project.yml')" },
];

for (const { title, sql } of REACHES) {
  Deno.test(`SQL that ${title} fails, and no connection's folder is shut`, async () => {
    await using folder = await TempDir.create();
    const project = folder.join("project");
    await writeFiles(folder.path, {
      "secret.txt": "top secret\n",
      "secret.csv": "a\ntop secret\n",
      "project/project.yml": `name: inside\nversion: "1"\n`,
      "project/connections.yml":
        `files:\n  connector: localfiles\n  root: data\nlake:\n  connector: localfiles\n  root: out\n`,
      "project/data/a.csv": "id\n1\n",
      "project/pipelines/good.sql":
        `INSERT INTO {{ sink('lake', 'good', format: 'csv', strategy: 'replace') }}\nSELECT * FROM {{ source('files', 'a') }}\n`,
      "project/pipelines/reach.sql": `INSERT INTO {{ sink('lake', 'reach', format: 'csv', strategy: 'replace') }}\n` +
        `${sql.replaceAll("<outside>", folder.path).replaceAll("<project>", project)}\n`,
    });

    const alone = await runPz(["run", "reach", "--log-format", "json"], { cwd: project });
    assert.ok(alone.code === 1 || alone.code === 2, alone.toString());
    assert.ok(!alone.toString().includes("top secret"), alone.toString());
    await assert.rejects(Deno.stat(`${project}/out/reach/reach.csv`));

    const good = await runPz(["run", "lake.good", "--log-format", "json"], { cwd: project });
    await Deno.remove(`${project}/pipelines/reach.sql`);
    const without = await runPz(["run", "--log-format", "json"], { cwd: project });
    assert.equal(without.code, 0, without.toString());
    assert.ok(good.code === 0 || good.code === 2, good.toString());
  });
}

const STATEMENTS = [
  "COPY (SELECT 1) TO '<outside>/made.csv'",
  "SELECT 1 AS a; COPY (SELECT 1) TO '<outside>/made.csv'",
  "ATTACH '<outside>/made.duckdb' AS made",
  "SET enable_external_access = true",
  "INSTALL httpfs",
  "CREATE TABLE staging.mine AS SELECT 1 AS a",
  "PRAGMA database_list",
];

for (const sql of STATEMENTS) {
  Deno.test(`a pipeline is one query and nothing else: ${sql}`, async () => {
    await using folder = await TempDir.create();
    await writeFiles(folder.path, {
      "project/project.yml": `name: inside\nversion: "1"\n`,
      "project/pipelines/p.sql": `${sql.replaceAll("<outside>", folder.path)}\n`,
      "project/pipelines/configs/p.yml": "pipeline: p\nchecks:\n  - row_count: { min: 0 }\n",
    });

    const result = await runPz(["run", "--all"], { cwd: folder.join("project") });

    assert.ok(result.code === 1 || result.code === 2, result.toString());
    assert.deepEqual([...Deno.readDirSync(folder.path)].map(({ name }) => name), ["project"]);
  });
}
