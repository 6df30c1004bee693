import assert from "node:assert/strict";
import { runPz, startPz } from "../harness/cli.ts";
import { readJournal, readReceipt } from "../harness/run_files.ts";
import { TempDir, writeFiles } from "../harness/temp_dir.ts";

const JSON_RUN = ["run", "--all", "--log-format", "json"];
const ROWS = 3_000_000;

const PROJECT = {
  "project.yml": `name: killed\nversion: "1"\nengine: { threads: 1 }\n`,
  "connections.yml": "lake:\n  connector: localfiles\n  root: out\n",
  "pipelines/big.sql": `INSERT INTO {{ sink('lake', 'big', format: 'csv', strategy: 'replace') }}\n` +
    `SELECT range AS n, hash(range) AS h FROM range(${ROWS})\n`,
  "out/big/big.csv": "n,h\n-1,0\n",
};

/** Names in the sink's folder, hidden ones too. */
function outNames(folder: string): string[] {
  return [...Deno.readDirSync(`${folder}/out/big`)].map(({ name }) => name).sort();
}

Deno.test("killed while a file is written, the old file stands untouched and the next run replaces it", async () => {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, PROJECT);
  await using running = startPz(JSON_RUN, { cwd: folder.path });
  assert.ok(await running.until(({ event, name }) => event === "node_started" && name === "lake.big"));
  while (outNames(folder.path).length === 1) await new Promise((resolve) => setTimeout(resolve, 1));

  running.kill("SIGKILL");
  const result = await running.finish();

  assert.equal(result.signal, "SIGKILL");
  assert.equal(Deno.readTextFileSync(folder.join("out/big/big.csv")), PROJECT["out/big/big.csv"]);
  assert.deepEqual(readJournal(folder.path).map(({ name }) => name), ["big"]);
  assert.equal(readReceipt(folder.path).status, "running");
  const runs = await runPz(["runs", "--json"], { cwd: folder.path });
  assert.equal(runs.events[0]?.["status"], "interrupted", runs.toString());

  const again = await runPz(JSON_RUN, { cwd: folder.path });
  assert.equal(again.code, 0, again.toString());
  const lines = Deno.readTextFileSync(folder.join("out/big/big.csv")).split("\n").length;
  assert.equal(lines, ROWS + 2);
});

const INSTANTS = [0.05, 0.3, 0.5, 0.7, 0.85, 0.95];

const CHAIN = {
  "project.yml": `name: chain\nversion: "1"\nengine: { threads: 2 }\n`,
  "connections.yml": "lake:\n  connector: localfiles\n  root: out\n",
  ...Object.fromEntries(
    Array.from({ length: 8 }, (_, index) => [
      `pipelines/p${index}.sql`,
      `INSERT INTO {{ sink('lake', 'p${index}', format: 'csv', strategy: 'replace') }}\n` +
      (index === 0 ? "SELECT range AS n FROM range(50000)\n" : `SELECT n + 1 AS n FROM {{ ref('p${index - 1}') }}\n`),
    ]),
  ),
};

Deno.test("killed at any instant, every trace of a run agrees and every published file is whole", async () => {
  await using whole = await TempDir.create();
  await writeFiles(whole.path, CHAIN);
  const start = performance.now();
  const reference = await runPz(JSON_RUN, { cwd: whole.path });
  const duration = performance.now() - start;
  assert.equal(reference.code, 0, reference.toString());

  for (const instant of INSTANTS) {
    await using folder = await TempDir.create();
    await writeFiles(folder.path, CHAIN);
    await using running = startPz(JSON_RUN, { cwd: folder.path });
    const timer = setTimeout(() => {
      try {
        running.kill("SIGKILL");
      } catch { /* it had ended before */ }
    }, duration * instant);
    const result = await running.finish();
    clearTimeout(timer);

    const announced = result.stdout.split("\n").filter((line) => line.endsWith("}")).map((line) => JSON.parse(line))
      .filter(({ event }) => event === "node_completed").map(({ nodeId, status, rows }) => [nodeId, status, rows]);
    let journal: unknown[][] = [];
    try {
      journal = readJournal(folder.path).map(({ id, status, rows }) => [id, status, rows]);
      const received = readReceipt(folder.path).nodes.map(({ id, status, rows }) => [id, status, rows]);
      assert.deepEqual(received, journal.slice(0, received.length));
      assert.ok(received.length >= announced.length);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound) && !(error instanceof Error && /no run/.test(error.message))) {
        throw error;
      }
      assert.deepEqual(announced, []);
    }
    assert.deepEqual(journal.slice(0, announced.length), announced);
    for (let index = 0; index < 8; index++) {
      const path = `out/p${index}/p${index}.csv`;
      let text: string;
      try {
        text = Deno.readTextFileSync(folder.join(path));
      } catch {
        continue;
      }
      assert.equal(text.length, Deno.readTextFileSync(whole.join(path)).length, path);
    }
    const runs = await runPz(["runs", "--json"], { cwd: folder.path });
    assert.equal(runs.code, 0, runs.toString());
    for (const { status } of runs.events) assert.ok(status === "interrupted" || status === "success");
  }
});
