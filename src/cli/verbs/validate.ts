import { type CompiledDag, dryCompile, type Workbench } from "../../compile/mod.ts";
import { type ConnectorSet, projectConnectors } from "../../connectors/mod.ts";
import { type PzError, sortErrors } from "../../errors/mod.ts";
import { dryCompileScans } from "../../plan/mod.ts";
import { writeSchemas } from "../artifacts.ts";
import { MISSING_DATA, withContractBlame } from "../contract_blame.ts";
import { EXIT, type ExitCode } from "../exit_codes.ts";
import type { Io } from "../io.ts";
import { newIdentity, type ProjectOptions, withCompiled } from "../phases.ts";
import { checkUse, planNodes } from "../plan_nodes.ts";
import { reportErrors, reportNotes, reportWarnings } from "../report.ts";

export type ValidateOptions = ProjectOptions & { readonly connect?: boolean | undefined };

/**
 * `pz validate`: everything that can be said of a project without moving data, from the cheapest to the dearest: files,
 * templates and graph, connectors and their options, plan and SQL, and with `--connect` the systems themselves. A step
 * that finds something ends it. Writes nothing but, with `--connect`, the columns that were found.
 */
export function validate(io: Io, options: ValidateOptions): Promise<ExitCode> {
  const identity = newIdentity(io);
  return withCompiled(io, options, { identity }, async (dag, workbench) => {
    const all = new Set(dag.nodes.map((node) => node.id));
    const found = await projectConnectors(dag.project.root, dag.project.connectors);
    if (!found.ok) return reportErrors(io.console, found.errors);
    const connectors = found.value;
    const unusable = checkUse(dag, all, connectors);
    if (unusable.length > 0) return reportErrors(io.console, unusable);
    const { errors, missing, said } = await checkPlanAndSql(io, dag, { all, connectors, workbench });
    if (!options.connect) reportWarnings(io.console, missing);
    if (!options.connect || errors.length > 0) reportNotes(io.console, said);
    if (errors.length > 0) return reportErrors(io.console, errors);
    const problems = options.connect ? await connect(io, dag, missing, { runId: identity.runId, connectors }) : [];
    if (problems.length > 0) return reportErrors(io.console, problems);
    const connections = new Set(dag.nodes.flatMap((node) => "connection" in node ? [node.connection.name] : []));
    io.console.out(
      `validation passed (${dag.project.pipelines.length} pipelines, ${connections.size} connections checked)`,
    );
    return EXIT.ok;
  });
}

/**
 * What stands against plan and SQL, apart from it what only speaks of data that is not there, and what is said of SQL that
 * could be looked at only in part.
 */
async function checkPlanAndSql(
  io: Io,
  dag: CompiledDag,
  { all, connectors, workbench }: {
    readonly all: ReadonlySet<string>;
    readonly connectors: ConnectorSet;
    readonly workbench: Workbench;
  },
): Promise<
  { readonly errors: readonly PzError[]; readonly missing: readonly PzError[]; readonly said: readonly string[] }
> {
  const planned = await planNodes(dag, all, connectors);
  const sql = await dryCompile(dag, { ...dryCompileScans(dag, connectors.find), workbench });
  const refusals = planned.ok ? [] : planned.errors;
  if (planned.ok) reportWarnings(io.console, planned.warnings);
  if (sql.ok) reportWarnings(io.console, sql.warnings);
  // A type that DuckDB does not know, and that the connector has already refused.
  const isNews = (error: PzError) =>
    error.code !== "PZ0301" ||
    !refusals.some(({ file, line, column }) => file === error.file && line === error.line && column === error.column);
  const ofSql = sql.ok ? [] : withContractBlame(dag, sql.errors.filter(isNews), refusals);
  return {
    errors: sortErrors([...refusals.filter(({ code }) => code !== MISSING_DATA), ...ofSql]),
    // A project can be right before its data has come.
    missing: refusals.filter((error) => error.code === MISSING_DATA && !ofSql.includes(error)),
    said: sql.ok ? sql.notices : [],
  };
}

/** Asks the systems, and tries the SQL on the columns that they have. @param missing what the plan has said of data, of which that about outputs still counts */
async function connect(
  io: Io,
  dag: CompiledDag,
  missing: readonly PzError[],
  { runId, connectors }: { readonly runId: string; readonly connectors: ConnectorSet },
): Promise<readonly PzError[]> {
  const { checkConnections } = await import("../connect/connect.ts");
  const { withFound } = await import("../connect/found_scans.ts");
  const { problems, notes, schemas } = await checkConnections(dag, { runId, connectors });
  writeSchemas(dag, schemas);
  const sql = await dryCompile(dag, withFound(dryCompileScans(dag, connectors.find), schemas));
  reportNotes(io.console, [...notes, ...(sql.ok ? sql.notices : [])]);
  const sources = dag.nodes.flatMap((node) => {
    if (node.kind !== "SourceLoad") return [];
    const { read = {}, columns = {} } = node.connection.entities[node.entity]?.places ?? {};
    return [node.position, ...Object.values(read), ...Object.values(columns)];
  });
  const ofOutputs = missing.filter(({ file, line, column }) =>
    !sources.some((place) => place.file === file && place.line === line && place.column === column)
  );
  return sortErrors([...problems, ...ofOutputs, ...(sql.ok ? [] : sql.errors)]);
}
