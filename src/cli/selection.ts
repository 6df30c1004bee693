import type { Selection } from "../compile/mod.ts";

/** The options by which `run` and `plan` say which nodes are meant. */
export type SelectionOptions = {
  readonly names: readonly string[];
  readonly select?: string | undefined;
  readonly all?: boolean | undefined;
};

/** The selection that the options say. */
export function selectionOf({ names, select, all }: SelectionOptions): Selection {
  return { names, select, all: all ?? false };
}

/** Whether anything was chosen. */
export function isNarrowed({ names, select }: SelectionOptions): boolean {
  return names.length > 0 || select !== undefined;
}
