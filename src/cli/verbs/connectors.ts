import { type ConnectorDescription, ownConnectors, projectConnectors } from "../../connectors/mod.ts";
import { loadProject, type Project } from "../../project/mod.ts";
import { grantLine, tableRow } from "../../render/mod.ts";
import { ordinal } from "../../util/mod.ts";
import { EXIT, type ExitCode } from "../exit_codes.ts";
import { type Io, projectRoot } from "../io.ts";
import { type ProjectOptions, varsOf } from "../phases.ts";
import { isProject } from "../project_file.ts";
import { reportErrors, reportNotes } from "../report.ts";
import { connectorProblem } from "../restore_check.ts";
import { VERSION } from "../version.ts";

const WIDTHS = [14, 28, 16, 41, 0];

/**
 * `pz connectors`: what each connector can do and, in a project, what each connection may touch. A connection whose
 * connector this pz lacks is an error.
 */
export async function connectors(io: Io, options: ProjectOptions): Promise<ExitCode> {
  const root = projectRoot(io, options.project);
  let project: Project | undefined;
  if (options.project !== undefined || await isProject(root)) {
    const loaded = await loadProject(root, { env: io.env, vars: varsOf(options) });
    if (!loaded.ok) return reportErrors(io.console, loaded.errors);
    project = loaded.value;
  }
  const connections = Object.values(project?.connections ?? {}).sort((a, b) => ordinal(a.name, b.name));
  const packages = project === undefined ? undefined : await projectConnectors(root, project.connectors);
  if (packages?.ok === false) return reportErrors(io.console, packages.errors);
  const found = packages?.value ?? ownConnectors();
  const problems = connections.map((connection) => connectorProblem(connection, found)).filter((problem) =>
    problem !== undefined
  );
  if (problems.length > 0) return reportErrors(io.console, problems);

  io.console.out(tableRow(WIDTHS, ["name", "package", "version", "tiers", "capabilities"]));
  for (const connector of [...found.all].sort((a, b) => ordinal(a.name, b.name))) {
    io.console.out(tableRow(WIDTHS, connectorCells(connector)));
  }
  for (const { name, connector, config } of connections) {
    const described = found.find(connector);
    if (described === undefined || described === "planned") continue;
    const grant = described.grant(config, { projectRoot: root });
    const trusted = described.program?.kind === "process" ? { trusted: true } as const : {};
    io.console.out(grantLine({ connection: name, connector, grant, ...trusted }));
  }
  if (connections.length > 0) {
    reportNotes(io.console, [
      "these are the most that the settings of each connection allow; a run gets what pz plan prints, and writes only " +
      "where a sink() uses the connection",
    ]);
  }
  return EXIT.ok;
}

function connectorCells(connector: ConnectorDescription): string[] {
  const { name, version, origin, program, capabilities, canRead, canWrite, universal, stagedRead, stagedWrite } =
    connector;
  const tiers: string[] = [];
  if (canRead) tiers.push(`src:${tier(capabilities.has("NativeScan"), universal.read, stagedRead !== undefined)}`);
  if (canWrite) tiers.push(`snk:${tier(capabilities.has("NativeCopy"), universal.write, stagedWrite !== undefined)}`);
  const from = origin?.slice(0, -version.length - 1) ?? "pz (builtin)";
  const trusted = program?.kind === "process" ? " (trusted)" : "";
  return [
    name,
    from + trusted,
    origin === undefined ? VERSION : version,
    tiers.join(" ") || "-",
    [...capabilities].sort(ordinal).join(",") || "-",
  ];
}

function tier(native: boolean, universal: boolean, staged: boolean): string {
  if (staged) return "staged";
  if (native && universal) return "native+universal";
  return native ? "native-only" : "universal";
}
