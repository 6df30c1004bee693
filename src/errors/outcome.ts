import { type PzError, sortErrors } from "./pz_error.ts";

/**
 * What a phase returns: its value, or every problem it found. Warnings never change an exit code; notices are plain
 * sentences for the user.
 */
export type Outcome<T> =
  | { readonly ok: true; readonly value: T; readonly warnings: readonly PzError[]; readonly notices: readonly string[] }
  | { readonly ok: false; readonly errors: readonly PzError[] };

/** A success. */
export function succeed<T>(
  value: T,
  warnings: readonly PzError[] = [],
  notices: readonly string[] = [],
): Outcome<T> {
  return { ok: true, value, warnings, notices };
}

/** A failure with its problems sorted by file and position. */
export function fail(errors: readonly PzError[]): Outcome<never> {
  return { ok: false, errors: sortErrors(errors) };
}
