import { type ErrorCode, titleOf } from "./codes.ts";

/** Where in a user's file an error stands. Lines and columns count from 1; columns count UTF-16 code units. */
export type Position = {
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
};

export type PzErrorInit = Position & {
  /** The next step for the user, as a command where there is one. */
  readonly hint?: string | undefined;
  readonly cause?: unknown;
};

/**
 * Every problem that pz reports on purpose. The message says what is wrong with which value and what was expected; it
 * never holds a secret, since it reaches terminals, events and artifacts as it stands.
 */
export class PzError extends Error {
  override readonly name = "PzError";
  readonly code: ErrorCode;
  readonly file: string | undefined;
  readonly line: number | undefined;
  readonly column: number | undefined;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, init: PzErrorInit = {}) {
    super(message, init.cause === undefined ? undefined : { cause: init.cause });
    this.code = code;
    this.file = init.file;
    this.line = init.line;
    this.column = init.column;
    this.hint = init.hint;
  }

  /** The short name of the code, such as `YamlShape`. */
  get title(): string {
    return titleOf(this.code);
  }
}

/** Several problems of one phase, thrown where a caller can't take a list. */
export class PzErrors extends Error {
  override readonly name = "PzErrors";
  readonly errors: readonly PzError[];

  constructor(errors: readonly PzError[]) {
    super(errors.map((error) => `${error.code}: ${error.message}`).join("\n"));
    this.errors = errors;
  }
}

/**
 * One line for a person: `CODE: message (file:line:column) — hint: …`, absent parts left out. Without the leading
 * word `error`, which the renderer adds.
 */
export function formatError(error: PzError): string {
  return `${error.code}: ${error.message}${formatPlace(error)}${
    error.hint === undefined ? "" : ` — hint: ${error.hint}`
  }`;
}

/** One line for a warning: `CODE message (file:line:column) — hint`. */
export function formatWarning(warning: PzError): string {
  return `${warning.code} ${warning.message}${formatPlace(warning)}${
    warning.hint === undefined ? "" : ` — ${warning.hint}`
  }`;
}

function formatPlace({ file, line, column }: Position): string {
  if (file === undefined) return "";
  return ` (${file}${line === undefined ? "" : `:${line}${column === undefined ? "" : `:${column}`}`})`;
}

/** Orders by file (no file first), then line, then column; equal places keep the order in which they were found. */
export function sortErrors(errors: readonly PzError[]): PzError[] {
  return errors
    .map((error, index) => ({ error, index }))
    .sort((a, b) =>
      compareText(a.error.file ?? "", b.error.file ?? "") ||
      (a.error.line ?? 0) - (b.error.line ?? 0) ||
      (a.error.column ?? 0) - (b.error.column ?? 0) ||
      a.index - b.index
    )
    .map(({ error }) => error);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
