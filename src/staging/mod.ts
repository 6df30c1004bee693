export { openStaging, Staging, type StagingOptions } from "./staging.ts";
export type { IngestOptions, IngestProgress } from "./ingest.ts";
export type { Drain, DrainOptions } from "./drain.ts";
export { drainArrow, ingestArrow } from "./lazy.ts";
export { IngestError } from "./ingest_error.ts";
export { DrainError } from "./drain_error.ts";
