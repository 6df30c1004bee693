import { type ErrorCode, PzError } from "../errors/mod.ts";
import type { SourcePosition } from "./model.ts";

/** What a reader of project files found wrong so far, in the order in which it was found. */
export type Problems = {
  readonly errors: PzError[];
  readonly warnings: PzError[];
  /** A key for each problem reported, so that none is reported twice. */
  readonly seen: Set<string>;
};

/** A file without a known line, or a full position. */
export type Place = SourcePosition | { readonly file: string };

/** An empty list of problems. */
export function noProblems(): Problems {
  return { errors: [], warnings: [], seen: new Set() };
}

/** Adds an error. */
export function report(problems: Problems, code: ErrorCode, message: string, place: Place, hint?: string): void {
  addOnce(problems, problems.errors, new PzError(code, message, { ...place, hint }));
}

/** Adds a warning. */
export function warn(problems: Problems, code: ErrorCode, message: string, place: Place, hint?: string): void {
  addOnce(problems, problems.warnings, new PzError(code, message, { ...place, hint }));
}

/** A block that stands behind several aliases is read several times, but its problems are the user's only once. */
function addOnce({ seen }: Problems, list: PzError[], error: PzError): void {
  const key = JSON.stringify([error.code, error.file, error.line, error.column, error.message]);
  if (seen.has(key)) return;
  seen.add(key);
  list.push(error);
}
