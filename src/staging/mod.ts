export { openStaging, Staging, type StagingOptions } from "./staging.ts";
export type { IngestOptions, IngestProgress } from "./ingest.ts";
export { ingestArrow } from "./lazy_ingest.ts";
export { IngestError } from "./ingest_error.ts";
