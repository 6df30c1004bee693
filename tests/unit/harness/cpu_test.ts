import assert from "node:assert/strict";
import { childSeconds, measure, median } from "../../bench/cpu.ts";

Deno.test("the median is the middle value, or the mean of the middle two", () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.equal(median([10]), 10);
});

Deno.test("the CPU time of children is read from the second line of `times`, as every shell writes it", () => {
  assert.equal(childSeconds("0m9.00s 0m9.00s\n0m1.25s 1m0.50s\n"), 61.75);
  assert.equal(childSeconds("0m0.000000s 0m0.000000s\n0m1.500000s 0m0.250000s\n"), 1.75);
  assert.throws(() => childSeconds("nothing"));
});

Deno.test("a measured command costs CPU time, grandchildren included, and a failing one throws", async () => {
  const env = { PATH: "/usr/bin:/bin" };
  const burn = `sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'`;
  const sample = await measure({ program: "sh", args: ["-c", burn], cwd: ".", env });
  assert.ok(sample.cpu > 0 && sample.wall > 0);
  await assert.rejects(
    measure({ program: "sh", args: ["-c", "echo bad >&2; exit 3"], cwd: ".", env }),
    /ended with 3: bad/,
  );
});
