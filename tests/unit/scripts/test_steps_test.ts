import assert from "node:assert/strict";
import { resolve } from "node:path";
import { binarySteps, placedSteps, testSteps } from "../../../scripts/test_steps.ts";
import { listFiles } from "../../harness/temp_dir.ts";

const ROOT = resolve(import.meta.dirname ?? ".", "../../..");

/** The last word of each step's command: the file or folder that it tests. */
function targetsOf(steps: typeof testSteps): string[] {
  return steps("deno", ROOT, "/tmp").map(({ command }) => command.at(-1) ?? "");
}

async function testFiles(): Promise<string[]> {
  const files = await listFiles(resolve(ROOT, "tests"));
  return files.filter((file) => file.endsWith("_test.ts")).map((file) => `tests/${file}`);
}

function stepsOf(file: string, targets: readonly string[]): string[] {
  return targets.filter((target) => file === target || file.startsWith(`${target}/`));
}

Deno.test("every test file is in exactly one step of the source, but those of the packaging, which are the binary's", async () => {
  const [source, binary] = [targetsOf(testSteps), targetsOf(binarySteps)];
  for (const file of await testFiles()) {
    const steps = stepsOf(file, file.startsWith("tests/packaging/") ? binary : source);
    assert.equal(steps.length, 1, `${file} is in ${steps.length} steps`);
  }
});

Deno.test("on the binary, and in other places, all black-box cases run", async () => {
  const [binary, placed] = [targetsOf(binarySteps), targetsOf(placedSteps)];
  assert.ok(binary.includes("tests/connectors/sandboxed_child_test.ts"));
  for (const file of await testFiles()) {
    if (/^tests\/(?:packaging|spec|crash)\//.test(file)) assert.equal(stepsOf(file, binary).length, 1, file);
    if (/^tests\/(?:spec|unit\/(?:compile|project|render|state|template))\//.test(file)) {
      assert.equal(stepsOf(file, placed).length, 1, file);
    }
  }
});

Deno.test("no two steps have the same title, and a title says where the tests lie", () => {
  const steps = testSteps("deno", ROOT, "/tmp");
  assert.equal(new Set(steps.map(({ title }) => title)).size, steps.length);
  for (const { title, command } of steps) assert.ok(command.at(-1)?.startsWith(`tests/${title}`), title);
});
