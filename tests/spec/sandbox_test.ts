import assert from "node:assert/strict";
import { runPz } from "../harness/cli.ts";
import { problemsOfStream } from "../harness/events.ts";
import { TempDir, writeFiles } from "../harness/temp_dir.ts";

const ATTEMPTS = [
  { attempt: "read:/etc/passwd", names: /read.*\/etc\/passwd/ },
  { attempt: "net:127.0.0.1:9", names: /net.*127\.0\.0\.1:9/ },
  { attempt: "run:/bin/true", names: /run.*\/bin\/true/ },
  { attempt: "env:HOME", names: /env.*HOME/ },
];

function project(options: string): { [path: string]: string } {
  return {
    "project.yml": `name: sandbox\nversion: "1"\n`,
    "connections.yml": `gen:\n  connector: generate\nlake:\n  connector: localfiles\n  root: out\n`,
    "pipelines/p.sql":
      `INSERT INTO {{ sink('lake', 'p', format: 'csv', strategy: 'replace') }}\nSELECT * FROM {{ source('gen', 'things', ${options}) }}\n`,
  };
}

for (const { attempt, names } of ATTEMPTS) {
  Deno.test(`a connector that tries ${attempt} is denied by the runtime and the node says so`, async () => {
    await using folder = await TempDir.create();
    await writeFiles(folder.path, project(`rows: 10, attempt: '${attempt}'`));

    const result = await runPz(["run", "--log-format", "json"], { cwd: folder.path, env: { HOME: folder.path } });

    assert.equal(result.code, 1, result.toString());
    assert.deepEqual(problemsOfStream(result.events), []);
    const failed = result.events.find(({ status, event }) => status === "failed" && event === "node_completed");
    assert.equal(failed?.["name"], "src_gen__things");
    assert.equal(failed?.["errorCode"], "PZ0740", result.toString());
    assert.match(String(failed?.["errorMessage"]), /generate/);
    assert.match(String(failed?.["errorMessage"]), names);
  });
}

Deno.test("a connector in its child delivers every row", async () => {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, project("rows: 25000, batch_rows: 1000"));

  const result = await runPz(["run", "--log-format", "json"], { cwd: folder.path });

  assert.equal(result.code, 0, result.toString());
  assert.deepEqual(problemsOfStream(result.events), []);
  const loaded = result.events.find(({ event, kind }) => event === "node_completed" && kind === "SourceLoad");
  assert.equal(loaded?.["rows"], 25000);
  assert.notEqual(loaded?.["timings"], null);
  assert.ok(result.events.some(({ event }) => event === "node_progress"));
  const lines = (await Deno.readTextFile(folder.join("out/p/p.csv"))).trimEnd().split("\n");
  assert.equal(lines.length, 25001);
});

Deno.test("made-up lists and structs come whole", async () => {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, {
    ...project(""),
    "pipelines/p.sql": `INSERT INTO {{ sink('lake', 'p', format: 'json', strategy: 'replace') }}\n` +
      `SELECT id, ids, detail FROM {{ source('gen', 'things', rows: 20, nested: true) }} WHERE id >= 16 ORDER BY id\n`,
  });

  const result = await runPz(["run"], { cwd: folder.path });

  assert.equal(result.code, 0, result.toString());
  const lines = (await Deno.readTextFile(folder.join("out/p/p.json"))).trim().split("\n");
  assert.deepEqual(lines, [
    `{"id":16,"ids":[16,17,null],"detail":{"name":"Ada 16","amounts":[4.0,-4.0]}}`,
    `{"id":17,"ids":null,"detail":{"name":"Grace 17","amounts":[4.25,-4.25]}}`,
    `{"id":18,"ids":[],"detail":{"name":"Edsger 18","amounts":[4.5,-4.5]}}`,
    `{"id":19,"ids":[19,20,null],"detail":{"name":null,"amounts":[4.75,-4.75]}}`,
  ]);
});
