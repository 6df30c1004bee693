import type { Outcome } from "../errors/mod.ts";
import type { Project, StateConfig, ValueMap } from "./model.ts";

export type LoadOptions = {
  /** The process environment, for `${VAR}`. */
  readonly env: { readonly [name: string]: string };
  /** The text of `--vars`: a JSON object whose members replace `vars:` of project.yml one by one. */
  readonly vars?: string | undefined;
};

/** Phase 1: reads project.yml, connections.yml and pipelines/ into one frozen value, or every problem in them. */
export async function loadProject(root: string, options: LoadOptions): Promise<Outcome<Project>> {
  // Loaded here, since the YAML parser is heavy and other verbs import this module for its types and names.
  const { readProject } = await import("./read_project.ts");
  return readProject(root, options);
}

/** Where a project's state is kept, and what said so; see `Project.stateOrigin`. */
export type LoadedState = { readonly state: StateConfig; readonly stateOrigin: string };

/** Reads only `state:` of project.yml, and connections.yml for the connection that it names, whatever else is wrong. */
export async function loadState(root: string, options: Pick<LoadOptions, "env">): Promise<Outcome<LoadedState>> {
  const { readStateOnly } = await import("./read_project.ts");
  return readStateOnly(root, options);
}

/** Reads a YAML file of one connection's settings, environment variables filled in, as `pz connector test` takes it. */
export async function loadSettings(path: string, options: Pick<LoadOptions, "env">): Promise<Outcome<ValueMap>> {
  const { readSettings } = await import("./read_project.ts");
  return readSettings(path, options);
}
