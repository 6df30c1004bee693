import assert from "node:assert/strict";
import { runPz } from "../harness/cli.ts";
import { type Files, TempDir, writeFiles } from "../harness/temp_dir.ts";
import { unmarked } from "./input_cases.ts";

const PROJECT: Files = {
  "project.yml": `name: shop\nversion: "1"\n`,
  "connections.yml": `files:\n  connector: localfiles\n  root: data\nlake:\n  connector: localfiles\n  root: out\n`,
  "data/a.csv": "id,name\n1,x\n",
  "pipelines/p.sql":
    `INSERT INTO {{ sink('lake', 'copy', strategy: 'replace') }}\nSELECT * FROM {{ source('files', 'a') }}\n`,
};

/** Of each file some keys: a typo, a value of a wrong type, and no value; `§` stands before what is to blame. */
const CASES: readonly (readonly [file: string, text: string, message: RegExp])[] = [
  ["project.yml", `name: shop\nversion: "1"\n§vras: { a: 1 }\n`, /^error PZ0101: .*'vras'.*'vars'/],
  ["project.yml", `name: shop\nversion: "1"\nengine:\n  §thread: 2\n`, /^error PZ0120: .*'thread'.*'threads'/],
  ["project.yml", `name: shop\nversion: "1"\nengine:\n  threads: §many\n`, /^error PZ0120: .*whole number.*'many'/],
  ["project.yml", `name: shop\nversion: "1"\nengine:\n  §threads:\n`, /^error PZ0120: .*no value/],
  ["project.yml", `name: shop\nversion: "1"\nengine: §fast\n`, /^error PZ0120: .*a map/],
  ["project.yml", `name: shop\nversion: "1"\nvars: §[1]\n`, /^error PZ0102: .*a map/],
  ["project.yml", `§version: "1"\n`, /^error PZ0101: Missing key 'name'/],
  ["project.yml", `name: shop\nversion: "1"\nretention: { keep_last: §0 }\n`, /^error PZ0123: .*at least 1/],
  ["project.yml", `name: shop\nversion: "1"\non_source_drift: §wran\n`, /^error PZ0126: .*'warn'/],
  [
    "project.yml",
    `name: shop\nversion: "1"\nname: x\n`.replace("\nname: x", "\n§name: x"),
    /^error PZ0101: .*second time/,
  ],
  ["project.yml", `name: größe 東京 😀\nversion: "1"\nengine: { threads: 1, §x: 1 }\n`, /^error PZ0120: .*'x'/],
  ["project.yml", `name: shop\r\nversion: "1"\r\nengine:\r\n  §thraeds: 2\r\n`, /^error PZ0120: .*'thraeds'/],
  ["connections.yml", `§files:\n  root: data\n`, /^error PZ0101: Missing key 'connector' in 'files'/],
  ["connections.yml", `files:\n  §conector: localfiles\n`, /^error PZ0101: .*'conector'/],
  ["connections.yml", `files: §localfiles\n`, /^error PZ0101: .*a map with 'connector'/],
  ["connections.yml", `§files:\n`, /^error PZ0101: .*no value/],
  ["connections.yml", `files:\n  connector: §[a]\n`, /^error PZ0101: .*'files\.connector'/],
  ["connections.yml", `files:\n  connector: localfiles\n  max_concurrency: §0\n`, /^error PZ0122: .*at least 1/],
  ["connections.yml", `files:\n  connector: localfiles\n  retry: { base_delay: §5 m }\n`, /^error PZ0121: .*'5 m'/],
  [
    "connections.yml",
    `files:\n  connector: localfiles\n  entities:\n    a:\n      read:\n        columns: §[id]\n`,
    /^error PZ0101: .*columns/,
  ],
  [
    "connections.yml",
    `files:\n  connector: localfiles\n  entities:\n    a:\n      write: { strategy: §upsert }\n`,
    /^error PZ0334: .*'upsert'.*'merge'/,
  ],
  [
    "connections.yml",
    `files:\n  connector: localfiles\n  §rot: data\nlake:\n  connector: localfiles\n`,
    /^error PZ0301: unknown option 'rot'.*'root'/,
  ],
  [
    "connections.yml",
    `files:\n  connector: localfiles\n  root: data\n  entities:\n    a:\n      read:\n        §fromat: csv\nlake:\n  connector: localfiles\n`,
    /^error PZ0301: unknown option 'fromat'.*'format'/,
  ],
  ["connections.yml", `files:\n  connector: localfiles\n  root: §\${PZ_NOT_SET}\n`, /^error PZ0103: .*'PZ_NOT_SET'/],
  ["pipelines/configs/p.yml", `§tags: [a]\n`, /^error PZ0101: Missing key 'pipeline'/],
  ["pipelines/configs/p.yml", `pipeline: §q\n`, /^error PZ0111: .*'q'/],
  ["pipelines/configs/p.yml", `§pipeline:\n`, /^error PZ0101: .*no value/],
  ["pipelines/configs/p.yml", `pipeline: p\nmaterialization: §tabel\n`, /^error PZ0134: .*'tabel'.*'table'/],
  ["pipelines/configs/p.yml", `pipeline: p\n§check: []\n`, /^error PZ0101: .*'check'.*'checks'/],
  ["pipelines/configs/p.yml", `pipeline: p\nchecks:\n  - §uniqe: [id]\n`, /^error PZ0113: .*'uniqe'.*'unique'/],
  ["pipelines/configs/p.yml", `pipeline: p\nchecks:\n  - row_count: { min: §few }\n`, /^error PZ0113: .*'few'/],
  ["pipelines/configs/p.yml", `pipeline: p\nchecks:\n  - §freshness:\n`, /^error PZ0113: .*no value/],
];

