import assert from "node:assert/strict";
import { join, resolve } from "node:path";
import { splitWords } from "../../../src/cli/suggest.ts";
import { builtinConnectors } from "../../../src/connectors/mod.ts";
import { cli, TempFolder } from "./test_io.ts";

type Step = { readonly command: string; readonly input: string; readonly output: readonly string[] };

const README = await Deno.readTextFile(new URL("../../../README.md", import.meta.url));

/** The commands of the console blocks, each with its here-document and what it prints. */
function steps(): readonly Step[] {
  const found: { command: string; input: string; output: string[] }[] = [];
  for (const [, block = ""] of README.matchAll(/^```console\n(.*?)^```$/gms)) {
    let inHere = false;
    for (const line of block.trimEnd().split("\n")) {
      const last = found.at(-1);
      if (inHere && last !== undefined) {
        if (line === "END") inHere = false;
        else last.input += `${line}\n`;
      } else if (line.startsWith("$ ")) {
        inHere = line.endsWith("<<'END'");
        found.push({ command: line.slice(2), input: "", output: [] });
      } else {
        last?.output.push(line);
      }
    }
  }
  return found;
}

/** What differs from run to run and from machine to machine is made equal; nodes end in any order. */
function normalized(lines: readonly string[], folder: string): readonly string[] {
  return lines.filter((line) => !line.startsWith("note: connectors run in the runtime's sandbox alone")).map((line) =>
    line
      .replaceAll(folder, "/tmp")
      .replaceAll("\\", "/")
      .replaceAll(/\d+ms\b/g, "Nms")
      .replaceAll(/\d+\.\d\d GB/g, "N GB")
      .replaceAll(/threads \d+|DuckDB uses \d+/g, "N threads")
      .replaceAll(/\d{8}T\d{9}Z-[0-9a-f]{4}/g, "RUN")
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
      .replaceAll(/ +/g, " ")
  ).sort();
}

Deno.test("every command of the README's tour prints what the README says", async () => {
  await using temp = new TempFolder();
  let cwd = temp.path;
  let exit = 0;
  let now = Date.parse("2027-03-02T06:15:00.001Z");
  for (const { command, input, output } of steps()) {
    const [verb = "", ...args] = splitWords(command.replace(/ <<'END'$/, ""));
    let printed = "";
    if (verb === "pz") {
      const result = await cli(args, { cwd, now: () => now });
      now += 60_000;
      exit = result.code;
      printed = result.stderr + result.stdout;
    } else if (verb === "cd") cwd = resolve(cwd, args[0] ?? "");
    else if (verb === "mkdir") await Deno.mkdir(join(cwd, args[1] ?? ""), { recursive: true });
    else if (verb === "cat" && args[0] === ">") await Deno.writeTextFile(join(cwd, args[1] ?? ""), input);
    else if (verb === "cat") printed = await Deno.readTextFile(join(cwd, args[0] ?? ""));
    else if (command === "echo $?") printed = String(exit);
    else assert.fail(`the test can't run '${command}'`);
    const lines = printed.trimEnd() === "" ? [] : printed.trimEnd().split("\n");
    assert.deepEqual(normalized(lines, temp.path), normalized(output, temp.path), command);
  }
});

Deno.test("the README names every verb with its own description, and every connector", async () => {
  const { stdout } = await cli(["--help"]);
  const described = [...stdout.matchAll(/^ {2}([a-z]+)(?: \[[^\]]+\]| <[^>]+>)* {2,}(.+)$/gm)]
    .map(([, verb = "", text = ""]) => [verb, text] as const)
    .filter(([verb]) => verb !== "help");
  assert.ok(described.length >= 11);
  for (const [verb, text] of described) {
    const row = new RegExp(`^\\| \`${verb}\` +\\| (.+?) +\\|$`, "m").exec(README)?.[1] ?? "";
    assert.ok(row.replaceAll("`", "").startsWith(text), `${verb}: ${text}`);
  }
  for (const { name } of builtinConnectors()) {
    assert.match(README, new RegExp(`^\\| \`${name}\` +\\|`, "m"), `the README lacks connector ${name}`);
  }
});
