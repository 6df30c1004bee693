export { type RunOptions, type RunOutcome, runProject } from "./run.ts";
export { maskFor, projectSecrets } from "./redact.ts";
export { type RunServices } from "./services.ts";
export { recoverOutputs } from "./recover.ts";
