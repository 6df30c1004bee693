import assert from "node:assert/strict";
import { HAS_FAULTS } from "./fault_run.ts";
import { type Faults, runCell, runWhole, type Whole } from "./matrix/cell.ts";
import { FILE_TARGETS } from "./matrix/file_targets.ts";

/** A sample of the matrix that `deno task crash` prints: those that went wrong most easily. */
const SAMPLE: { readonly [target: string]: readonly Faults[] } = {
  "duckdb append": [
    { run: "write_begun:1:kill" },
    { run: "committed:1:kill" },
    { run: "committed:2:kill" },
    { run: "committed:1:throw" },
    { run: "load_done:1:int", retry: "committed:2:kill" },
  ],
  "csv append": [{ run: "committed:2:kill" }, { run: "copy_flushed:1:full" }],
  "parquet replace": [{ run: "copy_written:1:kill" }, { run: "load_done:1:kill", retry: "staging_copied:1:kill" }],
};

const wholes = new Map<string, Promise<Whole>>();

for (const [name, cells] of Object.entries(SAMPLE)) {
  for (const faults of cells) {
    const retried = faults.retry === undefined ? "" : `, then ${faults.retry}`;
    Deno.test({
      name: `${name}: whatever happens at ${faults.run}${retried}, a retry leaves what an undisturbed run leaves`,
      ignore: !HAS_FAULTS,
      fn: async () => {
        const target = FILE_TARGETS.find((one) => one.name === name);
        assert.ok(target);
        const whole = wholes.get(name) ?? runWhole(target);
        wholes.set(name, whole);
        assert.deepEqual((await runCell(target, await whole, faults)).faults, []);
      },
    });
  }
}
