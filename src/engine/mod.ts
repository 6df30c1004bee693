export { type RunOptions, type RunOutcome, runProject } from "./run.ts";
export { maskFor, projectSecrets } from "./redact.ts";
export { type RunServices } from "./services.ts";
export { refuseClashes } from "./executors/declared_columns.ts";
export { recoverOutputs } from "./recover.ts";
export { connectionHashes } from "./resume/connection_hash.ts";
export { prepareResume, type ResumeOptions, type Resumption } from "./resume/resumption.ts";
export type { Decisions } from "./resume/work.ts";
