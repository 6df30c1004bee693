import type { MachineFacts } from "../plan/mod.ts";

const CGROUP_ROOT = "/sys/fs/cgroup";

/** Reads a small system file; undefined when there is none or it may not be read. */
export type ReadText = (path: string) => string | undefined;

/** The memory and CPUs that this process may use: the smaller of the machine's and, on Linux, of its cgroups'. */
export function machineFacts(): MachineFacts {
  const machine = { memoryBytes: totalMemory(readText), cpus: navigator.hardwareConcurrency };
  return Deno.build.os === "linux" ? withCgroupLimits(machine, readText) : machine;
}

/** Applies the limits of the process's cgroup and of every cgroup above it (version 2, or version 1 at its mount). */
export function withCgroupLimits(machine: MachineFacts, read: ReadText): MachineFacts {
  let { memoryBytes, cpus } = machine;
  for (const folder of cgroupFolders(read)) {
    memoryBytes = Math.min(memoryBytes, byteLimit(read(`${folder}/memory.max`)));
    cpus = Math.min(cpus, cpuLimit(read(`${folder}/cpu.max`)));
  }
  memoryBytes = Math.min(memoryBytes, byteLimit(read(`${CGROUP_ROOT}/memory/memory.limit_in_bytes`)));
  const quota = read(`${CGROUP_ROOT}/cpu/cpu.cfs_quota_us`)?.trim();
  const period = read(`${CGROUP_ROOT}/cpu/cpu.cfs_period_us`)?.trim();
  if (quota !== undefined && period !== undefined && Number(quota) > 0) {
    cpus = Math.min(cpus, cpuLimit(`${quota} ${period}`));
  }
  return { memoryBytes, cpus };
}

/** The folders of the process's version 2 cgroup, from its own up to the root of the mount. */
function cgroupFolders(read: ReadText): string[] {
  const line = read("/proc/self/cgroup")?.split("\n").find((entry) => entry.startsWith("0::"));
  const parts = (line ?? "0::/").slice("0::".length).split("/").filter((part) => part !== "" && part !== "..");
  return Array.from(
    { length: parts.length + 1 },
    (_, up) => [CGROUP_ROOT, ...parts.slice(0, parts.length - up)].join("/"),
  );
}

function byteLimit(text: string | undefined): number {
  const trimmed = text?.trim() ?? "";
  return /^\d+$/.test(trimmed) && Number(trimmed) > 0 ? Number(trimmed) : Infinity;
}

function cpuLimit(text: string | undefined): number {
  const [quota = "", period = ""] = (text ?? "").trim().split(/\s+/);
  if (!/^\d+$/.test(quota) || !/^\d+$/.test(period) || Number(period) === 0) return Infinity;
  return Math.max(1, Math.ceil(Number(quota) / Number(period)));
}

function totalMemory(read: ReadText): number {
  try {
    return Deno.systemMemoryInfo().total;
  } catch {
    const kilobytes = /^MemTotal:\s+(\d+) kB$/m.exec(read("/proc/meminfo") ?? "")?.[1];
    return kilobytes === undefined ? 2 ** 32 : Number(kilobytes) * 1024;
  }
}

function readText(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return undefined;
  }
}
