import { join } from "node:path";

export type RunPaths = {
  readonly folder: string;
  readonly staging: string;
  readonly results: string;
  readonly journal: string;
  readonly intent: string;
  readonly lock: string;
  readonly spill: string;
  /** Files on their way from or to a system, by connection. */
  readonly files: string;
};

/** Where a run's files lie. */
export function runPaths(projectRoot: string, runId: string): RunPaths {
  const folder = join(projectRoot, ".pz", "runs", runId);
  return {
    folder,
    staging: join(folder, "staging.duckdb"),
    results: join(folder, "run_results.json"),
    journal: join(folder, "journal.ndjson"),
    intent: join(folder, "intent.json"),
    lock: join(folder, ".lock"),
    spill: join(folder, "spill"),
    files: join(folder, "files"),
  };
}

/** Where compiled artifacts lie. */
export function targetPaths(projectRoot: string): { folder: string; manifest: string; plan: string; compiled: string } {
  const folder = join(projectRoot, ".pz", "target");
  return {
    folder,
    manifest: join(folder, "manifest.json"),
    plan: join(folder, "plan.json"),
    compiled: join(folder, "compiled"),
  };
}
