import assert from "node:assert/strict";
import { machineLimits, openDuckDb } from "../../../src/duckdb/mod.ts";

Deno.test("the machine's limits are what this process may use", async () => {
  const { memoryBytes, cpus } = await machineLimits();
  const total = Deno.systemMemoryInfo().total;
  assert.ok(memoryBytes > 64 * 1024 ** 2 && memoryBytes <= total * 1.01, `${memoryBytes} of ${total}`);
  assert.ok(Number.isInteger(cpus) && cpus >= 1 && cpus <= navigator.hardwareConcurrency);
});

Deno.test("limits that an instance was given are not taken for the machine's", async () => {
  await using _database = await openDuckDb({ memoryLimitBytes: 100_000_000, threads: 1 });
  assert.ok((await machineLimits()).memoryBytes > 200_000_000);
});
