import assert from "node:assert/strict";
import { pzCommand } from "../harness/cli.ts";
import { TempDir, writeFiles } from "../harness/temp_dir.ts";

const PROJECT = {
  "project.yml": `name: small\nversion: "1"\n`,
  "connections.yml": `raw: { connector: localfiles, root: . }\n`,
  "pipelines/a.sql": "SELECT id FROM {{ source('raw', 'rows', format: 'csv') }}\n",
  "pipelines/b.sql": "SELECT * FROM {{ ref('a') }}\n",
};

/** What the system's linker loads for an invocation of pz, as it tells it, and what pz writes. */
async function loadedBy(args: readonly string[]): Promise<{ readonly libraries: string; readonly stdout: string }> {
  await using folder = await TempDir.create();
  const cwd = folder.join("project");
  await writeFiles(cwd, PROJECT);
  const linker = folder.join("linker");
  await Deno.mkdir(linker);
  const { program, args: all, env } = pzCommand(args, {
    env: { LD_DEBUG: "files", LD_DEBUG_OUTPUT: `${linker}/log` },
  });
  const { code, stdout, stderr } = await new Deno.Command(program, { args: all, cwd, env, clearEnv: true }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  let libraries = "";
  for await (const { name } of Deno.readDir(linker)) libraries += await Deno.readTextFile(`${linker}/${name}`);
  return { libraries, stdout: new TextDecoder().decode(stdout) };
}

/** The linker of Linux tells what it loads; others need not be asked, since what is loaded when is the same there. */
const ignore = Deno.build.os !== "linux";

Deno.test({
  name: "verbs that only look at a project's files load no native library",
  ignore,
  async fn() {
    for (
      const args of [["--version"], ["--help"], ["completion", "bash"], ["ls"], ["ls", "--select", "+b"], ["runs"], [
        "[suggest:7]",
        "pz run ",
      ]]
    ) {
      const { libraries, stdout } = await loadedBy(args);
      assert.match(libraries, /file=libc\.so/, args.join(" "));
      assert.doesNotMatch(libraries, /duckdb/, args.join(" "));
      if (args[0] === "ls") assert.match(stdout, /^pipeline +b /m);
      if (args[1] === "pz run ") assert.match(stdout, /^b$/m);
    }
    assert.match((await loadedBy(["compile"])).libraries, /duckdb/);
  },
});
