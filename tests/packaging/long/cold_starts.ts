import assert from "node:assert/strict";
import { median } from "../../bench/cpu.ts";
import { TempDir, writeFiles } from "../../harness/temp_dir.ts";
import { runProgram, SMALL_PROJECT } from "../machine.ts";

const AT_ONCE = 8;

/**
 * Starts a binary eight times at once with an empty cache, round after round: each start must do its work, and leave
 * one whole library that all of them share.
 *
 * @throws {Error} at the first start that goes wrong
 */
export async function startTogether(binary: string, rounds: number, say: (line: string) => void): Promise<void> {
  const seconds: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    await using temp = await TempDir.create();
    const projects = Array.from({ length: AT_ONCE }, (_, index) => temp.join(`project-${index}`));
    for (const project of projects) await writeFiles(project, SMALL_PROJECT);
    const cache = temp.join("cache");
    const started = performance.now();
    const results = await Promise.all(
      projects.map((project) => runProgram([binary, "run", "--all"], project, { PZ_CACHE_DIR: cache })),
    );
    seconds.push((performance.now() - started) / 1000);
    for (const [index, result] of results.entries()) {
      assert.equal(result.code, 0, `round ${round}, start ${index}: ${result}`);
      assert.equal(await Deno.readTextFile(temp.join(`project-${index}`, "out/one/one.csv")), "one\n1\n");
    }
    const unpacked = [...Deno.readDirSync(temp.join("cache/native"))].map(({ name }) => name);
    assert.equal(unpacked.length, 1, `round ${round}: the cache holds ${unpacked.join(", ")}`);
    const files = [...Deno.readDirSync(temp.join("cache/native", unpacked[0] ?? ""))];
    assert.equal(files.length, 2, `round ${round}: the library holds ${files.map(({ name }) => name).join(", ")}`);
    if (round % 5 === 0) say(`${round} rounds`);
  }
  say(
    `ok    ${rounds} rounds of ${AT_ONCE} first starts at once, ${rounds * AT_ONCE} right; ` +
      `a round took ${median(seconds).toFixed(2)} s (median; at most ${Math.max(...seconds).toFixed(2)} s)`,
  );
}
