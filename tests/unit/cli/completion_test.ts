import assert from "node:assert/strict";
import { join } from "node:path";
import { splitWords } from "../../../src/cli/suggest.ts";
import { cli, TempFolder } from "./test_io.ts";

async function suggestions(line: string, cwd = Deno.cwd(), position = line.length): Promise<string[]> {
  const { code, stdout, stderr } = await cli([`[suggest:${position}]`, line], { cwd });
  assert.equal(code, 0);
  assert.equal(stderr, "");
  return stdout === "" ? [] : stdout.trimEnd().split("\n");
}

Deno.test("every script ends with one line end, has no carriage return and asks pz", async () => {
  for (const shell of ["bash", "zsh", "fish", "pwsh"]) {
    const { code, stdout } = await cli(["completion", shell]);
    assert.equal(code, 0);
    assert.match(stdout, /[^\n]\n$/);
    assert.doesNotMatch(stdout, /\r/);
    assert.match(stdout, /pz "\[suggest:/);
  }
});

Deno.test("suggestions are verbs, options, values and node names", async () => {
  assert.deepEqual(await suggestions("pz pl"), ["plan"]);
  assert.deepEqual(await suggestions("pz run --fa"), ["--fail-fast"]);
  assert.deepEqual(await suggestions("pz run --log-format "), ["text", "json"]);
  assert.deepEqual(await suggestions("pz init --template s"), ["sample"]);
  assert.deepEqual(await suggestions("pz completion "), ["bash", "zsh", "fish", "pwsh"]);
  assert.deepEqual(await suggestions("pz plan --all", Deno.cwd(), 5), ["plan"]);
  assert.deepEqual(await suggestions("pz run --project "), []);
});

Deno.test("node names come from the project, and a broken one gives none", async () => {
  await using temp = new TempFolder();
  await cli(["init", "demo", "-t", "sample"], { cwd: temp.path });
  const cwd = join(temp.path, "demo");
  assert.deepEqual(await suggestions("pz run order", cwd), ["order_totals", "orders_enriched"]);
  assert.deepEqual(await suggestions("pz run order --project demo", temp.path, 12), []);
  assert.deepEqual(await suggestions("pz run --project demo order", temp.path), ["order_totals", "orders_enriched"]);
  await Deno.writeTextFile(join(cwd, "project.yml"), "nam: x\n");
  assert.deepEqual(await suggestions("pz run order", cwd), []);
});

Deno.test("the words of a line end with the one being typed", () => {
  assert.deepEqual(splitWords("pz run "), ["pz", "run", ""]);
  assert.deepEqual(splitWords("pz  run a"), ["pz", "run", "a"]);
  assert.deepEqual(splitWords(`pz --project "my demo" '`), ["pz", "--project", "my demo", ""]);
});
