import assert from "node:assert/strict";
import { countTests, runStep, runSteps, type StepResult } from "../../../scripts/test_run.ts";

const OPTIONS = { cwd: ".", env: {}, deadlineMs: 60_000 };

Deno.test("a finished test run is counted from its last summary line", () => {
  const output = "a ... ok (1ms)\nb ... ignored (0ms)\n\nFAILED | 2 passed (1 step) | 3 failed | 1 ignored (8ms)\n";
  assert.deepEqual(countTests(output, 1), { passed: 2, failed: 3, ignored: ["b"] });
  assert.deepEqual(countTests("\nok | 12 passed | 0 failed (8ms)\n", 0), { passed: 12, failed: 0, ignored: [] });
});

Deno.test("a test run that ends badly without a failed test is one failure", () => {
  assert.equal(countTests("ok | 12 passed | 0 failed (8ms)\n", 1).failed, 1);
  assert.equal(countTests("", 139).failed, 1);
  assert.equal(countTests("nothing that looks like a summary\n", 0).failed, 1);
});

Deno.test("a check passes when its command ends with 0", async () => {
  const check = (...command: string[]) => runStep({ title: "t", kind: "check", command }, OPTIONS);
  assert.equal((await check(Deno.execPath(), "--version")).passed, 1);
  const bad = await check(Deno.execPath(), "no-such-command-or-file");
  assert.deepEqual([bad.passed, bad.failed], [0, 1]);
  assert.notEqual(bad.output, "");
});

Deno.test("a step that does not end in time is killed with all that it started, and fails", async () => {
  // The child's child holds stdout open, so the step's output ends only when that is killed too.
  const command = ["sh", "-c", "sleep 60 & sleep 60"];
  const result = await runStep({ title: "hang", kind: "suite", command }, { ...OPTIONS, deadlineMs: 300 });
  assert.ok(result.seconds < 30);
  assert.equal(result.failed, 1);
  assert.match(result.output, /killed after/);
});

Deno.test("a step that dies of a signal fails and says of which", async () => {
  const command = ["sh", "-c", "kill -SEGV $$"];
  const result = await runStep({ title: "crash", kind: "suite", command }, OPTIONS);
  assert.equal(result.failed, 1);
  assert.match(result.output, /died of SIGSEGV/);
});

Deno.test("every step of a pool is run once", async () => {
  const seen: StepResult[] = [];
  const command = [Deno.execPath(), "--version"];
  const steps = ["a", "b", "c"].map((title) => ({ title, kind: "check" as const, command }));
  await runSteps(steps, { ...OPTIONS, width: 2, onResult: (result) => seen.push(result) });
  assert.deepEqual(seen.map(({ step }) => step.title).sort(), ["a", "b", "c"]);
});
