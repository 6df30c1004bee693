import { Console } from "../../../src/render/mod.ts";
import { runCommandLine } from "../../../src/cli/main.ts";
import type { Io } from "../../../src/cli/io.ts";
import { CollectingSink } from "../render/byte_sinks.ts";

export type CliResult = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Runs one command line in this process, with an environment and a terminal of its own. */
export async function cli(args: readonly string[], change: Partial<Omit<Io, "console">> = {}): Promise<CliResult> {
  const stdout = new CollectingSink();
  const stderr = new CollectingSink();
  const console = new Console({ stdout, stderr });
  const io: Io = {
    console,
    env: {},
    cwd: Deno.cwd(),
    stdoutIsTerminal: false,
    stderrIsTerminal: false,
    terminalSize: () => ({ columns: 80, rows: 24 }),
    now: () => Date.parse("2027-03-02T06:15:00.001Z"),
    random: () => 0.5,
    ...change,
  };
  const code = await runCommandLine(io, args);
  await console.flush(Infinity);
  return { code, stdout: stdout.text, stderr: stderr.text };
}

/** A folder that is deleted at the end of its scope. */
export class TempFolder implements AsyncDisposable {
  readonly path: string;

  constructor() {
    this.path = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "pz cli é " }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.path, { recursive: true });
  }
}
