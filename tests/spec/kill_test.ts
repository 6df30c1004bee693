import assert from "node:assert/strict";
import { type EventLine, runPz, startPz } from "../harness/cli.ts";
import { problemsOfStream } from "../harness/events.ts";
import { randomProject } from "../harness/random_project.ts";
import { readJournal, readReceipt } from "../harness/run_files.ts";
import { listFiles, TempDir, writeFiles } from "../harness/temp_dir.ts";

const JSON_RUN = ["run", "--all", "--log-format", "json"];

function facts({ nodeId, name, status, rows }: EventLine): unknown[] {
  return [nodeId, name, status, rows];
}

for (const kills of [1, 3, 6, 10, 15]) {
  Deno.test(`killed after ${kills} completed nodes, journal and receipt hold what stdout announced`, async () => {
    await using folder = await TempDir.create();
    const project = randomProject({ seed: 90 + kills, size: 40, folder: folder.path });
    await writeFiles(folder.path, project.files);
    await using running = startPz(JSON_RUN, { cwd: folder.path });
    for (let seen = 0; seen < kills; seen++) {
      assert.ok(await running.until(({ event }) => event === "node_completed"), "the run ended before it was killed");
    }

    running.kill("SIGKILL");
    const result = await running.finish();

    assert.equal(result.signal, "SIGKILL");
    const announced = result.events.filter(({ event }) => event === "node_completed").map(facts);
    assert.ok(announced.length >= kills && announced.length < project.nodes.length);
    const receipt = readReceipt(folder.path);
    assert.equal(receipt.status, "running");
    assert.equal(receipt.finishedAt, undefined);
    const received = receipt.nodes.map(({ id, name, status, rows }) => [id, name, status, rows]);
    const journal = readJournal(folder.path).map(({ id, name, status, rows }) => [id, name, status, rows]);
    assert.deepEqual(journal.slice(0, announced.length), announced);
    assert.deepEqual(journal.slice(0, received.length), received);
    assert.ok(received.length >= announced.length, "an event was published before its receipt was written");

    const delivered = new Set(journal.filter(([, , status]) => status === "success").map(([, name]) => name));
    const files = new Set(await listFiles(folder.path));
    for (const { file } of project.sinks) {
      const entity = file.split("/")[1];
      if (delivered.has(`lake.${entity}`)) assert.ok(files.has(file), `${file} is announced and not there`);
    }
    const runs = await runPz(["runs", "--json"], { cwd: folder.path });
    assert.equal(runs.code, 0, runs.toString());
    assert.notEqual(runs.events[0]?.["status"], "success");
    const again = await runPz(JSON_RUN, { cwd: folder.path });
    assert.equal(again.code, 0, again.toString());
  });
}

/** Its second pipeline takes minutes: as good as endless for a test, and an end for a run that nobody waits for. */
const ENDLESS = {
  "project.yml": `name: endless\nversion: "1"\nengine: { threads: 1 }\n`,
  "connections.yml": `lake:\n  connector: localfiles\n  root: out\n`,
  "pipelines/a_first.sql":
    `INSERT INTO {{ sink('lake', 'a_first', format: 'csv', strategy: 'replace') }}\nSELECT 1 AS one\n`,
  "pipelines/b_endless.sql": `INSERT INTO {{ sink('lake', 'b_endless', format: 'csv', strategy: 'replace') }}\n` +
    `SELECT sum(hash(a.range + b.range)) AS n FROM range(300000) a, range(100000) b\n`,
};

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  Deno.test(`${signal} interrupts the running statement: exit code 3 and a complete receipt`, async () => {
    await using folder = await TempDir.create();
    await writeFiles(folder.path, ENDLESS);
    await using running = startPz(JSON_RUN, { cwd: folder.path });
    assert.ok(await running.until(({ event, name }) => event === "node_started" && name === "b_endless"));

    running.kill(signal);
    const result = await running.finish();

    assert.equal(result.code, 3, result.toString());
    assert.deepEqual(problemsOfStream(result.events), []);
    const receipt = readReceipt(folder.path);
    assert.equal(receipt.status, "fatal");
    assert.equal(receipt.interrupted, true);
    assert.notEqual(receipt.finishedAt, undefined);
    assert.equal(receipt.nodes.length, 4);
    assert.equal(receipt.nodes.find(({ name }) => name === "b_endless")?.status, "skipped");
    assert.deepEqual((await listFiles(folder.path)).filter((path) => path.endsWith(".wal")), []);
  });
}

Deno.test("signals that repeat end the process and tear no file", async () => {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, ENDLESS);
  await using running = startPz(JSON_RUN, { cwd: folder.path });
  assert.ok(await running.until(({ event, name }) => event === "node_started" && name === "b_endless"));

  running.kill("SIGINT");
  running.kill("SIGTERM");
  const result = await running.finish();

  assert.ok(result.code === 3 || result.signal === "SIGTERM" || result.signal === "SIGINT", result.toString());
  assert.equal(readReceipt(folder.path).nodes.find(({ name }) => name === "a_first")?.status, "success");
  for (const { name } of readJournal(folder.path)) assert.notEqual(name, undefined);
});

Deno.test("a reader that goes away loses its lines and harms nothing", async () => {
  await using folder = await TempDir.create();
  const project = randomProject({ seed: 5, size: 20, folder: folder.path });
  await writeFiles(folder.path, project.files);
  await using running = startPz(JSON_RUN, { cwd: folder.path });
  assert.ok(await running.until(({ event }) => event === "node_completed"));

  await running.closeStdout();
  const result = await running.finish();

  assert.equal(result.code, 0, result.toString());
  assert.equal(readReceipt(folder.path).status, "success");
  assert.equal(readReceipt(folder.path).nodes.length, project.nodes.length);
});
