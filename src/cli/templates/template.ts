/** The project name that templates carry; `pz init` puts the real one in its place. */
export const PLACEHOLDER_NAME = "pz_new_project";

/** A project that `pz init` writes; each is a valid project as it stands. */
export type Template = {
  readonly id: string;
  readonly summary: string;
  /** What it takes to run it, such as `runs offline`. */
  readonly marker: string;
  /** Paths relative to the project, with `/`. */
  readonly files: readonly { readonly path: string; readonly content: string }[];
  /** Commands to try next, in the project's folder. */
  readonly nextSteps: readonly string[];
};

/** A template that can't be made yet, and what it waits for. */
export type PlannedTemplate = { readonly id: string; readonly summary: string; readonly needs: string };
