import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { runPz } from "../harness/cli.ts";
import { Duck } from "../harness/duck.ts";
import { readReceipt } from "../harness/run_files.ts";
import { type Files, listFiles, TempDir, writeFiles } from "../harness/temp_dir.ts";

const PROJECT: Files = {
  "project.yml": `name: places\nversion: "1"\nvars: { since: "2024-01-31", factor: 1.5 }\n`,
  "connections.yml": `files:
  connector: localfiles
  root: data
  entities:
    events:
      read:
        columns: { id: bigint, moment: timestamptz, on_day: date, amount: "decimal(18,2)", note: varchar }
lake:
  connector: localfiles
  root: out
`,
  "data/events.csv": `id,moment,on_day,amount,note
9007199254740993,2024-03-31T01:30:00+01:00,2024-03-31,1234567.89,ı and I
2,2024-10-27T02:30:00Z,2024-10-27,-0.50,"two
lines"
3,2023-12-31T23:59:59.999999Z,2023-12-31,,
`,
  "pipelines/recent.sql":
    `INSERT INTO [{{ sink('lake', 'recent', format: 'csv', strategy: 'replace') }}, {{ sink('lake', 'typed', strategy: 'replace') }}]
SELECT *, amount * {{ var('factor') }} AS scaled, upper(note) AS loud, moment::varchar AS shown, moment::date AS day
FROM {{ source('files', 'events') }}
WHERE on_day >= {{ var('since') }}::date
ORDER BY id
`,
};

const ENVIRONMENTS: readonly { readonly [name: string]: string }[] = [
  {},
  { TZ: "Asia/Kathmandu", LANG: "tr_TR.UTF-8", LC_ALL: "tr_TR.UTF-8" },
  { TZ: "America/St_Johns", LANG: "de_DE.UTF-8", LC_NUMERIC: "de_DE.UTF-8" },
  { TZ: "not/a/zone", LANG: "C", LC_ALL: "POSIX" },
];

Deno.test("time zone and locale change no byte of the files and artifacts", async () => {
  const results: { [path: string]: string }[] = [];
  for (const env of ENVIRONMENTS) {
    await using folder = await TempDir.create();
    await writeFiles(folder.path, PROJECT);
    const result = await runPz(["run"], { cwd: folder.path, env });
    assert.equal(result.code, 0, result.toString());
    const files = (await listFiles(folder.path)).filter((path) => /^out\/|^\.pz\/target\/(?!plan)/.test(path));
    results.push(Object.fromEntries(files.map((path) => [path, sha256(Deno.readFileSync(folder.join(path)))])));
  }
  assert.ok(Object.keys(results[0] ?? {}).includes("out/recent/recent.csv"));
  for (const result of results.slice(1)) assert.deepEqual(result, results[0]);
});

Deno.test("declared types arrive unchanged in a Parquet file", async () => {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, PROJECT);
  const result = await runPz(["run"], { cwd: folder.path });
  assert.equal(result.code, 0, result.toString());
  using duck = await Duck.open();
  const typed = `SELECT id, moment, on_day, amount, note FROM '${folder.join("out/typed/typed.parquet")}'`;
  assert.deepEqual(await duck.shape(typed), [
    "id BIGINT",
    "moment TIMESTAMP WITH TIME ZONE",
    "on_day DATE",
    "amount DECIMAL(18,2)",
    "note VARCHAR",
  ]);
  assert.deepEqual(await duck.rows(typed), [
    ["2", "2024-10-27 02:30:00+00", "2024-10-27", "-0.50", "two\nlines"],
    ["9007199254740993", "2024-03-31 00:30:00+00", "2024-03-31", "1234567.89", "ı and I"],
  ]);
});

Deno.test("names outside ASCII, blanks in paths and CRLF files work", async () => {
  await using folder = await TempDir.create();
  const cwd = folder.join("Größe & 尺寸 'q'");
  const crlf = (text: string) => text.replaceAll("\n", "\r\n");
  await writeFiles(cwd, {
    "project.yml": crlf(`name: größe\nversion: "1"\nvars:\n  wort: "naïve\u2028 東京"\n`),
    "connections.yml": crlf(
      `files:\n  connector: localfiles\n  root: "data ü"\nlake:\n  connector: localfiles\n  root: out\n`,
    ),
    "data ü/bestände.csv": crlf(`id,"straße nr",größe\n1,"Hauptstraße, 5",尺\n2,,\n`),
    "pipelines/p.sql": crlf(
      `\ufeffINSERT INTO {{ sink('lake', 'bücher', format: 'csv', strategy: 'replace') }}\nSELECT *, {{ var('wort') }} AS wort\nFROM {{ source('files', 'bestände') }}\nORDER BY id\n`,
    ),
  });

  const result = await runPz(["run", "--log-format", "json"], { cwd });

  assert.equal(result.code, 0, result.toString());
  assert.equal(result.events[0]?.["projectName"], "größe");
  assert.equal(
    await Deno.readTextFile(`${cwd}/out/bücher/bücher.csv`),
    `id,straße nr,größe,wort\n1,"Hauptstraße, 5",尺,naïve\u2028 東京\n2,,,naïve\u2028 東京\n`,
  );
});

Deno.test("a project is found from elsewhere with --project, and its paths are its own", async () => {
  await using folder = await TempDir.create();
  await writeFiles(folder.join("inner"), PROJECT);
  const result = await runPz(["run", "--project", "inner", "--log-format", "json"], { cwd: folder.path });
  assert.equal(result.code, 0, result.toString());
  assert.equal(readReceipt(folder.join("inner")).status, "success");
  assert.deepEqual([...Deno.readDirSync(folder.path)].map(({ name }) => name), ["inner"]);
});

Deno.test("--vars outranks project.yml, and whole numbers beyond 2^53 stay exact", async () => {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, {
    ...PROJECT,
    "pipelines/recent.sql":
      `INSERT INTO {{ sink('lake', 'one', format: 'csv', strategy: 'replace') }}\nSELECT id FROM {{ source('files', 'events') }} WHERE id = {{ var('factor') }}\n`,
  });
  const args = ["run", "--vars", `{"factor": 9007199254740993}`];
  const result = await runPz(args, { cwd: folder.path });
  assert.equal(result.code, 0, result.toString());
  assert.equal(await Deno.readTextFile(folder.join("out/one/one.csv")), "id\n9007199254740993\n");
});

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
