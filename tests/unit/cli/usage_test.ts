import assert from "node:assert/strict";
import { VERSION } from "../../../src/cli/version.ts";
import { cli } from "./test_io.ts";

Deno.test("--version prints the version of deno.json", async () => {
  const config = JSON.parse(await Deno.readTextFile(new URL("../../../deno.json", import.meta.url)));
  assert.equal(config.version, VERSION);
  assert.deepEqual(await cli(["--version"]), { code: 0, stdout: `${VERSION}\n`, stderr: "" });
});

Deno.test("--help, -h and -? print the same help on stdout and exit 0, for pz and for every verb", async () => {
  const { stdout } = await cli(["--help"]);
  const verbs = [...stdout.matchAll(/^ {2}([a-z]+)\b.* {2}/gm)].map(([, verb]) => verb ?? "").filter((verb) =>
    verb !== "help"
  );
  assert.deepEqual(verbs, [
    "init",
    "run",
    "retry",
    "test",
    "compile",
    "plan",
    "validate",
    "ls",
    "runs",
    "clean",
    "connectors",
    "restore",
    "connector",
    "completion",
  ]);
  for (const verb of ["", ...verbs]) {
    const prefix = verb === "" ? [] : [verb];
    const expected = await cli([...prefix, "--help"]);
    assert.equal(expected.code, 0);
    assert.equal(expected.stderr, "");
    assert.match(expected.stdout, /^Usage: pz/);
    assert.deepEqual(await cli([...prefix, "-h"]), expected);
    assert.deepEqual(await cli([...prefix, "-?"]), expected);
  }
});

Deno.test("no verb at all is a usage error that shows the help on stderr", async () => {
  const { code, stdout, stderr } = await cli([]);
  assert.equal(code, 2);
  assert.equal(stdout, "");
  assert.match(stderr, /^Usage: pz/);
});

Deno.test("a misspelt option of run is PZ0210 and names the one that was meant", async () => {
  assert.deepEqual(await cli(["run", "--ful-refresh"]), {
    code: 2,
    stdout: "",
    stderr: "error PZ0210: unknown option '--ful-refresh' — hint: did you mean '--full-refresh'? " +
      "run `pz run --help` for the options\n",
  });
});

for (
  const [args, stderr] of [
    [
      ["ls", "--selec", "a"],
      "error: unknown option '--selec' — hint: did you mean '--select'? run `pz ls --help` for the options\n",
    ],
    [["ls", "--zzz"], "error: unknown option '--zzz' — hint: run `pz ls --help` for the options\n"],
    [["rum"], "error: unknown verb 'rum' — hint: did you mean 'run'? run `pz --help` for the verbs\n"],
    [
      ["--verison"],
      "error: unknown option '--verison' — hint: did you mean '--version'? run `pz --help` for the options\n",
    ],
    [["completion"], "error: missing required argument 'shell' — hint: run `pz completion --help`\n"],
    [["runs", "--limit"], "error: option '--limit <n>' argument missing — hint: run `pz runs --help`\n"],
    [["run", "--log-format", "xml"], "error: invalid --log-format value 'xml' (expected 'text' or 'json')\n"],
    [["runs", "--limit", "0"], "error PZ0534: --limit is '0', but must be a whole number of at least 1\n"],
    [
      ["completion", "tcsh"],
      "error PZ0535: there is no completion for shell 'tcsh' — hint: use one of bash, zsh, fish, pwsh\n",
    ],
    [["clean", "--keep-last", "-1"], "error PZ0512: --keep-last is '-1', but must be a whole number of at least 0\n"],
    [
      ["clean", "--older-than", "0d"],
      "error PZ0512: --older-than is '0d', but must be a duration such as 500ms, 2s, 5m, 1h or 7d\n",
    ],
    [
      ["clean", "--keep-last", "1", "--older-than", "1d"],
      "error PZ0511: --keep-last and --older-than were both given — hint: choose one of them\n",
    ],
  ] as const
) {
  Deno.test(`a wrong command line exits 2 with one line on stderr: ${args.join(" ")}`, async () => {
    assert.deepEqual(await cli(args), { code: 2, stdout: "", stderr });
  });
}