for (const [file, text, message] of CASES) {
  Deno.test(`${file} with ${JSON.stringify(text.split("\n").find((line) => line.includes("§")))} is told at its place`, async () => {
    await using folder = await TempDir.create();
    const { text: content, line, column } = unmarked(text);
    await writeFiles(folder.path, { ...PROJECT, [file]: content });

    const result = await runPz(["run"], { cwd: folder.path });

    assert.equal(result.code, 2, result.toString());
    assert.equal(result.stdout, "");
    const errors = result.stderr.split("\n").filter((shown) => shown.startsWith("error "));
    assert.equal(errors.length, 1, result.toString());
    assert.match(errors[0] ?? "", message);
    assert.ok(errors[0]?.includes(`(${file}:${line}:${column})`), result.toString());
  });
}

Deno.test("problems of all three files come together, ordered by file and place, whatever else is wrong", async () => {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, {
    ...PROJECT,
    "project.yml": `name: shop\nversion: "1"\nengine: { threads: 0 }\nnonsense: 1\n`,
    "connections.yml": `files:\n  root: data\nlake:\n  connector: localfiles\n  retry: { max_attempts: none }\n`,
    "pipelines/configs/p.yml": `pipeline: p\nchecks:\n  - uniqe: [id]\nmaterialization: tabel\n`,
    "pipelines/configs/q.yml": `pipeline: q\n`,
    "pipelines/P.sql": `SELECT 1 AS one\n`,
  });

  for (const args of [["run"], ["validate"], ["plan"], ["compile"], ["ls"], ["test"]]) {
    const result = await runPz(args, { cwd: folder.path });

    assert.equal(result.code, 2, result.toString());
    const shown = result.stderr.trimEnd().split("\n").map((line) =>
      line.replace(/^error (PZ\d+): .* \((\S+)\).*$/, "$1 $2")
    );
    assert.deepEqual(shown, [
      "PZ0101 connections.yml:1:1",
      "PZ0121 connections.yml:5:26",
      "PZ0113 pipelines/configs/p.yml:3:5",
      "PZ0134 pipelines/configs/p.yml:4:18",
      "PZ0111 pipelines/configs/q.yml:1:11",
      "PZ0110 pipelines/p.sql",
      "PZ0120 project.yml:3:20",
      "PZ0101 project.yml:4:1",
    ]);
  }
});
