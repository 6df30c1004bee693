import assert from "node:assert/strict";
import { type PzResult, runPz } from "../harness/cli.ts";
import { type Files, TempDir, writeFiles } from "../harness/temp_dir.ts";
import { type BrokenFile, CHECK_CASES, SQL_CASES, TEMPLATE_CASES, unmarked } from "./input_cases.ts";

const PROJECT: Files = {
  "project.yml": `name: broken\nversion: "1"\nvars: { on: true, text: "it's\\na 'text'" }\n`,
  "connections.yml": `raw:
  connector: localfiles
  root: data
  entities:
    orders:
      read:
        columns: { id: bigint, email: varchar, amount: "decimal(18,2)", status: varchar, ordered_on: date }
lake:
  connector: localfiles
  root: out
`,
  "data/orders.csv": "id,email,amount,status,ordered_on\n1,a@example.com,1.5,x,2024-01-01\n",
};
const GOOD = "SELECT id, email, amount FROM {{ source('raw', 'orders') }}\n";

type Found = { readonly code: string; readonly message: string };

/** The errors on stderr by their place, `file:line:column`; each must be one line. */
function errorsByPlace({ stderr }: PzResult): { readonly [place: string]: Found } {
  const found: { [place: string]: Found } = {};
  for (const line of stderr.split("\n")) {
    const [, code, message = "", place = ""] = /^error (PZ\d{4}): (.*) \((\S+:\d+:\d+)\)/.exec(line) ?? [];
    if (code === undefined) {
      assert.ok(line === "" || line.startsWith("warning: "), `an unexpected line: ${line}`);
      continue;
    }
    assert.equal(found[place], undefined, `two errors at ${place}`);
    found[place] = { code, message: line };
    assert.doesNotMatch(message, /LINE \d/);
  }
  return found;
}

async function assertEachAtItsPlace(
  files: Files,
  cases: readonly (readonly [file: string, code: string, broken: BrokenFile])[],
  args: readonly string[],
): Promise<void> {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, files);
  await writeFiles(
    folder.path,
    Object.fromEntries(cases.map(([file, , { text }]) => [file, unmarked(text).text])),
  );

  const result = await runPz(args, { cwd: folder.path });

  assert.equal(result.code, 2, result.toString());
  const found = errorsByPlace(result);
  const expected = cases.map(([file, , { text }]) => {
    const { line, column } = unmarked(text);
    return `${file}:${line}:${column}`;
  });
  assert.deepEqual(Object.keys(found).sort(), [...expected].sort());
  for (const [index, [, code, { message }]] of cases.entries()) {
    const error = found[expected[index] ?? ""];
    assert.match(error?.message ?? "", message);
    assert.ok(error?.code === code || message.source.startsWith("PZ"), error?.message);
  }
}

const SQL_FILES: Files = {
  ...PROJECT,
  "pipelines/good.sql": GOOD,
  "pipelines/inlined.sql": GOOD,
  "pipelines/inlines.sql": "SELECT * FROM {{ ref('broken_ephemeral') }}\n",
  "pipelines/configs/inlined.yml": "pipeline: inlined\nmaterialization: ephemeral\n",
  "pipelines/configs/broken_ephemeral.yml": "pipeline: broken_ephemeral\nmaterialization: ephemeral\n",
};

for (const args of [["validate"], ["run", "--all"]]) {
  Deno.test(`${args.join(" ")}: wrong SQL of ${Object.keys(SQL_CASES).length} pipelines is told all at once, each at its place`, () =>
    assertEachAtItsPlace(
      SQL_FILES,
      Object.entries(SQL_CASES).map(([name, broken]) => [`pipelines/${name}.sql`, "PZ0401", broken]),
      args,
    ));

  Deno.test(`${args.join(" ")}: wrong templates are told all at once, each at its place`, () =>
    assertEachAtItsPlace(
      PROJECT,
      Object.entries(TEMPLATE_CASES).map(([name, broken]) => [`pipelines/${name}.sql`, "PZ0104", broken]),
      args,
    ));

  Deno.test(`${args.join(" ")}: wrong checks are told all at once, each at its place in the sidecar`, () =>
    assertEachAtItsPlace(
      {
        ...PROJECT,
        ...Object.fromEntries(Object.keys(CHECK_CASES).map((name) => [`pipelines/${name}.sql`, GOOD])),
      },
      Object.entries(CHECK_CASES).map(([name, broken]) => [
        `pipelines/configs/${name}.yml`,
        broken.text.includes("sql:") ? "PZ0401" : "PZ0113",
        broken,
      ]),
      args,
    ));
}

Deno.test("SQL that fails on its data names the template's place, in text and in events", async () => {
  await using folder = await TempDir.create();
  const { text, line, column } = unmarked(
    "INSERT INTO {{ sink('lake', 'x', strategy: 'replace') }}\nSELECT 'é😀' AS e,\n  §email::DATE AS d\nFROM {{ source('raw', 'orders') }}\n",
  );
  await writeFiles(folder.path, { ...PROJECT, "pipelines/x.sql": text });
  const place = `(pipelines/x.sql:${line}:${column + "email".length})`;

  const shown = await runPz(["run"], { cwd: folder.path });
  assert.equal(shown.code, 1, shown.toString());
  assert.ok(shown.stdout.includes(place), shown.toString());

  const { events } = await runPz(["run", "--log-format", "json"], { cwd: folder.path });
  const failed = events.find(({ status }) => status === "failed");
  assert.ok(String(failed?.["errorMessage"]).includes(place), JSON.stringify(failed));
});
