import assert from "node:assert/strict";
import { runPz } from "../harness/cli.ts";
import { runIds } from "../harness/run_files.ts";
import { listFiles, TempDir, writeFiles } from "../harness/temp_dir.ts";

const SECRET = "s3cr3t-Ωvalue";

const PROJECT = {
  "project.yml": `name: vault\nversion: "1"\nvars: { from_env: "\${TOKEN}" }\n`,
  "connections.yml": `gen:\n  connector: generate\nlake:\n  connector: localfiles\n  root: out\n`,
};

const CASES = [
  {
    title: "a value of env() that is delivered",
    code: 0,
    sql: `SELECT length({{ env('TOKEN') }}) AS n, '{{ env('TOKEN') }}' <> 'x' AS differs`,
  },
  {
    title: "a value of env() that DuckDB can't convert",
    code: 1,
    sql: `SELECT CAST({{ env('TOKEN') }} AS INTEGER) AS n`,
  },
  {
    title: "a value of env() in a name that is not there",
    code: 1,
    sql: `SELECT "{{ env('TOKEN') }}" AS n FROM range(1)`,
  },
  {
    title: "a value of env() in an error of the query's own",
    code: 1,
    sql: `SELECT error({{ env('TOKEN') }})::INTEGER AS n`,
  },
];

for (const { title, code, sql } of CASES) {
  Deno.test(`a secret stands in no output and no artifact: ${title}`, async () => {
    await using folder = await TempDir.create();
    await writeFiles(folder.path, {
      ...PROJECT,
      "pipelines/p.sql": `INSERT INTO {{ sink('lake', 'p', format: 'csv', strategy: 'replace') }}\n${sql}\n`,
    });
    const env = { TOKEN: SECRET };

    const outputs = await Promise.all([
      runPz(["run", "--log-format", "json"], { cwd: folder.path, env }),
      runPz(["plan"], { cwd: folder.path, env }),
      runPz(["compile"], { cwd: folder.path, env }),
      runPz(["ls"], { cwd: folder.path, env }),
    ]);
    const [run] = outputs;

    assert.ok(run.code === code || (code === 1 && run.code === 2), run.toString());
    for (const output of outputs) assert.ok(!output.toString().includes(SECRET), output.toString());
    for (const path of await listFiles(folder.join(".pz"))) {
      if (/staging\.duckdb/.test(path)) continue;
      const text = await Deno.readTextFile(folder.join(".pz", path));
      assert.ok(!text.includes(SECRET), `.pz/${path} holds the secret:\n${text}`);
    }
    for (const runId of runIds(folder.path)) {
      const { mode } = await Deno.stat(folder.join(".pz", "runs", runId, "intent.json"));
      assert.equal((mode ?? 0) & 0o077, 0, "intent.json can be read by others");
    }
  });
}

Deno.test("an unset environment variable is refused by its name", async () => {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, { ...PROJECT, "pipelines/p.sql": "SELECT 1 AS n\n" });
  const result = await runPz(["run"], { cwd: folder.path });
  assert.equal(result.code, 2, result.toString());
  assert.match(result.stderr, /^error PZ0103: .*TOKEN/m);
});
