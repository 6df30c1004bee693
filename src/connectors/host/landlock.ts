import { LandlockCalls, SystemCallError } from "./landlock_calls.ts";

/**
 * What the operating system adds to the runtime's sandbox of a connector's process: the version of Landlock, or why
 * there is nothing, to stand behind "since".
 */
export type SystemLayer = { readonly landlock: number } | { readonly missing: string };

const ENOSYS = 38;
const EOPNOTSUPP = 95;

let asked: SystemLayer | undefined;

/**
 * Asks the kernel, and changes nothing; the answer is kept. The first call of a process must come before it has loaded
 * DuckDB: the permission `ffi`, which the question needs, is given up then.
 */
export function systemLayer(): SystemLayer {
  return asked ??= ask();
}

function ask(): SystemLayer {
  if (Deno.build.os !== "linux") return { missing: "only Linux has a layer that pz knows" };
  try {
    using calls = new LandlockCalls();
    return { landlock: calls.abi() };
  } catch (error) {
    return { missing: whyMissing(error) };
  }
}

/** What it means that Landlock can't be used. */
export function whyMissing(error: unknown): string {
  if (!(error instanceof SystemCallError)) {
    return `the system can't be asked for Landlock (${error instanceof Error ? error.message : String(error)})`;
  }
  if (error.errno === ENOSYS) return "this kernel has no Landlock (it came with Linux 5.13)";
  if (error.errno === EOPNOTSUPP) return "Landlock was switched off when this kernel was built or started";
  return `the system does not allow Landlock here: ${error.message}`;
}
