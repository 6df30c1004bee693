import { join } from "node:path";
import { BINARY, pzCommand, PzResult, type RunOptions } from "../harness/cli.ts";

const ROOT = join(import.meta.dirname ?? ".", "..", "..");
const REPLACED = "src/util/fault_point.ts";

/** A binary with the fault points of the tests, as `deno task build --faults` makes; undefined: none was named. */
const FAULT_BINARY = Deno.env.get("PZ_FAULT_BINARY");

/** Whether pz can be run with faults: from its source, or by a binary that was built for it. */
export const HAS_FAULTS = BINARY === undefined || FAULT_BINARY !== undefined;

export type FaultOptions = RunOptions & {
  /** `point:nth:action`; absent: nothing happens. */
  readonly fault?: string;
  /** A file that gets the points that were reached. */
  readonly log?: string;
  /** Told the process once it runs. */
  readonly onStart?: (child: Deno.ChildProcess) => void;
};

/** Runs pz with the fault points of the tests to its end. */
export async function runWithFault(args: readonly string[], options: FaultOptions): Promise<PzResult> {
  const { fault, log, cwd } = options;
  const env = {
    ...options.env,
    ...(fault === undefined ? {} : { PZ_FAULT: fault }),
    ...(log === undefined ? {} : { PZ_FAULT_LOG: log }),
  };
  const child = new Deno.Command(...await command(args, env, cwd)).spawn();
  options.onStart?.(child);
  const { code, signal, stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  return new PzResult(code, signal, decoder.decode(stdout), decoder.decode(stderr));
}

async function command(
  args: readonly string[],
  own: { readonly [name: string]: string },
  cwd: string,
): Promise<[string, Deno.CommandOptions]> {
  const { program, args: [verb = "", ...more], env } = pzCommand(args, { env: own });
  const how = { cwd, env, clearEnv: true, stdin: "null", stdout: "piped", stderr: "piped" } as const;
  if (FAULT_BINARY !== undefined) return [FAULT_BINARY, { ...how, args: [...args] }];
  return [program, { ...how, args: [verb, `--import-map=${await importMap()}`, ...more] }];
}

let written: Promise<string> | undefined;

/** The project's own import map, and the module of the tests; kept until the process ends. */
function importMap(): Promise<string> {
  return written ??= (async () => {
    const { imports }: { imports: { [name: string]: string } } = JSON.parse(
      await Deno.readTextFile(join(ROOT, "deno.json")),
    );
    const url = (path: string) => new URL(`file://${join(ROOT, path)}`).href;
    const path = await Deno.makeTempFile({ prefix: "pz-faults-", suffix: ".json" });
    await Deno.writeTextFile(
      path,
      JSON.stringify({ imports: { ...imports, [url(REPLACED)]: url("tests/crash/fault_module.ts") } }),
    );
    globalThis.addEventListener("unload", () => Deno.removeSync(path));
    return path;
  })();
}
