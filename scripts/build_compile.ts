import { join } from "node:path";
import type { Target } from "./build_targets.ts";

export type CompileOptions = {
  readonly root: string;
  readonly folder: string;
  readonly config: string;
  readonly target: Target;
  readonly output: string;
  /** More flags for V8 than those of the task `pz`, with commas between. */
  readonly v8Flags: string | undefined;
  /** Whether the packed native library is among the files that the runtime has in memory. */
  readonly withNative: boolean;
};

/** Makes the executable of what stands in a folder, with this very Deno. */
export async function compile(options: CompileOptions): Promise<void> {
  const { root, folder, config, target, output, v8Flags, withNative } = options;
  const isForHere = target.triple === Deno.build.target;
  const args = [
    "compile",
    "--quiet",
    "--config",
    config,
    "--no-lock",
    "--no-check",
    "--no-npm",
    "--no-remote",
    "--node-modules-dir=none",
    "--no-code-cache",
    ...(await programFlags(root)).map((flag) => withMore(flag, v8Flags)),
    // A runtime given by hand is for this platform; naming the platform would make Deno look for another.
    ...(isForHere ? [] : ["--target", target.triple]),
    "--include",
    join(folder, "worker.js"),
    "--include",
    join(folder, "guard_module.js"),
    "--include",
    join(folder, "guard_process.js"),
    ...(withNative ? ["--include", join(folder, "native")] : []),
    "--output",
    output,
    join(folder, "main.js"),
  ];
  const { success } = await new Deno.Command(Deno.execPath(), { args, cwd: root, stdin: "null" }).spawn().status;
  if (!success) {
    throw new Error(
      "deno compile failed. It fetches the runtime of a binary, denort, from Deno's download host; where that can't be " +
        "reached, set DENORT_BIN to a denort of this Deno's version",
    );
  }
}

/** The permissions and V8 flags with which the task `pz` runs the sources: a binary has the same. */
async function programFlags(root: string): Promise<readonly string[]> {
  const config: unknown = JSON.parse(await Deno.readTextFile(join(root, "deno.json")));
  const task = textAt(config, "tasks", "pz");
  const flags = task.split(" ").filter((word) => word.startsWith("--"));
  if (!flags.includes("--no-prompt") || !flags.some((flag) => flag.startsWith("--v8-flags="))) {
    throw new Error(`the task 'pz' has another shape than the build expects: ${task}`);
  }
  return flags;
}

function withMore(flag: string, v8Flags: string | undefined): string {
  return v8Flags !== undefined && flag.startsWith("--v8-flags=") ? `${flag},${v8Flags}` : flag;
}

/** A text inside parsed JSON. */
export function textAt(value: unknown, ...path: readonly string[]): string {
  let inner = value;
  for (const key of path) {
    inner = typeof inner === "object" && inner !== null
      ? Object.entries(inner).find(([name]) => name === key)?.[1]
      : undefined;
  }
  if (typeof inner !== "string") throw new Error(`there is no text at '${path.join(".")}' in deno.json`);
  return inner;
}
