import { PzError } from "../../errors/mod.ts";
import { tableRow } from "../../render/mod.ts";
import { listRuns, type RunSummary } from "../../state/mod.ts";
import { EXIT, type ExitCode } from "../exit_codes.ts";
import { type Io, projectRoot } from "../io.ts";
import { checkProjectFile } from "../project_file.ts";
import { reportErrors } from "../report.ts";

export type RunsOptions = {
  readonly project?: string | undefined;
  readonly json?: boolean | undefined;
  /** As the user wrote it. */
  readonly limit?: string | undefined;
};

const WIDTHS = [30, 25, 25, 9, -4, -7, -8, 0];
const HEADER = ["RUN ID", "STATUS", "STARTED AT", "DURATION", "OK", "FAILED", "SKIPPED", " PROVENANCE"];

/** `pz runs`: the runs that the project's folder knows, newest first, all or nothing. */
export async function runs(io: Io, options: RunsOptions): Promise<ExitCode> {
  const limit = options.limit === undefined ? Infinity : /^\d+$/.test(options.limit) ? Number(options.limit) : 0;
  if (limit < 1) {
    return reportErrors(io.console, [
      new PzError("PZ0534", `--limit is '${options.limit}', but must be a whole number of at least 1`),
    ]);
  }
  const root = projectRoot(io, options.project);
  const missing = await checkProjectFile(root);
  if (missing !== undefined) return reportErrors(io.console, [missing]);
  const found = (await listRuns(root)).slice(0, limit);
  if (options.json) { for (const run of found) io.console.out(JSON.stringify(runFields(run))); }
  else if (found.length === 0) io.console.out("no runs found");
  else for (const cells of [HEADER, ...found.map(runCells)]) io.console.out(tableRow(WIDTHS, cells));
  return EXIT.ok;
}

function runCells(run: RunSummary): string[] {
  return [
    run.runId,
    run.interrupted && run.status !== "interrupted" ? `${run.status} (interrupted)` : run.status,
    run.startedAt ?? "-",
    run.durationMs === null ? "-" : `${run.durationMs}ms`,
    String(run.succeeded),
    String(run.failed),
    String(run.skipped),
    ` ${provenance(run)}`,
  ];
}

function provenance({ reused, carriedForward }: RunSummary): string {
  const parts: string[] = [];
  if (reused > 0) parts.push(`${reused} reused`);
  if (carriedForward > 0) parts.push(`${carriedForward} carried_forward`);
  return parts.join(", ") || "-";
}

/** What `--json` tells of a run, in the order of writing. */
export function runFields(run: RunSummary): { readonly [field: string]: unknown } {
  const { runId, status, startedAt, finishedAt, durationMs, succeeded, failed, skipped, reused, carriedForward } = run;
  return {
    runId,
    status,
    startedAt,
    finishedAt,
    durationMs,
    succeeded,
    failed,
    skipped,
    reused,
    carriedForward,
    interrupted: run.interrupted,
    retryOf: run.retryOf,
  };
}
