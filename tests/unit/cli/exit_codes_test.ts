import assert from "node:assert/strict";
import { exitCodeOf } from "../../../src/cli/exit_codes.ts";
import { reportThrown } from "../../../src/cli/report.ts";
import type { RunOutcome } from "../../../src/engine/mod.ts";
import { PzError, PzErrors } from "../../../src/errors/mod.ts";
import { Console } from "../../../src/render/mod.ts";
import { CollectingSink } from "../render/byte_sinks.ts";

function outcome(change: Partial<RunOutcome>): RunOutcome {
  return { status: "success", interrupted: false, succeeded: 1, failed: 0, skipped: 0, ...change };
}

Deno.test("a run's exit code follows its status; a stopped run is fatal unless a node had failed before", () => {
  assert.equal(exitCodeOf(outcome({})), 0);
  assert.equal(exitCodeOf(outcome({ status: "completed_with_failures", failed: 1 })), 1);
  assert.equal(exitCodeOf(outcome({ status: "fatal" })), 3);
  assert.equal(exitCodeOf(outcome({ status: "fatal", interrupted: true, skipped: 4 })), 3);
  assert.equal(exitCodeOf(outcome({ status: "completed_with_failures", interrupted: true, failed: 1 })), 1);
  assert.equal(exitCodeOf(outcome({ status: "fatal", interrupted: true, failed: 1 })), 1);
});

async function thrown(error: unknown, debug = false): Promise<readonly [number, string]> {
  const stderr = new CollectingSink();
  const console = new Console({ stdout: new CollectingSink(), stderr });
  const code = reportThrown(console, error, debug);
  await console.flush(Infinity);
  return [code, stderr.text];
}

Deno.test("coded problems exit 2, each on one line with its place and hint", async () => {
  const first = new PzError("PZ0101", "unknown key 'nam'", {
    file: "project.yml",
    line: 2,
    column: 1,
    hint: "did you mean 'name'?",
  });
  const second = new PzError("PZ0401", "no column\nhere", { file: "pipelines/a.sql" });
  assert.deepEqual(await thrown(new PzErrors([first, second])), [
    2,
    "error PZ0101: unknown key 'nam' (project.yml:2:1) — hint: did you mean 'name'?\n" +
    "error PZ0401: no column\n  here (pipelines/a.sql)\n",
  ]);
  assert.equal((await thrown(first))[0], 2);
});

Deno.test("an unexpected error is PZ0500 and exits 3; only PZ_DEBUG adds its stack", async () => {
  const error = new TypeError("x is not a function");
  const [code, text] = await thrown(error);
  assert.equal(code, 3);
  assert.match(text, /^error PZ0500: internal error \(TypeError: x is not a function\) — hint: .*report.*\n$/);
  assert.match((await thrown(error, true))[1], /\n\s+at /);
});

Deno.test("errors of the system are told apart by their kind and exit 3", async () => {
  const system = (code: string) => Object.assign(new Error("no"), { code });
  for (
    const [error, expected] of [
      [new Deno.errors.PermissionDenied("no"), /^error PZ0531: no — hint: give the user .*\n$/],
      [system("EROFS"), /^error PZ0531: no — hint: give the user .*\n$/],
      [system("ENOSPC"), /^error PZ0532: no — hint: free some space; `pz clean` .*\n$/],
      [system("EBUSY"), /^error PZ0533: no — hint: close the program .*\n$/],
      [system("ENOTDIR"), /^error PZ0500: no — hint: see that the project's folder .*\n$/],
    ] as const
  ) {
    const [code, text] = await thrown(error);
    assert.equal(code, 3);
    assert.match(text, expected);
    assert.doesNotMatch(text, /bug/);
  }
});
