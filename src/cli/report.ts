import { classifyForeign, formatError, formatWarning, PzError, PzErrors } from "../errors/mod.ts";
import { type Console, printable } from "../render/mod.ts";
import { EXIT, type ExitCode } from "./exit_codes.ts";

/** Where notes go: on stdout, or on stderr when every line of stdout must be an event. */
export type LogFormat = "text" | "json";

/** Writes every error as one line on stderr; returns the exit code for an invalid project or command line. */
export function reportErrors(console: Console, errors: readonly PzError[]): ExitCode {
  for (const error of errors) console.err(`error ${oneLine(formatError(error))}`);
  return EXIT.invalid;
}

/** Writes a usage error that has no code. */
export function reportUsage(console: Console, text: string): ExitCode {
  console.err(`error: ${oneLine(text)}`);
  return EXIT.invalid;
}

/** Writes warnings on stderr; they never change an exit code. */
export function reportWarnings(console: Console, warnings: readonly PzError[]): void {
  for (const warning of warnings) console.err(`warning: ${oneLine(formatWarning(warning))}`);
}

/** Writes plain sentences for the user. */
export function reportNotes(console: Console, notes: readonly string[], format: LogFormat = "text"): void {
  for (const note of notes) reportLine(console, `note: ${oneLine(note)}`, format);
}

/** Writes a line for the user on the stream that the log format leaves to people. */
export function reportLine(console: Console, line: string, format: LogFormat = "text"): void {
  if (format === "json") console.err(line);
  else console.out(line);
}

/** Writes whatever was thrown: coded problems as they are, anything else as an internal or system error. */
export function reportThrown(console: Console, error: unknown, debug: boolean): ExitCode {
  if (error instanceof PzErrors) return reportErrors(console, error.errors);
  if (error instanceof PzError) {
    reportErrors(console, [error]);
    return FATAL_CODES.has(error.code) ? EXIT.fatal : EXIT.invalid;
  }
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof Error && "code" in error && error.code === "ENAMETOOLONG") {
    return reportErrors(console, [new PzError("PZ0132", message, { hint: "use a shorter name" })]);
  }
  const code = classifyForeign(error);
  const bug = code === "PZ0500" && !isSystemError(error);
  const text = bug ? `internal error (${error instanceof Error ? error.name : typeof error}: ${message})` : message;
  reportErrors(console, [new PzError(code, text, { hint: bug ? BUG_HINT : SYSTEM_HINTS[code] })]);
  if (debug && error instanceof Error && error.stack !== undefined) console.err(printable(error.stack));
  return EXIT.fatal;
}

/** What ends pz without being a mistake in the project. */
const FATAL_CODES: ReadonlySet<string> = new Set(["PZ0500", "PZ0531", "PZ0532", "PZ0533"]);

const BUG_HINT =
  "this is a bug in pz; please report it with the command line and, if you can, the output with PZ_DEBUG=1";
const SYSTEM_HINTS: { readonly [code: string]: string } = {
  PZ0500: "see that the project's folder and the folder for temporary files can be read and written",
  PZ0531: "give the user who runs pz the right to it, or use a folder that can be written",
  PZ0532: "free some space; `pz clean` deletes what old runs left behind",
  PZ0533: "close the program that uses it",
};

/** Whether the operating system refused something, which is seldom the fault of pz. */
function isSystemError(error: unknown): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "string" && /^E[A-Z0-9]+$/.test(error.code);
}

/** Says that what a verb printed did not arrive; returns the exit code for that. */
export function reportLostOutput(console: Console, failure: unknown): ExitCode {
  const code = classifyForeign(failure);
  const text = `stdout can't be written: ${failure instanceof Error ? failure.message : String(failure)}`;
  if (code === "PZ0500") console.err(`error: ${oneLine(text)}`);
  else reportErrors(console, [new PzError(code, text)]);
  return EXIT.fatal;
}

/** Messages may have several lines; those after the first are indented, so that a line start is always a new message. */
function oneLine(text: string): string {
  return printable(text).replaceAll("\n", "\n  ");
}
