export { newRunId, RUN_ID_REGEXP, startOfRunId } from "./run_id.ts";
export { blockedFolder, type Blocker, blockerOf, makeFolder } from "./folders.ts";
export { type RunPaths, runPaths, targetPaths } from "./run_paths.ts";
export { acquireRunLock, claimRunFolder, isRunLive, type RunLock, takeIfFree } from "./run_lock.ts";
export { type NodeRecord, type Phases } from "./node_record.ts";
export { RunRecorder, type RunRecorderOptions } from "./run_recorder.ts";
export {
  beginRunRecords,
  type IntendedOutput,
  type NodeFact,
  readRunIntent,
  type RunIntent,
  type Try,
  writeRunIntent,
} from "./run_intent.ts";
export { listRuns, readRun, type RunSummary, type StoredRun } from "./run_store.ts";
export type { StartedWrite, StoredNode } from "./stored_run.ts";
export { listRunIds } from "./run_folders.ts";
export { type SweepResult, sweepRuns } from "./retention.ts";
export { type CleanAction, type CleanRules, planCleaning, type RunFolder } from "./clean_plan.ts";
export { type Cleaned, cleanRuns, cleanWorkFolders } from "./clean_runs.ts";
