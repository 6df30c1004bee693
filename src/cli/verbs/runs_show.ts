import { PzError } from "../../errors/mod.ts";
import { printable, tableRow } from "../../render/mod.ts";
import { readRun, type StoredNode, type StoredRun } from "../../state/mod.ts";
import { EXIT, type ExitCode } from "../exit_codes.ts";
import { type Io, projectRoot } from "../io.ts";
import { checkProjectFile } from "../project_file.ts";
import { reportErrors } from "../report.ts";
import { runFields } from "./runs.ts";

export type RunsShowOptions = {
  readonly runId: string;
  readonly project?: string | undefined;
  readonly json?: boolean | undefined;
};

const WIDTHS = [40, 10, 8, -12, -10, -8, 0];
const HEADER = ["NODE", "KIND", "STATUS", "ROWS", "DURATION", "ATTEMPTS", " PROVENANCE"];

/** `pz runs show`: what a run's files tell of it and of each of its nodes, in the order in which they ended. */
export async function runsShow(io: Io, options: RunsShowOptions): Promise<ExitCode> {
  const root = projectRoot(io, options.project);
  const missing = await checkProjectFile(root);
  if (missing !== undefined) return reportErrors(io.console, [missing]);
  const run = await readRun(root, options.runId);
  if (run === undefined) {
    const text = `there is no run '${options.runId}'`;
    return reportErrors(io.console, [new PzError("PZ0502", text, { hint: "`pz runs` lists the runs" })]);
  }
  if (options.json) io.console.out(runJson(run));
  else for (const line of runLines(run)) io.console.out(line);
  return EXIT.ok;
}

function runLines(run: StoredRun): readonly string[] {
  const { runId, status, interrupted, startedAt, finishedAt, durationMs, retryOf } = run.summary;
  const title = interrupted && status !== "interrupted" ? `${status} (interrupted)` : status;
  return [
    `run ${runId}: ${title}${retryOf === undefined ? "" : `, retry of ${retryOf}`}`,
    `started ${startedAt ?? "-"}, finished ${finishedAt ?? "-"}, duration ${
      durationMs === null ? "-" : `${durationMs}ms`
    }`,
    tableRow(WIDTHS, HEADER),
    ...run.nodes.flatMap(nodeLines),
    ...unended(run).map(({ name, attempt }) =>
      tableRow(WIDTHS, [name, "SinkWrite", "unknown", "-", "-", String(attempt), " -"])
    ),
  ];
}

function nodeLines(node: StoredNode): readonly string[] {
  const { name, kind, status, rows, durationMs, attempts, error } = node;
  const cells = [name, kind, status, String(rows), `${durationMs}ms`, String(attempts ?? "-"), ` ${provenance(node)}`];
  const told = error === undefined ? [] : `${error.code}: ${error.message}`.split("\n").map((line) => `  ${line}`);
  return [tableRow(WIDTHS, cells), ...told.map(printable)];
}

function provenance({ provenance, partitions, outcomeUnknown }: StoredNode): string {
  const { total = 0, reused = 0, resumed = 0 } = partitions ?? {};
  const parts = [
    ...(provenance === undefined ? [] : [provenance]),
    ...(reused > 0 ? [`${reused} of ${total} partitions reused`] : []),
    ...(resumed > 0 ? [`${resumed} of ${total} partitions resumed`] : []),
    ...(outcomeUnknown ? ["outcome unknown"] : []),
  ];
  return parts.join(", ") || "-";
}

/** Writes that began and of which nothing else is known. */
function unended({ nodes, started }: StoredRun): StoredRun["started"] {
  const ended = new Set(nodes.map(({ id }) => id));
  const last = new Map(started.filter(({ id }) => !ended.has(id)).map((one) => [one.id, one]));
  return [...last.values()];
}

function runJson(run: StoredRun): string {
  return JSON.stringify({
    ...runFields(run.summary),
    nodes: run.nodes.map((node) => ({
      id: node.id,
      kind: node.kind,
      name: node.name,
      status: node.status,
      provenance: node.provenance,
      rows: node.rows,
      durationMs: node.durationMs,
      attempts: node.attempts,
      strategy: node.strategy,
      connection: node.connection,
      error: node.error ?? null,
      partitions: node.partitions,
      outcomeUnknown: node.outcomeUnknown ? true : undefined,
    })),
    unended: unended(run).map(({ id, name, attempt }) => ({ id, name, attempt })),
  });
}
