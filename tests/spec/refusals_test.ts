import assert from "node:assert/strict";
import { runPz } from "../harness/cli.ts";
import { type Files, listFiles, TempDir, writeFiles } from "../harness/temp_dir.ts";

const PROJECT: Files = {
  "project.yml": `name: shop\nversion: "1"\n`,
  "connections.yml": `files:\n  connector: localfiles\n  root: data\n`,
  "data/a.csv": "id,name\n1,x\n",
  "pipelines/p.sql":
    `INSERT INTO {{ sink('files', 'copy', format: 'csv', strategy: 'replace') }}\nSELECT * FROM {{ source('files', 'a') }}\n`,
};

const CONTRACT =
  `files:\n  connector: localfiles\n  root: data\n  entities: { a: { read: { columns: { id: bigint, name: varchar } } } }\n`;

type Refusal = {
  readonly title: string;
  readonly args?: readonly string[];
  /** Files that replace or add to the project's; `undefined`: the file is not there. */
  readonly files?: { readonly [path: string]: string | undefined };
  /** What stderr must hold. */
  readonly stderr: readonly RegExp[];
};

const REFUSALS: readonly Refusal[] = [
  {
    title: "a misspelt key of project.yml, with its place and a near miss",
    files: { "project.yml": `name: shop\nversion: "1"\nengin:\n  threads: 2\n` },
    stderr: [/^error PZ0101: .*'engin'.* \(project\.yml:3:1\)/m, /engine/],
  },
  {
    title: "broken YAML, with its place",
    files: { "connections.yml": `files:\n  connector: localfiles\n  root: [data\n` },
    stderr: [/^error PZ0101: .*\(connections\.yml:\d+:\d+\)/m],
  },
  {
    title: "every problem of all files at once, by file and line",
    files: {
      "project.yml": `name: shop\nversion: "1"\nengine: { threads: 0 }\nnonsense: 1\n`,
      "connections.yml": `files:\n  root: data\n`,
    },
    stderr: [/PZ0101.*\(connections\.yml:1.*\n.*PZ0120.*\(project\.yml:3.*\n.*PZ0101.*\(project\.yml:4:1\)/],
  },
  {
    title: "an unknown connection in a template, with its place",
    files: { "pipelines/p.sql": `SELECT *\nFROM {{ source('fles', 'a') }}\n` },
    stderr: [/^error PZ0201: .*'fles'.*\(pipelines\/p\.sql:2:\d+\)/m],
  },
  {
    title: "SQL that does not parse, with its place",
    files: {
      "pipelines/p.sql": `SELECT *\nFROM {{ source('files', 'a') }}\nWHERE WHERE id = 1\n`,
      "connections.yml": CONTRACT,
    },
    stderr: [/^error PZ0401: .*\(pipelines\/p\.sql:3:\d+\)/m],
  },
  {
    title: "a column that a contract does not have, with its place",
    files: {
      "connections.yml": CONTRACT,
      "pipelines/p.sql": `SELECT id,\n  naem\nFROM {{ source('files', 'a') }}\n`,
    },
    stderr: [/^error PZ0401: .*"naem".*\(pipelines\/p\.sql:2:3\).*'name'/m],
  },
  { title: "a source whose file is absent", files: { "data/a.csv": undefined }, stderr: [/^error PZ0353: .*a\.csv/m] },
  {
    title: "a cycle",
    files: {
      "pipelines/p.sql": `SELECT * FROM {{ ref('q') }}\n`,
      "pipelines/q.sql": `SELECT * FROM {{ ref('p') }}\n`,
    },
    stderr: [/^error PZ0202: .*\bp\b.*\bq\b/m],
  },
  { title: "an unknown node name", args: ["run", "nothing"], stderr: [/^error PZ0210: .*'nothing'/m] },
  { title: "a misspelt option", args: ["run", "--al"], stderr: [/^error.*--al/m, /--all/] },
  { title: "a misspelt verb", args: ["rum"], stderr: [/^error: .*rum/m] },
  {
    title: "a format of the log that does not exist",
    args: ["run", "--log-format", "xml"],
    stderr: [/^error: .*'xml'/m],
  },
  { title: "variables that are not JSON", args: ["run", "--vars", "{"], stderr: [/^error PZ0102: /m] },
  { title: "names together with --all", args: ["run", "p", "--all"], stderr: [/^error PZ0216: /m] },
  {
    title: "a folder without a project",
    args: ["run", "--project", "data"],
    stderr: [/^error PZ0101: .*project\.yml/m],
  },
  {
    title: "a source outside the connection's root",
    files: { "pipelines/p.sql": `SELECT * FROM {{ source('files', 'a', path: '../../secret.csv') }}\n` },
    stderr: [/^error PZ0365: /m],
  },
  {
    title: "a connector that this build does not have yet, by its name",
    files: { "connections.yml": `files:\n  connector: sftp\n  host: h\n` },
    stderr: [/^error PZ0700: .*sftp/m],
  },
];

for (const { title, args = ["run", "--log-format", "json"], files = {}, stderr } of REFUSALS) {
  Deno.test(`refused with exit code 2 and nothing on stdout or on the disk: ${title}`, async () => {
    await using folder = await TempDir.create();
    await writeFiles(folder.path, present({ ...PROJECT, ...files }));
    const before = await listFiles(folder.path);

    const result = await runPz(args, { cwd: folder.path });

    assert.equal(result.code, 2, result.toString());
    for (const pattern of stderr) assert.match(result.stderr, pattern);
    assert.equal(result.stdout, "");
    assert.doesNotMatch(result.stderr, /^\s+at /m, "a stack trace");
    const after = (await listFiles(folder.path)).filter((path) => !path.startsWith(".pz/target/"));
    assert.deepEqual(after, before);
  });
}

Deno.test("--version, --help and a verb's --help end with 0 and write only to stdout", async () => {
  await using folder = await TempDir.create();
  for (const args of [["--version"], ["--help"], ["run", "--help"]]) {
    const result = await runPz(args, { cwd: folder.path });
    assert.equal(result.code, 0, result.toString());
    assert.notEqual(result.stdout, "");
    assert.equal(result.stderr, "");
  }
  assert.deepEqual(await listFiles(folder.path), []);
});

function present(files: { readonly [path: string]: string | Uint8Array | undefined }): Files {
  return Object.fromEntries(Object.entries(files).flatMap(([path, text]) => text === undefined ? [] : [[path, text]]));
}
