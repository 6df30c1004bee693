import assert from "node:assert/strict";
import { pzCommand } from "../harness/cli.ts";
import { readReceipt } from "../harness/run_files.ts";
import { type Files, TempDir, writeFiles } from "../harness/temp_dir.ts";

const ESC = "\x1b";
const NAMES = ["alpha", "beta", "gamma", "delta", "epsilon"];
const PROJECT: Files = {
  "project.yml": `name: shop\nversion: "1"\n`,
  "connections.yml": `files:\n  connector: localfiles\n  root: data\nlake:\n  connector: localfiles\n  root: out\n`,
  ...Object.fromEntries(NAMES.flatMap((name) => [
    [`data/${name}.csv`, "id,name\n1,x\n"],
    [
      `pipelines/p_${name}.sql`,
      `INSERT INTO {{ sink('lake', '${name}', format: 'csv', strategy: 'replace') }}\nSELECT * FROM {{ source('files', '${name}') }}\n`,
    ],
  ])),
  // Slow enough for some frames, and failing at its end.
  "pipelines/slow.sql":
    `SELECT CAST(concat('x', sum(hash(a.range + b.range))) AS INTEGER) AS n FROM range(20000) a, range(2000) b\n`,
  "pipelines/configs/slow.yml": `pipeline: slow\nchecks:\n  - row_count: { min: 1 }\n`,
};

/** Runs pz on a terminal of its own; gives what it wrote there, and its exit code. */
async function onTerminal(cwd: string, columns: number, env: { readonly [name: string]: string } = {}) {
  const { program, args, env: base } = pzCommand(["run", "--all"]);
  const words = [program, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  const { NO_COLOR: _noColor, ...inherited } = base;
  const { code, stdout } = await new Deno.Command("script", {
    args: ["-qec", `stty cols ${columns} rows 40; exec ${words}`, "/dev/null"],
    cwd,
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", TERM: "xterm", SHELL: "/bin/sh", ...inherited, ...env },
    clearEnv: true,
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).output();
  return { code, text: new TextDecoder().decode(stdout).replaceAll("\r\n", "\n") };
}

/** The lines that stay on the screen, behind the last jump of the cursor, without colours. */
function lastFrame(text: string): readonly string[] {
  const behind = text.split(new RegExp(`${ESC}\\[\\d+A`)).at(-1) ?? "";
  return behind.replaceAll(new RegExp(`${ESC}\\[[\\d;]*[A-Za-z]`, "g"), "").trimEnd().split("\n");
}

const ignore = Deno.build.os !== "linux" || !hasScript();

for (const columns of [30, 80, 200]) {
  Deno.test({
    name: `a terminal of ${columns} columns shows the run as a tree, no frame wider than it`,
    ignore,
    fn: async () => {
      await using folder = await TempDir.create();
      await writeFiles(folder.path, PROJECT);

      const { code, text } = await onTerminal(folder.path, columns);

      assert.equal(code, 1, text);
      const frames = text.split(new RegExp(`${ESC}\\[\\d+A`));
      assert.ok(frames.length >= 3, text);
      for (const frame of frames.slice(1, -1)) {
        for (const line of frame.replaceAll(new RegExp(`${ESC}\\[[\\d;]*[A-Za-z]`, "g"), "").split("\n")) {
          assert.ok(line.length < columns, `${line.length} columns: ${line}`);
        }
      }
      const shown = lastFrame(text);
      const heads = shown.filter((line) => /^(pz run| {2}\w)/.test(line));
      assert.deepEqual(heads, ["pz run (17/17)", "  sources", "  pipelines", "  checks", "  sinks"]);
      assert.ok(shown.some((line) => /^ {4}FAIL slow 0 rows \d+ms$/.test(line)), text);
      assert.ok(shown.some((line) => /^ {6}PZ0501: .*'x\d+'.*\(pipelines\/slow\.sql:1:\d+\)$/.test(line)), text);
      assert.ok(shown.some((line) => /^ {4}skip check_slow_row_count 0 rows 0ms$/.test(line)), text);
      const load = shown.find((line) => line.startsWith("    ok src_files__alpha 1 rows "));
      assert.equal(load?.endsWith(" · native scan: read_csv"), columns > 30, load);
      assert.match(shown.at(-1) ?? "", /^run \S+: 15 succeeded, 1 failed, 1 skipped \(.*run_results\.json\)$/);
      assert.equal(readReceipt(folder.path).status, "completed_with_failures");
    },
  });
}

Deno.test({
  name: "colours stand on a terminal only, and NO_COLOR takes them away",
  ignore,
  fn: async () => {
    await using folder = await TempDir.create();
    await writeFiles(folder.path, PROJECT);
    const colour = new RegExp(`${ESC}\\[[\\d;]+m`);
    assert.match((await onTerminal(folder.path, 100)).text, new RegExp(`${ESC}\\[31mFAIL${ESC}\\[0m slow`));
    const plain = await onTerminal(folder.path, 100, { NO_COLOR: "1" });
    assert.doesNotMatch(plain.text, colour);
    assert.match(plain.text, new RegExp(`${ESC}\\[\\d+A`));
  },
});

for (
  const [title, env] of [["CI is set, even to nothing", { CI: "" }], ["the terminal is dumb", {
    TERM: "dumb",
  }]] as const
) {
  Deno.test({
    name: `plain lines are written where ${title}`,
    ignore,
    fn: async () => {
      await using folder = await TempDir.create();
      await writeFiles(folder.path, PROJECT);
      const { code, text } = await onTerminal(folder.path, 80, env);
      assert.equal(code, 1, text);
      assert.ok(!text.includes(ESC), text);
      assert.match(text, /^FAIL slow 0 rows \d+ms\n {2}PZ0501: .*slow\.sql:1:/m);
      assert.doesNotMatch(text, /^pz run/m);
    },
  });
}

function hasScript(): boolean {
  try {
    return new Deno.Command("script", { args: ["--version"], stderr: "null" }).outputSync().success;
  } catch {
    return false;
  }
}
