import { isAbsolute, join } from "node:path";
import { PzError } from "../errors/mod.ts";
import type { CompiledDag } from "../compile/mod.ts";
import { parseByteSize } from "../util/mod.ts";
import type { DuckDbLimits, MachineFacts, MemoryBudget } from "./plan.ts";

const DEFAULT_MEMORY_SHARE = 0.6;
const DEFAULT_CHANNEL_BYTES = 256 * 1024 ** 2;
const FIXED_OVERHEAD_BYTES = 256 * 1024 ** 2;

const DEFAULT_BATCH_BYTES = 32 * 1024 ** 2;
const MIN_BATCH_BYTES = 64 * 1024;

/**
 * Target bytes of a batch: what the project sets, or else so much that each node that may run at the same time can have
 * two of them in flight.
 */
export function batchBytesOf({ engine }: CompiledDag["project"]): number {
  const { batchBytes, channelBytes = DEFAULT_CHANNEL_BYTES, threads } = engine;
  const share = Math.floor(channelBytes / (2 * threads));
  return batchBytes ?? Math.max(MIN_BATCH_BYTES, Math.min(DEFAULT_BATCH_BYTES, share));
}

/** What DuckDB is started with and what the whole process may use; PZ0120 for a memory limit that is no size. */
export function budgetOf(
  project: CompiledDag["project"],
  machine: MachineFacts,
): { readonly limits: DuckDbLimits; readonly memoryBudget: MemoryBudget; readonly errors: readonly PzError[] } {
  const { duckdb, channelBytes = DEFAULT_CHANNEL_BYTES } = project.engine;
  const limit = duckdb.memoryLimit;
  const parsed = limit === undefined ? undefined : parseByteSize(limit);
  const errors = limit === undefined || (parsed ?? 0) > 0 ? [] : [
    new PzError("PZ0120", `engine.duckdb.memory_limit is '${limit}', which is no size`, {
      file: "project.yml",
      hint: "write a size such as 4GiB or 500MB",
    }),
  ];
  const memoryLimitBytes = parsed ?? Math.floor(machine.memoryBytes * DEFAULT_MEMORY_SHARE);
  const threads = duckdb.threads ?? Math.max(1, Math.floor(machine.cpus));
  return {
    limits: { memoryLimitBytes, threads, ...tempDirectory(project) },
    memoryBudget: {
      duckdbBytes: memoryLimitBytes,
      duckdbDisclaimer: limit === undefined
        ? "engine.duckdb.memory_limit is not set: 60 % of the memory that this process may use"
        : null,
      channelBytes,
      fixedOverheadBytes: FIXED_OVERHEAD_BYTES,
      totalBytes: memoryLimitBytes + channelBytes + FIXED_OVERHEAD_BYTES,
      duckdbThreadsDisclaimer: duckdb.threads === undefined
        ? `engine.duckdb.threads is not set: DuckDB uses ${threads}, as many as this process has CPUs; the least memory ` +
          "that DuckDB needs grows with columns x threads"
        : null,
    },
    errors,
  };
}

function tempDirectory({ engine, root }: CompiledDag["project"]): { readonly tempDirectory?: string } {
  const folder = engine.duckdb.tempDirectory;
  if (folder === undefined) return {};
  return { tempDirectory: isAbsolute(folder) ? folder : join(root, folder) };
}
