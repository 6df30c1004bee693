import { writeFileAtomically } from "../util/mod.ts";

/** What a run was asked to do, so that a retry repeats it. It may hold secrets: it is never printed. */
export type RunIntent = {
  readonly version: 1;
  readonly selection: {
    readonly names: readonly string[];
    readonly select?: string | undefined;
    readonly all: boolean;
  };
  /** The text of `--vars`, as it was given. */
  readonly vars?: string | undefined;
  readonly failFast: boolean;
};

/** Writes a run's intent.json, readable by its owner only. */
export function writeRunIntent(path: string, intent: RunIntent): void {
  writeFileAtomically(path, `${JSON.stringify(intent, null, 2)}\n`, 0o600);
}
