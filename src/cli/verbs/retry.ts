import { type CompiledDag, selectNodes } from "../../compile/mod.ts";
import { prepareResume } from "../../engine/mod.ts";
import { PzError } from "../../errors/mod.ts";
import type { RunIntent, StoredRun } from "../../state/mod.ts";
import { nearMiss } from "../../util/mod.ts";
import { EXIT, type ExitCode } from "../exit_codes.ts";
import { type Io, projectRoot } from "../io.ts";
import { parseLogFormat, performRun } from "../perform_run.ts";
import { findPriorRun, holdPriorRun } from "../prior_run.ts";
import { checkProjectFile } from "../project_file.ts";
import { type LogFormat, reportErrors, reportLine, reportNotes, reportUsage } from "../report.ts";
import { chooseChecks } from "./test.ts";

export type RetryOptions = {
  /** The run to retry; undefined: the newest. */
  readonly runId?: string | undefined;
  readonly project?: string | undefined;
  readonly failFast?: boolean | undefined;
  readonly fullRefresh?: boolean | undefined;
  /** Names of outputs that count as delivered, and of those that are written whatever is known of them. */
  readonly assumeDelivered?: readonly string[] | undefined;
  readonly redeliver?: readonly string[] | undefined;
  /** As the user wrote it. */
  readonly logFormat?: string | undefined;
};

/** A run that can be retried, and what it was asked. */
type Prior = { readonly run: StoredRun; readonly intent: RunIntent };

/** `pz retry`: runs what an earlier run did not get done, with its selection and variables, and today's project. */
export async function retry(io: Io, options: RetryOptions): Promise<ExitCode> {
  const format = parseLogFormat(options.logFormat);
  if (format === undefined) {
    return reportUsage(io.console, `invalid --log-format value '${options.logFormat}' (expected 'text' or 'json')`);
  }
  const both = options.assumeDelivered?.find((name) => options.redeliver?.includes(name));
  if (both !== undefined) {
    return reportUsage(io.console, `--assume-delivered and --redeliver can't both name '${both}'`);
  }
  const root = projectRoot(io, options.project);
  const missing = await checkProjectFile(root);
  if (missing !== undefined) return reportErrors(io.console, [missing]);
  const prior = await findPriorRun(root, options.runId);
  reportNotes(io.console, prior.notes, format);
  const { runId, status } = prior.run.summary;
  const again = options.runId === runId ? [] : alreadyRedelivered(prior, options.redeliver ?? []);
  for (const name of again) {
    const line = `run ${runId} has redelivered '${name}'; \`pz retry ${runId} --redeliver ${name}\` does it once more`;
    reportNotes(io.console, [line], format);
  }
  const redeliver = options.redeliver?.filter((name) => !again.includes(name)) ?? [];
  if (status === "success" && redeliver.length === 0) {
    reportLine(io.console, `nothing to retry (run ${runId} succeeded)`, format);
    return EXIT.ok;
  }
  return await performRetry(io, { ...options, redeliver }, prior, format);
}

/**
 * Of these outputs those that the run to retry has written because it was told to. Of two retries at the same time the
 * second one finds what the first has done, and must not do it again unless that run is named.
 */
function alreadyRedelivered({ run, intent }: Prior, names: readonly string[]): readonly string[] {
  const done = new Set(
    run.nodes.filter(({ kind, status }) => kind === "SinkWrite" && status === "success").map(({ name }) => name),
  );
  return names.filter((name) => intent.redelivered?.includes(name) === true && done.has(name));
}

async function performRetry(
  io: Io,
  options: RetryOptions,
  { run, intent }: Prior,
  format: LogFormat,
): Promise<ExitCode> {
  const { selection, checksOnly, vars } = intent;
  const { project, failFast, logFormat, fullRefresh = false } = options;
  const decisions = {
    assumeDelivered: new Set(options.assumeDelivered ?? []),
    redeliver: new Set(options.redeliver ?? []),
  };
  return await performRun(io, {
    project,
    vars,
    failFast,
    logFormat,
    selection,
    checksOnly: checksOnly === true,
    choose: (dag) =>
      checksOnly === true
        ? chooseChecks(io, dag, selection, format)
        : selectNodes(dag, selection, { requireFlow: false }),
    resume: async (dag, asked, runId, held) => {
      held.use(await holdPriorRun(dag.project.root, run, runId));
      for (const name of [...decisions.assumeDelivered, ...decisions.redeliver]) refuseUnknownOutput(dag, name);
      const resumption = await prepareResume({ dag, asked, prior: run, runId, fullRefresh, decisions });
      if (resumption === undefined) {
        const why = run.nodes.some((node) => node.status !== "success")
          ? "project changed"
          : `run ${run.summary.runId} had done everything`;
        reportLine(io.console, `nothing to retry (${why})`, format);
      }
      return resumption;
    },
  });
}

function refuseUnknownOutput({ nodes }: CompiledDag, name: string): void {
  const names = nodes.filter((node) => node.kind === "SinkWrite").map((node) => node.name);
  if (names.includes(name)) return;
  const meant = nearMiss(name, names);
  throw new PzError("PZ0210", `no output is named '${name}'`, {
    hint: meant === undefined ? `the outputs are ${names.join(", ")}` : `did you mean '${meant}'?`,
  });
}
