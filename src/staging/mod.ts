export { openStaging, Staging, type StagingOptions } from "./staging.ts";
export { ingestArrow, type IngestOptions, type IngestProgress } from "./ingest.ts";
export { IngestError } from "./arrow_columns.ts";
