import assert from "node:assert/strict";
import { machineFacts, withCgroupLimits } from "../../../src/cli/machine.ts";

const MACHINE = { memoryBytes: 1000, cpus: 8 };

function limits(files: { readonly [path: string]: string }) {
  return withCgroupLimits(MACHINE, (path) => files[path]);
}

Deno.test("without cgroup files the machine's own numbers hold", () => {
  assert.deepEqual(limits({}), MACHINE);
});

Deno.test("the smallest limit of the process's cgroup and those above it holds", () => {
  assert.deepEqual(
    limits({
      "/proc/self/cgroup": "0::/system.slice/pz.service\n",
      "/sys/fs/cgroup/system.slice/memory.max": "400\n",
      "/sys/fs/cgroup/system.slice/pz.service/memory.max": "max\n",
      "/sys/fs/cgroup/system.slice/pz.service/cpu.max": "150000 100000\n",
      "/sys/fs/cgroup/cpu.max": "max 100000\n",
    }),
    { memoryBytes: 400, cpus: 2 },
  );
});

Deno.test("a container sees its own limit at the root of the mount", () => {
  assert.deepEqual(
    limits({
      "/proc/self/cgroup": "0::/\n",
      "/sys/fs/cgroup/memory.max": "500",
      "/sys/fs/cgroup/cpu.max": "50000 100000",
    }),
    {
      memoryBytes: 500,
      cpus: 1,
    },
  );
});

Deno.test("version 1 limits are read at their mounts", () => {
  assert.deepEqual(
    limits({
      "/sys/fs/cgroup/memory/memory.limit_in_bytes": "300\n",
      "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "400000\n",
      "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
    }),
    { memoryBytes: 300, cpus: 4 },
  );
  assert.deepEqual(
    limits({ "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1", "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000" }),
    MACHINE,
  );
});

Deno.test("this machine has memory and at least one CPU", () => {
  const { memoryBytes, cpus } = machineFacts();
  assert.ok(memoryBytes > 2 ** 20);
  assert.ok(Number.isInteger(cpus) && cpus >= 1);
});
