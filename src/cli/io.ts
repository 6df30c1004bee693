import { isAbsolute, join, relative, resolve } from "node:path";
import type { Console } from "../render/mod.ts";

/** What a verb may know of the process that it runs in. */
export type Io = {
  readonly console: Console;
  readonly env: { readonly [name: string]: string };
  /** Absolute. */
  readonly cwd: string;
  readonly stdoutIsTerminal: boolean;
  readonly stderrIsTerminal: boolean;
  /** The present size of the terminal at stdout; 80 by 24 where there is none. */
  readonly terminalSize: () => { readonly columns: number; readonly rows: number };
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** A number in [0, 1). */
  readonly random: () => number;
};

/** The absolute path of the project that `--project` names; without it the current folder. */
export function projectRoot(io: Io, project: string | undefined): string {
  return resolve(io.cwd, project ?? ".");
}

/** A path as the user would write it: relative to the current folder when it lies below it. */
export function shownPath(io: Io, path: string): string {
  const below = relative(io.cwd, path);
  return below === "" || below.startsWith("..") || isAbsolute(below) ? path : join(below);
}

/** Whether a person sits before stdout: a terminal that can move its cursor, and no variable `CI`, whatever its value. */
export function isInteractive(io: Io): boolean {
  return io.stdoutIsTerminal && !("CI" in io.env) && io.env["TERM"] !== "dumb";
}

/** A path as one word of a shell's command line. */
export function shellWord(path: string): string {
  return /^[\w./:\\-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
