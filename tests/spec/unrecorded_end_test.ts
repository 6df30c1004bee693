import assert from "node:assert/strict";
import { join } from "node:path";
import { runPz, startPz } from "../harness/cli.ts";
import { readJournal, runIds } from "../harness/run_files.ts";
import { type Files, TempDir, writeFiles } from "../harness/temp_dir.ts";

/** A project whose last pipeline takes a moment. */
function project(last: string): Files {
  return {
    "project.yml": `name: small\nversion: "1"\nengine: { threads: 1 }\n`,
    "connections.yml": `lake:\n  connector: localfiles\n  root: out\n`,
    "pipelines/a.sql": `INSERT INTO {{ sink('lake', 'a', format: 'csv', strategy: 'replace') }}\nSELECT 1 AS one\n`,
    "pipelines/b.sql": last,
  };
}

/** Puts a folder where the receipt of the only run stands, so that it can't be written any more. */
function blockReceipt(cwd: string): void {
  const receipt = join(cwd, ".pz", "runs", runIds(cwd)[0] ?? "", "run_results.json");
  for (;;) {
    try {
      Deno.removeSync(receipt);
      Deno.mkdirSync(join(receipt, "held"), { recursive: true });
      return;
    } catch { /* it was written again in between */ }
  }
}

const RUNS = [
  { what: "succeeded", last: "SELECT count(*) AS n FROM range(200000000)\n", code: 3, status: "success" },
  {
    what: "failed",
    last: "SELECT ('x' || count(*))::INTEGER AS n FROM range(200000000)\n",
    code: 1,
    status: "completed_with_failures",
  },
];

for (const { what, last, code, status } of RUNS) {
  Deno.test(`a run that ${what} and whose receipt can't be written says so, and \`pz runs\` knows its end`, async () => {
    await using folder = await TempDir.create();
    const cwd = folder.path;
    await writeFiles(cwd, project(last));
    await using running = startPz(["run", "--all", "--log-format", "json"], { cwd });
    assert.ok(await running.until(({ event }) => event === "run_started"));
    blockReceipt(cwd);

    const result = await running.finish();

    assert.equal(result.code, code, result.toString());
    assert.match(result.stderr, /^error PZ05\d\d: .*run_results\.json/m);
    assert.ok(readJournal(cwd).length >= 2);
    const runs = await runPz(["runs", "--json"], { cwd });
    assert.equal(JSON.parse(runs.stdout).status, status, runs.toString());
  });
}
