import assert from "node:assert/strict";
import { runPz, startPz } from "../harness/cli.ts";
import { type Files, listFiles, TempDir, writeFiles } from "../harness/temp_dir.ts";

const PROJECT: Files = {
  "project.yml": `name: shop\nversion: "1"\n`,
  "connections.yml": `files:
  connector: localfiles
  root: data
  entities: { a: { read: { columns: { id: bigint, name: varchar } } } }
lake:
  connector: localfiles
  root: out
`,
  "data/a.csv": "id,name\n1,x\n",
  "pipelines/p.sql":
    `INSERT INTO {{ sink('lake', 'copy', format: 'csv', strategy: 'replace') }}\nSELECT * FROM {{ source('files', 'a') }}\n`,
  "pipelines/configs/p.yml": `pipeline: p\nchecks:\n  - not_null: [id]\n`,
};

/** Verbs over a project, and their exit codes on it, on a broken one, and on one whose check fails. */
const VERBS: readonly (readonly [args: readonly string[], broken: number, failing: number])[] = [
  [["ls"], 2, 0],
  [["compile"], 2, 0],
  [["plan"], 2, 0],
  [["validate"], 2, 0],
  [["run"], 2, 1],
  [["run", "--all", "--log-format", "json"], 2, 1],
  [["run", "p"], 2, 1],
  [["test"], 2, 1],
  [["connectors"], 2, 0],
  // They read no more than the folders of old runs, so that a broken project does not stand in their way.
  [["runs"], 0, 0],
  [["clean", "--keep-last", "0"], 0, 0],
];

for (const [args, broken, failing] of VERBS) {
  Deno.test(`pz ${args.join(" ")}: exit codes, and from another folder into one of any name`, async () => {
    await using folder = await TempDir.create();
    const name = "Größe & 尺寸 'q'";
    await writeFiles(folder.join(name), PROJECT);
    await writeFiles(folder.join("broken"), { ...PROJECT, "project.yml": "nam: x\n" });
    await writeFiles(folder.join("failing"), {
      ...PROJECT,
      "pipelines/configs/p.yml": `pipeline: p\nchecks:\n  - row_count: { min: 2 }\n`,
    });

    const good = await runPz([...args, "--project", name], { cwd: folder.path });
    assert.equal(good.code, 0, good.toString());
    assert.doesNotMatch(good.stderr, /^(?:error|warning)/m);
    assert.ok(!(good.stdout + good.stderr).includes("\u001b"));
    assert.deepEqual([...Deno.readDirSync(folder.path)].map((entry) => entry.name).sort(), [
      "Größe & 尺寸 'q'",
      "broken",
      "failing",
    ]);

    const wrong = await runPz([...args, "--project", "broken"], { cwd: folder.path });
    assert.equal(wrong.code, broken, wrong.toString());
    if (broken === 2) assert.match(wrong.stderr, /^error PZ0101: Unknown key 'nam' \(project\.yml:1:1\)/m);

    const failed = await runPz(args, { cwd: folder.join("failing") });
    assert.equal(failed.code, failing, failed.toString());

    const nowhere = await runPz([...args, "--project", "nowhere"], { cwd: folder.path });
    assert.equal(nowhere.code, 2, nowhere.toString());
    assert.match(nowhere.stderr, /^error PZ0101: .* — hint: .*pz init/m);
    assert.equal(nowhere.stdout, "");
  });
}

const VARS_VERBS = ["ls", "compile", "plan", "validate", "run", "test", "connectors"];

