import assert from "node:assert/strict";
import { pzCommand, runPz, startPz } from "../harness/cli.ts";
import { problemsOfStream } from "../harness/events.ts";
import { readReceipt } from "../harness/run_files.ts";
import { type Files, TempDir, writeFiles } from "../harness/temp_dir.ts";

const PIPELINES = 250;
/** More events than a pipe holds, which is 64 KB on Linux, for a run that takes a moment only. */
const CHATTY: Files = {
  "project.yml": `name: chatty\nversion: "1"\n`,
  "connections.yml": `lake:\n  connector: localfiles\n  root: out\n`,
  ...Object.fromEntries(
    Array.from(
      { length: PIPELINES },
      (_, index) => [`pipelines/p_${index}_${"x".repeat(60)}.sql`, "SELECT 1 AS one\n"],
    ),
  ),
  "pipelines/last.sql": `INSERT INTO {{ sink('lake', 'last', format: 'csv', strategy: 'replace') }}\nSELECT 1 AS one\n`,
};
const FULL: Files = {
  ...CHATTY,
  "pipelines/broken.sql": `SELECT CAST('x' AS INTEGER) AS n\n`,
};
/** How long pz waits for a reader, and time for all else. */
const DRAIN_BOUND_MS = 5000;
const MARGIN_MS = 40_000;

function assertComplete(project: string, status: string, nodes: number): void {
  const receipt = readReceipt(project);
  assert.equal(receipt.status, status);
  assert.notEqual(receipt.finishedAt, undefined);
  assert.equal(receipt.nodes.length, nodes);
}

for (
  const [what, files, code, status] of [
    ["a good run", CHATTY, 0, "success"],
    ["a run with a failure", FULL, 1, "completed_with_failures"],
  ] as const
) {
  Deno.test(`${what} whose stdout is never read ends by itself, with its exit code and a complete receipt`, async () => {
    await using folder = await TempDir.create();
    await writeFiles(folder.path, files);
    const { program, args, env } = pzCommand(["run", "--all", "--log-format", "json"]);
    const start = performance.now();
    const child = new Deno.Command(program, {
      args,
      env,
      cwd: folder.path,
      clearEnv: true,
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const stderr = new Response(child.stderr).text();

    const ended = await child.status;

    const elapsed = performance.now() - start;
    const heard = (await new Response(child.stdout).arrayBuffer()).byteLength;
    assert.equal(ended.code, code, await stderr);
    assert.ok(heard > 0);
    assert.ok(elapsed > DRAIN_BOUND_MS && elapsed < DRAIN_BOUND_MS + MARGIN_MS, `${elapsed} ms`);
    assert.match(
      await stderr,
      /^warning: renderer did not finish draining run events within 5s; remaining output dropped$/m,
    );
    assert.match(await stderr, /^run \S+: \d+ succeeded, \d failed, 0 skipped /m);
    assertComplete(folder.path, status, Object.keys(files).length - 1);
  });
}

for (const format of ["text", "json"]) {
  Deno.test(`a reader of ${format} that leaves after one line costs only the output`, async () => {
    await using folder = await TempDir.create();
    await writeFiles(folder.path, CHATTY);
    await using running = startPz(["run", "--all", "--log-format", format], { cwd: folder.path });
    assert.notEqual(await running.next(), undefined);

    await running.closeStdout();
    const result = await running.finish();

    assert.equal(result.code, 0, result.toString());
    assert.doesNotMatch(result.stderr, /error|can't be written/);
    assertComplete(folder.path, "success", PIPELINES + 2);
  });
}

Deno.test("a reader that leaves early is no failure of a listing", async () => {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, CHATTY);
  await using running = startPz(["ls"], { cwd: folder.path });
  await running.closeStdout();
  const result = await running.finish();
  assert.equal(result.code, 0, result.toString());
  assert.equal(result.stderr, "");
});

/** Runs pz with stdout on a device on which nothing has room. */
async function onFullDevice(args: readonly string[], cwd: string): Promise<{ code: number; stderr: string }> {
  const command = pzCommand(args);
  const { code, stderr } = await new Deno.Command("/bin/sh", {
    args: ["-c", 'exec "$@" > /dev/full', "sh", command.program, ...command.args],
    env: command.env,
    cwd,
    clearEnv: true,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  return { code, stderr: new TextDecoder().decode(stderr) };
}

const hasFullDevice = Deno.build.os === "linux";

for (const format of ["text", "json"]) {
  Deno.test({
    name: `a run whose ${format} finds no room on the device is told of, and is as good as its receipt says`,
    ignore: !hasFullDevice,
    fn: async () => {
      await using folder = await TempDir.create();
      await writeFiles(folder.path, FULL);
      const { code, stderr } = await onFullDevice(["run", "--all", "--log-format", format], folder.path);
      assert.equal(code, 1, stderr);
      assert.match(stderr, /^warning: stdout can't be written: .*No space left.*; the rest of the output is lost$/m);
      assertComplete(folder.path, "completed_with_failures", PIPELINES + 3);
    },
  });
}

Deno.test({
  name: "a listing that finds no room on the device is an error",
  ignore: !hasFullDevice,
  fn: async () => {
    await using folder = await TempDir.create();
    await writeFiles(folder.path, CHATTY);
    for (const args of [["ls"], ["plan"], ["runs", "--json"], ["--version"], ["--help"], ["completion", "bash"]]) {
      const { code, stderr } = await onFullDevice(args, folder.path);
      if (args[0] === "runs") {
        // There is nothing to list yet, and so nothing to lose.
        assert.equal(code, 0, stderr);
        continue;
      }
      assert.equal(code, 3, `${args.join(" ")}: ${stderr}`);
      assert.match(stderr, /^error PZ0532: stdout can't be written: .*No space left/m);
    }
  },
});

Deno.test("events come one by one while a run goes on, and stdout holds nothing else", async () => {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, FULL);
  const result = await runPz(["run", "--all", "--log-format", "json"], { cwd: folder.path });
  assert.equal(result.code, 1, result.toString());
  assert.deepEqual(problemsOfStream(result.events), []);
  assert.equal(result.events.filter(({ event }) => event === "node_completed").length, PIPELINES + 3);
});
