import type { Refusal } from "./blocks.ts";

/** `outputs:` at the top of project.yml or connections.yml. */
export const outputsRetired = {
  code: "PZ0347",
  message: "'outputs' is gone: what a pipeline loads stands in the pipeline",
  hint: "Start the pipeline with INSERT INTO {{ sink('connection', 'entity') }}.",
} as const satisfies Refusal;

/** Keys of dbt's files, with what a project has in their place. */
export const dbtKeys: { readonly [key: string]: Refusal } = {
  profile: unlikeDbt("profile", "Describe each connection in connections.yml."),
  target: unlikeDbt("target", "What differs from place to place is ${NAME} in connections.yml."),
  models: unlikeDbt("models", "Settings of a pipeline stand in pipelines/configs/<name>.yml."),
  "model-paths": unlikeDbt("model-paths", "Pipelines stand in pipelines/."),
  seeds: unlikeDbt("seeds", "Read the files with source() of a localfiles connection."),
  snapshots: unlikeDbt("snapshots", "Keep history with strategy: merge or append."),
  sources: unlikeDbt("sources", "Describe each connection in connections.yml."),
  connections: unlikeDbt("connections", "Connections stand in connections.yml, each at the top level."),
};

function unlikeDbt(key: string, hint: string): Refusal {
  return { code: "PZ0101", message: `Unknown key '${key}'`, hint };
}

/** `feeds:` at the top of project.yml. */
export const feedsRetired = {
  code: "PZ0352",
  message: "'feeds' is gone from project.yml",
  hint: "Set the PZ_FEEDS variable, or pass --feeds to pz restore.",
} as const satisfies Refusal;
