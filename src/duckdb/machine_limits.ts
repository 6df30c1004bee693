import type { DuckDBConnection } from "@duckdb/node-api";
import { loadDuckDb } from "./load.ts";

/** Bytes of memory and CPUs that this process may use. */
export type MachineLimits = { readonly memoryBytes: number; readonly cpus: number };

/** DuckDB's own default memory limit is this share of what it found. */
const DEFAULT_SHARE = 0.8;

let known: MachineLimits | undefined;

/**
 * What this process may use: the smaller of the machine's and its control group's, as DuckDB finds them. The runtime
 * could not tell: it lets no program without all permissions read the files under /proc and /sys that hold them.
 * Rounded by DuckDB to four digits.
 */
export async function machineLimits(): Promise<MachineLimits> {
  if (known !== undefined) return known;
  const { api } = await loadDuckDb();
  const instance = await api.DuckDBInstance.create(":memory:");
  try {
    const connection = await instance.connect();
    try {
      return await readDefaultLimits(connection);
    } finally {
      connection.disconnectSync();
    }
  } finally {
    instance.closeSync();
  }
}

/** Reads and remembers the limits from an instance that was started with DuckDB's own. */
export async function readDefaultLimits(connection: DuckDBConnection): Promise<MachineLimits> {
  if (known !== undefined) return known;
  const reader = await connection.runAndReadAll(
    "SELECT current_setting('memory_limit'), current_setting('threads')::VARCHAR",
  );
  const [memory, threads] = reader.getRows()[0] ?? [];
  known = { memoryBytes: Math.round(bytesOf(String(memory)) / DEFAULT_SHARE), cpus: Number(threads) };
  return known;
}

/** Reads DuckDB's own text of a size, such as `18.8 GiB`. */
function bytesOf(text: string): number {
  const [amount = "", unit = ""] = text.split(" ");
  const power = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"].indexOf(unit);
  if (power < 0) throw new RangeError(`Cannot read the size "${text}"`);
  return Number(amount) * 1024 ** power;
}
