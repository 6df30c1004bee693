import assert from "node:assert/strict";
import { runPz } from "../harness/cli.ts";
import { runIds } from "../harness/run_files.ts";
import { failedRun, runFile, tableRows, unblockLake } from "../spec/retry_support.ts";
import { HAS_FAULTS, runWithFault } from "./fault_run.ts";

Deno.test({
  name: "retries that came to nothing are passed over by the next, which goes on from the run before",
  ignore: !HAS_FAULTS,
  async fn() {
    await using folder = await failedRun();
    const cwd = folder.path;
    unblockLake(cwd);
    for (let times = 0; times < 2; times++) {
      const failed = await runWithFault(["retry"], { cwd, fault: "staging_open:1:throw" });
      assert.equal(failed.code, 3, failed.toString());
      // As if the staging database had not opened at all.
      const receipt = runFile(cwd, times + 1, "run_results.json");
      const text = await Deno.readTextFile(receipt);
      assert.match(text, /"status":"running"/);
      await Deno.writeTextFile(receipt, text.replace('"status":"running"', '"status":"fatal"'));
    }
    const [first = ""] = runIds(cwd);
    const retry = await runPz(["retry"], { cwd });
    assert.equal(retry.code, 0, retry.toString());
    assert.match(
      retry.stdout,
      new RegExp(`^note: reusing staged data for 1 source load\\(s\\) from run ${first}$`, "m"),
    );
    assert.deepEqual(await tableRows(cwd, "SELECT count(*) FROM made.good"), [["3"]]);
  },
});
