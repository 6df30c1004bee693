import type { RunOutcome } from "../engine/mod.ts";

/** The meanings of an exit code; scripts depend on them. */
export const EXIT = {
  /** Everything asked for was done, or there was nothing to do. */
  ok: 0,
  /** The run ended, and at least one node or check failed. */
  failures: 1,
  /** The command line, the project or its environment is wrong; nothing ran. */
  invalid: 2,
  /** pz itself failed, or the run was stopped before any node had failed. */
  fatal: 3,
} as const;

export type ExitCode = typeof EXIT[keyof typeof EXIT];

/** The exit code of a run: a stopped run is fatal unless a node had failed before. */
export function exitCodeOf(outcome: RunOutcome): ExitCode {
  if (outcome.interrupted) return outcome.failed > 0 ? EXIT.failures : EXIT.fatal;
  switch (outcome.status) {
    case "success":
      return EXIT.ok;
    case "completed_with_failures":
      return EXIT.failures;
    case "fatal":
      return EXIT.fatal;
  }
}
