import assert from "node:assert/strict";
import { runPz } from "../harness/cli.ts";
import { TempDir, writeFiles } from "../harness/temp_dir.ts";
import { FILE_MISTAKES } from "./newcomer_files.ts";
import { PIPELINE_MISTAKES } from "./newcomer_pipelines.ts";
import { PROJECT } from "./newcomer_project.ts";

for (
  const { title, files = {}, args = ["run"], env = {}, code = 2, stderr } of [...FILE_MISTAKES, ...PIPELINE_MISTAKES]
) {
  Deno.test(`the next step is told: ${title}`, async () => {
    await using folder = await TempDir.create();
    const all = Object.entries({ ...PROJECT, ...files });
    await writeFiles(
      folder.path,
      Object.fromEntries(all.flatMap(([path, text]) => text === undefined ? [] : [[path, text]])),
    );

    const result = await runPz(args, { cwd: folder.path, env });

    assert.deepEqual(result.stderr.replaceAll(folder.path, "/shop").split("\n").slice(0, -1), stderr);
    assert.equal(result.code, code, result.toString());
  });
}
