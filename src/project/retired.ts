import type { Refusal } from "./blocks.ts";

/** `outputs:` at the top of project.yml or connections.yml. */
export const outputsRetired = {
  code: "PZ0347",
  message: "'outputs' is gone: what a pipeline loads stands in the pipeline",
  hint: "Start the pipeline with INSERT INTO {{ sink('connection', 'entity') }}.",
} as const satisfies Refusal;

/** `feeds:` at the top of project.yml. */
export const feedsRetired = {
  code: "PZ0352",
  message: "'feeds' is gone from project.yml",
  hint: "Set the PZ_FEEDS variable, or pass --feeds to pz restore.",
} as const satisfies Refusal;
