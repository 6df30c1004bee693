export { type RunOptions, type RunOutcome, runProject } from "./run.ts";
export { type RunServices } from "./services.ts";
