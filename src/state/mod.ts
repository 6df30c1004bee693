export { newRunId, RUN_ID_REGEXP, startOfRunId } from "./run_id.ts";
export { type RunPaths, runPaths, targetPaths } from "./run_paths.ts";
export { acquireRunLock, isRunLive, type RunLock } from "./run_lock.ts";
export { type NodeRecord, type Phases } from "./node_record.ts";
export { RunRecorder, type RunRecorderOptions } from "./run_recorder.ts";
export { type RunIntent, writeRunIntent } from "./run_intent.ts";
export { listRuns, type RunSummary } from "./run_store.ts";
export { type SweepResult, sweepRuns } from "./retention.ts";
