import { PzError } from "../errors/mod.ts";
import { Console } from "../render/mod.ts";
import { commandTree, UsageError } from "./command_tree.ts";
import { EXIT, type ExitCode } from "./exit_codes.ts";
import type { Io } from "./io.ts";
import { reportErrors, reportLostOutput, reportThrown } from "./report.ts";
import { suggestPosition } from "./suggest_request.ts";
import { reportUsageError } from "./usage.ts";

/** Runs one command line and returns its exit code: 0 ok, 1 node failures, 2 usage or configuration, 3 fatal. */
export async function main(args: readonly string[]): Promise<ExitCode> {
  const console = new Console();
  const cwd = currentFolder();
  if (cwd instanceof PzError) {
    const code = reportErrors(console, [cwd]);
    await console.flush(Infinity);
    return code;
  }
  const io: Io = {
    console,
    env: Deno.env.toObject(),
    cwd,
    stdoutIsTerminal: Deno.stdout.isTerminal(),
    stderrIsTerminal: Deno.stderr.isTerminal(),
    terminalSize,
    now: Date.now,
    random: Math.random,
  };
  const code = await runCommandLine(io, args);
  // A slow reader gets all it is given time for; one that hung during a run was given up there.
  await console.flush(Infinity);
  const failure = console.takeStdoutFailure();
  if (failure === undefined) return code;
  const lost = reportLostOutput(console, failure);
  await console.flush(Infinity);
  return code === EXIT.ok ? lost : code;
}

/** Parses the arguments and runs the verb. Whatever is thrown, here or in a forgotten promise, ends in a message. */
export async function runCommandLine(io: Io, args: readonly string[]): Promise<ExitCode> {
  const crash = Promise.withResolvers<never>();
  const onRejection = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    crash.reject(event.reason);
  };
  const onError = (event: ErrorEvent) => {
    event.preventDefault();
    crash.reject(event.error);
  };
  globalThis.addEventListener("unhandledrejection", onRejection);
  globalThis.addEventListener("error", onError);
  try {
    return await Promise.race([parseAndRun(io, args), crash.promise]);
  } catch (error) {
    return reportThrown(io.console, error, (io.env["PZ_DEBUG"] ?? "0") !== "0" && io.env["PZ_DEBUG"] !== "");
  } finally {
    globalThis.removeEventListener("unhandledrejection", onRejection);
    globalThis.removeEventListener("error", onError);
  }
}

async function parseAndRun(io: Io, args: readonly string[]): Promise<ExitCode> {
  let code: ExitCode = EXIT.ok;
  const program = commandTree(io, (exit) => code = exit);
  const position = suggestPosition(args);
  if (position !== undefined) {
    const { suggest } = await import("./suggest.ts");
    return await suggest(io, program, args[1] ?? "", position);
  }
  try {
    await program.parseAsync(args.map((arg) => arg === "-?" ? "--help" : arg), { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof UsageError) return reportUsageError(io, error);
    throw error;
  }
}

/** The current folder, or why there is no name for it. */
function currentFolder(): string | PzError {
  try {
    return Deno.cwd();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return new PzError("PZ0101", `the path of the current folder can't be read: ${reason}`, {
      hint: "go to a folder that exists and whose path is valid UTF-8",
    });
  }
}

function terminalSize(): { readonly columns: number; readonly rows: number } {
  try {
    // A terminal that nobody gave a size says 0.
    const { columns, rows } = Deno.consoleSize();
    return { columns: columns || 80, rows: rows || 24 };
  } catch {
    return { columns: 80, rows: 24 };
  }
}