Deno.test("--vars that is no JSON object is PZ0102 for every verb that has it, and never repeats the text", async () => {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, PROJECT);
  const before = await listFiles(folder.path);
  for (const verb of VARS_VERBS) {
    for (
      const [vars, said] of [["{s3cret", "valid JSON"], ["s3cret: 1", "valid JSON"], ['["s3cret"]', "a JSON object"]]
    ) {
      const result = await runPz([verb, "--vars", vars ?? ""], { cwd: folder.path });
      assert.equal(result.code, 2, result.toString());
      assert.match(result.stderr, new RegExp(`^error PZ0102: --vars .*${said}.* — hint: Pass a JSON object`));
      assert.doesNotMatch(result.stderr, /s3cret/);
      assert.equal(result.stdout, "");
    }
    const blank = await runPz([verb, "--vars", " "], { cwd: folder.path });
    assert.equal(blank.code, 0, blank.toString());
  }
  const after = (await listFiles(folder.path)).filter((path) => !/^(?:\.pz|out)\//.test(path));
  assert.deepEqual(after, before);
});

Deno.test("a failure of the system has a code, a next step and, with PZ_DEBUG only, a stack trace", async () => {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, { ...PROJECT, ".pz/target/plan.json/x": "a folder where pz needs a file\n" });
  for (const [debug, traced] of [[undefined, false], ["", false], ["0", false], ["1", true]] as const) {
    const env = debug === undefined ? {} : { PZ_DEBUG: debug };
    const result = await runPz(["run"], { cwd: folder.path, env });
    assert.equal(result.code, 3, result.toString());
    assert.match(
      result.stderr,
      /^error PZ0500: .*\.pz.* — hint: see that the project's folder .* can be read and written$/m,
    );
    assert.equal(/^\s+at /m.test(result.stderr), traced, result.stderr);
  }
});

const ENDLESS: Files = {
  "project.yml": `name: endless\nversion: "1"\n`,
  "connections.yml": `lake:\n  connector: localfiles\n  root: out\n`,
  "pipelines/endless.sql": `INSERT INTO {{ sink('lake', 'endless', format: 'csv', strategy: 'replace') }}\n` +
    `SELECT sum(hash(a.range + b.range)) AS n FROM range(300000) a, range(100000) b\n`,
};

Deno.test("runs and clean tell a run that goes on from one that was killed", async () => {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, ENDLESS);
  const cwd = folder.path;
  await using running = startPz(["run", "--log-format", "json"], { cwd });
  assert.ok(await running.until(({ event, name }) => event === "node_started" && name === "endless"));

  const during = await runPz(["runs", "--json"], { cwd });
  assert.equal(during.code, 0, during.toString());
  assert.equal(during.events[0]?.["status"], "running");
  const spared = await runPz(["clean", "--keep-last", "0", "--purge"], { cwd });
  assert.equal(spared.code, 0, spared.toString());
  assert.match(spared.stdout, /^nothing to clean\nskipped \S+ \(live run\)\n$/);

  running.kill("SIGKILL");
  await running.finish();

  const after = await runPz(["runs", "--json"], { cwd });
  assert.equal(after.code, 0, after.toString());
  const [run] = after.events;
  assert.deepEqual(
    [run?.["status"], run?.["interrupted"], run?.["finishedAt"], run?.["durationMs"]],
    ["interrupted", true, null, null],
  );
  const text = await runPz(["runs"], { cwd });
  assert.match(text.stdout, /^RUN ID .*\n\S+ +interrupted +\S+Z +- +0 +0 +0 +-\n$/);
  const dry = await runPz(["clean", "--keep-last", "0", "--purge", "--dry-run"], { cwd });
  assert.match(
    dry.stdout,
    /^dry-run: swept {3}1 run\(s\) \(whole directories\) — freed \S+ [KM]?B\ndry-run: kept {4}0 run\(s\)\n/,
  );
  const cleaned = await runPz(["clean", "--keep-last", "0", "--purge"], { cwd });
  assert.match(
    cleaned.stdout,
    /^swept {3}1 run\(s\) \(whole directories\) — freed \S+ [KM]?B\nkept {4}0 run\(s\)\nnote: /,
  );
  assert.equal((await runPz(["runs"], { cwd })).stdout, "no runs found\n");
});
